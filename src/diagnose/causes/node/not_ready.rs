//! Nodes whose kubelet is alive and says why it is not ready.

use super::row;
use super::together::{Together, reference};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Key};
use crate::model::{Condition, Node, Pod, Time};

/// What the kubelet's words are about. One row each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Runtime,
    Network,
    Pleg,
    Csi,
    Capacity,
    Shutdown,
    Other,
}

const DOCS: &str = "concepts/architecture/nodes/#node-status";

pub(super) const RUNTIME: Cause = row(
    DOCS,
    "node-runtime-down",
    "The container runtime of a node does not answer",
    "The kubelet got no good answer from containerd or CRI-O for 30 seconds and reports Ready=False. Running containers may go on; nothing can be started or stopped.",
    "A network plugin that is not ready has its own words (NetworkReady=false); a silent kubelet leaves Ready=Unknown.",
    "Restart the container runtime on the node and look at its log and disk.",
    |cx, node| not_ready(cx, node, Why::Runtime),
);

pub(super) const NETWORK: Cause = row(
    DOCS,
    "node-cni-uninitialized",
    "The container runtime of a node has no network plugin",
    "The runtime reports NetworkReady=false: it has found no CNI configuration it can load (/etc/cni/net.d). The kubelet is alive and keeps Ready=False; pods with host networking run, all others cannot.",
    "Where the network plugin's own pod on the node fails, that is the blocker. Pods that wait for the not-ready taint to go are a consequence.",
    "Get the network plugin's DaemonSet running on the node; if it runs, restart the container runtime so that it reads the configuration.",
    |cx, node| not_ready(cx, node, Why::Network),
);

pub(super) const PLEG: Cause = row(
    DOCS,
    "node-pleg-unhealthy",
    "A kubelet cannot keep up with its containers",
    "The kubelet's loop that lists containers (PLEG) has not ended for 3 minutes: the runtime is slow, or the node is overloaded.",
    "With the runtime down as well, that is the cause.",
    "Relieve the node: CPU, disk, number of pods. Restart the runtime if it hangs.",
    |cx, node| not_ready(cx, node, Why::Pleg),
);

pub(super) const CSI: Cause = row(
    DOCS,
    "node-csinode",
    "A kubelet cannot write its CSINode",
    "The kubelet registers storage drivers in the CSINode object of its name before it becomes Ready, and cannot.",
    "A driver that is not registered fails mounts, not the node.",
    "Check that the kubelet reaches the API server and may write CSINode objects.",
    |cx, node| not_ready(cx, node, Why::Csi),
);

pub(super) const CAPACITY: Cause = row(
    DOCS,
    "node-capacity-missing",
    "A kubelet does not know how much its node has",
    "The kubelet cannot tell a capacity (often ephemeral-storage): it comes from cAdvisor, which needs the node's disks.",
    "Pressure is a capacity that is known and used up.",
    "Look at the kubelet's log for cAdvisor and at the node's file systems.",
    |cx, node| not_ready(cx, node, Why::Capacity),
);

pub(super) const SHUTDOWN: Cause = row(
    DOCS,
    "node-shutting-down",
    "A node is shutting down",
    "The kubelet is ending its pods because the machine is going down or reboots.",
    "A node that is silent has Ready=Unknown.",
    "Wait until it is back, or remove the Node if it is not to come back.",
    |cx, node| not_ready(cx, node, Why::Shutdown),
);

pub(super) const GENERIC: Cause = Cause {
    generic: true,
    ..row(
        DOCS,
        "node-not-ready-generic",
        "A node is not ready",
        "The kubelet is alive and reports Ready=False with a reason of its own. The not-ready taint keeps new pods off; after five minutes those there are deleted.",
        "Known reasons (runtime, network plugin, PLEG, CSINode, shutdown) have causes of their own.",
        "Read the kubelet's message, then its log on the node.",
        |cx, node| not_ready(cx, node, Why::Other),
    )
};

/// A node that joins, or a kubelet that starts, passes through all of these.
const JOINING: i64 = 180;
/// A reboot takes no longer.
const REBOOT: i64 = 1800;

fn condition(node: &Node) -> Option<&Condition> {
    node.condition("Ready").filter(|c| &*c.status == "False")
}

/// Several causes come as `[a, b]`: the deepest one counts.
fn why(condition: &Condition) -> Why {
    let text = condition.message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| text.contains(w));
    if has(&["shutting down", "node shutdown"]) {
        Why::Shutdown
    } else if has(&["runtime is down", "runtimeready=false", "runtime status check", "runtime not ready"]) {
        Why::Runtime
    } else if has(&["networkready=false", "network plugin", "cni"]) {
        Why::Network
    } else if has(&["pleg"]) {
        Why::Pleg
    } else if has(&["csinode"]) {
        Why::Csi
    } else if has(&["missing node capacity"]) {
        Why::Capacity
    } else {
        Why::Other
    }
}

fn when(node: &Node, wanted: Why) -> Option<Time> {
    let c = condition(node).filter(|c| why(c) == wanted)?;
    c.last_transition_time.or(node.meta.created)
}

impl Why {
    fn cause(self) -> &'static Cause {
        match self {
            Self::Runtime => &RUNTIME,
            Self::Network => &NETWORK,
            Self::Pleg => &PLEG,
            Self::Csi => &CSI,
            Self::Capacity => &CAPACITY,
            Self::Shutdown => &SHUTDOWN,
            Self::Other => &GENERIC,
        }
    }

    /// The same question for any node, as a plain function.
    fn when(self) -> fn(&Node) -> Option<Time> {
        match self {
            Self::Runtime => |n| when(n, Self::Runtime),
            Self::Network => |n| when(n, Self::Network),
            Self::Pleg => |n| when(n, Self::Pleg),
            Self::Csi => |n| when(n, Self::Csi),
            Self::Capacity => |n| when(n, Self::Capacity),
            Self::Shutdown => |n| when(n, Self::Shutdown),
            Self::Other => |n| when(n, Self::Other),
        }
    }

    /// Seconds for which it may pass by itself.
    fn patience(self) -> i64 {
        match self {
            Self::Shutdown => REBOOT,
            Self::Pleg => 300,
            Self::Runtime | Self::Network | Self::Csi | Self::Capacity | Self::Other => JOINING,
        }
    }

    fn says(self) -> (&'static str, &'static str) {
        match self {
            Self::Runtime => ("has no answer from its container runtime", "have no answer from their container runtime"),
            Self::Network => ("has no network plugin loaded", "have no network plugin loaded"),
            Self::Pleg => ("cannot keep up with its containers", "cannot keep up with their containers"),
            Self::Csi => ("cannot write its CSINode", "cannot write their CSINode"),
            Self::Capacity => ("does not know its capacity", "do not know their capacity"),
            Self::Shutdown => ("is shutting down", "are shutting down"),
            Self::Other => ("is not ready", "are not ready"),
        }
    }
}

fn not_ready(cx: &Cx<'_>, node: &Node, wanted: Why) -> Option<Finding> {
    let at = when(node, wanted)?;
    let condition = condition(node)?;
    let (root, together) = (reference(node), Together::of(cx, node, wanted.cause().id, wanted.when()));
    let names = together.names(node);
    let (one, many) = wanted.says();
    let key = Key::object(&root);
    let finding = if cx.passed(at.plus(wanted.patience())) {
        Finding::blocked(key, root.clone())
    } else {
        let what = if wanted == Why::Shutdown { "a node that reboots" } else { "a node that joins or recovers" };
        Finding::delayed(key, root.clone()).clock(ClockKind::Grace, what, Some(at.plus(wanted.patience())))
    };
    let finding = finding
        .title(format!("node {names} {}", together.verb(one, many)))
        .because(format!("The kubelet of {names} is alive and reports Ready=False: {}.", condition.message.trim_end_matches('.')))
        .next(wanted.cause().cure)
        .fact("node", &node.meta.name)
        .since(condition.last_transition_time.or(node.meta.created))
        .evidence(
            root,
            "status.conditions[type=Ready].message",
            &*condition.message,
            condition.last_heartbeat_time.or(condition.last_transition_time),
        );
    let finding = if wanted == Why::Network { with_agent(cx, node, finding) } else { finding };
    Some(together.widen(finding))
}

/// Whose pods bring the network plugin to the node.
const AGENTS: &[&str] = &[
    "calico",
    "cilium",
    "flannel",
    "weave",
    "canal",
    "aws-node",
    "kindnet",
    "kube-router",
    "antrea",
    "ovn",
    "ovs",
    "azure-cni",
    "azure-vnet",
    "multus",
    "cni",
];

/// The network plugin's own pod on the node: it tells a plugin that fails from a runtime that has not read its configuration.
fn with_agent(cx: &Cx<'_>, node: &Node, finding: Finding) -> Finding {
    let named = |p: &Pod<'_>| AGENTS.iter().any(|a| p.name().contains(a));
    let writes = |p: &Pod<'_>| {
        let mut paths = p.spec().volumes.iter().filter_map(|v| v.host_path.as_ref());
        paths.any(|h| h.path.starts_with("/etc/cni") || h.path.starts_with("/opt/cni"))
    };
    let of_set = |p: &Pod<'_>| p.owner().is_some_and(|o| &*o.kind == "DaemonSet");
    let agent = cx.pods_on(&node.meta.name).into_iter().find(|p| of_set(p) && (writes(p) || named(p)));
    match agent {
        Some(pod) if pod.is_ready() => {
            let place = pod.reference().place();
            finding
                .fact("network agent", format!("{place} (Ready)"))
                .next(format!("The agent {place} runs, so restart the container runtime on {} (systemctl restart containerd): it has not loaded what is in /etc/cni/net.d.", node.meta.name))
        }
        Some(pod) => finding.fact("network agent", format!("{} (not Ready)", pod.reference().place())).waits_on(pod.reference()),
        None => finding,
    }
}

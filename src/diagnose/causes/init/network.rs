//! Networks that a pod does not get: the plugin fails, or has no address left.

use super::ROW;
use super::sandbox::{self, Failure};
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, texts};
use crate::model::{Node, ObjectRef, Pod};

pub(super) const FAILED: Cause = Cause {
    id: "cni-failed",
    title: "The network plugin fails",
    explanation: "The runtime calls the node's network plugin (CNI) for each pod, and the plugin fails. Most plugins need an agent pod on \
                  the same node; a file or socket that is missing is what that agent would have made.",
    told_apart: "cni-ip-exhausted works and has no address left. Files like /run/flannel/subnet.env are the agent's, not the pod's.",
    cure: "Repair the plugin's agent pod on that node.",
    docs: "concepts/extend-kubernetes/compute-storage-net/network-plugins/",
    judge: Judge::Pods(judge),
    ..ROW
};

pub(super) const EXHAUSTED: Cause = Cause {
    id: "cni-ip-exhausted",
    title: "The network plugin has no address left",
    explanation: "The plugin works and has no free address on this node: its range, its subnet or its interfaces are used up. Addresses \
                  that were leaked after crashes look the same although few pods run.",
    told_apart: "too-many-pods is the scheduler's count; here the pod was placed and gets no address.",
    cure: "Enlarge the range, put fewer pods on the node, or clean up leaked addresses.",
    docs: "concepts/extend-kubernetes/compute-storage-net/network-plugins/",
    ..ROW
};

/// Texts of plugins, in lower case.
const NO_ADDRESS: &[&str] = &[
    "no ip addresses available",
    "failed to assign an ip address",
    "no more ip",
    "no available ip",
    "no free ip",
    "no ips available",
    "insufficientfreeaddresses",
    "range is full",
    "no addresses available",
    "ips are in use",
    "all ip",
    "exhausted",
    "no ipv4 addresses available",
    "out of ip",
];

const NETWORK: &[&str] = &[
    "setup network for sandbox",
    "set up pod",
    "set up sandbox container",
    "cni network",
    "plugin type=",
    "networkplugin cni",
    "cni plugin",
    "cni request",
];

fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    let failure = sandbox::of(cx, pod)?;
    let said = failure.said.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|w| said.contains(w));
    Some(if has(NO_ADDRESS) {
        (EXHAUSTED.id, exhausted(cx, &failure))
    } else if has(&["is reserved for", "name is reserved", "requests that are timing out"]) {
        (sandbox::RESERVED.id, sandbox::reserved(cx, &failure))
    } else if has(&["sandbox image", "pause image"]) {
        (sandbox::IMAGE.id, sandbox::image(&failure))
    } else if has(&["no runtime for", "runtime handler", "runtimehandler", "runtimeclass"]) {
        (sandbox::RUNTIME_CLASS.id, sandbox::runtime_class(&failure))
    } else if has(NETWORK) {
        (FAILED.id, failed(cx, &failure))
    } else if has(&["deadline exceeded", "connection error", "stream terminated", "operation timeout"]) {
        (sandbox::TIMEOUT.id, sandbox::timeout(cx, &failure))
    } else {
        (sandbox::GENERIC.id, sandbox::generic(cx, &failure))
    })
}

fn plugin<'a>(failure: &Failure<'a>) -> Option<&'a str> {
    texts::capture(r#"plugin type="([^"]+)""#, failure.said).or(texts::capture(r#"CNI network "([^"]+)""#, failure.said))
}

/// What the plugin itself said.
fn error<'a>(failure: &'a Failure<'_>) -> &'a str {
    let said = failure.error();
    let said = said.split_once("failed (add): ").map_or(said, |(_, rest)| rest);
    said.split_once("\" network: ").map_or(said, |(_, rest)| rest).trim_end_matches(']')
}

fn failed(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let agent = agent(cx, failure);
    let name = plugin(failure).unwrap_or("the network plugin");
    let broken = agent.as_ref().filter(|a| !a.ready);
    let starting = agent.as_ref().is_some_and(|a| a.starting);
    let passing = starting || broken.is_none() && failure.may_pass(cx);
    let mut finding = failure
        .finding(if passing { Finding::delayed } else { Finding::blocked })
        .title(format!("network plugin {name} fails on {}", failure.node))
        .because(match broken {
            Some(a) => {
                format!("{name} fails on {} ({}), and its agent pod there, {}, is not ready.", failure.node, error(failure), a.pod.place())
            }
            None => format!("{name} fails on {}: {}.", failure.node, error(failure)),
        })
        .next(match &agent {
            Some(a) => format!("Repair {} on {} (pod {}).", a.workload, failure.node, a.pod.place()),
            None => format!("Look for the agent of {name} on {}: it is not among the pods there.", failure.node),
        })
        .fact("error", error(failure));
    if let Some(plugin) = plugin(failure) {
        finding = finding.fact("plugin", plugin);
    }
    let Some(agent) = agent else { return finding };
    finding = finding.fact("agent", &agent.pod).wider(Key::object(&agent.workload));
    if agent.ready { finding } else { finding.waits_on(agent.workload).waits_on(agent.pod) }
}

fn exhausted(cx: &Cx<'_>, failure: &Failure<'_>) -> Finding {
    let node = cx.get::<Node>("", failure.node).is();
    let on_node = cx.pods_on(failure.node);
    let leaving = on_node.iter().any(|p| p.deleted().is_some());
    let passing = failure.times < 3 || leaving && failure.may_pass(cx);
    let name = plugin(failure).unwrap_or("the network plugin");
    let mut finding = failure
        .finding(if passing { Finding::delayed } else { Finding::blocked })
        .title(format!("{name} has no free address on {}", failure.node))
        .because(format!("{name} cannot give the pod an address on {}: {}.", failure.node, error(failure)))
        .next(format!("Enlarge the address range of {}, move pods away from it, or clean up leaked addresses.", failure.node))
        .fact("podsOnNode", on_node.len())
        .fact("error", error(failure));
    let cidr = node.map(|n| &*n.spec.pod_cidr).filter(|c| !c.is_empty());
    let range = texts::capture(r"range set: (\S+)", failure.said);
    for (fact, value) in [("plugin", plugin(failure)), ("range", range), ("podCIDR", cidr)] {
        finding = value.into_iter().fold(finding, |f, value| f.fact(fact, value));
    }
    match agent(cx, failure) {
        Some(agent) => finding.wider(Key::object(&agent.workload)),
        None => finding,
    }
}

/// The plugin's own pod on the node.
struct Agent {
    pod: ObjectRef,
    workload: ObjectRef,
    ready: bool,
    starting: bool,
}

/// Plugins whose agent is called otherwise than they are.
const AGENTS: [(&str, &str); 5] =
    [("aws-cni", "aws-node"), ("ovn-k8s-cni-overlay", "ovnkube"), ("azure-vnet", "azure-cni"), ("ptp", "kindnet"), ("weave-net", "weave")];

/// Restarts of an agent that is only starting up.
const FEW: i64 = 3;

/// A pod of a DaemonSet on this node whose name or namespace holds the plugin's name.
fn agent(cx: &Cx<'_>, failure: &Failure<'_>) -> Option<Agent> {
    let plugin = plugin(failure).or_else(|| known(failure.said))?;
    let word = AGENTS.iter().find(|(p, _)| *p == plugin).map_or_else(|| stem(plugin), |(_, agent)| agent);
    let its = |p: &Pod<'_>| p.owner().is_some_and(|o| &*o.kind == "DaemonSet" && (o.name.contains(word) || p.namespace().contains(word)));
    let pod = cx.pods_on(failure.node).into_iter().find(its)?;
    let started = pod.container_statuses().filter_map(|(_, s)| s.state.running.as_ref()?.started_at).max();
    Some(Agent {
        pod: pod.reference(),
        workload: cx.workload_of(pod),
        ready: pod.is_ready(),
        starting: pod.restarts() < FEW && started.is_some_and(|at| !cx.passed(at.plus(120))),
    })
}

/// `cilium-cni` is of cilium.
fn stem(plugin: &str) -> &str {
    plugin.split(['-', '_']).next().unwrap_or(plugin)
}

/// A plugin that the text names in passing.
fn known(said: &str) -> Option<&'static str> {
    ["calico", "flannel", "cilium", "weave", "antrea", "multus", "kube-router"].into_iter().find(|w| said.contains(w))
}

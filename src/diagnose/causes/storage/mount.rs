//! What the kubelet says when it cannot mount, by its words.

use super::ROW;
use super::missing::MOUNT_RETRY;
use super::mounting::Mounting;
use super::provision::{SENTENCE, TITLE, brief};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Key, texts};
use crate::model::{Event, Node, ObjectRef, Pod};

pub(super) const KEY: Cause = Cause {
    id: "mount-key-missing",
    title: "A mounted Secret or ConfigMap lacks a key",
    explanation: "The volume picks single keys (items), and one of them is not in the object.",
    told_apart: "Without items every key becomes a file and none can be missing.",
    cure: "Add the key, or correct items.",
    docs: "concepts/storage/volumes/#configmap",
    ..ROW
};

pub(super) const CACHE: Cause = Cause {
    id: "mount-cache-sync",
    title: "A kubelet cannot fetch what a volume is made from",
    explanation: "The kubelet does not get a Secret, a ConfigMap or a token from the API server in time. Once at the start of a node this is normal.",
    told_apart: "A missing object has its own words.",
    cure: "If it lasts: check that the node reaches the API server, and that the namespace has kube-root-ca.crt.",
    docs: "concepts/storage/projected-volumes/",
    ..ROW
};

pub(super) const HOST_PATH: Cause = Cause {
    id: "mount-hostpath-type",
    title: "A path on the node is not what the volume expects",
    explanation: "hostPath with a type is checked before the pod starts: the path is missing on this node or is something else.",
    told_apart: "Without type nothing is checked, and the container sees what is there.",
    cure: "Correct path or type, create it on the node, or place the pod where it exists.",
    docs: "concepts/storage/volumes/#hostpath",
    ..ROW
};

pub(super) const DRIVER: Cause = Cause {
    id: "mount-driver-not-registered",
    title: "A storage driver is not registered on the node",
    explanation: "The driver's node plugin (a DaemonSet) announces itself to the kubelet, which then lists it in CSINode. Here it has not, so no volume of that driver can be mounted on the node.",
    told_apart: "A driver that is registered and fails answers with an rpc error.",
    cure: "Get the driver's DaemonSet running on that node.",
    docs: "concepts/storage/volumes/#csi",
    ..ROW
};

pub(super) const FILE_SYSTEM: Cause = Cause {
    id: "mount-fs-mismatch",
    title: "A volume's file system cannot be mounted",
    explanation: "The file system on the volume is not the expected one, is damaged, or cannot be made.",
    told_apart: "A server that refuses or does not answer is another matter: nothing is wrong with the data then.",
    cure: "Correct fsType, or repair or restore the file system.",
    ..ROW
};

pub(super) const IN_USE: Cause = Cause {
    id: "mount-rwop-in-use",
    title: "A ReadWriteOncePod volume is in use",
    explanation: "One pod in the cluster may use the claim, and another one on the node still does.",
    told_apart: "ReadWriteOnce allows several pods on one node.",
    cure: "Let the other pod end.",
    docs: "concepts/storage/persistent-volumes/#access-modes",
    ..ROW
};

pub(super) const NOT_ATTACHED: Cause = Cause {
    id: "mount-not-attached-yet",
    title: "The kubelet waits for a volume to be attached",
    explanation: "The kubelet looks for the VolumeAttachment and does not find it attached, or may not read it.",
    told_apart: "failed-attach has the attacher's own error.",
    cure: "Follow the VolumeAttachment.",
    ..ROW
};

pub(super) const COMMAND: Cause = Cause {
    id: "mount-failed-command",
    title: "The mount command fails on the node",
    explanation: "The kubelet ran mount (or a helper) and it failed; its output says why: server, network, rights, or a helper that is not installed.",
    told_apart: "Drivers that mount by themselves answer with an rpc error.",
    cure: "By the output: server and export, network, packages on the node.",
    docs: "concepts/storage/volumes/",
    ..ROW
};

pub(super) const RPC: Cause = Cause {
    id: "mount-csi-rpc-error",
    title: "A storage driver fails to mount a volume",
    explanation: "The driver's node plugin answered with an error (MountDevice is staging, SetUp is publishing).",
    told_apart: "A driver that is not there at all is not registered.",
    cure: "By the code and text; look at the driver's pod on that node.",
    docs: "concepts/storage/volumes/#csi",
    ..ROW
};

/// What an error means for waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hope {
    /// Trying again cannot help.
    None,
    /// It may, for the first few times.
    Some,
    /// It usually does; only much later it does not.
    Much,
}

/// Parts of the kubelet's texts, lower case; the first that occurs decides. More special before more general.
const WORDS: &[(&str, &Cause, Hope)] = &[
    ("non-existent config key", &KEY, Hope::None),
    ("non-existent secret key", &KEY, Hope::None),
    ("hostpath type check failed", &HOST_PATH, Hope::None),
    ("list of registered csi drivers", &DRIVER, Hope::Some),
    ("readwriteoncepod", &IN_USE, Hope::Some),
    ("wrong fs type", &FILE_SYSTEM, Hope::None),
    ("disk format of disk", &FILE_SYSTEM, Hope::None),
    ("format of disk", &FILE_SYSTEM, Hope::None),
    ("fsck' found errors", &FILE_SYSTEM, Hope::None),
    ("unformatted disk", &FILE_SYSTEM, Hope::None),
    ("waitforattach failed", &NOT_ATTACHED, Hope::Much),
    ("volumeattachments.storage.k8s.io", &NOT_ATTACHED, Hope::Much),
    ("access denied by server", &COMMAND, Hope::None),
    ("helper program", &COMMAND, Hope::None),
    ("mounting command", &COMMAND, Hope::Some),
    ("failed to sync", &CACHE, Hope::Much),
    ("not registered", &CACHE, Hope::Much),
    ("failed to fetch token", &CACHE, Hope::Much),
    ("code = aborted", &RPC, Hope::Much),
    ("code = deadlineexceeded", &RPC, Hope::Much),
    ("code = unavailable", &RPC, Hope::Much),
    ("rpc error", &RPC, Hope::Some),
];

/// Tries after which trying again is no hope.
const TRIES: i64 = 3;
const LONG: i64 = 600;
/// Mounting is tried without pause for this long before two minutes lie between tries.
const SHORT: i64 = 120;

/// What the newest word about the pod's volumes says, if its words are known.
pub(super) fn told(cx: &Cx<'_>, mounting: &Mounting<'_>) -> Option<(&'static str, Finding)> {
    let event = mounting.event.filter(|e| matches!(&*e.reason, "FailedMount" | "FailedMapVolume"))?;
    let lower = event.message.to_lowercase();
    let (_, cause, hope) = WORDS.iter().find(|(words, ..)| lower.contains(words))?;
    let volume = texts::capture(r#"(?i)for volume "([^"]+)""#, &event.message);
    let claim = volume.and_then(|v| mounting.claim_named(cx, v));
    let ends = match hope {
        Hope::None => true,
        Hope::Some => event.count >= TRIES && cx.older(event.first, SHORT),
        Hope::Much => cx.older(event.first, LONG),
    };
    let finding = mounting.keyed(cx, claim, if ends { Finding::blocked } else { Finding::delayed });
    let finding =
        if ends { finding } else { finding.clock(ClockKind::Retry, "the kubelet's next try", event.last.map(|at| at.plus(MOUNT_RETRY))) };
    let finding = if cause.id == DRIVER.id { driver(cx, mounting, event, finding) } else { finding };
    let finding = mounting.finish(worded(mounting, cause, event, volume, finding));
    Some((cause.id, finding))
}

fn worded(mounting: &Mounting<'_>, cause: &Cause, event: &Event, volume: Option<&str>, finding: Finding) -> Finding {
    let (short, long) = (short(&event.message, TITLE), short(&event.message, SENTENCE));
    let volume = volume.unwrap_or("a volume");
    let finding = finding.fact("volume", volume).because(format!(
        "The kubelet of {} cannot bring volume {volume} to {}: {long}.",
        mounting.node,
        mounting.workload.place()
    ));
    if !finding.title.is_empty() {
        return finding;
    }
    finding.title(format!("volume {volume} of {} cannot be mounted: {short}", mounting.workload.place())).next(cause.cure)
}

/// The part of a text that says why: behind nested errors, and of a command its output.
pub(super) fn short(message: &str, most: usize) -> String {
    let (_, text) = texts::rpc(message);
    let output = text.rsplit_once("Output: ").map(|(_, output)| output);
    let text = output.unwrap_or_else(|| text.split_once(" : ").map_or(text, |(_, why)| why));
    brief(text, most)
}

/// The driver's own pod on the node is what should announce it.
fn driver(cx: &Cx<'_>, mounting: &Mounting<'_>, event: &Event, mut finding: Finding) -> Finding {
    let Some(name) = texts::capture(r"(?i)driver name (\S+) not found", &event.message) else { return finding };
    let node = mounting.node;
    let root = ObjectRef::new("Node", "", node);
    let token = name.split('.').next().unwrap_or(name);
    let plugin = cx.pods_on(node).into_iter().find(|p: &Pod<'_>| p.name().contains(token) && p.name().contains("csi"));
    finding.key = Key::driver(name, node);
    finding.wider = None;
    if cx.get::<Node>("", node).is().is_some() {
        finding.root = root;
    }
    finding.waits_on.extend(plugin.map(|p| p.reference()));
    finding
        .title(format!("driver {name} is not registered on {node}"))
        .fact("driver", name)
        .next(format!("Get the node plugin of {name} running on {node}; its pod announces the driver to the kubelet."))
}

//! What a container's configuration asks for and does not get: secrets, config maps, keys, users, sub paths.

use super::ROW;
use crate::diagnose::causes::standing;
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Key, texts};
use crate::model::{Container, ContainerStatus, EnvVar, Event, Job, Kind, ObjectRef, Pod, Seen};

pub(super) const SECRET: Cause = Cause {
    id: "config-secret-missing",
    title: "A secret that a container's environment needs is missing",
    explanation: "The kubelet cannot make the container because a Secret named in env or envFrom does not exist. It looks again every few seconds; restartCount stays as it is.",
    told_apart: "mount-secret-missing needs it as a volume, before any container. config-key-missing has the Secret and lacks a key.",
    cure: "Create the Secret in the pod's namespace, correct its name, or mark the reference optional.",
    docs: "concepts/configuration/secret/",
    ..ROW
};

pub(super) const CONFIG_MAP: Cause = Cause {
    id: "config-configmap-missing",
    title: "A config map that a container's environment needs is missing",
    explanation: "The kubelet cannot make the container because a ConfigMap named in env or envFrom does not exist. It looks again every few seconds.",
    told_apart: "mount-configmap-missing needs it as a volume, before any container.",
    cure: "Create the ConfigMap in the pod's namespace, correct its name, or mark the reference optional.",
    docs: "concepts/configuration/configmap/",
    ..ROW
};

pub(super) const KEY: Cause = Cause {
    id: "config-key-missing",
    title: "A secret or config map lacks a key",
    explanation: "The object exists, the key that a container's environment names is not in it.",
    told_apart: "config-secret-missing and config-configmap-missing lack the whole object.",
    cure: "Add the key, or correct its name in the reference.",
    docs: "concepts/configuration/secret/",
    ..ROW
};

pub(super) const NON_ROOT: Cause = Cause {
    id: "config-run-as-non-root",
    title: "The image would run as root, and the pod forbids that",
    explanation: "runAsNonRoot is set and the image's user is root, or a name that the kubelet cannot check.",
    told_apart: "Pod security would have refused the pod at creation; here the kubelet looks at the image.",
    cure: "Set runAsUser to a number other than 0, or build the image with a numeric USER.",
    docs: "tasks/configure-pod-container/security-context/",
    ..ROW
};

pub(super) const SUB_PATH: Cause = Cause {
    id: "config-subpath",
    title: "A sub path of a volume cannot be prepared",
    explanation: "The kubelet cannot create or open the subPath of a volume that the container mounts.",
    told_apart: "start-mount-error fails in the runtime, after the kubelet has prepared everything.",
    cure: "Make the path creatable on the volume, or delete the pod so that the volume is mounted anew.",
    docs: "concepts/storage/volumes/",
    ..ROW
};

pub(super) const CACHE: Cause = Cause {
    id: "config-cache-sync",
    title: "The kubelet has not read the objects it needs yet",
    explanation: "A kubelet that is overloaded or has just started has not yet got the secrets, config maps or services from the API server. The objects usually exist.",
    told_apart: "*not found* means that it looked and found nothing.",
    cure: "Wait; if it lasts, look at the node's way to the API server.",
    clears: 15,
    ..ROW
};

/// A container that waits for its configuration.
struct Refused<'a> {
    pod: Pod<'a>,
    status: &'a ContainerStatus,
    path: String,
    message: &'a str,
}

pub(super) fn judge(cx: &Cx<'_>, pod: Pod<'_>) -> Option<(&'static str, Finding)> {
    let refused = pod.container_statuses().find_map(|(role, status)| {
        let waiting = status.state.waiting.as_ref().filter(|w| &*w.reason == "CreateContainerConfigError")?;
        let path = standing::status_path(role, &status.name, "state.waiting");
        let event = error_event(cx, pod, status).map_or("", |e| e.message.trim_start_matches("Error: "));
        let message = if waiting.message.is_empty() { event } else { &*waiting.message };
        Some(Refused { pod, status, path, message })
    })?;
    let said = refused.message.to_ascii_lowercase();
    Some(if let Some(name) = texts::capture(r#"secrets? "([^"]+)" (?:not found|is forbidden)"#, refused.message) {
        (SECRET.id, missing(cx, &refused, Kind::Secret, name))
    } else if let Some(name) = texts::capture(r#"configmaps? "([^"]+)" (?:not found|is forbidden)"#, refused.message) {
        (CONFIG_MAP.id, missing(cx, &refused, Kind::ConfigMap, name))
    } else if said.contains("couldn't find key") || said.contains("non-existent config key") {
        (KEY.id, key(cx, &refused))
    } else if said.contains("runasnonroot") || said.contains("non-root") {
        (NON_ROOT.id, non_root(cx, &refused))
    } else if said.contains("subpath") || said.contains("cannot find volume") {
        (SUB_PATH.id, sub_path(cx, &refused))
    } else if said.contains("failed to sync") || said.contains("have not yet been read") {
        (CACHE.id, cache(cx, &refused))
    } else {
        (super::create::GENERIC.id, refused.prove(super::create::unknown(cx, pod, refused.status, refused.message)))
    })
}

/// The newest error that the kubelet wrote about this container.
pub(super) fn error_event<'a>(cx: &Cx<'a>, pod: Pod<'_>, status: &ContainerStatus) -> Option<&'a Event> {
    let about_it = |e: &&Event| &*e.reason == "Failed" && e.about.container().is_none_or(|c| c == &*status.name);
    cx.events(&pod.reference()).into_iter().filter(about_it).find(|e| e.message.starts_with("Error: ") && e.message.contains(' '))
}

impl Refused<'_> {
    fn container(&self) -> Option<&Container> {
        self.pod.spec().container(&self.status.name)
    }

    fn prove(&self, finding: Finding) -> Finding {
        finding.fact("container", &self.status.name).evidence(
            self.pod.reference(),
            &*self.path,
            format!("CreateContainerConfigError: {}", self.message),
            None,
        )
    }
}

/// The kubelet looked and did not find it. If it is there by now, the next look will.
fn missing(cx: &Cx<'_>, refused: &Refused<'_>, kind: Kind, name: &str) -> Finding {
    let namespace = refused.pod.namespace();
    let object = ObjectRef::new(kind.row().name, namespace, name);
    let what = if kind == Kind::Secret { "secret" } else { "config map" };
    let key = Key::object(&object);
    if let Seen::Is(_) = cx.object(kind, namespace, name) {
        let finding = standing::keyed(cx, refused.pod, key, Finding::delayed)
            .title(format!("{what} {} is there now, the kubelet has not looked again", object.place()))
            .because(format!("container {} waited for {what} {name}, which exists by now.", refused.status.name))
            .next("Wait for the kubelet's next look, at the latest a minute away.")
            .clock(ClockKind::Retry, "pod sync", None);
        return refused.prove(finding).fact("object", object);
    }
    let maker = maker(cx, namespace, name);
    let mut finding = standing::keyed(cx, refused.pod, key, if maker.is_some() { Finding::delayed } else { Finding::blocked })
        .title(format!("{what} {} does not exist", object.place()))
        .because(format!("container {} takes its environment from {what} {name}, which is not in {namespace}.", refused.status.name))
        .next(format!("Create {what} {name} in {namespace}, correct the name, or mark the reference optional."));
    if let Some(job) = maker {
        finding = finding
            .next(format!("Wait for Job {}, which names it and is still running.", job.name))
            .clock(ClockKind::Provisioning, format!("Job {}", job.name), None)
            .waits_on(job);
    }
    if let Some(variable) = refused.container().and_then(|c| variable(c, kind, name, None)) {
        finding = finding.fact("env", variable);
    }
    refused.prove(finding).fact("object", object)
}

/// A running Job whose containers name the object: it is about to make it.
fn maker(cx: &Cx<'_>, namespace: &str, name: &str) -> Option<ObjectRef> {
    let names_it = |c: &Container| c.args.iter().chain(&c.command).any(|word| word.contains(name));
    let job = cx.all::<Job>(Some(namespace)).find(|job| job.status.active > 0 && job.spec.template.spec.all_containers().any(names_it))?;
    Some(ObjectRef::new("Job", namespace, &job.meta.name))
}

/// The variable that asks for the object, or for the key in it; `envFrom` where the whole object is asked for.
fn variable(container: &Container, kind: Kind, name: &str, key: Option<&str>) -> Option<String> {
    let asks = |e: &&EnvVar| {
        let source = e.value_from.as_ref();
        let reference = source.and_then(|s| if kind == Kind::Secret { s.secret_key_ref.as_ref() } else { s.config_map_key_ref.as_ref() });
        reference.is_some_and(|r| &*r.name == name && key.is_none_or(|k| &*r.key == k))
    };
    container.env.iter().find(asks).map(|e| e.name.to_string()).or_else(|| {
        let whole = |e: &crate::model::EnvFrom| if kind == Kind::Secret { e.secret_ref.clone() } else { e.config_map_ref.clone() };
        container.env_from.iter().filter_map(whole).any(|r| &*r.name == name).then(|| "envFrom".to_owned())
    })
}

/// The object is there without the key, as far as the kubelet has seen; if it changed since, the next look will tell.
fn key(cx: &Cx<'_>, refused: &Refused<'_>) -> Finding {
    let said = texts::captures(r"key:? (\S+)(?: in (Secret|ConfigMap) ([^/\s]+)/(\S+))?", refused.message);
    let part = |i: usize| said.as_ref().and_then(|c| c.get(i)).map(|m| m.as_str());
    let (key, kind, name) = (part(1).unwrap_or("?"), part(2).unwrap_or("Secret"), part(4).unwrap_or("?"));
    let object = ObjectRef::new(kind.to_owned(), refused.pod.namespace(), name);
    let id = if kind == "Secret" { Kind::Secret } else { Kind::ConfigMap };
    let looked = error_event(cx, refused.pod, refused.status).and_then(|e| e.last);
    let changed = cx.object(id, refused.pod.namespace(), name).is().and_then(|o| o.meta().changed);
    let newer = changed.is_some() && looked.is_some() && changed > looked;
    let mut finding = standing::keyed(cx, refused.pod, Key::object(&object), if newer { Finding::delayed } else { Finding::blocked })
        .title(format!("{kind} {} has no key {key}", object.place()))
        .because(format!("container {} asks for key {key}; {kind} {name} exists and does not have it.", refused.status.name))
        .next(format!("Add key {key} to {kind} {name}, or correct the key in the workload's env."))
        .fact("key", key)
        .fact("object", &object);
    if newer {
        finding = finding.clock(ClockKind::Retry, "pod sync", None).next("Wait for the kubelet's next look: the object has changed since.");
    }
    if let Some(variable) = refused.container().and_then(|c| variable(c, id, name, Some(key))) {
        finding = finding.fact("env", variable);
    }
    refused.prove(finding)
}

fn non_root(cx: &Cx<'_>, refused: &Refused<'_>) -> Finding {
    let user = texts::capture(r"non-numeric user \(([^)]*)\)", refused.message);
    let why =
        user.map_or_else(|| "the image runs as root".to_owned(), |u| format!("the image's user {u} is a name, which cannot be checked"));
    let finding = standing::of_workload(cx, refused.pod, Finding::blocked)
        .title(format!("container {} must not run as root", refused.status.name))
        .because(format!("runAsNonRoot is set and {why}."))
        .next(format!(
            "Set runAsUser of container {} to a number other than 0, or build the image with a numeric USER.",
            refused.status.name
        ));
    refused.prove(finding)
}

fn sub_path(cx: &Cx<'_>, refused: &Refused<'_>) -> Finding {
    let volume = texts::capture(r#"volume(?:Mount)? "([^"]+)""#, refused.message).unwrap_or("?");
    let finding = standing::of_workload(cx, refused.pod, Finding::blocked)
        .title(format!("the sub path of volume {volume} cannot be prepared"))
        .because(format!("the kubelet cannot create or open the subPath of volume {volume} for container {}.", refused.status.name))
        .next(format!("Make the path creatable on volume {volume}, or delete the pod so that it is mounted anew."))
        .fact("volume", volume);
    refused.prove(finding)
}

/// Two minutes without its objects: then the kubelet does not reach the API server.
fn cache(cx: &Cx<'_>, refused: &Refused<'_>) -> Finding {
    let lasting = cx.older(standing::unready_since(refused.pod), 300);
    let finding = standing::of_workload(cx, refused.pod, if lasting { Finding::blocked } else { Finding::delayed })
        .title("the kubelet has not read what the container needs")
        .because(format!("the kubelet of {} has not got it from the API server yet.", refused.pod.node().unwrap_or("the node")))
        .next("Wait; if it lasts, look at the node's way to the API server.")
        .clock(ClockKind::Retry, "pod sync", None);
    refused.prove(finding)
}

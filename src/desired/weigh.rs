//! In which direction a risky difference goes, from desired to live: weaker, stronger, or only different.

use serde_json::Value;

use super::place::Place;
use super::risk::Class;

/// Where a change leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    Weakening,
    Strengthening,
    Changed,
}

impl Direction {
    pub fn id(self) -> &'static str {
        match self {
            Self::Weakening => "weakening",
            Self::Strengthening => "strengthening",
            Self::Changed => "changed",
        }
    }

    fn reversed(self) -> Self {
        match self {
            Self::Weakening => Self::Strengthening,
            Self::Strengthening => Self::Weakening,
            Self::Changed => Self::Changed,
        }
    }
}

use Direction::{Changed, Strengthening, Weakening};

/// Direction and meaning of a difference of this class.
pub fn weigh(class: Class, place: &Place<'_>) -> (Direction, String) {
    let (direction, text) = match class {
        Class::Privilege => privilege(place),
        Class::Host => host(place),
        Class::Identity => identity(place),
        Class::Rbac => access(place),
        Class::Network => network(place),
        Class::Image => image(place),
        Class::Secrets => plainly(place, Changed, Changed),
        Class::Availability => availability(place),
        Class::Admission => admission(place),
        Class::Control => plainly(place, Changed, Changed),
        Class::Provenance => plainly(place, Changed, Weakening),
        Class::Benign => plainly(place, Changed, Changed),
    };
    (direction, text.unwrap_or_else(|| format!("{} {}", place.path.last(), kind_of_change(place))))
}

type Weight = (Direction, Option<String>);

fn kind_of_change(place: &Place<'_>) -> &'static str {
    match (place.desired, place.live) {
        (None, _) => "added",
        (_, None) => "removed",
        (Some(_), Some(_)) => "changed",
    }
}

/// By the kind of change alone: what an addition and what a removal mean.
fn plainly(place: &Place<'_>, added: Direction, removed: Direction) -> Weight {
    let direction = match (place.desired, place.live) {
        (None, _) => added,
        (_, None) => removed,
        (Some(_), Some(_)) => Changed,
    };
    (direction, None)
}

/// A switch that is dangerous when it is on.
fn switch(place: &Place<'_>, dangerous: bool) -> Weight {
    let on = |value: Option<&Value>| value == Some(&Value::Bool(dangerous));
    match (on(place.desired), on(place.live)) {
        (false, true) => (Weakening, Some(format!("{} is {dangerous}", place.path.last()))),
        (true, false) => (Strengthening, Some(format!("{} is no longer {dangerous}", place.path.last()))),
        _ => (Changed, None),
    }
}

/// A switch that protects when it is in this position.
fn guard(place: &Place<'_>, safe: bool) -> Weight {
    let on = |value: Option<&Value>| value == Some(&Value::Bool(safe));
    match (on(place.desired), on(place.live)) {
        (true, false) => (Weakening, Some(format!("{} is no longer {safe}", place.path.last()))),
        (false, true) => (Strengthening, Some(format!("{} is {safe}", place.path.last()))),
        _ => (Changed, None),
    }
}

fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Whether live has texts that desired has not, and the other way round.
fn gained_and_lost(place: &Place<'_>) -> (bool, bool) {
    let (desired, live) = (texts(place.desired), texts(place.live));
    (live.iter().any(|t| !desired.contains(t)), desired.iter().any(|t| !live.contains(t)))
}

fn privilege(place: &Place<'_>) -> Weight {
    let live = place.live.and_then(Value::as_str).unwrap_or_default();
    match place.path.last() {
        "privileged" | "allowPrivilegeEscalation" | "hostProcess" => match switch(place, true) {
            (Weakening, _) if place.path.last() == "privileged" => {
                (Weakening, Some("a privileged container: restricted → privileged".to_owned()))
            }
            weight => weight,
        },
        "runAsNonRoot" | "readOnlyRootFilesystem" => guard(place, true),
        "runAsUser" | "runAsGroup" | "fsGroup" => {
            let is_root = |value: Option<&Value>| value.and_then(Value::as_i64) == Some(0);
            match (is_root(place.desired), is_root(place.live)) {
                (false, true) => (Weakening, Some(format!("{} is root", place.path.last()))),
                (true, false) => (Strengthening, None),
                _ => plainly(place, Strengthening, Weakening),
            }
        }
        "add" => match gained_and_lost(place) {
            (true, _) => (Weakening, Some("a capability is added".to_owned())),
            (false, true) => (Strengthening, None),
            (false, false) => (Changed, None),
        },
        "drop" => match gained_and_lost(place) {
            (_, true) => (Weakening, Some("a capability is no longer dropped".to_owned())),
            (true, false) => (Strengthening, None),
            (false, false) => (Changed, None),
        },
        "sysctls" => plainly(place, Weakening, Strengthening),
        _ if matches!(live, "Unconfined" | "Unmasked" | "unconfined") => (Weakening, Some(format!("{} is {live}", place.path.last()))),
        _ => plainly(place, Strengthening, Weakening),
    }
}

fn host(place: &Place<'_>) -> Weight {
    match place.path.last() {
        "hostNetwork" | "hostPID" | "hostIPC" | "shareProcessNamespace" => switch(place, true),
        "hostUsers" => guard(place, false),
        _ => match plainly(place, Weakening, Strengthening) {
            (Weakening, _) => (Weakening, Some("access to the host is added".to_owned())),
            weight => weight,
        },
    }
}

fn identity(place: &Place<'_>) -> Weight {
    if place.path.last() == "automountServiceAccountToken" {
        return guard(place, false);
    }
    (Changed, None)
}

fn access(place: &Place<'_>) -> Weight {
    let gained = match (place.desired, place.live) {
        (Some(Value::Array(_)), Some(Value::Array(_))) => match gained_and_lost(place) {
            (true, _) => Weakening,
            (false, true) => Strengthening,
            (false, false) => Changed,
        },
        _ => plainly(place, Weakening, Strengthening).0,
    };
    // Fewer names means more objects.
    let gained = if place.path.last() == "resourceNames" { gained.reversed() } else { gained };
    let text = match (gained, place.path.fields().next()) {
        (Weakening, Some("subjects")) => Some("a new subject has these rights".to_owned()),
        (Weakening, Some("rules")) if is_wide(place.live) => Some("rights to secrets, or to everything, are added".to_owned()),
        (Weakening, Some("rules")) => Some("rights are added".to_owned()),
        _ => None,
    };
    (gained, text)
}

fn is_wide(value: Option<&Value>) -> bool {
    match value {
        Some(Value::String(text)) => {
            matches!(text.as_str(), "*" | "secrets" | "escalate" | "bind" | "impersonate" | "pods/exec" | "nodes/proxy")
        }
        Some(Value::Array(items)) => items.iter().any(|item| is_wide(Some(item))),
        Some(Value::Object(fields)) => fields.values().any(|value| is_wide(Some(value))),
        Some(Value::Null | Value::Bool(_) | Value::Number(_)) | None => false,
    }
}

fn network(place: &Place<'_>) -> Weight {
    let fields: Vec<&str> = place.path.fields().collect();
    match (place.cx.kind, fields.as_slice()) {
        ("Service", ["spec", "ports", ..]) => match plainly(place, Weakening, Strengthening) {
            (Weakening, _) if place.path.last() != "nodePort" => (Weakening, Some("a port is opened".to_owned())),
            (Strengthening, _) => (Changed, Some("a port is closed".to_owned())),
            (_, text) => (Changed, text),
        },
        ("Service", [_, "type"]) => match texts(place.live).first() {
            Some(&"NodePort" | &"LoadBalancer") => (Weakening, Some("the service is exposed outside the cluster".to_owned())),
            _ => (Changed, None),
        },
        ("Service", [_, "externalIPs", ..]) => plainly(place, Weakening, Strengthening),
        ("Service", [_, "loadBalancerSourceRanges", ..]) => plainly(place, Strengthening, Weakening),
        (_, [_, "tls", ..]) => plainly(place, Strengthening, Weakening),
        (kind, [_, rest @ ..]) if kind.ends_with("NetworkPolicy") => policy(place, rest),
        _ => (Changed, None),
    }
}

fn policy(place: &Place<'_>, rest: &[&str]) -> Weight {
    let is_all = |value: Option<&Value>| match value {
        Some(Value::Object(rule)) => rule.is_empty(),
        Some(Value::Array(rules)) => rules.iter().any(|rule| rule.as_object().is_some_and(serde_json::Map::is_empty)),
        _ => false,
    };
    match rest {
        ["ingress" | "egress"] if is_all(place.live) && !is_all(place.desired) => (Weakening, Some("denies → allows all".to_owned())),
        ["ingress" | "egress"] => plainly(place, Weakening, Strengthening),
        // No peers or ports at all means every peer or port.
        [_, "from" | "to" | "ports"] if matches!(place.live, None | Some(Value::Array(_))) && place.desired.is_some() => {
            (Weakening, Some("a restriction is gone".to_owned()))
        }
        [_, "from" | "to" | "ports", ..] => plainly(place, Weakening, Changed),
        ["policyTypes", ..] => match gained_and_lost(place) {
            (_, true) => (Weakening, Some("traffic in one direction is no longer restricted".to_owned())),
            (true, false) => (Strengthening, None),
            (false, false) => (Changed, None),
        },
        _ => (Changed, None),
    }
}

fn image(place: &Place<'_>) -> Weight {
    if place.path.last() != "image" {
        return (Changed, None);
    }
    let (Some(desired), Some(live)) = (place.desired.and_then(Value::as_str), place.live.and_then(Value::as_str)) else {
        return (Changed, None);
    };
    let is_latest =
        |image: &str| !image.contains('@') && image.rsplit('/').next().is_some_and(|n| !n.contains(':') || n.ends_with(":latest"));
    let registry = |image: &str| image.split_once('/').map_or(String::new(), |(host, _)| host.to_owned());
    if desired.contains('@') && !live.contains('@') {
        (Weakening, Some("the image's digest is lost".to_owned()))
    } else if is_latest(live) && !is_latest(desired) {
        (Weakening, Some("the image's tag floats".to_owned()))
    } else if registry(desired) != registry(live) {
        (Weakening, Some("the image comes from another registry".to_owned()))
    } else {
        (Changed, Some("the image is another one".to_owned()))
    }
}

fn availability(place: &Place<'_>) -> Weight {
    let fields: Vec<&str> = place.path.fields().collect();
    match fields.as_slice() {
        [.., "replicas"] if place.live.and_then(Value::as_i64) == Some(0) => (Weakening, Some("scaled to nothing".to_owned())),
        [.., "paused" | "suspend"] => switch(place, true),
        _ if fields.iter().any(|f| f.ends_with("Probe")) => plainly(place, Strengthening, Weakening),
        [.., "limits" | "requests", _] | [.., "limits" | "requests" | "resources"] => plainly(place, Strengthening, Weakening),
        ["metadata", "finalizers", ..] => plainly(place, Changed, Weakening),
        _ => (Changed, None),
    }
}

fn admission(place: &Place<'_>) -> Weight {
    match (place.path.last(), texts(place.desired).first(), texts(place.live).first()) {
        ("failurePolicy", Some(&"Fail") | None, Some(&"Ignore")) => (Weakening, Some("what the webhook cannot judge is let in".to_owned())),
        ("failurePolicy", Some(&"Ignore"), Some(&"Fail")) => (Strengthening, None),
        (name, desired, live) if name.starts_with("pod-security.kubernetes.io/") => {
            let level = |text: Option<&&str>| match text {
                Some(&"restricted") => 2,
                Some(&"baseline") => 1,
                _ => 0,
            };
            match level(desired).cmp(&level(live)) {
                std::cmp::Ordering::Greater => (Weakening, Some("pods of a lower security level are let in".to_owned())),
                std::cmp::Ordering::Less => (Strengthening, None),
                std::cmp::Ordering::Equal => (Changed, None),
            }
        }
        ("validationActions", ..) => match gained_and_lost(place) {
            (_, true) => (Weakening, None),
            (true, false) => (Strengthening, None),
            (false, false) => (Changed, None),
        },
        ("webhooks" | "rules", ..) => plainly(place, Strengthening, Weakening),
        _ => (Changed, None),
    }
}

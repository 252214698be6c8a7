//! Access rules and exceptions from policies that no source asked for: what they allow, whom, and since when.

use std::collections::BTreeMap;

use serde_json::Value;

use super::said::{Exception, Stranger};
use crate::desired::diff::{Diff, FieldDiff};
use crate::desired::object::Identity;
use crate::desired::risk::Class;

/// What was seen of roles, and what of bindings and policies is in no source. A role may come after the bindings that name it.
#[derive(Debug, Default)]
pub struct Access {
    /// By kind, namespace and name.
    roles: BTreeMap<(String, String, String), Vec<&'static str>>,
    found: Vec<Found>,
}

#[derive(Debug)]
struct Found {
    exception: Exception,
    /// Who gets the rights of which role.
    binding: Option<Binding>,
}

#[derive(Debug)]
struct Binding {
    subjects: String,
    role: (String, String, String),
}

const RBAC: &str = "rbac.authorization.k8s.io";

/// Kinds that restrict others, or make exceptions from that; "*" is any kind of the group.
const POLICIES: &[(&str, &str, &str)] = &[
    ("kyverno.io", "PolicyException", "exempts objects from policies"),
    ("policies.kyverno.io", "PolicyException", "exempts objects from policies"),
    ("kyverno.io", "*", "decides what is let in"),
    ("networking.k8s.io", "NetworkPolicy", "decides who reaches pods"),
    ("cilium.io", "CiliumNetworkPolicy", "decides who reaches pods"),
    ("cilium.io", "CiliumClusterwideNetworkPolicy", "decides who reaches pods"),
    ("security.istio.io", "*", "decides who reaches workloads"),
    ("constraints.gatekeeper.sh", "*", "decides what is let in"),
    ("admissionregistration.k8s.io", "*", "decides what is let in"),
];

impl Access {
    /// Every role says what it allows, whoever made it.
    pub fn role(&mut self, object: &Identity, live: &Value) {
        if object.group == RBAC && matches!(object.kind.as_str(), "Role" | "ClusterRole") {
            self.roles.insert((object.kind.clone(), object.namespace.clone(), object.name.clone()), powers(live));
        }
    }

    /// An object that no source knows.
    pub fn stranger(&mut self, stranger: &Stranger, live: &Value) {
        let object = &stranger.object;
        let (what, binding) = match object.kind.as_str() {
            "RoleBinding" | "ClusterRoleBinding" if object.group == RBAC => (String::new(), Some(binding(object, live, &live["subjects"]))),
            "Role" | "ClusterRole" if object.group == RBAC => (allows(object, &powers(live)), None),
            "Namespace" if object.group.is_empty() && lets_privileged_in(live) => {
                (format!("namespace {} lets privileged pods in", object.name), None)
            }
            kind => match POLICIES.iter().find(|(group, of, _)| *group == object.group && (*of == "*" || *of == kind)) {
                Some((.., does)) => (format!("{kind} {} {does}{}", object.name, within(&object.namespace)), None),
                None => return,
            },
        };
        let (by, since) = (stranger.by.clone(), stranger.since.clone());
        self.found.push(Found { exception: Exception { object: object.clone(), path: String::new(), what, by, since }, binding });
    }

    /// What a declared object allows beyond what was asked for.
    pub fn differs(&mut self, live: &Value, diff: &Diff) {
        for field in diff.fields.iter().filter(|field| field.verdict.is_loud()) {
            let first = field.path.fields().next().unwrap_or_default();
            let is_binding = diff.object.group == RBAC && first == "subjects";
            let binding = is_binding.then(|| new_subjects(field)).flatten().map(|subjects| binding(&diff.object, live, &subjects));
            if is_binding && binding.is_none() || !is_binding && !opens(field, diff) {
                continue;
            }
            let what = field.risk.as_ref().map_or(String::new(), |risk| risk.text.clone());
            let what = format!("{} {}: {what}", diff.object.kind, place(&diff.object));
            let (by, since) = field.owner.as_ref().map_or_else(Default::default, |owner| (owner.manager.clone(), owner.time.clone()));
            let exception = Exception { object: diff.object.clone(), path: field.path.to_string(), what, by, since };
            self.found.push(Found { exception, binding });
        }
    }

    /// In words, oldest first; those of which nobody knows since when, last.
    pub fn exceptions(self) -> Vec<Exception> {
        let Self { roles, found } = self;
        let said = |Found { mut exception, binding }: Found| {
            if let Some(binding) = binding {
                exception.what = binding.said(&exception.object, roles.get(&binding.role).map_or(&[][..], Vec::as_slice));
            }
            exception
        };
        let mut all: Vec<Exception> = found.into_iter().map(said).collect();
        all.sort_by(|a, b| {
            let rank = |e: &Exception| (e.since.is_empty(), e.since.clone());
            rank(a).cmp(&rank(b)).then_with(|| a.object.cmp(&b.object)).then_with(|| a.path.cmp(&b.path))
        });
        all
    }
}

impl Binding {
    /// `subject bob reads secrets in shop (Role reader)`.
    fn said(&self, object: &Identity, powers: &[&'static str]) -> String {
        let (kind, _, role) = &self.role;
        let place = if object.namespace.is_empty() { " in all namespaces".to_owned() } else { within(&object.namespace) };
        match powers {
            [] => format!("{} has the rights of {kind} {role}{place}", self.subjects),
            powers => format!("{} {}{place} ({kind} {role})", self.subjects, powers.join(" and ")),
        }
    }
}

fn within(namespace: &str) -> String {
    if namespace.is_empty() { String::new() } else { format!(" in {namespace}") }
}

fn place(object: &Identity) -> String {
    if object.namespace.is_empty() { object.name.clone() } else { format!("{}/{}", object.namespace, object.name) }
}

fn allows(object: &Identity, powers: &[&'static str]) -> String {
    let powers = if powers.is_empty() { "gives rights".to_owned() } else { powers.join(" and ") };
    format!("whoever has {} {} {powers}{}", object.kind, object.name, within(&object.namespace))
}

fn binding(object: &Identity, live: &Value, subjects: &Value) -> Binding {
    let text = |key: &str| live.pointer(&format!("/roleRef/{key}")).and_then(Value::as_str).unwrap_or_default().to_owned();
    let namespace = if text("kind") == "Role" { object.namespace.clone() } else { String::new() };
    Binding { subjects: named(subjects), role: (text("kind"), namespace, text("name")) }
}

/// Subjects that are named; of more their number.
const NAMED: usize = 3;

/// `subject bob`, `service account ci/deploy`, `group devs`.
fn named(subjects: &Value) -> String {
    let all = subjects.as_array().map_or(std::slice::from_ref(subjects), Vec::as_slice);
    let all: Vec<&Value> = all.iter().filter(|subject| subject.is_object()).collect();
    let one = |subject: &&Value| {
        let text = |key: &str| subject.get(key).and_then(Value::as_str).unwrap_or_default();
        match text("kind") {
            "ServiceAccount" => format!("service account {}/{}", text("namespace"), text("name")),
            "Group" => format!("group {}", text("name")),
            _ => format!("subject {}", text("name")),
        }
    };
    let names: Vec<String> = all.iter().take(NAMED).map(one).collect();
    match (names.len(), all.len()) {
        (0, _) => "nobody yet".to_owned(),
        (1, 1) => names.concat(),
        (shown, count) if count > shown => format!("each of {} and {} more", names.join(", "), count - shown),
        _ => format!("each of {}", names.join(" and ")),
    }
}

/// Subjects that live has beyond what was asked for: one, or those of a list that the source does not have.
fn new_subjects(field: &FieldDiff) -> Option<Value> {
    match (&field.desired, field.live.as_ref()?) {
        (None, live @ (Value::Object(_) | Value::Array(_))) => Some(live.clone()),
        (Some(Value::Array(asked)), Value::Array(live)) => {
            let new: Vec<Value> = live.iter().filter(|subject| !asked.contains(subject)).cloned().collect();
            (!new.is_empty()).then_some(Value::Array(new))
        }
        _ => None,
    }
}

/// Whether a difference opens what a rule or policy closed.
fn opens(field: &FieldDiff, diff: &Diff) -> bool {
    let restricts = |class: Class| match class {
        Class::Rbac | Class::Admission => true,
        Class::Network => diff.object.kind.ends_with("NetworkPolicy"),
        Class::Privilege
        | Class::Host
        | Class::Identity
        | Class::Image
        | Class::Secrets
        | Class::Availability
        | Class::Control
        | Class::Provenance
        | Class::Benign => false,
    };
    field.is_weaker() && field.risk.as_ref().is_some_and(|risk| restricts(risk.class))
}

fn lets_privileged_in(live: &Value) -> bool {
    live.pointer("/metadata/labels").and_then(|labels| labels.get("pod-security.kubernetes.io/enforce")).and_then(Value::as_str)
        == Some("privileged")
}

/// A rule of a role.
struct Rule<'a>(&'a Value);

impl Rule<'_> {
    fn has(&self, key: &str, wanted: &[&str]) -> bool {
        let all = self.0.get(key).and_then(Value::as_array);
        all.into_iter().flatten().filter_map(Value::as_str).any(|one| one == "*" || wanted.contains(&one))
    }

    fn on(&self, groups: &[&str], resources: &[&str], verbs: &[&str]) -> bool {
        self.has("apiGroups", groups) && self.has("resources", resources) && self.has("verbs", verbs)
    }

    /// All of everything, in so many words.
    fn is_all(&self) -> bool {
        ["apiGroups", "resources", "verbs"].iter().all(|key| self.has(key, &[]))
    }
}

type Power = (&'static str, fn(&Rule<'_>) -> bool);

const WRITE: &[&str] = &["create", "update", "patch", "delete"];

/// Rights worth naming, the widest first.
const POWERS: &[Power] = &[
    ("grants rights that it does not have", |rule| rule.on(&[RBAC], &["roles", "clusterroles"], &["escalate", "bind"])),
    ("acts as others", |rule| rule.has("verbs", &["impersonate"])),
    ("reads secrets", |rule| rule.on(&[""], &["secrets"], &["get", "list", "watch"])),
    ("reaches the kubelet", |rule| rule.on(&[""], &["nodes/proxy"], &["get", "create"])),
    ("runs commands in pods", |rule| {
        rule.on(&[""], &["pods/exec", "pods/attach", "pods/ephemeralcontainers"], &["create", "get", "patch"])
    }),
    ("changes access rules", |rule| rule.on(&[RBAC], &["roles", "clusterroles", "rolebindings", "clusterrolebindings"], WRITE)),
    ("changes what is let in", |rule| rule.has("apiGroups", &["admissionregistration.k8s.io"]) && rule.has("verbs", WRITE)),
    ("creates pods", |rule| rule.on(&[""], &["pods"], &["create"])),
    ("changes workloads", |rule| rule.on(&["apps", "batch"], &["deployments", "statefulsets", "daemonsets", "jobs", "cronjobs"], WRITE)),
];

/// Rights that are named at most.
const TOLD: usize = 3;

fn powers(role: &Value) -> Vec<&'static str> {
    let rules: Vec<Rule<'_>> = role.get("rules").and_then(Value::as_array).into_iter().flatten().map(Rule).collect();
    if rules.iter().any(Rule::is_all) {
        return vec!["may do everything"];
    }
    POWERS.iter().filter(|(_, is)| rules.iter().any(is)).map(|(name, _)| *name).take(TOLD).collect()
}

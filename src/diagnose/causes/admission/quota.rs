//! Quotas that stand in the way of a pod.

use super::refusal::{self, Refusal};
use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{Kind, LimitRange, ObjectRef, Quantity, ResourceQuota, Seen};

const ROW: Cause = Cause { docs: "concepts/policy/resource-quotas/", needs: &[Kind::ResourceQuota], ..super::ROW };

pub(super) const EXCEEDED: Cause = Cause {
    id: "quota-exceeded",
    title: "A resource quota is full",
    explanation: "The namespace's ResourceQuota leaves no room for what a controller wants to create, so the API server refuses it: no pod \
                  appears, and the refusal is only in an event and in the ReplicaFailure condition.",
    told_apart: "quota-requires-resources refuses a pod that names no requests at all; here it names them and they do not fit. The text \
                 outlives its reason: where the quota has room now, only the controller's next try is missing.",
    cure: "Raise the quota, lower the requests, or free what others in the namespace use.",
    judge: Judge::Workload(exceeded),
    ..ROW
};

pub(super) const REQUIRES: Cause = Cause {
    id: "quota-requires-resources",
    title: "A quota demands requests or limits that the pod does not state",
    explanation: "A ResourceQuota that limits compute resources makes it a duty of every container to state them. The template does not, \
                  and no LimitRange supplies a default, so every pod is refused.",
    told_apart: "quota-exceeded means that the stated amounts do not fit; here the quota may be half empty.",
    cure: "State the requests and limits in the pod template, or give the namespace a LimitRange with defaults.",
    judge: Judge::Workload(requires),
    ..ROW
};

pub(super) const UNKNOWN: Cause = Cause {
    id: "quota-status-unknown",
    title: "A quota has not been counted yet",
    explanation: "The API server refuses pods while the quota controller has not written what is in use, usually for less than a second \
                  after the quota was made.",
    told_apart: "If it lasts, the quota controller does not work: the row of the controller manager then says so.",
    cure: "Wait; if it stays so, look at kube-controller-manager.",
    judge: Judge::Workload(unknown),
    ..ROW
};

pub(super) const SCOPE: Cause = Cause {
    id: "quota-scope-uncovered",
    title: "No quota of the namespace covers this kind of pod",
    explanation: "The API server is configured so that some pods (for example of a critical priority class) may only be made where a quota \
                  covers them, and none in this namespace does.",
    told_apart: "quota-exceeded names a quota that is full; here one is missing.",
    cure: "Create a quota with that scope in the namespace, or use another priority class.",
    judge: Judge::Workload(uncovered),
    ..ROW
};

fn exceeded(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let pattern = r"exceeded quota: (?P<quota>[^,\s]+), requested: (?P<requested>.+?), used: (?P<used>.+?), limited: (?P<limited>[^,\s]+(?:,[^,\s]+)*)";
    let said = texts::captures(pattern, refusal.message)?;
    let namespace = &workload.meta().namespace;
    let quota = ObjectRef::new("ResourceQuota", namespace, &said["quota"]);
    let short = match cx.get::<ResourceQuota>(namespace, &said["quota"]) {
        Seen::Is(q) => short_now(q, &said["requested"]),
        Seen::Absent => Vec::new(),
        Seen::Unknown => short_then(&said["requested"], &said["used"], &said["limited"]),
    };
    let finding = if short.is_empty() { room(cx, &refusal, quota) } else { full(&refusal, &quota, &short) };
    Some(
        finding
            .fact("quota", &said["quota"])
            .fact("requested", &said["requested"])
            .fact("used", &said["used"])
            .fact("limited", &said["limited"]),
    )
}

/// A resource of which the quota leaves less than one more pod asks for.
struct Short {
    resource: String,
    used: Quantity,
    hard: Quantity,
    asked: Quantity,
}

impl Short {
    fn of(resource: &str, asked: &str, used: &Quantity, hard: &Quantity) -> Option<Self> {
        let asked = Quantity::parse(asked)?;
        (used.nano() + asked.nano() > hard.nano()).then(|| Self {
            resource: resource.into(),
            used: used.clone(),
            hard: hard.clone(),
            asked,
        })
    }

    fn text(&self) -> String {
        format!("{} {} of {}", self.resource, self.used.text(), self.hard.text())
    }

    /// What the quota would have to allow for so many more pods.
    fn needed(&self, pods: i64) -> String {
        let nano = self.used.nano() + self.asked.nano() * i128::from(pods.max(1));
        format!("{} to {}", self.resource, Quantity::spell(&self.resource, nano))
    }
}

/// Judged by the quota as it is now.
fn short_now(quota: &ResourceQuota, requested: &str) -> Vec<Short> {
    let short = pairs(requested).filter_map(|(name, amount)| {
        let hard = quota.status.hard.get(name).or_else(|| quota.spec.hard.get(name))?;
        Short::of(name, amount, quota.status.used.get(name)?, hard)
    });
    short.collect()
}

/// Judged by the refusal alone, where the quota may not be read.
fn short_then(requested: &str, used: &str, limited: &str) -> Vec<Short> {
    let find = |list: &str, name: &str| pairs(list).find(|(n, _)| *n == name).and_then(|(_, amount)| Quantity::parse(amount));
    let short = pairs(requested).filter_map(|(name, amount)| Short::of(name, amount, &find(used, name)?, &find(limited, name)?));
    short.collect()
}

/// `requests.cpu=2,pods=1`.
fn pairs(list: &str) -> impl Iterator<Item = (&str, &str)> {
    list.split(',').filter_map(|pair| pair.trim().split_once('='))
}

fn full(refusal: &Refusal<'_>, quota: &ObjectRef, short: &[Short]) -> Finding {
    let list = short.iter().map(Short::text).collect::<Vec<_>>().join(", ");
    let asked = short.iter().map(|s| format!("{} {}", s.resource, s.asked.text())).collect::<Vec<_>>().join(", ");
    let needed = short.iter().map(|s| s.needed(refusal.lacking)).collect::<Vec<_>>().join(" and ");
    let state = if short.iter().any(|s| s.used.nano() >= s.hard.nano()) { "is full" } else { "has too little left" };
    let finding = Finding::blocked(Key::object(quota), quota.clone())
        .title(format!("quota {} {state}: {list}", quota.place()))
        .because(format!("quota {} leaves no room for another pod, which asks for {asked}: in use are {list}.", quota.name))
        .next(format!(
            "Raise {needed} in quota {}, lower what the pods ask for, or free what others in {} use.",
            quota.name, quota.namespace
        ));
    refusal.prove(finding)
}

fn room(cx: &Cx<'_>, refusal: &Refusal<'_>, quota: ObjectRef) -> Finding {
    let title = format!("quota {} has room again, the controller has not retried yet", quota.place());
    refusal.lifted(cx, Key::object(&quota), quota, "the quota that refused them leaves room now").title(title)
}

/// Both wordings: `must specify requests.cpu,requests.memory` and, later, `must specify limits.cpu for: app; requests.memory for: app,proxy`.
fn requires(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let said = texts::captures(r"failed quota: (?P<quota>[^:\s]+): must specify (?P<missing>.+)$", refusal.message)?;
    let namespace = &workload.meta().namespace;
    let quota = ObjectRef::new("ResourceQuota", namespace, &said["quota"]);
    let missing = said["missing"].trim().trim_end_matches(['.', ']']);
    let lifted = match cx.get::<ResourceQuota>(namespace, &said["quota"]) {
        Seen::Is(q) => resources_of(missing).all(|r| !q.spec.hard.contains_key(r) && !q.status.hard.contains_key(r)),
        Seen::Absent => true,
        Seen::Unknown => false,
    };
    let key = Key::object(&quota);
    let finding = if lifted || has_defaults(cx, namespace, missing) {
        let title = format!("quota {} no longer refuses {}", quota.place(), workload.reference().place());
        refusal.lifted(cx, key, quota, "what the quota demands is no longer missing").title(title)
    } else {
        let finding = Finding::blocked(key, quota.clone())
            .title(format!("quota {} demands {missing}, the template does not say", quota.place()))
            .because(format!(
                "quota {} makes {missing} a duty; the pod template of {} does not state it and no LimitRange gives a default.",
                quota.name,
                workload.meta().name
            ))
            .next(format!(
                "State {missing} in the template of {}, or add a LimitRange with defaults to {namespace}.",
                workload.reference()
            ));
        refusal.prove(finding)
    };
    Some(finding.fact("quota", &said["quota"]).fact("missing", missing))
}

/// The resources in `limits.cpu for: app; requests.memory for: app,proxy`, or in `requests.cpu,requests.memory`.
fn resources_of(missing: &str) -> impl Iterator<Item = &str> {
    let parts = missing.split(';').map(|part| part.split(" for:").next().unwrap_or(part));
    parts.flat_map(|names| names.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

/// Whether a LimitRange fills in everything that is missing.
fn has_defaults(cx: &Cx<'_>, namespace: &str, missing: &str) -> bool {
    let ranges: Vec<&LimitRange> = cx.all::<LimitRange>(Some(namespace)).collect();
    let given = |resource: &str| {
        let (side, name) = resource.split_once('.').unwrap_or(("requests", resource));
        let limits = ranges.iter().flat_map(|r| &r.spec.limits).filter(|l| &*l.kind == "Container");
        // A default limit is the request too, where no default request is given.
        limits.into_iter().any(|l| l.default.contains_key(name) || (side != "limits" && l.default_request.contains_key(name)))
    };
    resources_of(missing).all(given)
}

fn unknown(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let name = texts::capture(r"status unknown for quota: ([^,\s]+)", refusal.message)?;
    let quota = ObjectRef::new("ResourceQuota", &workload.meta().namespace, name);
    let counted = match cx.get::<ResourceQuota>(&workload.meta().namespace, name) {
        Seen::Is(q) => !q.status.used.is_empty(),
        Seen::Absent => true,
        Seen::Unknown => false,
    };
    let why = if counted { "the quota has been counted since" } else { "the quota controller has not counted what is in use yet" };
    let title = format!("quota {} had not been counted when a pod was refused", quota.place());
    Some(refusal.lifted(cx, Key::object(&quota), quota, why).title(title).fact("quota", name))
}

fn uncovered(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let what = texts::capture(r"(?i)insufficient quota to (?:match these scopes|consume): (.+)$", refusal.message)?;
    let namespace = ObjectRef::new("Namespace", "", &workload.meta().namespace);
    let finding = Finding::blocked(Key::object(&namespace), namespace)
        .title(format!("no quota in {} covers {what}", workload.meta().namespace))
        .because(format!("pods with {what} may only be made where a quota covers them, and none in {} does.", workload.meta().namespace))
        .next(format!("Create a ResourceQuota in {} whose scope matches {what}, or change the priority class.", workload.meta().namespace))
        .fact("scope", what);
    Some(refusal.prove(finding))
}

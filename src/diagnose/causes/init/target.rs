//! Target: what an init container waits for, found by the name in its command, and how that stands.

use super::words::{self, Named};
use crate::diagnose::backends::{self, Backend};
use crate::diagnose::{Cx, Workload};
use crate::model::{Condition, Container, Job, Kind, ObjectRef, Phase, Pod, Seen, Selector, Service, Time};

/// Something that is waited for.
pub(super) struct Target {
    /// As the command names it.
    pub name: String,
    pub object: Option<ObjectRef>,
    pub state: State,
}

pub(super) enum State {
    /// It has been there since then.
    Up(Option<Time>),
    /// Not there yet; these objects would have to come up.
    Down(Vec<ObjectRef>),
    /// Switched off: nothing brings it up.
    Off(ObjectRef),
    /// It does not exist.
    Missing,
    /// Outside of the cluster, or what would tell may not be read.
    Unknown,
}

/// What the container waits for, in the order of its command.
pub(super) struct Targets {
    pub all: Vec<Target>,
    /// The container does nothing but wait.
    pub is_wait: bool,
}

/// Names at which the search ends: a command that names more is no wait.
const MOST: usize = 8;

pub(super) fn of(cx: &Cx<'_>, pod: Pod<'_>, container: &Container) -> Targets {
    let Named { hosts, objects, is_wait } = words::named(container);
    let called = hosts.into_iter().take(MOST).map(|host| by_host(cx, pod.namespace(), host));
    let asked = objects.into_iter().take(MOST).map(|(kind, name)| by_object(cx, pod.namespace(), kind, &name));
    Targets { all: called.chain(asked).collect(), is_wait }
}

impl Target {
    pub fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    /// `Service shop/db`, or the name alone where no object is known.
    pub fn place(&self) -> String {
        self.object.as_ref().map_or_else(|| self.name.clone(), |o| format!("{} {}", o.kind, o.place()))
    }
}

/// The Service behind a name as DNS searches for it from this namespace: `db`, `db.ns`, `pod.db`, `db.ns.svc…`.
fn by_host(cx: &Cx<'_>, namespace: &str, host: String) -> Target {
    let labels: Vec<&str> = host.split('.').collect();
    let found = match labels.as_slice() {
        [name] => Some(service(cx, namespace, name)),
        [_, name, ns, "svc", ..] | [name, ns, "svc", ..] => Some(service(cx, ns, name)),
        [first, second] => inside(cx, namespace, first, second),
        _ => None,
    };
    let (object, state) = found.map_or((None, State::Unknown), |(object, state)| (Some(object), state));
    Target { name: host, object, state }
}

/// `name.namespace`, or `pod.service`; a name of two parts that is neither is somewhere else.
fn inside(cx: &Cx<'_>, namespace: &str, first: &str, second: &str) -> Option<(ObjectRef, State)> {
    if cx.get::<Service>(second, first).is().is_some() {
        return Some(service(cx, second, first));
    }
    cx.get::<Service>(namespace, second).is().map(|_| service(cx, namespace, second))
}

fn service(cx: &Cx<'_>, namespace: &str, name: &str) -> (ObjectRef, State) {
    let backend = Backend::of(cx, namespace, name);
    let state = match backend.service {
        Seen::Is(service) => standing(cx, &backend, service),
        Seen::Absent => State::Missing,
        Seen::Unknown => State::Unknown,
    };
    (backend.reference, state)
}

fn standing(cx: &Cx<'_>, backend: &Backend<'_>, service: &Service) -> State {
    let pods = cx.pods_selected(&service.meta.namespace, &Selector::from_map(&service.spec.selector));
    let ready: Vec<&Pod<'_>> = pods.iter().filter(|p| p.is_ready()).collect();
    if backend.ready.map_or(!ready.is_empty(), |n| n > 0) {
        let since = ready.iter().filter_map(|p| p.ready_since()).min();
        return State::Up(since.or(service.meta.created));
    }
    if service.spec.selector.is_empty() {
        return State::Unknown;
    }
    let workloads = backends::workloads_of(cx, service);
    let off = workloads.iter().find(|w| cx.workload(w).is_some_and(|w| w.desired() == 0));
    if let Some(off) = off.filter(|_| pods.is_empty()) {
        return State::Off(off.clone());
    }
    let tops: Vec<ObjectRef> = workloads.iter().filter_map(|w| cx.workload(w).map(|w| cx.top_controller(w.kind(), w.meta()))).collect();
    let own = [backend.reference.clone()].into_iter().chain(pods.iter().map(|p| p.reference()));
    State::Down(own.chain(workloads).chain(tops).collect())
}

fn by_object(cx: &Cx<'_>, namespace: &str, kind: Kind, name: &str) -> Target {
    if kind == Kind::Service {
        return by_host(cx, namespace, name.to_owned());
    }
    let object = ObjectRef::new(kind.row().name, namespace, name);
    let state = match cx.object(kind, namespace, name) {
        Seen::Unknown => State::Unknown,
        Seen::Absent => State::Missing,
        Seen::Is(found) if has_come(cx, kind, &object) => State::Up(found.meta().created),
        Seen::Is(_) => State::Down(vec![object.clone()]),
    };
    Target { name: name.to_owned(), object: Some(object), state }
}

/// Pods and workloads must be ready, Jobs complete; anything else only has to exist.
fn has_come(cx: &Cx<'_>, kind: Kind, object: &ObjectRef) -> bool {
    let (namespace, name) = (&*object.namespace, &*object.name);
    if kind == Kind::Pod {
        return cx.pod(namespace, name).is_some_and(|p| p.is_ready() || p.phase() == Phase::Succeeded);
    }
    if kind == Kind::Job {
        return cx.get::<Job>(namespace, name).is().is_some_and(is_complete);
    }
    cx.workload(object).is_none_or(is_ready)
}

fn is_complete(job: &Job) -> bool {
    Condition::find(&job.status.conditions, "Complete").is_some_and(Condition::is_true)
}

fn is_ready(workload: Workload<'_>) -> bool {
    workload.desired() > 0 && workload.ready() >= workload.desired()
}

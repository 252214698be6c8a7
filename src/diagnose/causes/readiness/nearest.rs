//! Services whose selector matches nothing: which workload was meant, and whether anybody has to care.

use super::services::{self, Behind};
use crate::diagnose::{Cx, Finding, Key, Workload, backends};
use crate::model::{DaemonSet, Deployment, Pairs, Pod, Service, StatefulSet};

/// Releases make Services before workloads.
const ORDER: i64 = 60;

/// The workload whose template shares most with the selector, and what it lacks.
struct Nearest<'a> {
    workload: Workload<'a>,
    shared: usize,
    /// `component=web (it has component=api)`
    lacking: Vec<(&'a str, &'a str, Option<&'a str>)>,
}

pub(super) fn matches_nothing(cx: &Cx<'_>, service: &Service) -> Option<Finding> {
    if !services::selects(service) || !matches!(services::behind(cx, service), Behind::Nothing) {
        return None;
    }
    if !backends::workloads_of(cx, service).is_empty() || !cx.older(service.meta.created, ORDER) {
        return None;
    }
    let root = services::reference(service);
    let nearest = nearest(cx, service);
    let Some(near) = nearest.filter(|n| n.is_meant(cx, service)) else {
        let why = format!(
            "selects {}, which no pod and no workload here has: left over, or filled by an operator",
            services::labels(&service.spec.selector)
        );
        return Some(Finding::quiet(root, why).since(service.meta.changed.or(service.meta.created)));
    };
    let meant = near.workload.reference();
    let lacking = near.in_words();
    Some(
        Finding::blocked(Key::object(&root), root.clone())
            .title(format!("Service {} selects no pod: {} on none", root.place(), near.labels()))
            .because(format!(
                "its selector asks for {}; {meant} comes nearest and lacks {lacking}.",
                services::labels(&service.spec.selector)
            ))
            .next(format!("Take {} out of the selector of {}, or add it to the pod template of {meant}.", near.labels(), root.place()))
            .fact("selector", services::labels(&service.spec.selector))
            .fact("nearest", &meant)
            .fact("lacking", &lacking)
            .since(service.meta.changed.or(service.meta.created))
            .evidence(root, "spec.selector", services::labels(&service.spec.selector), service.meta.changed)
            .evidence(meant, "spec.template.metadata.labels", services::labels(&near.workload.template().meta.labels), None),
    )
}

fn nearest<'a>(cx: &Cx<'a>, service: &'a Service) -> Option<Nearest<'a>> {
    let namespace = Some(&*service.meta.namespace);
    let deployments = cx.all::<Deployment>(namespace).map(Workload::Deployment);
    let sets = cx.all::<StatefulSet>(namespace).map(Workload::StatefulSet);
    let daemons = cx.all::<DaemonSet>(namespace).map(Workload::DaemonSet);
    let all = deployments.chain(sets).chain(daemons).map(|w| Nearest::of(w, &service.spec.selector));
    all.max_by_key(|n| (n.shared, n.has_all_keys(), std::cmp::Reverse(n.workload.reference())))
}

impl<'a> Nearest<'a> {
    fn of(workload: Workload<'a>, selector: &'a Pairs) -> Self {
        let labels = &workload.template().meta.labels;
        let lacking: Vec<_> = selector.iter().map(|(k, v)| (k, v, labels.get(k))).filter(|(_, v, has)| *has != Some(*v)).collect();
        Self { workload, shared: selector.len() - lacking.len(), lacking }
    }

    fn has_all_keys(&self) -> bool {
        self.lacking.iter().all(|(_, _, has)| has.is_some())
    }

    /// Somebody meant this workload: it shares a label, or has the same keys. Not where an operator made the Service, where the
    /// label comes and goes on running pods (a leader, a replica), or where a Service only for scraping finds no target.
    fn is_meant(&self, cx: &Cx<'_>, service: &Service) -> bool {
        let headless = &*service.spec.cluster_ip == "None";
        let close = self.shared > 0 || self.has_all_keys() && !headless;
        close
            && service.meta.controller().is_none()
            && !self.lacking.iter().any(|(key, _, has)| has.is_none() && is_dynamic(cx, service, key))
    }

    fn labels(&self) -> String {
        self.lacking.iter().map(|(k, v, _)| format!("{k}={v}")).collect::<Vec<_>>().join(", ")
    }

    fn in_words(&self) -> String {
        let word = |(k, v, has): &(&str, &str, Option<&str>)| match has {
            Some(has) => format!("{k}={v} (it has {k}={has})"),
            None => format!("{k}={v}"),
        };
        self.lacking.iter().map(word).collect::<Vec<_>>().join(", ")
    }
}

/// Running pods carry the key, so somebody sets it while they run.
fn is_dynamic(cx: &Cx<'_>, service: &Service, key: &str) -> bool {
    let has_others = |p: &Pod<'_>| service.spec.selector.iter().filter(|(k, _)| *k != key).all(|(k, v)| p.label(k) == Some(v));
    cx.pods(Some(&service.meta.namespace)).any(|p| p.label(key).is_some() && has_others(&p))
}

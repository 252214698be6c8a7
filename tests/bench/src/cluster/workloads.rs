//! Controllers of pods, with statuses that agree with their pods.

use std::fmt::Write;

use super::plan::{Maker, Owner, Plan, State};
use super::rng::Rng;
use super::spec::{self, Gap};

pub fn deployments(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (at, owner) in of(plan, Maker::ReplicaSet) {
        let (app, name, ready, wanted) = (&owner.app, &owner.app, ready(plan, at), owner.pods);
        let mut out = head(plan, "apps/v1", "Deployment", name, owner, &owner.above, "");
        let _ = write!(
            out,
            r#""spec":{{"replicas":{wanted},"selector":{{"matchLabels":{{"app":"{app}"}}}},"template":{},"strategy":{{"type":"RollingUpdate","rollingUpdate":{{"maxUnavailable":"25%","maxSurge":"25%"}}}},"revisionHistoryLimit":10,"progressDeadlineSeconds":600}},"#,
            template(owner)
        );
        let available =
            if ready * 4 >= wanted * 3 { ("True", "MinimumReplicasAvailable") } else { ("False", "MinimumReplicasUnavailable") };
        let _ = write!(
            out,
            r#""status":{{"observedGeneration":4,"replicas":{wanted},"updatedReplicas":{wanted},"readyReplicas":{ready},"availableReplicas":{ready},"unavailableReplicas":{},"conditions":[{{"type":"Progressing","status":"True","lastUpdateTime":"2026-04-02T10:00:00Z","lastTransitionTime":"2026-04-01T10:00:00Z","reason":"NewReplicaSetAvailable","message":"ReplicaSet \"{}\" has successfully progressed."}},{{"type":"Available","status":"{}","lastUpdateTime":"2026-04-02T10:00:00Z","lastTransitionTime":"2026-04-02T10:00:00Z","reason":"{}","message":"Deployment status of minimum availability."}}]}}}}"#,
            wanted - ready,
            owner.name,
            available.0,
            available.1
        );
        each(&out);
    }
}

/// The present ReplicaSet of each Deployment and the one before it.
pub fn replica_sets(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (at, owner) in of(plan, Maker::ReplicaSet) {
        let ready = ready(plan, at);
        each(&replica_set(plan, owner, &owner.name, &owner.uid, &owner.hash, (owner.pods, ready)));
        let mut rng = Rng::new(owner.seed ^ 0x01d);
        let (hash, uid) = (rng.name(10), rng.uid());
        each(&replica_set(plan, owner, &format!("{}-{hash}", owner.app), &uid, &hash, (0, 0)));
    }
}

fn replica_set(plan: &Plan, owner: &Owner, name: &str, uid: &str, hash: &str, (wanted, ready): (usize, usize)) -> String {
    let above = format!(
        r#","ownerReferences":[{{"apiVersion":"apps/v1","kind":"Deployment","name":"{}","uid":"{}","controller":true,"blockOwnerDeletion":true}}]"#,
        owner.app, owner.above
    );
    let mut out = head(plan, "apps/v1", "ReplicaSet", name, owner, uid, &above);
    let _ = write!(
        out,
        r#""spec":{{"replicas":{wanted},"selector":{{"matchLabels":{{"app":"{}","pod-template-hash":"{hash}"}}}},"template":{}}},"status":{{"replicas":{wanted},"fullyLabeledReplicas":{wanted},"readyReplicas":{ready},"availableReplicas":{ready},"observedGeneration":4}}}}"#,
        owner.app,
        template(owner)
    );
    out
}

pub fn daemon_sets(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (at, owner) in of(plan, Maker::DaemonSet) {
        let (wanted, ready) = (owner.pods, ready(plan, at));
        let mut out = head(plan, "apps/v1", "DaemonSet", &owner.name, owner, &owner.uid, "");
        let _ = write!(
            out,
            r#""spec":{{"selector":{{"matchLabels":{{"app":"{}"}}}},"template":{},"updateStrategy":{{"type":"RollingUpdate","rollingUpdate":{{"maxUnavailable":1,"maxSurge":0}}}},"revisionHistoryLimit":10}},"status":{{"currentNumberScheduled":{wanted},"numberMisscheduled":0,"desiredNumberScheduled":{wanted},"numberReady":{ready},"observedGeneration":4,"updatedNumberScheduled":{wanted},"numberAvailable":{ready},"numberUnavailable":{}}}}}"#,
            owner.app,
            template(owner),
            wanted - ready
        );
        each(&out);
    }
}

pub fn stateful_sets(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (at, owner) in of(plan, Maker::StatefulSet) {
        let (wanted, ready, name, hash) = (owner.pods, ready(plan, at), &owner.name, &owner.hash);
        let mut out = head(plan, "apps/v1", "StatefulSet", name, owner, &owner.uid, "");
        let _ = write!(
            out,
            r#""spec":{{"replicas":{wanted},"selector":{{"matchLabels":{{"app":"{name}"}}}},"template":{},"volumeClaimTemplates":[{{"kind":"PersistentVolumeClaim","apiVersion":"v1","metadata":{{"name":"data"}},"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"20Gi"}}}},"storageClassName":"fast"}}}}],"serviceName":"{name}","podManagementPolicy":"Parallel","updateStrategy":{{"type":"RollingUpdate","rollingUpdate":{{"partition":0}}}},"revisionHistoryLimit":10}},"status":{{"observedGeneration":4,"replicas":{wanted},"readyReplicas":{ready},"currentReplicas":{wanted},"updatedReplicas":{wanted},"currentRevision":"{name}-{hash}","updateRevision":"{name}-{hash}","collisionCount":0,"availableReplicas":{ready}}}}}"#,
            template(owner)
        );
        each(&out);
    }
}

pub fn jobs(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (at, owner) in of(plan, Maker::Job) {
        let done = plan.of_owner(at).filter(|pod| pod.state == State::Completed).count();
        let (wanted, active) = (owner.pods, owner.pods - done);
        let above = format!(
            r#","ownerReferences":[{{"apiVersion":"batch/v1","kind":"CronJob","name":"{}","uid":"{}","controller":true,"blockOwnerDeletion":true}}]"#,
            owner.app,
            cron_uid(plan, owner)
        );
        let mut out = head(plan, "batch/v1", "Job", &owner.name, owner, &owner.uid, &above);
        let _ = write!(
            out,
            r#""spec":{{"parallelism":{wanted},"completions":{wanted},"backoffLimit":6,"selector":{{"matchLabels":{{"batch.kubernetes.io/controller-uid":"{}"}}}},"template":{},"completionMode":"NonIndexed","suspend":false,"podReplacementPolicy":"TerminatingOrFailed"}},"#,
            owner.uid,
            template(owner)
        );
        if active == 0 {
            let _ = write!(
                out,
                r#""status":{{"conditions":[{{"type":"SuccessCriteriaMet","status":"True","lastProbeTime":"2026-04-20T03:10:00Z","lastTransitionTime":"2026-04-20T03:10:00Z","reason":"CompletionsReached"}},{{"type":"Complete","status":"True","lastProbeTime":"2026-04-20T03:10:00Z","lastTransitionTime":"2026-04-20T03:10:00Z","reason":"CompletionsReached"}}],"startTime":"2026-04-20T03:00:00Z","completionTime":"2026-04-20T03:10:00Z","succeeded":{done},"terminating":0,"uncountedTerminatedPods":{{}},"ready":0}}}}"#
            );
        } else {
            let _ = write!(
                out,
                r#""status":{{"startTime":"2026-04-20T03:00:00Z","active":{active},"succeeded":{done},"terminating":0,"uncountedTerminatedPods":{{}},"ready":{}}}}}"#,
                ready(plan, at)
            );
        }
        each(&out);
    }
}

/// One CronJob for every family of Jobs.
pub fn cron_jobs(plan: &Plan, each: &mut dyn FnMut(&str)) {
    let mut last = None;
    for (_, owner) in of(plan, Maker::Job) {
        let uid = cron_uid(plan, owner);
        if last.replace(uid.clone()).is_some_and(|last| last == uid) {
            continue;
        }
        let mut out = head(plan, "batch/v1", "CronJob", &owner.app, owner, &uid, "");
        let _ = write!(
            out,
            r#""spec":{{"schedule":"0 3 * * *","concurrencyPolicy":"Allow","suspend":false,"jobTemplate":{{"metadata":{{}},"spec":{{"template":{}}}}},"successfulJobsHistoryLimit":8,"failedJobsHistoryLimit":1}},"status":{{"lastScheduleTime":"2026-04-28T03:00:00Z","lastSuccessfulTime":"2026-04-28T03:10:00Z"}}}}"#,
            template(owner)
        );
        each(&out);
    }
}

fn cron_uid(plan: &Plan, owner: &Owner) -> String {
    Rng::new(plan.seed ^ owner.seed ^ (owner.namespace as u64) << 20).uid()
}

/// The controllers of one kind and where they stand in the plan, in the order of the plan.
pub fn of(plan: &Plan, maker: Maker) -> impl Iterator<Item = (usize, &Owner)> {
    plan.owners.iter().enumerate().filter(move |(_, owner)| owner.maker == maker)
}

/// How many pods of a controller are ready.
pub fn ready(plan: &Plan, owner: usize) -> usize {
    plan.of_owner(owner).filter(|pod| matches!(pod.state, State::Healthy | State::OutOfMemory)).count()
}

fn head(plan: &Plan, api: &str, kind: &str, name: &str, owner: &Owner, uid: &str, above: &str) -> String {
    let mut rng = Rng::new(owner.seed ^ 0x6865_6164);
    let (namespace, app, version) = (&plan.namespaces[owner.namespace], &owner.app, 1_000_000_000 + rng.below(900_000_000));
    format!(
        r#"{{"kind":"{kind}","apiVersion":"{api}","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{uid}","resourceVersion":"{version}","generation":4,"creationTimestamp":"2026-04-01T08:00:00Z","labels":{{"app":"{app}","app.kubernetes.io/name":"{app}"}},"annotations":{{"deployment.kubernetes.io/revision":"4"}}{above},"managedFields":[{{"manager":"kube-controller-manager","operation":"Update","apiVersion":"{api}","time":"2026-04-02T10:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:annotations":{{"f:deployment.kubernetes.io/revision":{{}}}}}},"f:status":{{"f:availableReplicas":{{}},"f:observedGeneration":{{}},"f:readyReplicas":{{}},"f:replicas":{{}}}}}},"subresource":"status"}}]}},"#
    )
}

/// The pod template: the spec of its pods without what is a pod's own.
fn template(owner: &Owner) -> String {
    let app = &owner.app;
    let mut out = format!(
        r#"{{"metadata":{{"labels":{{"app":"{app}","app.kubernetes.io/component":"server","app.kubernetes.io/instance":"{app}","app.kubernetes.io/name":"{app}","team":"{}"}}}},"spec":"#,
        app.split('-').next().unwrap_or_default()
    );
    for (text, gap) in &spec::spec(owner).0 {
        out.push_str(text);
        match gap {
            Some(Gap::Token | Gap::Name | Gap::SameNode) => out.push('x'),
            Some(Gap::Node) | None => {}
        }
    }
    out.push('}');
    out
}

//! Jobs whose work is done, and that a container beside it keeps alive.

use crate::diagnose::{Cause, Cx, Finding, Judge, Key, Workload};
use crate::model::{ContainerRole, ContainerStatus, Job, Kind, Pod, Time};

pub(super) const JOB_SIDECAR: Cause = Cause {
    id: "job-sidecar-running",
    title: "A Job is done and an injected container keeps it alive",
    explanation: "Every container of the Job's own template has ended with code 0, and a container that was added to the pod (by an \
                  injector, mostly) still runs. A pod completes when all its ordinary containers have ended, so the Job never does.",
    told_apart: "A native sidecar (an init container with restartPolicy Always) is stopped by the kubelet and holds nothing up.",
    cure: "Let the injector use native sidecars (1.29 and later), tell the sidecar to quit at the end, or exclude Jobs from injection.",
    docs: "concepts/workloads/pods/sidecar-containers/",
    judge: Judge::Workload(kept_alive),
    ..super::ROW
};

/// A sidecar that ends by itself after the work does so within seconds.
const QUITS_BY_ITSELF: i64 = 60;

fn kept_alive(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let Workload::Job(job) = workload else { return None };
    // Of a plain pod all containers run, or all have ended.
    let pods = cx.pods_of(&job.meta.uid).into_iter().filter(|pod| !pod.is_plain());
    let kept = pods.filter_map(|pod| Kept::find(job, pod)).find(|k| cx.older(Some(k.done), QUITS_BY_ITSELF))?;
    let root = cx.top_controller(Kind::Job, &job.meta);
    let (running, finished) = (kept.running.join(", "), kept.finished.join(", "));
    let finding = Finding::blocked(Key::object(&root), workload.reference())
        .title(format!("the work of {} is done, container {running} keeps it from completing", workload.reference().place()))
        .because(format!("container {finished} of the template ended with exit code 0, and {running}, which was injected, still runs: the pod never completes."))
        .next(format!("Stop {running} (or delete the pod), then have it injected as a native sidecar, or keep it out of Jobs."))
        .since(Some(kept.done))
        .fact("finished", &finished)
        .fact("exitCode", 0)
        .fact("running", &running)
        .evidence(kept.pod.reference(), format!("status.containerStatuses[name={finished}].state.terminated"), "exitCode: 0, reason: Completed", Some(kept.done))
        .evidence(kept.pod.reference(), format!("status.containerStatuses[name={running}].state.running"), "running, not in spec.template", None);
    Some(finding)
}

struct Kept<'a> {
    pod: Pod<'a>,
    finished: Vec<&'a str>,
    running: Vec<&'a str>,
    /// When the last of the template's containers ended.
    done: Time,
}

impl<'a> Kept<'a> {
    fn find(job: &Job, pod: Pod<'a>) -> Option<Self> {
        let is_own = |s: &&ContainerStatus| job.spec.template.spec.containers.iter().any(|c| c.name == s.name);
        let statuses: Vec<&'a ContainerStatus> =
            pod.container_statuses().filter(|(role, _)| *role == ContainerRole::App).map(|(_, s)| s).collect();
        let (own, added): (Vec<_>, Vec<_>) = statuses.into_iter().partition(is_own);
        let ends: Option<Vec<Time>> = own.iter().map(|s| s.state.terminated.as_ref().filter(|t| t.exit_code == 0)?.finished_at).collect();
        let running: Vec<&str> = added.iter().filter(|s| s.state.running.is_some()).map(|s| &*s.name).collect();
        let done = ends.filter(|_| !running.is_empty() && pod.deleted().is_none())?.into_iter().max()?;
        Some(Self { pod, finished: own.iter().map(|s| &*s.name).collect(), running, done })
    }
}

//! Services, their slices, and the events about pods that are stuck.

use std::fmt::Write;

use super::plan::{Maker, Owner, Plan, Pod, State};
use super::rng::Rng;
use super::workloads::of;

const USES: [&str; 4] = ["", "-internal", "-metrics", "-admin"];

/// The Services in order: a controller has one, some have more.
fn all(plan: &Plan) -> Vec<(usize, &Owner, String)> {
    let served: Vec<(usize, &Owner)> = of(plan, Maker::ReplicaSet).chain(of(plan, Maker::StatefulSet)).collect();
    (0..plan.size.services)
        .map(|i| {
            let (at, owner) = served[i % served.len()];
            (at, owner, format!("{}{}", owner.app, USES[i / served.len() % USES.len()]))
        })
        .collect()
}

pub fn services(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (i, (_, owner, name)) in all(plan).into_iter().enumerate() {
        let mut rng = Rng::new(plan.seed ^ 0x7376_6300 ^ (i as u64) << 32);
        let (namespace, app) = (&plan.namespaces[owner.namespace], &owner.app);
        each(&format!(
            r#"{{"kind":"Service","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-04-01T08:00:00Z","labels":{{"app":"{app}"}},"managedFields":[{{"manager":"kubectl","operation":"Apply","apiVersion":"v1","time":"2026-04-01T08:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:metadata":{{"f:labels":{{"f:app":{{}}}}}},"f:spec":{{"f:ports":{{"k:{{\"port\":80,\"protocol\":\"TCP\"}}":{{".":{{}},"f:port":{{}},"f:targetPort":{{}}}}}},"f:selector":{{}}}}}}}}]}},"spec":{{"ports":[{{"name":"http","protocol":"TCP","port":80,"targetPort":"http"}}],"selector":{{"app":"{app}"}},"clusterIP":"172.20.{}.{}","clusterIPs":["172.20.{2}.{3}"],"type":"ClusterIP","sessionAffinity":"None","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster"}},"status":{{"loadBalancer":{{}}}}}}"#,
            rng.uid(),
            1_000_000_000 + rng.below(900_000_000),
            i / 250,
            i % 250
        ));
    }
}

pub fn endpoint_slices(plan: &Plan, each: &mut dyn FnMut(&str)) {
    for (i, (at, owner, name)) in all(plan).into_iter().enumerate() {
        let mut rng = Rng::new(plan.seed ^ 0x736c_6963 ^ (i as u64) << 32);
        let (namespace, suffix) = (&plan.namespaces[owner.namespace], rng.name(5));
        let mut out = format!(
            r#"{{"kind":"EndpointSlice","apiVersion":"discovery.k8s.io/v1","metadata":{{"name":"{name}-{suffix}","generateName":"{name}-","namespace":"{namespace}","uid":"{}","resourceVersion":"{}","generation":9,"creationTimestamp":"2026-04-01T08:00:00Z","labels":{{"app":"{}","endpointslice.kubernetes.io/managed-by":"endpointslice-controller.k8s.io","kubernetes.io/service-name":"{name}"}},"ownerReferences":[{{"apiVersion":"v1","kind":"Service","name":"{name}","uid":"{}","controller":true,"blockOwnerDeletion":true}}]}},"addressType":"IPv4","endpoints":["#,
            rng.uid(),
            1_000_000_000 + rng.below(900_000_000),
            owner.app,
            rng.uid()
        );
        let mut comma = "";
        for pod in plan.of_owner(at).filter(|pod| pod.state != State::Unschedulable) {
            endpoint(&mut out, plan, namespace, pod, comma, &mut rng);
            comma = ",";
        }
        out.push_str(r#"],"ports":[{"name":"http","port":8080,"protocol":"TCP"}]}"#);
        each(&out);
    }
}

fn endpoint(out: &mut String, plan: &Plan, namespace: &str, pod: &Pod, comma: &str, rng: &mut Rng) {
    let ready = matches!(pod.state, State::Healthy | State::OutOfMemory);
    let _ = write!(
        out,
        r#"{comma}{{"addresses":["10.{}.{}.{}"],"conditions":{{"ready":{ready},"serving":{ready},"terminating":{}}},"targetRef":{{"kind":"Pod","namespace":"{namespace}","name":"{}","uid":"{}"}},"nodeName":"{}","zone":"{}"}}"#,
        pod.node % 200,
        rng.below(255),
        rng.below(255),
        pod.state == State::Terminating,
        pod.name,
        rng.uid(),
        plan.nodes[pod.node],
        plan.zone(pod.node)
    );
}

/// Warnings about the pods that are stuck, several about each.
pub fn events(plan: &Plan, each: &mut dyn FnMut(&str)) {
    let stuck: Vec<&Pod> = plan.pods.iter().filter(|pod| !matches!(pod.state, State::Healthy | State::Completed)).collect();
    for i in 0..if stuck.is_empty() { 0 } else { plan.size.events } {
        each(&event(plan, stuck[i % stuck.len()], i));
    }
}

fn event(plan: &Plan, pod: &Pod, i: usize) -> String {
    let mut rng = Rng::new(plan.seed ^ 0x6576_656e ^ (i as u64) << 32);
    let namespace = &plan.namespaces[plan.owners[pod.owner].namespace];
    let (reason, from, message) = match pod.state {
        State::Unschedulable => (
            "FailedScheduling",
            "default-scheduler",
            "0/5000 nodes are available: 4900 Insufficient cpu, 100 node(s) had untolerated taint(s).".to_owned(),
        ),
        State::ImagePull => ("Failed", "kubelet", "Error: ImagePullBackOff".to_owned()),
        State::CrashLoop | State::OutOfMemory => {
            ("BackOff", "kubelet", format!("Back-off restarting failed container app in pod {}_{namespace}", pod.name))
        }
        State::Terminating | State::NotReady | State::Healthy | State::Completed => {
            ("Unhealthy", "kubelet", "Readiness probe failed: HTTP probe failed with statuscode: 503".to_owned())
        }
    };
    format!(
        r#"{{"kind":"Event","apiVersion":"v1","metadata":{{"name":"{}.{}","namespace":"{namespace}","uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-04-28T22:00:00Z","managedFields":[{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-04-28T23:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:count":{{}},"f:firstTimestamp":{{}},"f:involvedObject":{{}},"f:lastTimestamp":{{}},"f:message":{{}},"f:reason":{{}},"f:source":{{"f:component":{{}}}},"f:type":{{}}}}}}]}},"involvedObject":{{"kind":"Pod","namespace":"{namespace}","name":"{}","uid":"{}","apiVersion":"v1","fieldPath":"spec.containers{{app}}"}},"reason":"{reason}","message":"{message}","source":{{"component":"{from}","host":"{}"}},"firstTimestamp":"2026-04-28T22:00:00Z","lastTimestamp":"2026-04-28T23:{:02}:00Z","count":{},"type":"Warning","eventTime":null,"reportingComponent":"{from}","reportingInstance":""}}"#,
        pod.name,
        rng.hex(16),
        rng.uid(),
        1_000_000_000 + rng.below(900_000_000),
        pod.name,
        pod.uid(),
        plan.nodes[pod.node],
        i % 60,
        1 + rng.below(400)
    )
}

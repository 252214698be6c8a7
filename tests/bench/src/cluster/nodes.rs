//! Nodes, namespaces and leases.

use std::fmt::Write;

use super::plan::Plan;
use super::rng::Rng;

pub fn nodes(plan: &Plan, each: &mut dyn FnMut(&str)) {
    let mut order: Vec<usize> = (0..plan.nodes.len()).collect();
    order.sort_by(|a, b| plan.nodes[*a].cmp(&plan.nodes[*b]));
    for node in order {
        each(&json(plan, node));
    }
}

fn json(plan: &Plan, node: usize) -> String {
    let mut rng = Rng::new(plan.seed ^ 0x6e6f_6465 ^ node as u64);
    let (name, zone, version) = (&plan.nodes[node], plan.zone(node), 1_000_000_000 + rng.below(900_000_000));
    let mut out = format!(
        r#"{{"kind":"Node","apiVersion":"v1","metadata":{{"name":"{name}","uid":"{}","resourceVersion":"{version}","creationTimestamp":"2026-03-02T08:00:00Z","labels":{{"beta.kubernetes.io/arch":"amd64","beta.kubernetes.io/os":"linux","kubernetes.io/arch":"amd64","kubernetes.io/hostname":"{name}","kubernetes.io/os":"linux","node.kubernetes.io/instance-type":"m7i.16xlarge","topology.kubernetes.io/region":"eu-central-1","topology.kubernetes.io/zone":"{zone}"}},"annotations":{{"csi.volume.kubernetes.io/nodeid":"{{\"ebs.csi.aws.com\":\"i-{}\"}}","node.alpha.kubernetes.io/ttl":"0","volumes.kubernetes.io/controller-managed-attach-detach":"true"}},"managedFields":[{{"manager":"kubelet","operation":"Update","apiVersion":"v1","time":"2026-04-28T23:59:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:status":{{"f:allocatable":{{"f:cpu":{{}},"f:memory":{{}},"f:pods":{{}}}},"f:capacity":{{"f:cpu":{{}},"f:memory":{{}},"f:pods":{{}}}},"f:conditions":{{"k:{{\"type\":\"DiskPressure\"}}":{{"f:lastHeartbeatTime":{{}},"f:status":{{}}}},"k:{{\"type\":\"Ready\"}}":{{"f:lastHeartbeatTime":{{}},"f:status":{{}}}}}},"f:images":{{}},"f:nodeInfo":{{"f:bootID":{{}},"f:kernelVersion":{{}}}}}}}},"subresource":"status"}}]}},"#,
        rng.uid(),
        rng.hex(17)
    );
    let _ = write!(
        out,
        r#""spec":{{"podCIDR":"10.{}.{}.0/24","podCIDRs":["10.{0}.{1}.0/24"],"providerID":"aws:///{zone}/i-{}""#,
        node / 250,
        node % 250,
        rng.hex(17)
    );
    // One in fifty is kept for a team of its own.
    if node % 50 == 49 {
        out.push_str(r#","taints":[{"key":"dedicated","value":"batch","effect":"NoSchedule"}]"#);
    }
    out.push_str(r#"},"status":{"capacity":{"cpu":"64","ephemeral-storage":"524275692Ki","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"263842952Ki","pods":"250"},"allocatable":{"cpu":"63770m","ephemeral-storage":"482098735124","hugepages-1Gi":"0","hugepages-2Mi":"0","memory":"261044360Ki","pods":"250"},"conditions":["#);
    conditions(&mut out);
    let _ = write!(
        out,
        r#"],"addresses":[{{"type":"InternalIP","address":"10.200.{}.{}"}},{{"type":"Hostname","address":"{name}"}},{{"type":"InternalDNS","address":"{name}"}}],"daemonEndpoints":{{"kubeletEndpoint":{{"Port":10250}}}},"nodeInfo":{{"machineID":"{}","systemUUID":"{}","bootID":"{}","kernelVersion":"6.1.141-155.222.amzn2023.x86_64","osImage":"Amazon Linux 2023.8.20250707","containerRuntimeVersion":"containerd://2.1.4","kubeletVersion":"v1.34.2","kubeProxyVersion":"","operatingSystem":"linux","architecture":"amd64"}},"images":["#,
        node / 250,
        node % 250,
        rng.hex(32),
        rng.uid(),
        rng.uid()
    );
    for i in 0..12 {
        let comma = if i > 0 { "," } else { "" };
        let _ = write!(
            out,
            r#"{comma}{{"names":["registry.example.com/platform/tool-{i}@sha256:{}","registry.example.com/platform/tool-{i}:1.{}.0"],"sizeBytes":{}}}"#,
            rng.hex(64),
            rng.below(40),
            10_000_000 + rng.below(300_000_000)
        );
    }
    out.push_str("]}}");
    out
}

fn conditions(out: &mut String) {
    let calm = [
        ("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
        ("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ];
    for (kind, reason, message) in calm {
        let _ = write!(
            out,
            r#"{{"type":"{kind}","status":"False","lastHeartbeatTime":"2026-04-28T23:59:00Z","lastTransitionTime":"2026-03-02T08:00:00Z","reason":"{reason}","message":"{message}"}},"#
        );
    }
    out.push_str(r#"{"type":"Ready","status":"True","lastHeartbeatTime":"2026-04-28T23:59:00Z","lastTransitionTime":"2026-03-02T08:00:20Z","reason":"KubeletReady","message":"kubelet is posting ready status"}"#);
}

pub fn namespaces(plan: &Plan, each: &mut dyn FnMut(&str)) {
    let mut names: Vec<&str> = plan.namespaces.iter().map(String::as_str).chain(["kube-system"]).collect();
    names.sort_unstable();
    let mut rng = Rng::new(plan.seed ^ 0x6e73);
    for name in names {
        each(&format!(
            r#"{{"kind":"Namespace","apiVersion":"v1","metadata":{{"name":"{name}","uid":"{}","resourceVersion":"{}","creationTimestamp":"2026-03-01T08:00:00Z","labels":{{"kubernetes.io/metadata.name":"{name}"}}}},"spec":{{"finalizers":["kubernetes"]}},"status":{{"phase":"Active"}}}}"#,
            rng.uid(),
            1000 + rng.below(900_000)
        ));
    }
}

/// Leases of the control plane, renewed so late that they never run out while this cluster is served.
pub fn leases(plan: &Plan, each: &mut dyn FnMut(&str)) {
    let mut rng = Rng::new(plan.seed ^ 0x1ea5);
    for name in ["kube-controller-manager", "kube-scheduler"] {
        each(&format!(
            r#"{{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{{"name":"{name}","namespace":"kube-system","uid":"{}","resourceVersion":"1999999999","creationTimestamp":"2026-03-01T08:00:00Z"}},"spec":{{"holderIdentity":"control-1_{}","leaseDurationSeconds":15,"acquireTime":"2026-03-01T08:00:00.000000Z","renewTime":"2099-01-01T00:00:00.000000Z","leaseTransitions":1}}}}"#,
            rng.uid(),
            rng.uid()
        ));
    }
}

//! Pod templates of the demo, as controllers hold them and as the API server completes them in a pod.

use serde_json::{Value, json};

use super::script::text;
use super::workloads::Kind;

/// The template that a line of the script stands for.
pub fn template(line: &Value, name: &str, kind: Kind) -> Value {
    let mut container = json!({"name": name, "image": line["image"]});
    if let Some(env) = line["env"].as_object() {
        container["env"] = env.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
    }
    if !line["port"].is_null() {
        container["ports"] = json!([{"name": if line["port"] == 53 { "dns" } else { "http" }, "containerPort": line["port"], "protocol": if line["port"] == 53 { "UDP" } else { "TCP" }}]);
    }
    container["resources"] = json!({"limits": {"memory": line["memory"]}, "requests": {"cpu": line["cpu"], "memory": line["memory"]}});
    if !line["claim"].is_null() {
        container["volumeMounts"] = json!([{"name": "data", "mountPath": "/var/lib/data"}]);
    }
    if !line["port"].is_null() && line["claim"].is_null() && kind == Kind::Deployment {
        container["readinessProbe"] = json!({"httpGet": {"path": "/ready", "port": line["port"], "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3});
    }
    container["terminationMessagePath"] = json!("/dev/termination-log");
    container["terminationMessagePolicy"] = json!("File");
    container["imagePullPolicy"] = json!("IfNotPresent");
    let mut spec = json!({"containers": [container], "restartPolicy": if kind == Kind::Job { "Never" } else { "Always" }, "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst", "securityContext": {}, "schedulerName": "default-scheduler"});
    if kind == Kind::DaemonSet {
        spec["tolerations"] = json!([{"operator": "Exists"}]);
        spec["priorityClassName"] = json!("system-node-critical");
    }
    json!({"metadata": {"labels": {"app.kubernetes.io/name": name}}, "spec": spec})
}

/// What the API server adds when a pod is made of it.
pub fn fill(template: &mut Value, pod: &str, kind: Kind, node: Option<&str>, seed: &str) {
    let token = format!("kube-api-access-{}", &seed[seed.len() - 5..]);
    let spec = template["spec"].as_object_mut().unwrap();
    let mut volumes = vec![];
    if kind == Kind::StatefulSet && spec["containers"][0].get("volumeMounts").is_some() {
        volumes.push(json!({"name": "data", "persistentVolumeClaim": {"claimName": format!("data-{pod}")}}));
    }
    volumes.push(json!({"name": token, "projected": {"sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}}], "defaultMode": 420}}));
    for list in ["initContainers", "containers"] {
        if let Some(container) = spec.get_mut(list).and_then(|list| list.get_mut(0)).and_then(Value::as_object_mut) {
            let mut mounts = container.get("volumeMounts").and_then(Value::as_array).cloned().unwrap_or_default();
            mounts.push(json!({"name": token, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}));
            container.insert("volumeMounts".to_owned(), Value::from(mounts));
        }
    }
    let mut tolerations = spec.get("tolerations").and_then(Value::as_array).cloned().unwrap_or_default();
    if kind != Kind::DaemonSet {
        for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
            tolerations.push(json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}));
        }
    }
    if kind == Kind::DaemonSet {
        spec.insert("affinity".to_owned(), json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]}}}));
    }
    if kind == Kind::StatefulSet {
        spec.insert("hostname".to_owned(), json!(pod));
    }
    spec.insert("volumes".to_owned(), Value::from(volumes));
    spec.insert("tolerations".to_owned(), Value::from(tolerations));
    spec.insert("serviceAccountName".to_owned(), json!("default"));
    spec.insert("serviceAccount".to_owned(), json!("default"));
    spec.insert("priority".to_owned(), json!(if kind == Kind::DaemonSet { 2_000_001_000 } else { 0 }));
    spec.insert("enableServiceLinks".to_owned(), json!(true));
    spec.insert("preemptionPolicy".to_owned(), json!("PreemptLowerPriority"));
}

/// The template after a change: a new image, other environment, fields of the pod's spec, an init container.
pub fn changed(template: &Value, step: &Value) -> (Value, Value) {
    let mut new = template.clone();
    let name = template["spec"]["containers"][0]["name"].clone();
    let mut touched = json!({"name": name});
    if !step["image"].is_null() {
        new["spec"]["containers"][0]["image"] = step["image"].clone();
        touched["image"] = step["image"].clone();
    }
    for (name, value) in step["env"].as_object().into_iter().flatten() {
        let env = new["spec"]["containers"][0]["env"].as_array_mut().unwrap();
        env.iter_mut().filter(|item| item["name"] == **name).for_each(|item| item["value"] = json!(text(value)));
        touched["env"] = json!([{"name": name, "value": value}]);
    }
    let mut fields = json!({});
    if touched.as_object().is_some_and(|touched| touched.len() > 1) {
        fields["containers"] = json!([touched]);
    }
    for (name, value) in step["spec"].as_object().into_iter().flatten() {
        new["spec"][name] = value.clone();
        fields[name] = value.clone();
    }
    if let Some(init) = step["init"].as_object() {
        let mut init = Value::Object(init.clone());
        init["resources"] = json!({"requests": {"cpu": "10m", "memory": "16Mi"}});
        init["terminationMessagePath"] = json!("/dev/termination-log");
        init["terminationMessagePolicy"] = json!("File");
        init["imagePullPolicy"] = json!("IfNotPresent");
        fields["initContainers"] = json!([init]);
        new["spec"]["initContainers"] = json!([init]);
    }
    (new, json!({"spec": {"template": {"spec": fields}}}))
}

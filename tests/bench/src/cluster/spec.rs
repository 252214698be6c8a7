//! Spec: the spec of a template, as the API server writes it, with gaps for what is a pod's own.

use super::plan::{Maker, Owner};
use super::rng::Rng;

/// A gap in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// The suffix of the token volume.
    Token,
    Name,
    /// Empty for a pod that is not bound: then the whole `nodeName` field is missing.
    Node,
    SameNode,
}

/// Text and gaps in turn.
#[derive(Debug, Default)]
pub struct Template(pub Vec<(String, Option<Gap>)>);

impl Template {
    fn text(&mut self, text: &str) {
        match self.0.last_mut() {
            Some((last, None)) => last.push_str(text),
            _ => self.0.push((text.to_owned(), None)),
        }
    }

    fn gap(&mut self, gap: Gap) {
        match self.0.last_mut() {
            Some((_, empty @ None)) => *empty = Some(gap),
            _ => self.0.push((String::new(), Some(gap))),
        }
        self.0.push((String::new(), None));
    }
}

/// The image of an owner's app container.
pub fn image(owner: &Owner) -> String {
    let mut rng = Rng::new(owner.seed ^ 7);
    format!("registry.example.com/{}/{}:1.{}.{}", owner.app.split('-').next().unwrap_or("x"), owner.app, rng.below(90), rng.below(40))
}

/// The spec of the pods of an owner.
pub fn spec(owner: &Owner) -> Template {
    let mut rng = Rng::new(owner.seed);
    let mut t = Template::default();
    t.text(r#"{"volumes":["#);
    if owner.maker == Maker::StatefulSet {
        t.text(r#"{"name":"data","persistentVolumeClaim":{"claimName":"data-"#);
        t.gap(Gap::Name);
        t.text(r#""}},"#);
    }
    t.text(&format!(r#"{{"name":"config","configMap":{{"name":"{}-config","defaultMode":420}}}},"#, owner.app));
    t.text(r#"{"name":"kube-api-access-"#);
    t.gap(Gap::Token);
    t.text(TOKEN_SOURCES);
    t.text("],");
    if owner.sidecar {
        t.text(r#""initContainers":["#);
        container(&mut t, &mut rng, owner, "mesh-proxy", "registry.example.com/mesh/proxy:1.29.0", r#""restartPolicy":"Always","#);
        t.text("],");
    }
    t.text(r#""containers":["#);
    container(&mut t, &mut rng, owner, "app", &image(owner), "");
    t.text(",");
    container(&mut t, &mut rng, owner, "metrics", "registry.example.com/platform/exporter:0.14.2", "");
    t.text(&format!(
        r#"],"restartPolicy":"{}","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst","serviceAccountName":"{a}","serviceAccount":"{a}","#,
        if owner.maker == Maker::Job { "Never" } else { "Always" },
        a = owner.app
    ));
    t.gap(Gap::Node);
    t.text(r#""securityContext":{"runAsNonRoot":true,"fsGroup":2000},"imagePullSecrets":[{"name":"registry"}],"#);
    if owner.maker == Maker::StatefulSet {
        t.text(r#""hostname":""#);
        t.gap(Gap::Name);
        t.text(&format!(r#"","subdomain":"{}","#, owner.app));
    }
    affinity(&mut t, owner);
    t.text(r#""schedulerName":"default-scheduler","tolerations":["#);
    t.text(r#"{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}"#);
    t.text(r#"],"priority":0,"enableServiceLinks":true,"preemptionPolicy":"PreemptLowerPriority","topologySpreadConstraints":["#);
    t.text(&format!(
        r#"{{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{{"matchLabels":{{"app":"{}"}}}}}}]}}"#,
        owner.app
    ));
    t
}

const TOKEN_SOURCES: &str = r#"","projected":{"sources":[{"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}},{"configMap":{"name":"kube-root-ca.crt","items":[{"key":"ca.crt","path":"ca.crt"}]}},{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}]}}],"defaultMode":420}}"#;

fn affinity(t: &mut Template, owner: &Owner) {
    if owner.maker == Maker::DaemonSet {
        t.text(r#""affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":[""#);
        t.gap(Gap::SameNode);
        t.text(r#""]}]}]}}},"#);
    } else {
        t.text(&format!(
            r#""affinity":{{"podAntiAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":100,"podAffinityTerm":{{"labelSelector":{{"matchLabels":{{"app":"{}"}}}},"topologyKey":"kubernetes.io/hostname"}}}}]}}}},"#,
            owner.app
        ));
    }
}

fn container(t: &mut Template, rng: &mut Rng, owner: &Owner, name: &str, image: &str, restart: &str) {
    let (port, cpu, memory) = (8000 + rng.below(1000), 50 * (1 + rng.below(8)), 64 * (1 + rng.below(8)));
    t.text(&format!(r#"{{"name":"{name}","image":"{image}","ports":[{{"name":"http","containerPort":{port},"protocol":"TCP"}}],"#));
    let is_app = name == "app";
    if is_app {
        t.text(&format!(r#""envFrom":[{{"configMapRef":{{"name":"{}-env"}}}}],"#, owner.app));
    }
    t.text(r#""env":["#);
    if is_app {
        t.text(r#"{"name":"POD_NAME","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.name"}}},"#);
    }
    t.text(r#"{"name":"NAMESPACE","valueFrom":{"fieldRef":{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}"#);
    if is_app {
        let (url, app) = (rng.name(6).to_uppercase(), &owner.app);
        t.text(&format!(r#",{{"name":"LOG_LEVEL","value":"info"}},{{"name":"{url}_URL","value":"http://{app}.internal:{port}"}},"#));
        t.text(&format!(r#"{{"name":"DB_PASSWORD","valueFrom":{{"secretKeyRef":{{"name":"{app}-db","key":"password"}}}}}}"#));
    }
    t.text("],");
    t.text(&format!(
        r#""resources":{{"limits":{{"cpu":"{}m","memory":"{}Mi"}},"requests":{{"cpu":"{cpu}m","memory":"{memory}Mi"}}}},{restart}"volumeMounts":["#,
        cpu * 4,
        memory * 2
    ));
    t.text(r#"{"name":"config","readOnly":true,"mountPath":"/etc/config"},{"name":"kube-api-access-"#);
    t.gap(Gap::Token);
    t.text(r#"","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"#);
    for (probe, path, period) in
        [("readinessProbe", "/ready", 5), ("livenessProbe", "/healthz", 10)].into_iter().take(2 * usize::from(is_app))
    {
        t.text(&format!(
            r#""{probe}":{{"httpGet":{{"path":"{path}","port":"http","scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":{period},"successThreshold":1,"failureThreshold":3}},"#
        ));
    }
    t.text(r#""terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent"#);
    t.text(if is_app {
        r#"","securityContext":{"capabilities":{"drop":["ALL"]},"readOnlyRootFilesystem":true,"allowPrivilegeEscalation":false}}"#
    } else {
        r#""}"#
    });
}

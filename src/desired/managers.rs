//! Who the managers in managedFields are: a table of names, and what a controller is known to write. Names are self-declared.

use super::path::Path;

/// What kind of actor wrote a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A person with a tool: kubectl edit, Lens, a browser.
    Person,
    /// Declares objects from a repository.
    GitOps,
    /// Declares objects from a package, or from manifests.
    Package,
    Controller,
    /// Fills in certificates and the like.
    Injector,
    /// No actor: `before-first-apply`, `ancient-changes`.
    Bookkeeping,
    Unknown,
}

impl Class {
    pub fn id(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::GitOps => "gitops",
            Self::Package => "package",
            Self::Controller => "controller",
            Self::Injector => "injector",
            Self::Bookkeeping => "bookkeeping",
            Self::Unknown => "unidentified",
        }
    }
}

/// How a manager wrote: declared what it wants, or changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Apply,
    Update,
}

impl Operation {
    pub fn id(self) -> &'static str {
        match self {
            Self::Apply => "Apply",
            Self::Update => "Update",
        }
    }
}

/// Names by class; a `*` at the end takes whatever follows.
const NAMES: &[(Class, &[&str])] = &[
    (
        Class::GitOps,
        &["argocd-controller", "argocd-application-controller", "kustomize-controller", "helm-controller", "fleet-agent", "fleetagent"],
    ),
    (
        Class::Package,
        &[
            "helm",
            "Helm",
            "kubectl-client-side-apply",
            "kubectl-last-applied",
            "kapp",
            "kapp-controller",
            "pulumi-kubernetes*",
            "terraform*",
            "Terraform*",
            "HashiCorp*",
            "tilt",
            "skaffold",
            "werf",
            "kubecfg",
            "qbec",
        ],
    ),
    (
        Class::Person,
        &[
            "kubectl-*",
            "node-fetch",
            "Mozilla",
            "Headlamp",
            "headlamp*",
            "lfk*",
            "k9s",
            "freelens*",
            "Lens*",
            "OpenLens",
            "oc",
            "dashboard",
            "kubernetes-dashboard*",
            "rancher-ui",
        ],
    ),
    (
        Class::Controller,
        &[
            "kube-controller-manager",
            "clusterrole-aggregation-controller",
            "kubelet",
            "kube-scheduler",
            "cloud-controller-manager",
            "kube-apiserver",
            "keda",
            "keda-operator",
            "vpa-*",
            "admissionsenforcer",
            "cluster-autoscaler",
            "csi-provisioner",
            "csi-attacher",
            "external-provisioner",
            "cert-manager-*",
            "openshift-controller-manager",
            "cluster-policy-controller",
        ],
    ),
    (Class::Injector, &["cert-manager-cainjector", "cainjector", "kube-webhook-certgen", "pilot-discovery"]),
    (Class::Bookkeeping, &["before-first-apply", "ancient-changes"]),
];

/// The class of a manager. `kubectl` itself declares when it applies; else a person scaled, cordoned or rolled back with it.
pub fn class(manager: &str, operation: Operation) -> Class {
    match (manager, operation) {
        ("kubectl", Operation::Apply) => return Class::Package,
        ("kubectl", Operation::Update) => return Class::Person,
        _ => {}
    }
    // The longest name wins: `cert-manager-cainjector` is no `cert-manager-*`.
    let all = NAMES.iter().flat_map(|(class, names)| names.iter().map(move |name| (*class, *name)));
    all.filter(|(_, name)| matches(name, manager)).max_by_key(|(_, name)| name.len()).map_or(Class::Unknown, |(class, _)| class)
}

fn matches(name: &str, manager: &str) -> bool {
    name.strip_suffix('*').map_or(name == manager, |start| manager.starts_with(start))
}

/// Whether this manager declares objects, so that it can be the one behind a source of desired state.
pub fn declares(manager: &str, operation: Operation) -> bool {
    match class(manager, operation) {
        Class::GitOps | Class::Package => true,
        Class::Person => manager == "kubectl-create" || operation == Operation::Apply,
        Class::Unknown => operation == Operation::Apply,
        Class::Controller | Class::Injector | Class::Bookkeeping => false,
    }
}

/// What controllers are known to write. A name on another path proves nothing.
pub fn writes(manager: &str, subresource: &str, (group, kind): (&str, &str), path: &Path) -> bool {
    let fields: Vec<&str> = path.fields().collect();
    match manager {
        "kube-controller-manager" => by_controller_manager(subresource, kind, &fields),
        "clusterrole-aggregation-controller" => kind == "ClusterRole" && fields.first() == Some(&"rules"),
        "cert-manager-cainjector" | "cainjector" => path.last() == "caBundle",
        "kube-webhook-certgen" | "pilot-discovery" => {
            path.last() == "caBundle" || kind.ends_with("WebhookConfiguration") && path.last() == "failurePolicy"
        }
        "admissionsenforcer" => kind.ends_with("WebhookConfiguration") && path.passes(&["webhooks", "namespaceSelector"]),
        "kube-scheduler" => fields == ["spec", "nodeName"] || is_note(&fields, "volume.kubernetes.io/"),
        "kubelet" | "cloud-controller-manager" => {
            kind == "Node" || kind == "Service" && (is_finalizer(&fields) || matches!(fields.as_slice(), ["metadata", "annotations", ..]))
        }
        "kube-apiserver" => group.ends_with("k8s.io"),
        "openshift-controller-manager" | "cluster-policy-controller" => {
            kind == "ServiceAccount" && matches!(fields.first(), Some(&("secrets" | "imagePullSecrets")))
                || is_note(&fields, "openshift.io/")
        }
        _ => by_prefix(manager, subresource, kind, &fields),
    }
}

fn by_prefix(manager: &str, subresource: &str, kind: &str, fields: &[&str]) -> bool {
    if manager.starts_with("keda") {
        return fields == ["spec", "replicas"] && subresource == "scale"
            || is_finalizer(fields)
            || matches!(fields, ["metadata", "labels" | "annotations", ..]);
    }
    if manager.starts_with("vpa-") {
        return kind == "Pod" && fields.contains(&"resources");
    }
    if manager.starts_with("cert-manager-") {
        return kind == "Secret" && (matches!(fields, ["data", ..]) || is_note(fields, "cert-manager.io/"));
    }
    matches!(manager, "csi-provisioner" | "csi-attacher" | "external-provisioner")
        && kind.starts_with("PersistentVolume")
        && (fields.first() == Some(&"metadata") || fields == ["spec", "volumeName"])
}

fn by_controller_manager(subresource: &str, kind: &str, fields: &[&str]) -> bool {
    let scales = fields == ["spec", "replicas"] && (subresource == "scale" || kind == "ReplicaSet");
    let status = subresource == "status" && matches!(fields, ["metadata", ..] | ["status", ..]);
    let binds = kind.starts_with("PersistentVolume") && matches!(fields, ["spec", "volumeName" | "claimRef" | "storageClassName", ..]);
    let taints = kind == "Node" && (matches!(fields, ["spec", "taints" | "podCIDR" | "podCIDRs", ..]));
    let keeps =
        matches!(kind, "Endpoints" | "EndpointSlice" | "Namespace") || kind == "ServiceAccount" && fields.first() == Some(&"secrets");
    let garbage = is_finalizer(fields) || matches!(fields, ["metadata", "ownerReferences", ..]);
    let notes = [
        "deployment.kubernetes.io/",
        "pv.kubernetes.io/",
        "volume.kubernetes.io/",
        "volume.beta.kubernetes.io/",
        "batch.kubernetes.io/",
        "node.alpha.kubernetes.io/",
    ];
    scales || status || binds || taints || keeps || garbage || notes.iter().any(|start| is_note(fields, start))
}

fn is_finalizer(fields: &[&str]) -> bool {
    matches!(fields, ["metadata", "finalizers", ..])
}

fn is_note(fields: &[&str], start: &str) -> bool {
    matches!(fields, ["metadata", "annotations" | "labels", name, ..] if name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_who_acts() {
        for (name, operation, expected) in [
            ("kubectl", Operation::Apply, Class::Package),
            ("kubectl", Operation::Update, Class::Person),
            ("kubectl-edit", Operation::Update, Class::Person),
            ("kubectl-client-side-apply", Operation::Update, Class::Package),
            ("cert-manager-cainjector", Operation::Update, Class::Injector),
            ("cert-manager-certificates-issuing", Operation::Apply, Class::Controller),
            ("lfk:alice", Operation::Update, Class::Person),
            ("manager", Operation::Update, Class::Unknown),
        ] {
            assert_eq!(class(name, operation), expected, "{name}");
        }
    }

    #[test]
    fn a_controllers_name_is_trusted_only_on_its_own_path() {
        let replicas = Path::default().field("spec").field("replicas");
        assert!(writes("kube-controller-manager", "scale", ("apps", "Deployment"), &replicas));
        let image = Path::default().field("spec").field("image");
        assert!(!writes("kube-controller-manager", "", ("apps", "Deployment"), &image));
    }
}

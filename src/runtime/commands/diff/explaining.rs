//! What explains differences among the objects of files, found by what it is about: a file may hold a whole cluster, and each of its objects
//! asks for a few of the others.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::desired::{Object, gitops};

/// What an object is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum About {
    /// A revision: the object of this uid.
    Owner(String),
    /// An autoscaler: an object of this namespace and name.
    Target(String, String),
    /// A definition: objects of this group and kind.
    Kind(String, String),
    /// Who applies objects: those that name it.
    Claim(String),
    /// Settings of the tools.
    All,
}

/// Objects that explain others.
pub(super) struct Explaining {
    by: HashMap<About, Vec<Arc<Value>>>,
}

impl FromIterator<Value> for Explaining {
    fn from_iter<I: IntoIterator<Item = Value>>(objects: I) -> Self {
        let mut by: HashMap<About, Vec<Arc<Value>>> = HashMap::new();
        for object in objects {
            let object = Arc::new(object);
            for about in subjects(&object) {
                by.entry(about).or_default().push(object.clone());
            }
        }
        Self { by }
    }
}

impl Explaining {
    /// What is about an object, in the order in which it came.
    pub(super) fn of(&self, live: &Object) -> Vec<Arc<Value>> {
        let identity = live.identity();
        let claims = gitops::claims(live.value()).into_iter().map(|claim| About::Claim(claim.name));
        let mut wanted = vec![
            About::Owner(text(live.value(), "/metadata/uid")),
            About::Target(identity.namespace, identity.name),
            About::Kind(identity.group, identity.kind),
            About::All,
        ];
        for claim in claims {
            if !wanted.contains(&claim) {
                wanted.push(claim);
            }
        }
        wanted.iter().filter_map(|about| self.by.get(about)).flatten().cloned().collect()
    }
}

fn subjects(object: &Value) -> Vec<About> {
    match text(object, "/kind").as_str() {
        "ReplicaSet" | "ControllerRevision" => {
            let owners = object.pointer("/metadata/ownerReferences").and_then(Value::as_array);
            owners.into_iter().flatten().map(|owner| About::Owner(text(owner, "/uid"))).collect()
        }
        "HorizontalPodAutoscaler" | "ScaledObject" => {
            vec![About::Target(text(object, "/metadata/namespace"), text(object, "/spec/scaleTargetRef/name"))]
        }
        "CustomResourceDefinition" => vec![About::Kind(text(object, "/spec/group"), text(object, "/spec/names/kind"))],
        "Application" | "Kustomization" | "HelmRelease" => vec![About::Claim(text(object, "/metadata/name"))],
        "ConfigMap" => vec![About::All],
        _ => Vec::new(),
    }
}

fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::redact::Redactor;

    #[test]
    fn an_object_is_explained_by_what_is_about_it_and_by_nothing_else() {
        let named = |kind: &str, name: &str, fields: Value| {
            let mut object = json!({"kind": kind, "metadata": {"name": name, "namespace": "n"}});
            object.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            object
        };
        let owned = |name: &str, uid: &str| json!({"kind": "ReplicaSet", "metadata": {"name": name, "namespace": "n", "ownerReferences": [{"uid": uid}]}});
        let explaining: Explaining = [
            owned("web-1", "u"),
            owned("other-1", "v"),
            named("HorizontalPodAutoscaler", "h", json!({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}}})),
            named("HorizontalPodAutoscaler", "i", json!({"spec": {"scaleTargetRef": {"kind": "Deployment", "name": "other"}}})),
            named("Application", "shop", json!({})),
            named("Application", "till", json!({})),
            named("CustomResourceDefinition", "d", json!({"spec": {"group": "apps", "names": {"kind": "Deployment"}}})),
            named("ConfigMap", "argocd-cm", json!({})),
            named("Pod", "p", json!({})),
        ]
        .into_iter()
        .collect();
        let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "n", "uid": "u",
            "annotations": {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:n/web"}}});
        let of = |value: Value| {
            let found = explaining.of(&Object::new(value, &Redactor::new(&[7; 32])));
            found.iter().map(|object| text(object, "/metadata/name")).collect::<Vec<_>>()
        };
        assert_eq!(of(web), ["web-1", "h", "d", "argocd-cm", "shop"]);
        assert_eq!(of(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web", "namespace": "m"}})), ["argocd-cm"]);
    }
}

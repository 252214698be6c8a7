//! Cases of the census: who declares what, who is gone, and what nobody knows.

use serde_json::{Value, json};

use super::*;
use crate::model::Time;

fn object(api_version: &str, kind: &str, place: &str, manager: &str) -> Value {
    let (namespace, name) = place.split_once('/').unwrap();
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace, "creationTimestamp": "2026-03-24T10:00:00Z",
        "managedFields": [{"manager": manager, "operation": "Update", "time": "2026-03-24T10:00:00Z", "fieldsV1": {"f:data": {}}}]}})
}

fn now() -> Time {
    Time::parse("2026-05-04T10:12:00Z").unwrap()
}

fn names(strangers: &[Stranger]) -> Vec<String> {
    strangers.iter().map(|stranger| stranger.object.to_string()).collect()
}

#[test]
fn what_an_inventory_lists_and_nobody_saw_is_missing_and_gone_only_when_the_cluster_says_so() {
    let mut census = Census::default();
    let kustomization = json!({"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "apps", "namespace": "flux-system"},
        "status": {"inventory": {"entries": [{"id": "shop_a__ConfigMap", "v": "v1"}, {"id": "shop_b__ConfigMap", "v": "v1"},
            {"id": "_system__node_rbac.authorization.k8s.io_ClusterRole", "v": "v1"}, {"id": 7}, {"id": "nonsense"}]}}});
    census.list(inventory(&kustomization).unwrap());
    census.see(&object("v1", "ConfigMap", "shop/a", "kustomize-controller"), Says::Nothing);
    let missing = census.missing();
    assert_eq!(missing.iter().map(ToString::to_string).collect::<Vec<_>>(), ["ConfigMap/shop/b", "ClusterRole//system:node"]);
    census.is_gone(missing[0].clone());
    let governance = census.close();
    let gone: Vec<String> = governance.gone.iter().map(|gone| format!("{} {}", gone.object, gone.inventory)).collect();
    assert_eq!(gone, ["ConfigMap/shop/b Flux kustomization flux-system/apps"]);
}

#[test]
fn strangers_of_a_managed_namespace_are_listed_and_what_makes_itself_is_not() {
    let mut census = Census::default();
    census.see(&object("v1", "ConfigMap", "shop/declared", "kubectl-client-side-apply"), Says::Source);
    census.see(&object("v1", "ConfigMap", "shop/by-hand", "kubectl-create"), Says::Nothing);
    census.see(&object("v1", "ConfigMap", "elsewhere/by-hand", "kubectl-create"), Says::Nothing);
    let mut owned = object("v1", "ConfigMap", "shop/owned", "manager");
    owned["metadata"]["ownerReferences"] = json!([{"kind": "Widget", "name": "w", "uid": "u"}]);
    let mut labelled = object("v1", "ConfigMap", "shop/labelled", "kubectl-create");
    labelled["metadata"]["labels"] = json!({"example.com/team": "cart"});
    for made in [
        owned,
        labelled,
        object("v1", "ServiceAccount", "shop/default", "kube-controller-manager"),
        object("v1", "ConfigMap", "shop/kube-root-ca.crt", "kube-controller-manager"),
        object("v1", "Endpoints", "shop/cart", "kube-controller-manager"),
        object("coordination.k8s.io/v1", "Lease", "shop/leader", "cart"),
        object("v1", "PersistentVolumeClaim", "shop/data-pg-0", "kube-controller-manager"),
        object("v1", "Secret", "shop/tls", "cert-manager-certificates-issuing"),
        object("v1", "Secret", "shop/sh.helm.release.v1.cart.v3", "helm"),
    ] {
        census.see(&made, Says::Nothing);
    }
    let governance = census.close();
    assert_eq!(names(&governance.unmanaged), ["ConfigMap/shop/by-hand", "ConfigMap/shop/labelled"]);
    assert_eq!(names(&governance.unclaimed), ["ConfigMap/elsewhere/by-hand", "ConfigMap/shop/by-hand"]);
    assert_eq!(governance.rebuild.said(&[]), "1 of 4 objects can; 3 cannot");
    assert_eq!(governance.rebuild.cannot, [("elsewhere".into(), "kubectl-create".into(), 1), ("shop".into(), "kubectl-create".into(), 2)]);
    assert_eq!(governance.unmanaged[0].said(now()), "kubectl-create, 41 days ago");
}

#[test]
fn claims_that_a_stateful_set_makes_need_nobody_to_declare_them() {
    let mut census = Census::default();
    for name in ["shop/data-pg-0", "shop/data-pg-12", "shop/data-other-0", "shop/scratch"] {
        census.see(&object("v1", "PersistentVolumeClaim", name, ""), Says::Nothing);
    }
    let mut set = object("apps/v1", "StatefulSet", "shop/pg", "kubectl-client-side-apply");
    set["spec"] = json!({"volumeClaimTemplates": [{"metadata": {"name": "data"}}, 7]});
    census.see(&set, Says::Source);
    assert_eq!(names(&census.close().unmanaged), ["PersistentVolumeClaim/shop/data-other-0", "PersistentVolumeClaim/shop/scratch"]);
}

#[test]
fn a_tool_that_claims_an_object_holds_it_unless_its_list_says_otherwise() {
    let claimed = |annotation: &str, value: &str| {
        let mut object = object("v1", "ConfigMap", "shop/a", "kubectl-create");
        object["metadata"]["annotations"] = json!({ annotation: value });
        object
    };
    let standing = |census: &mut Census, live: &Value| {
        census.see(live, Says::Nothing);
        std::mem::take(census).close().rebuild.said(&[])
    };
    let argo = claimed("argocd.argoproj.io/tracking-id", "web:/ConfigMap:shop/a");
    assert_eq!(standing(&mut Census::default(), &argo), "yes: the 1 object can");
    let copied = claimed("argocd.argoproj.io/tracking-id", "web:/ConfigMap:shop/other");
    assert_eq!(standing(&mut Census::default(), &copied), "0 of 1 objects can; 1 cannot");
    let application = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "web", "namespace": "argocd"},
        "spec": {"destination": {"server": "https://kubernetes.default.svc"}}, "status": {"resources": [{"kind": "ConfigMap", "namespace": "shop", "name": "b"}]}});
    let mut census = Census::default();
    census.list(inventory(&application).unwrap());
    assert_eq!(standing(&mut census, &argo), "0 of 1 objects can; 1 cannot");
    let mut release = claimed("meta.helm.sh/release-name", "cart");
    release["metadata"]["annotations"]["meta.helm.sh/release-namespace"] = json!("shop");
    assert_eq!(standing(&mut Census::default(), &release), "0 of 1 objects can; of 1 it is not known");
    let elsewhere = json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "web"},
        "spec": {"destination": {"server": "https://other.example.net"}}, "status": {"resources": []}});
    assert_eq!(inventory(&elsewhere), None);
}

#[test]
fn a_binding_that_no_source_knows_says_whom_it_lets_do_what() {
    let mut census = Census::default();
    let mut binding = object("rbac.authorization.k8s.io/v1", "RoleBinding", "shop/bob", "kubectl-create");
    binding["roleRef"] = json!({"kind": "ClusterRole", "name": "reader"});
    binding["subjects"] = json!([{"kind": "User", "name": "bob"}, null, 7]);
    census.see(&binding, Says::Nothing);
    let mut role = object("rbac.authorization.k8s.io/v1", "ClusterRole", "/reader", "helm");
    role["rules"] = json!([{"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get"]}, null]);
    census.see(&role, Says::Source);
    let mut young = object("networking.k8s.io/v1", "NetworkPolicy", "shop/open", "kubectl-edit");
    young["metadata"]["creationTimestamp"] = json!("2026-05-04T08:12:00Z");
    census.see(&young, Says::Nothing);
    let said: Vec<String> = census.close().exceptions.iter().map(|exception| exception.said(now())).collect();
    assert_eq!(
        said,
        [
            "subject bob reads secrets in shop (ClusterRole reader), added by kubectl-create 41 days ago, in no source",
            "NetworkPolicy open decides who reaches pods in shop, added by kubectl-edit 2 hours ago, in no source",
        ]
    );
}

#[test]
fn odd_objects_are_taken_as_they_come() {
    let mut census = Census::default();
    for odd in [
        json!(null),
        json!([]),
        json!({"metadata": null}),
        json!({"kind": 7, "metadata": {"labels": [], "managedFields": {}, "ownerReferences": 3}}),
        json!({"kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {}, "rules": {"verbs": 7}}),
        json!({"kind": "RoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "x"}, "subjects": "y", "roleRef": []}),
    ] {
        census.see(&odd, Says::Nothing);
        assert!(inventory(&odd).is_none_or(|inventory| inventory.objects.is_empty()));
    }
    assert_eq!(census.close().rebuild.can, 0);
}

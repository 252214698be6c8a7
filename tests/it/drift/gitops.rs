//! What Argo CD and Flux say of an object: state, inventory, and what they leave alone, which counts as approved.

use serde_json::{Value, json};

use super::sources::{at, entry, found};

const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

fn deployment(replicas: u64, image: &str, marks: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "annotations": marks},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "sidecar", "image": "s:1"}, {"name": "main", "image": image}]}}}})
}

/// A Deployment of Argo CD's on which somebody scaled and somebody set an image.
fn edited(marks: &Value) -> Value {
    let asked = deployment(2, "web:1", marks);
    let mut live = deployment(5, "web:2", marks);
    live["metadata"]["annotations"][APPLIED] = asked.to_string().into();
    let set = json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {r#"k:{"name":"main"}"#: {"f:image": {}}}}}}});
    live["metadata"]["managedFields"] =
        json!([entry("no-sync", "Update", &json!({"f:spec": {"f:replicas": {}}})), entry("kubectl-set", "Update", &set)]);
    live
}

fn tracked() -> Value {
    edited(&json!({"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/web"}))
}

fn application(spec: &Value) -> Value {
    json!({"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "shop", "namespace": "argocd"}, "spec": spec,
        "status": {"sync": {"status": "OutOfSync", "revision": "4f1c2d"}, "operationState": {"finishedAt": "2026-05-04T10:00:00Z"},
            "resources": [{"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web", "status": "OutOfSync",
                "health": {"status": "Progressing"}}]}})
}

const IMAGE: &str = "spec.template.spec.containers[name=main].image";

#[test]
fn the_application_tells_its_state_and_what_puts_nothing_back() {
    let found = found(&tracked(), &[application(&json!({"syncPolicy": {"automated": {"prune": true}}}))]);
    let told = &found.told[0];
    assert_eq!(
        (told.title.as_str(), told.state.as_str(), told.revision.as_str()),
        ("Argo CD application argocd/shop", "OutOfSync, Progressing", "4f1c2d")
    );
    assert_eq!((told.keeper.as_str(), told.is_listed), ("Application.argoproj.io/argocd/shop", true));
    assert_eq!(told.notes, ["selfHeal is off: drift stays until the next commit"]);
    assert_eq!(at(&found, "last-applied", IMAGE).verdict.id(), "drift");
}

#[test]
fn what_the_application_ignores_is_approved_and_keeps_its_risk() {
    let rules = json!({"ignoreDifferences": [
        {"group": "apps", "kind": "Deployment", "jsonPointers": ["/spec/template/spec/containers/1/image"], "jqPathExpressions": [".spec.a[]?"]},
        {"group": "*", "kind": "*", "managedFieldsManagers": ["no-sync"]},
        {"group": "", "kind": "Deployment", "jsonPointers": ["/spec/paused"]},
        {"group": "apps", "kind": "Deployment", "name": "other", "jsonPointers": ["/"]}]});
    let found = found(&tracked(), &[application(&rules)]);
    for path in [IMAGE, "spec.replicas"] {
        let field = at(&found, "last-applied", path);
        assert!(
            field.verdict.id() == "approved" && field.reason.starts_with("left alone by Argo CD application shop; else it would be drift"),
            "{field:?}"
        );
    }
    assert!(at(&found, "last-applied", IMAGE).risk.is_some());
    assert!(found.notes.iter().any(|note| note.contains("not evaluated") && note.contains(".spec.a[]?")), "{:?}", found.notes);
    assert!(found.notes.iter().any(|note| note.contains("names the group \"\" and so matches nothing")), "{:?}", found.notes);
}

#[test]
fn the_settings_of_argo_cd_hold_for_all_applications() {
    let settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "argocd-cm", "namespace": "argocd"}, "data": {
        "resource.customizations.ignoreDifferences.apps_Deployment": "jsonPointers:\n- /spec/replicas\n",
        "resource.customizations.ignoreDifferences.all": "managedFieldsManagers: {: broken"}});
    let found = found(&tracked(), &[application(&json!({})), settings]);
    assert_eq!(at(&found, "last-applied", "spec.replicas").verdict.id(), "approved");
    assert_eq!(at(&found, "last-applied", IMAGE).verdict.id(), "drift");
    assert!(found.notes.iter().any(|note| note.contains("no valid YAML")), "{:?}", found.notes);
}

#[test]
fn a_mark_that_names_another_object_or_no_inventory_knows_is_told() {
    let copy = edited(&json!({"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:shop/original"}));
    let told = found(&copy, &[application(&json!({}))]).told;
    assert!(told[0].notes[0].contains("names apps/Deployment:shop/original"), "{told:?}");
    let mut other = application(&json!({}));
    other["status"]["resources"] = json!([]);
    let told = found(&tracked(), &[other]).told;
    assert!(!told[0].is_listed && told[0].notes[0].contains("not in its inventory"), "{told:?}");
}

#[test]
fn the_instance_label_counts_only_if_the_inventory_knows_the_object() {
    let mut live = edited(&json!({}));
    live["metadata"]["labels"] = json!({"app.kubernetes.io/instance": "shop"});
    assert_eq!(found(&live, &[application(&json!({}))]).told.len(), 1);
    let mut other = application(&json!({}));
    other["status"]["resources"] = json!([]);
    assert!(found(&live, &[other]).told.is_empty());
}

/// The same Deployment under Flux.
fn of_flux(tool: &str, marks: &Value) -> Value {
    let mut live = edited(marks);
    live["metadata"]["labels"] =
        json!({format!("{tool}.toolkit.fluxcd.io/name"): "apps", format!("{tool}.toolkit.fluxcd.io/namespace"): "flux-system"});
    live
}

fn flux(tool: &str, kind: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{tool}.toolkit.fluxcd.io/v1"), "kind": kind, "metadata": {"name": "apps", "namespace": "flux-system"}, "spec": spec,
        "status": {"lastAppliedRevision": "main@sha1:9a", "inventory": {"entries": [{"id": "shop_web_apps_Deployment", "v": "v1"}]},
            "conditions": [{"type": "Ready", "status": "False", "reason": "HealthCheckFailed", "lastTransitionTime": "2026-05-04T10:00:00Z"}]}})
}

#[test]
fn a_kustomization_tells_its_state_and_its_ignored_paths_are_approved() {
    let spec = json!({"suspend": true, "ignore": [
        {"paths": ["/spec/replicas"], "target": {"kind": "Deployment", "name": "^web$"}}, {"paths": ["/spec"], "target": {"kind": "Service"}}]});
    let found = found(&of_flux("kustomize", &json!({})), &[flux("kustomize", "Kustomization", &spec)]);
    let told = &found.told[0];
    assert_eq!((told.state.as_str(), told.revision.as_str(), told.is_listed), ("not ready: HealthCheckFailed", "main@sha1:9a", true));
    assert_eq!(told.notes, ["it is suspended: nothing puts drift back"]);
    assert_eq!(at(&found, "last-applied", "spec.replicas").verdict.id(), "approved");
    assert_eq!(at(&found, "last-applied", IMAGE).verdict.id(), "drift");
}

#[test]
fn a_helm_release_whose_drift_detection_is_off_says_so() {
    let found = found(
        &of_flux("helm", &json!({})),
        &[flux("helm", "HelmRelease", &json!({"driftDetection": {"ignore": [{"paths": ["/spec/replicas"]}]}}))],
    );
    assert!(found.told[0].notes.iter().any(|note| note.starts_with("drift detection is off")), "{:?}", found.told);
    assert_eq!(at(&found, "last-applied", "spec.replicas").verdict.id(), "approved");
}

#[test]
fn an_exemption_approves_only_where_it_was_declared() {
    for (mark, value) in [("kustomize.toolkit.fluxcd.io/reconcile", "disabled"), ("kustomize.toolkit.fluxcd.io/ssa", "IfNotPresent")] {
        let declared = found(&of_flux("kustomize", &json!({mark: value})), &[]);
        assert_eq!(at(&declared, "last-applied", IMAGE).verdict.id(), "approved");
        let mut live = of_flux("kustomize", &json!({}));
        live["metadata"]["annotations"][mark] = value.into();
        let by_hand = found(&live, &[]);
        assert_eq!(at(&by_hand, "last-applied", IMAGE).verdict.id(), "drift");
        assert!(by_hand.notes.iter().any(|note| note.contains("is declared nowhere")), "{:?}", by_hand.notes);
    }
    let merge = found(&of_flux("kustomize", &json!({"kustomize.toolkit.fluxcd.io/ssa": "Merge"})), &[]);
    assert_eq!(at(&merge, "last-applied", IMAGE).verdict.id(), "drift", "what is declared is not left alone");
}

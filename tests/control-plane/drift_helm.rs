//! Releases of Helm's real client: installed, upgraded, changed by hand, and read back from the records that either driver keeps.

use crate::drift::{auditor, diff, file, kubectl};
use crate::drift_owners::{IMAGE, found, rows_hold};
use crate::plane::Plane;
use serde_json::Value;
use std::fs;
use std::process::{Command, Output};

const TEMPLATES: &str = include_str!("scenarios/drift-chart.yaml");

/// What a chart puts into a Secret, in clear and as base64; neither may ever be printed.
const PLANTED: [&str; 2] = ["a-planted-value", "YS1wbGFudGVkLXZhbHVl"];

/// Records in Secrets of a release that is applied on the server, and in ConfigMaps of one that is not.
pub fn releases_of_the_client(plane: &Plane) {
    let chart = chart(plane);
    released(plane, &chart, ("secret", "drift-helm-secret", "--server-side=true"));
    released(plane, &chart, ("configmap", "drift-helm-map", "--server-side=false"));
}

fn chart(plane: &Plane) -> String {
    let folder = plane.folder().join("chart");
    fs::create_dir_all(folder.join("templates")).expect("the folder of the chart");
    for (name, text) in [
        ("Chart.yaml", "apiVersion: v2\nname: shop\nversion: 0.1.0\n"),
        ("values.yaml", "image: registry.test/web:1\npassword: a-planted-value\n"),
        ("templates/all.yaml", TEMPLATES),
    ] {
        fs::write(folder.join(name), text).expect("the chart can be written");
    }
    folder.display().to_string()
}

fn helm(plane: &Plane, driver: &str, arguments: &[&str]) -> Output {
    let home = plane.folder().join("helm");
    Command::new(plane.helm())
        .args(arguments)
        .env("HOME", &home)
        .env("HELM_DRIVER", driver)
        .env("KUBECONFIG", plane.folder().join("admin.kubeconfig"))
        .output()
        .expect("helm starts")
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn released(plane: &Plane, chart: &str, (driver, space, way): (&str, &str, &str)) {
    let upgrade = |image: &str| {
        helm(plane, driver, &["upgrade", "shop", chart, "-n", space, way, "--set", &format!("image=registry.test/web:{image}")])
    };
    done(&helm(plane, driver, &["install", "shop", chart, "-n", space, "--create-namespace", way]));
    done(&upgrade("2"));
    let auditor = auditor(plane);
    let release = ["--release", "shop", "-n", space];
    let calm = diff(plane, &auditor, &release, 0);
    assert_eq!(calm["items"].as_array().map(Vec::len), Some(4), "{calm:#}");
    for item in calm["items"].as_array().into_iter().flatten() {
        rows_hold(item, &[]);
        assert!(item["desiredSource"].as_str().is_some_and(|source| source.starts_with("helm release shop, revision 2")), "{item:#}");
    }

    kubectl(plane, &["set", "image", "deploy/web", "main=registry.test/web:9", "-n", space]);
    kubectl(plane, &["scale", "deploy/web", "--replicas=2", "-n", space]);
    let edited =
        plane.kubectl_command(&["edit", "cm/settings", "-n", space]).env("KUBE_EDITOR", "sed -i /^..colour/s/blue/green/").output();
    assert!(edited.expect("kubectl starts").status.success());
    let changed = diff(plane, &auditor, &release, 1);
    let item = |name: &String| {
        let items = changed["items"].as_array().into_iter().flatten();
        items.clone().find(|item| item["object"] == *name).unwrap_or_else(|| panic!("no {name}: {changed:#}"))
    };
    let web = format!("Deployment/{space}/web");
    rows_hold(
        item(&web),
        &[(IMAGE, "drift", "kubectl-set", "a tool that people use"), ("spec.replicas", "drift", "kubectl", "scaled it by hand")],
    );
    rows_hold(item(&format!("ConfigMap/{space}/settings")), &[("data.colour", "drift", "kubectl-edit", "a tool that people use")]);
    for name in [format!("Service/{space}/web"), format!("Secret/{space}/login")] {
        rows_hold(item(&name), &[]);
    }
    let named = found(plane, &["deploy/web", "-n", space]);
    assert!(named["desiredSource"].as_str().is_some_and(|source| source.starts_with("helm release shop, revision 2")), "{named:#}");

    // An upgrade that fails leaves a record behind: what was deployed stays what is compared with, the failed one is offered.
    let broken = file(plane, "broken-values.yaml", "replicas: none\n");
    let failed = helm(plane, driver, &["upgrade", "shop", chart, "-n", space, way, "-f", &broken]);
    assert!(!failed.status.success(), "{}", String::from_utf8_lossy(&failed.stdout));
    let after = found(plane, &["deploy/web", "-n", space]);
    let others: Vec<&str> = after["otherSources"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(after["desiredSource"].as_str().is_some_and(|source| source.starts_with("helm release shop, revision 2")), "{after:#}");
    assert!(others.iter().any(|other| other.contains("revision 3") && other.contains("failed")), "{after:#}");
    for text in [calm, changed, named, after].map(|one| one.to_string()) {
        assert!(PLANTED.iter().all(|planted| !text.contains(planted)), "{text}");
    }
}

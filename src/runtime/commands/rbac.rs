//! `holdup rbac`: the least rights, from the table of kinds. Secrets are named only with `--with secrets`: without them causes that need
//! one say *not checked*.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use color_eyre::Result;

use super::print;
use crate::cli::{ClusterArgs, Extra, Rbac};
use crate::desired::gitops::Tool;
use crate::model::{Follow, KINDS, Kind, KindRow};

pub(super) fn run(cluster: &ClusterArgs, args: &Rbac) -> Result<ExitCode> {
    let text = match cluster.namespaces.as_slice() {
        [] => role("ClusterRole", None, &args.with),
        namespaces => namespaces.iter().map(|ns| role("Role", Some(ns), &args.with)).collect::<Vec<_>>().join("---\n"),
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn role(kind: &str, namespace: Option<&str>, with: &[Extra]) -> String {
    let mut out = format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: holdup\n");
    if let Some(namespace) = namespace {
        let _ = writeln!(out, "  namespace: {namespace}");
    }
    out.push_str("rules:\n");
    for (group, plurals) in groups(namespace.is_some(), with) {
        let _ = writeln!(out, "- apiGroups: [\"{group}\"]\n  resources: [{}]\n  verbs: [get, list, watch]", plurals.join(", "));
    }
    if with.contains(&Extra::Logs) {
        out.push_str("- apiGroups: [\"\"]\n  resources: [pods/log]\n  verbs: [get]\n");
    }
    if with.contains(&Extra::Gitops) {
        for tool in Tool::ALL {
            let plural = format!("{}s", tool.kind().to_lowercase());
            let _ = writeln!(out, "- apiGroups: [\"{}\"]\n  resources: [{plural}]\n  verbs: [get, list]", tool.group());
        }
    }
    if with.contains(&Extra::DryRun) {
        out.push_str(DRY_RUN);
    }
    out
}

/// What people declare, of Kubernetes' own kinds that lie in namespaces.
const DRY_RUN: &str = "\
# For holdup diff --dry-run=server. The API server asks for the same verbs as for real changes and does not tell them apart:
# bind this only to people who may change these objects anyway. holdup itself sends nothing without dryRun=All.
- apiGroups: [\"\"]
  resources: [configmaps, services, serviceaccounts, persistentvolumeclaims]
  verbs: [create, patch]
- apiGroups: [apps]
  resources: [daemonsets, deployments, statefulsets]
  verbs: [create, patch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [create, patch]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [create, patch]
- apiGroups: [networking.k8s.io]
  resources: [ingresses, networkpolicies]
  verbs: [create, patch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [create, patch]
";

/// Resources by API group, sorted. A Role cannot grant cluster-scoped ones.
fn groups(one_namespace: bool, with: &[Extra]) -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in KINDS.iter().filter(|row| is_needed(row, with) && (row.namespaced || !one_namespace)) {
        groups.entry(row.group).or_default().push(row.plural);
    }
    for plurals in groups.values_mut() {
        plurals.sort_unstable();
    }
    groups
}

fn is_needed(row: &KindRow, with: &[Extra]) -> bool {
    let asked = row.kind != Kind::Secret || with.contains(&Extra::Secrets);
    row.follow != Follow::OnDemand && asked
}

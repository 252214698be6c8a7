//! Which manager applies the source: the one that tracking metadata names, else the one that keeps a copy, else the one that declares
//! most of what is asked for.

use serde_json::Value;

use super::managers::{self, Class, Operation};
use super::owner::{Entry, Trail, Whole};

/// The entries of managedFields that belong to the source's own manager.
pub fn own(entries: &[Entry<'_>], desired: &Value, live: &Value, copy: Option<&str>) -> Vec<usize> {
    let by_names = |names: &[&str]| pick(entries, |e| names.contains(&e.manager) && e.subresource.is_empty());
    let tracked = by_names(&tracked(live));
    if !tracked.is_empty() {
        return tracked;
    }
    let keeper = copy.map(|annotation| keepers(entries, annotation)).unwrap_or_default();
    if !keeper.is_empty() {
        return keeper;
    }
    if copy.is_some() {
        let kubectl = by_names(&["kubectl-client-side-apply", "kubectl"]);
        let kubectl: Vec<usize> = kubectl.into_iter().filter(|i| entries[*i].class == Class::Package).collect();
        if !kubectl.is_empty() {
            return kubectl;
        }
    }
    most(entries, desired)
}

fn pick(entries: &[Entry<'_>], test: impl Fn(&Entry<'_>) -> bool) -> Vec<usize> {
    entries.iter().enumerate().filter(|(_, e)| test(e)).map(|(i, _)| i).collect()
}

/// Managers of the tool whose tracking metadata the object carries.
fn tracked(live: &Value) -> Vec<&'static str> {
    let has = |place: &str, start: &str| {
        live.pointer(place).and_then(Value::as_object).is_some_and(|all| all.keys().any(|name| name.starts_with(start)))
    };
    let (labels, notes) = ("/metadata/labels", "/metadata/annotations");
    let mut names = Vec::new();
    if has(notes, "argocd.argoproj.io/tracking-id") {
        names.extend(["argocd-controller", "argocd-application-controller"]);
    }
    if has(labels, "kustomize.toolkit.fluxcd.io/") {
        names.push("kustomize-controller");
    }
    if has(labels, "helm.toolkit.fluxcd.io/") {
        names.push("helm-controller");
    }
    if names.is_empty() && has(notes, "meta.helm.sh/") {
        names.extend(["helm", "Helm", "helm-controller"]);
    }
    names
}

/// Those who own the annotation with the copy, under whatever operation they write.
fn keepers(entries: &[Entry<'_>], annotation: &str) -> Vec<usize> {
    let place = Trail::root(entries).field("metadata", Whole::No).field("annotations", Whole::No).field(annotation, Whole::No);
    let owners: Vec<&str> = place.owners().map(|i| entries[i].manager).collect();
    let names: Vec<&str> = owners.into_iter().map(|name| if name == "kubectl-last-applied" { "kubectl" } else { name }).collect();
    pick(entries, |e| names.contains(&e.manager) && e.subresource.is_empty() && managers::declares(e.manager, e.operation))
}

/// The declaring manager that owns most of what is asked for. An unknown program, or
/// `kubectl replace --force`, can be it only if it owns more than half.
fn most(entries: &[Entry<'_>], desired: &Value) -> Vec<usize> {
    let mut counts = vec![0_usize; entries.len()];
    let mut all = 0;
    count(&Trail::root(entries), desired, &mut counts, &mut all);
    let weigh = |name: &str| pick(entries, |e| e.manager == name).into_iter().map(|i| counts[i]).sum::<usize>();
    let declaring = |e: &Entry<'_>| e.subresource.is_empty() && managers::declares(e.manager, e.operation);
    let best = entries
        .iter()
        .filter(|e| declaring(e))
        .map(|e| (weigh(e.manager), e.manager))
        .max_by_key(|(n, name)| (*n, std::cmp::Reverse(*name)));
    let may_create = |e: &Entry<'_>| e.class == Class::Unknown || e.manager == "kubectl-replace";
    let creating = |e: &Entry<'_>| may_create(e) && e.operation == Operation::Update && e.subresource.is_empty();
    let client = || entries.iter().filter(|e| creating(e)).map(|e| (weigh(e.manager), e.manager)).find(|(n, _)| *n * 2 > all);
    match best.filter(|(n, _)| *n > 0).or_else(client) {
        Some((_, name)) => pick(entries, |e| e.manager == name && (declaring(e) || creating(e))),
        None => Vec::new(),
    }
}

/// How many declared leaves each entry owns.
fn count(trail: &Trail<'_>, desired: &Value, counts: &mut [usize], all: &mut usize) {
    match desired {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, value)| count(&trail.field(name, Whole::Yes), value, counts, all));
        }
        Value::Array(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(i, item)| count(&trail.item(Some(item), Some(i), Whole::Yes), item, counts, all));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            *all += 1;
            trail.owners().for_each(|i| counts[i] += 1);
        }
    }
}

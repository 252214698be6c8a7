//! Which manager applies the source: the one that tracking metadata names, else the one that keeps a copy, else the one that declares
//! most of what is asked for.

use std::cmp::Reverse;

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
    most(entries, desired, live)
}

/// In whose name what is asked for would be applied, if somebody applies it on the server.
pub fn applier(desired: &Value, live: &Value) -> Option<String> {
    let entries = super::owner::entries(live);
    let own = own(&entries, desired, live, None);
    own.into_iter().map(|i| &entries[i]).find(|entry| entry.operation == Operation::Apply).map(|entry| entry.manager.to_owned())
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

/// The declaring manager that owns most of what is asked for and is so, and least of what is not: two may own the same. An unknown
/// program, or `kubectl replace --force`, can be it only if it owns more than half.
fn most(entries: &[Entry<'_>], desired: &Value, live: &Value) -> Vec<usize> {
    let mut tally = Tally { alike: vec![0; entries.len()], unlike: vec![0; entries.len()], all: 0 };
    tally.count(&Trail::root(entries), desired, Some(live));
    let sum = |counts: &[usize], name: &str| pick(entries, |e| e.manager == name).into_iter().map(|i| counts[i]).sum::<usize>();
    let owned = |name: &str| sum(&tally.alike, name) + sum(&tally.unlike, name);
    let declaring = |e: &Entry<'_>| e.subresource.is_empty() && managers::declares(e.manager, e.operation);
    let all: Vec<usize> = (0..entries.len()).filter(|i| declaring(&entries[*i]) && owned(entries[*i].manager) > 0).collect();
    let largest = all.iter().map(|i| owned(entries[*i].manager)).max().unwrap_or_default();
    let rank = |i: &usize| {
        let entry = &entries[*i];
        (sum(&tally.unlike, entry.manager), Reverse(sum(&tally.alike, entry.manager)), entry.time, entry.manager)
    };
    // Who owns nearly as much as the largest owner may be the source as well: then the one that contradicts it least.
    let best = all.into_iter().filter(|i| owned(entries[*i].manager) * 5 >= largest * 4).min_by_key(rank).map(|i| &entries[i]);
    let may_create = |e: &Entry<'_>| e.class == Class::Unknown || e.manager == "kubectl-replace";
    let creating = |e: &Entry<'_>| may_create(e) && e.operation == Operation::Update && e.subresource.is_empty();
    let client = || entries.iter().find(|e| creating(e) && owned(e.manager) * 2 > tally.all);
    match best.or_else(client) {
        Some(own) => pick(entries, |e| e.manager == own.manager && (declaring(e) || creating(e))),
        None => Vec::new(),
    }
}

/// How many declared leaves each entry owns: those that live has as well, and those that it has otherwise.
struct Tally {
    alike: Vec<usize>,
    unlike: Vec<usize>,
    all: usize,
}

impl Tally {
    fn count(&mut self, trail: &Trail<'_>, desired: &Value, live: Option<&Value>) {
        match desired {
            Value::Object(fields) if !fields.is_empty() => {
                fields.iter().for_each(|(name, value)| self.count(&trail.field(name, Whole::Yes), value, live.and_then(|l| l.get(name))));
            }
            Value::Array(items) if !items.is_empty() => {
                for (i, item) in items.iter().enumerate() {
                    self.count(&trail.item(Some(item), Some(i), Whole::Yes), item, live.and_then(|l| namesake(l, item, i)));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
                self.all += 1;
                let counts = if live == Some(desired) { &mut self.alike } else { &mut self.unlike };
                trail.owners().for_each(|i| counts[i] += 1);
            }
        }
    }
}

/// The item with the same name, else at the same place: enough to weigh managers against each other.
fn namesake<'a>(list: &'a Value, item: &Value, index: usize) -> Option<&'a Value> {
    let items = list.as_array()?;
    let name = item.get("name").filter(|name| !name.is_null());
    let named = name.and_then(|name| items.iter().find(|other| other.get("name") == Some(name)));
    named.or_else(|| items.get(index))
}

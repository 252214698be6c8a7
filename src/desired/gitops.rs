//! What Argo CD and Flux say of an object: who claims it, whether it stands in the claimant's inventory, in which state, and what is not
//! put back. They hold no manifest, so there is nothing in them to compare with. Reads no cluster.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::object::Identity;

/// A tool that applies objects from a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tool {
    Argo,
    Kustomization,
    HelmRelease,
}

/// By its own word an object belongs to this.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub tool: Tool,
    /// `None` where the word does not say it.
    pub namespace: Option<String>,
    pub name: String,
    pub word: Word,
}

/// What the claim rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// A mark that only this tool writes.
    Own,
    /// A label that others write as well: it counts only if the inventory knows the object.
    Shared,
    /// The mark names another object, so this one is a copy of that.
    Foreign(String),
}

/// What a claimant says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// `Argo CD application argocd/shop`.
    pub title: String,
    /// `Application.argoproj.io/argocd/shop`.
    pub keeper: String,
    /// `Synced`, `OutOfSync`, `Ready`, …; "" where it says nothing.
    pub state: String,
    pub revision: String,
    /// When it looked or applied last; "" if it is not told.
    pub at: String,
    /// Whether its inventory holds the object.
    pub is_listed: bool,
    /// What else there is to know, in sentences.
    pub notes: Vec<String>,
}

impl Tool {
    pub const ALL: [Self; 3] = [Self::Argo, Self::Kustomization, Self::HelmRelease];

    pub fn group(self) -> &'static str {
        match self {
            Self::Argo => "argoproj.io",
            Self::Kustomization => "kustomize.toolkit.fluxcd.io",
            Self::HelmRelease => "helm.toolkit.fluxcd.io",
        }
    }

    pub fn kind(self) -> &'static str {
        match self {
            Self::Argo => "Application",
            Self::Kustomization => "Kustomization",
            Self::HelmRelease => "HelmRelease",
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Argo => "Argo CD application",
            Self::Kustomization => "Flux kustomization",
            Self::HelmRelease => "Flux Helm release",
        }
    }

    /// The tool whose object this is.
    pub fn of(keeper: &Value) -> Option<Self> {
        let (group, kind) = (text(keeper, "/apiVersion").split('/').next().unwrap_or_default(), text(keeper, "/kind"));
        Self::ALL.into_iter().find(|tool| tool.group() == group && tool.kind() == kind)
    }
}

impl Told {
    /// The same in sentences, what it is and how it stands first.
    pub fn lines(&self) -> Vec<String> {
        let known = |name: &str, text: &str| (!text.is_empty()).then(|| format!("{name}{text}"));
        let parts = [known("", &self.state), known("revision ", &self.revision), known("last ", &self.at)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let state = if parts.is_empty() { "no state yet".to_owned() } else { parts.join(", ") };
        [format!("{}: {state}", self.title)].into_iter().chain(self.notes.iter().cloned()).collect()
    }

    /// The same with every text of the cluster changed by this.
    pub(super) fn redacted(self, redact: &impl Fn(String) -> String) -> Self {
        let Self { title, keeper, state, revision, at, is_listed, notes } = self;
        let notes = notes.into_iter().map(redact).collect();
        Self { title, keeper, state: redact(state), revision: redact(revision), at, is_listed, notes }
    }
}

/// Who claims an object, by the object's own word.
pub fn claims(live: &Value) -> Vec<Claim> {
    let label = |name: &str| live.pointer("/metadata/labels").and_then(|labels| labels.get(name)).and_then(Value::as_str);
    let flux = |tool: Tool| {
        let name = label(&format!("{}/name", tool.group()))?;
        let namespace = label(&format!("{}/namespace", tool.group())).map(str::to_owned);
        Some(Claim { tool, namespace, name: name.to_owned(), word: Word::Own })
    };
    let mut found: Vec<Claim> = by_tracking_id(live).into_iter().collect();
    if found.is_empty()
        && let Some(name) = label("app.kubernetes.io/instance")
    {
        found.push(Claim { tool: Tool::Argo, namespace: None, name: name.to_owned(), word: Word::Shared });
    }
    found.extend([Tool::Kustomization, Tool::HelmRelease].into_iter().filter_map(flux));
    found
}

/// `<app>:<group>/<kind>:<namespace>/<name>`; an application outside Argo CD's own namespace is written `<namespace>_<app>`.
fn by_tracking_id(live: &Value) -> Option<Claim> {
    let id = live.pointer("/metadata/annotations")?.get("argocd.argoproj.io/tracking-id")?.as_str()?;
    let (app, object) = id.split_once(':')?;
    let (namespace, name) = app.split_once('_').map_or((None, app), |(namespace, name)| (Some(namespace.to_owned()), name));
    let own = Identity::of(live);
    let is_own = object == format!("{}/{}:{}/{}", own.group, own.kind, own.namespace, own.name);
    let word = if is_own { Word::Own } else { Word::Foreign(object.to_owned()) };
    Some(Claim { tool: Tool::Argo, namespace, name: name.to_owned(), word })
}

/// Of a claimant, what concerns one object: inventories may have thousands of entries.
pub fn about(keeper: &Value, object: &Identity) -> Value {
    let status = keeper.get("status").and_then(Value::as_object);
    let is_long = |name: &str| matches!(name, "resources" | "inventory" | "history" | "operationState" | "summary");
    let mut kept: Map<String, Value> =
        status.into_iter().flatten().filter(|(name, _)| !is_long(name)).map(|(name, value)| (name.clone(), value.clone())).collect();
    let finished = keeper.pointer("/status/operationState/finishedAt").cloned().unwrap_or_default();
    kept.insert("operationState".to_owned(), json!({"finishedAt": finished}));
    kept.insert("resources".to_owned(), resources(keeper, object).cloned().collect::<Vec<_>>().into());
    kept.insert("inventory".to_owned(), json!({"entries": entries(keeper, object).cloned().collect::<Vec<_>>()}));
    let mut slim = json!({"status": kept});
    for key in ["apiVersion", "kind", "metadata", "spec"] {
        slim[key] = keeper.get(key).cloned().unwrap_or_default();
    }
    slim
}

fn is_resource(entry: &Value, object: &Identity) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    text("name") == object.name && text("kind") == object.kind && text("namespace") == object.namespace && text("group") == object.group
}

/// What Argo CD's inventory has of an object.
fn resources<'a>(keeper: &'a Value, object: &'a Identity) -> impl Iterator<Item = &'a Value> {
    let all = keeper.pointer("/status/resources").and_then(Value::as_array);
    all.into_iter().flatten().filter(|entry| is_resource(entry, object))
}

/// What Flux' inventory has of an object.
fn entries<'a>(keeper: &'a Value, object: &Identity) -> impl Iterator<Item = &'a Value> {
    let id = format!("{}_{}_{}_{}", object.namespace, object.name, object.group, object.kind);
    let all = keeper.pointer("/status/inventory/entries").and_then(Value::as_array);
    all.into_iter().flatten().filter(move |entry| entry["id"] == id.as_str())
}

/// The claimants among `related` that a claim of the object names.
pub fn keepers<'a>(live: &Value, related: &'a [Arc<Value>]) -> Vec<(Claim, &'a Value)> {
    let is_named = |claim: &Claim, keeper: &Value| {
        Tool::of(keeper) == Some(claim.tool)
            && text(keeper, "/metadata/name") == claim.name
            && claim.namespace.as_deref().is_none_or(|namespace| text(keeper, "/metadata/namespace") == namespace)
    };
    let of = |claim: Claim| {
        let own = related.iter().map(Arc::as_ref).filter(|keeper| is_named(&claim, keeper)).collect::<Vec<_>>();
        own.into_iter().map(move |keeper| (claim.clone(), keeper))
    };
    let object = Identity::of(live);
    let counts = |(claim, keeper): &(Claim, &Value)| claim.word != Word::Shared || is_listed(claim.tool, keeper, &object) == Some(true);
    claims(live).into_iter().flat_map(of).filter(counts).collect()
}

/// Whether the inventory holds the object; `None` where the tool keeps none that could be read.
fn is_listed(tool: Tool, keeper: &Value, object: &Identity) -> Option<bool> {
    let is_entry = || entries(keeper, object).next().is_some();
    match tool {
        Tool::Argo => Some(resources(keeper, object).next().is_some()),
        Tool::Kustomization => Some(is_entry()),
        Tool::HelmRelease => keeper.pointer("/status/inventory").map(|_| is_entry()),
    }
}

/// What the claimants of an object say.
pub fn told(live: &Value, related: &[Arc<Value>]) -> Vec<Told> {
    keepers(live, related).into_iter().map(|(claim, keeper)| one(live, &claim, keeper)).collect()
}

fn one(live: &Value, claim: &Claim, keeper: &Value) -> Told {
    let (namespace, name) = (text(keeper, "/metadata/namespace"), text(keeper, "/metadata/name"));
    let object = Identity::of(live);
    let listed = is_listed(claim.tool, keeper, &object);
    let (state, revision, at) = match claim.tool {
        Tool::Argo => argo(keeper, &object),
        Tool::Kustomization | Tool::HelmRelease => flux(keeper),
    };
    let mut notes = match claim.tool {
        Tool::Argo => argo_notes(keeper),
        Tool::Kustomization => suspended(keeper),
        Tool::HelmRelease => [suspended(keeper), detection(keeper)].concat(),
    };
    if let Word::Foreign(other) = &claim.word {
        notes.insert(0, format!("its tracking mark names {other}: this object is a copy, which the tool does not keep"));
    } else if listed == Some(false) {
        notes.insert(0, "it is marked as the tool's and not in its inventory: left behind, or marked by hand".to_owned());
    }
    let title = format!("{} {namespace}/{name}", claim.tool.title());
    let keeper = format!("{}.{}/{namespace}/{name}", claim.tool.kind(), claim.tool.group());
    Told { title, keeper, state, revision, at, is_listed: listed != Some(false), notes }
}

fn argo(keeper: &Value, object: &Identity) -> (String, String, String) {
    let own = resources(keeper, object).next();
    let of_object = own.and_then(|entry| entry.get("status")).and_then(Value::as_str);
    let state = of_object.unwrap_or_else(|| text(keeper, "/status/sync/status"));
    let health = own.and_then(|entry| entry.pointer("/health/status")).and_then(Value::as_str);
    let prune = own.is_some_and(|entry| entry["requiresPruning"] == true);
    let words = [Some(state), health, prune.then_some("to be pruned")];
    let state = words.into_iter().flatten().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
    let revision = match text(keeper, "/status/sync/revision") {
        "" => {
            let all = keeper.pointer("/status/sync/revisions").and_then(Value::as_array);
            all.into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
        }
        revision => revision.to_owned(),
    };
    (state, revision, text(keeper, "/status/operationState/finishedAt").to_owned())
}

fn argo_notes(keeper: &Value) -> Vec<String> {
    match keeper.pointer("/spec/syncPolicy/automated") {
        None | Some(Value::Null) => vec!["it is synced by hand: nothing puts drift back".to_owned()],
        Some(automated) if automated["selfHeal"] != true => vec!["selfHeal is off: drift stays until the next commit".to_owned()],
        Some(_) => Vec::new(),
    }
}

fn flux(keeper: &Value) -> (String, String, String) {
    let conditions = keeper.pointer("/status/conditions").and_then(Value::as_array);
    let ready = conditions.into_iter().flatten().find(|condition| condition["type"] == "Ready");
    let get = |name: &str| ready.and_then(|ready| ready.get(name)).and_then(Value::as_str).unwrap_or_default();
    let state = match get("status") {
        "True" => "Ready".to_owned(),
        "" => String::new(),
        _ => format!("not ready: {}", get("reason")),
    };
    let revision = ["/status/lastAppliedRevision", "/status/history/0/chartVersion"].map(|pointer| text(keeper, pointer));
    let revision = revision.into_iter().find(|revision| !revision.is_empty()).unwrap_or_default();
    (state, revision.to_owned(), get("lastTransitionTime").to_owned())
}

fn suspended(keeper: &Value) -> Vec<String> {
    let is_suspended = keeper.pointer("/spec/suspend") == Some(&Value::Bool(true));
    is_suspended.then(|| "it is suspended: nothing puts drift back".to_owned()).into_iter().collect()
}

/// Off is what a HelmRelease does unless it is told otherwise.
fn detection(keeper: &Value) -> Vec<String> {
    match text(keeper, "/spec/driftDetection/mode") {
        "enabled" => Vec::new(),
        "warn" => vec!["drift is only warned of (driftDetection.mode: warn)".to_owned()],
        _ => vec!["drift detection is off: the tool neither sees nor puts back what is changed by hand".to_owned()],
    }
}

pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

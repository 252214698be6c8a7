//! What is known of a place in an object: its type, how items of a list are told apart, whether it has one owner as a whole.
//! Built-in kinds come from a shipped table, custom ones from the schema of their definition when it is at hand. Judges nothing.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use serde_json::Value;

/// What is known of a place.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// Nothing: a field or a kind that no table and no schema knows.
    Unknown,
    /// A field of a built-in kind.
    Known(&'static Known),
    /// A node of a structural schema, `openAPIV3Schema`.
    Schema(&'a Value),
}

/// A field of a built-in type.
#[derive(Debug)]
pub struct Known {
    /// `core.Container.image`; for the root of a kind its type.
    pub name: String,
    kind: Leaf,
    /// Type of the struct, or of what a list or map holds.
    inner: Option<String>,
    item: Option<Box<Self>>,
    keeps_zero: bool,
    note: Note,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Note {
    Plain,
    Atomic,
    Set,
    Keys(&'static str),
}

/// How values at a place are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    Text,
    Integer,
    Number,
    Boolean,
    Quantity,
    /// A number or a text, and never the one for the other.
    Either,
    Time,
    Duration,
    Bytes,
    Any,
    Struct,
    List,
    Map,
    Unknown,
}

/// How items of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Items {
    Keys(Vec<String>),
    /// One value, one owner; order means nothing.
    Set,
    /// One owner for the whole; order means nothing.
    AtomicSet,
    /// One owner for the whole; order counts.
    Ordered,
    /// Nothing is known: order counts.
    Unknown,
}

struct Table {
    kinds: HashMap<(String, String), Known>,
    /// Kinds of well-known operators, of which not all fields are listed.
    customs: HashMap<(String, String), Known>,
    types: HashMap<String, Type>,
}

#[derive(Default)]
struct Type {
    atomic: bool,
    /// Not all of its fields are listed.
    open: bool,
    fields: HashMap<&'static str, Known>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("types.txt")));

impl<'a> Shape<'a> {
    /// The root of a kind: built in, or by the definition among `related`.
    pub fn of(api_version: &str, kind: &str, related: &'a [Arc<Value>]) -> Self {
        if let Some(known) = built_in(api_version, kind) {
            return Self::Known(known);
        }
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let defined = related.iter().find_map(|object| schema(object, group, version, kind)).map(Self::Schema);
        let custom = || TABLE.customs.get(&(api_version.to_owned(), kind.to_owned())).map(Self::Known);
        defined.or_else(custom).unwrap_or(Self::Unknown)
    }

    /// A field of this struct, or an entry of this map.
    pub fn field(self, name: &str) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Known(known) => known.field(name).map_or(Self::Unknown, Self::Known),
            Self::Schema(node) => {
                let own = node.get("properties").and_then(|all| all.get(name));
                let other = || node.get("additionalProperties").filter(|v| v.is_object());
                own.or_else(other).map_or(Self::Unknown, Self::Schema)
            }
        }
    }

    /// An item of this list.
    pub fn item(self) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Known(known) => known.item.as_deref().map_or(Self::Unknown, Self::Known),
            Self::Schema(node) => node.get("items").map_or(Self::Unknown, Self::Schema),
        }
    }

    /// The name in the shipped table, `core.Container.image`; "" elsewhere.
    pub fn name(self) -> &'static str {
        match self {
            Self::Known(known) => &known.name,
            Self::Unknown | Self::Schema(_) => "",
        }
    }

    /// The name of the struct that is here in the shipped table, `core.Container`; "" elsewhere.
    pub fn type_name(self) -> &'static str {
        match self {
            Self::Known(known) if known.kind == Leaf::Struct => known.inner.as_deref().unwrap_or_default(),
            Self::Unknown | Self::Known(_) | Self::Schema(_) => "",
        }
    }

    pub fn leaf(self) -> Leaf {
        match self {
            Self::Unknown => Leaf::Unknown,
            Self::Known(known) => known.kind,
            Self::Schema(node) => leaf_of(node),
        }
    }

    pub fn items(self) -> Items {
        match self {
            Self::Unknown => Items::Unknown,
            Self::Known(known) => known.items(),
            Self::Schema(node) => items_of(node),
        }
    }

    /// Whether a struct or map here has one owner as a whole.
    pub fn is_atomic(self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Known(known) => known.is_atomic(),
            Self::Schema(node) => text(node, "x-kubernetes-map-type") == "atomic",
        }
    }

    /// Whether the server stores false, 0, "" and an empty struct here, so that their absence is a change. Of custom resources it does.
    pub fn keeps_zero(self) -> bool {
        match self {
            Self::Unknown | Self::Schema(_) => true,
            Self::Known(known) => known.keeps_zero,
        }
    }

    /// The default that the schema gives.
    pub fn default(self) -> Option<&'a Value> {
        match self {
            Self::Unknown | Self::Known(_) => None,
            Self::Schema(node) => node.get("default"),
        }
    }

    pub fn is_known(self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Whether a field that the shape does not list can be stored here.
    pub fn takes_any_field(self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Known(known) => known.kind != Leaf::Struct || known.own_type().is_none_or(|own| own.open),
            Self::Schema(node) => {
                node.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true))
                    || node.get("additionalProperties").is_some_and(|v| v != &Value::Bool(false))
                    || node.get("properties").is_none()
            }
        }
    }
}

impl Known {
    fn field(&'static self, name: &str) -> Option<&'static Self> {
        match self.kind {
            Leaf::Struct => self.own_type()?.fields.get(name),
            Leaf::Map => self.item.as_deref(),
            Leaf::Text
            | Leaf::Integer
            | Leaf::Number
            | Leaf::Boolean
            | Leaf::Quantity
            | Leaf::Either
            | Leaf::Time
            | Leaf::Duration
            | Leaf::Bytes
            | Leaf::Any
            | Leaf::List
            | Leaf::Unknown => None,
        }
    }

    fn items(&self) -> Items {
        match self.note {
            Note::Keys(keys) => Items::Keys(keys.split(',').map(str::to_owned).collect()),
            Note::Set => Items::Set,
            Note::Plain | Note::Atomic => {
                let field = self.name.rsplit('.').next().unwrap_or_default();
                if UNORDERED.contains(&field) { Items::AtomicSet } else { Items::Ordered }
            }
        }
    }

    fn is_atomic(&self) -> bool {
        self.note == Note::Atomic || self.own_type().is_some_and(|own| own.atomic)
    }

    fn own_type(&self) -> Option<&'static Type> {
        TABLE.types.get(self.inner.as_deref()?)
    }
}

/// Lists with one owner in which order means nothing.
const UNORDERED: &[&str] = &[
    "accessModes",
    "add",
    "allowedTopologies",
    "apiGroups",
    "apiVersions",
    "clusterRoleSelectors",
    "drop",
    "egress",
    "except",
    "externalIPs",
    "from",
    "groups",
    "hostnames",
    "hosts",
    "imagePullSecrets",
    "ingress",
    "items",
    "limits",
    "loadBalancerSourceRanges",
    "matchExpressions",
    "matchFields",
    "matchLabelExpressions",
    "matchLabelKeys",
    "metrics",
    "mismatchLabelKeys",
    "namespaces",
    "nodeSelectorTerms",
    "nonResourceRules",
    "nonResourceURLs",
    "operations",
    "paths",
    "policies",
    "policyTypes",
    "ports",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "readinessGates",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "resourceNames",
    "resourceRules",
    "resources",
    "rules",
    "scopes",
    "secrets",
    "shortNames",
    "storedVersions",
    "subjects",
    "supplementalGroups",
    "sysctls",
    "tls",
    "to",
    "tolerations",
    "topologyKeys",
    "values",
    "verbs",
    "versions",
    "volumeClaimTemplates",
    "volumeLifecycleModes",
];

fn built_in(api_version: &str, kind: &str) -> Option<&'static Known> {
    let key = |v: &str| (if v.contains('/') { v.to_owned() } else { format!("/{v}") }, kind.to_owned());
    if let Some(known) = TABLE.kinds.get(&key(api_version)) {
        return Some(known);
    }
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    ["v2", "v1"].iter().find_map(|version| TABLE.kinds.get(&(format!("{group}/{version}"), kind.to_owned())))
}

/// The metadata of any object.
pub fn metadata() -> Shape<'static> {
    built_in("v1", "ConfigMap").map_or(Shape::Unknown, |known| Shape::Known(known).field("metadata"))
}

/// Whether the shipped table was made for exactly this version, so that what it does not list does not exist.
pub fn is_exact(api_version: &str, kind: &str) -> bool {
    let key = if api_version.contains('/') { api_version.to_owned() } else { format!("/{api_version}") };
    TABLE.kinds.contains_key(&(key, kind.to_owned()))
}

/// Groups that the API server itself serves.
pub fn is_built_in(group: &str) -> bool {
    matches!(group, "" | "apps" | "batch" | "autoscaling" | "policy" | "extensions" | "events.k8s.io" | "internal.apiserver.k8s.io")
        || TABLE.kinds.keys().any(|(version, _)| version.rsplit_once('/').is_some_and(|(g, _)| g == group))
}

fn schema<'a>(object: &'a Value, group: &str, version: &str, kind: &str) -> Option<&'a Value> {
    let spec = object.get("spec").filter(|_| text(object, "kind") == "CustomResourceDefinition")?;
    if text(spec, "group") != group || spec.get("names").is_none_or(|names| text(names, "kind") != kind) {
        return None;
    }
    let served = spec.get("versions")?.as_array()?.iter().find(|v| text(v, "name") == version)?;
    served.get("schema")?.get("openAPIV3Schema")
}

fn text<'a>(node: &'a Value, key: &str) -> &'a str {
    node.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn leaf_of(node: &Value) -> Leaf {
    if node.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) {
        // The pattern that the generator of schemas writes for resource.Quantity.
        return if text(node, "pattern").contains("KMGTPE") { Leaf::Quantity } else { Leaf::Either };
    }
    match (text(node, "type"), text(node, "format")) {
        ("string", "date-time") => Leaf::Time,
        ("string", "duration") => Leaf::Duration,
        ("string", "byte") => Leaf::Bytes,
        ("string", _) => Leaf::Text,
        ("integer", _) => Leaf::Integer,
        ("number", _) => Leaf::Number,
        ("boolean", _) => Leaf::Boolean,
        ("array", _) => Leaf::List,
        ("object", _) if node.get("properties").is_some() => Leaf::Struct,
        ("object", _) => Leaf::Map,
        _ => Leaf::Any,
    }
}

fn items_of(node: &Value) -> Items {
    match text(node, "x-kubernetes-list-type") {
        "map" => {
            let keys = node.get("x-kubernetes-list-map-keys").and_then(Value::as_array).into_iter().flatten();
            Items::Keys(keys.filter_map(|key| Some(key.as_str()?.to_owned())).collect())
        }
        "set" => Items::Set,
        _ => Items::Unknown,
    }
}

fn read(text: &'static str) -> Table {
    let mut table = Table { kinds: HashMap::new(), customs: HashMap::new(), types: HashMap::new() };
    let mut current = "";
    for line in text.lines() {
        let mut words = line.split(' ');
        match words.next() {
            Some(mark @ ("=" | "~")) => {
                let kinds = if mark == "=" { &mut table.kinds } else { &mut table.customs };
                let [version, kind, name] = [words.next(), words.next(), words.next()].map(Option::unwrap_or_default);
                kinds.insert((version.to_owned(), kind.to_owned()), known(name.to_owned(), name, ""));
            }
            Some("@") => {
                current = words.next().unwrap_or_default();
                let note = words.next().unwrap_or_default();
                table.types.insert(current.to_owned(), Type { atomic: note == "atomic", open: note == "open", fields: HashMap::new() });
            }
            Some("#" | "") | None => {}
            Some(field) => {
                let known = known(format!("{current}.{field}"), words.next().unwrap_or_default(), words.next().unwrap_or_default());
                table.types.entry(current.to_owned()).or_default().fields.insert(field, known);
            }
        }
    }
    table
}

fn known(name: String, kind: &'static str, note: &'static str) -> Known {
    let keeps_zero = kind.starts_with('*');
    let kind = kind.trim_start_matches('*').trim_end_matches('!');
    let note = match note {
        "" => Note::Plain,
        "atomic" => Note::Atomic,
        "set" => Note::Set,
        keys => Note::Keys(keys),
    };
    let item = |inner: &'static str| Some(Box::new(known(name.clone(), inner, "")));
    let (leaf, inner, item) = match (kind.strip_prefix("[]"), kind.strip_prefix("{}")) {
        (Some(inner), _) => (Leaf::List, None, item(inner)),
        (_, Some(inner)) => (Leaf::Map, None, item(inner)),
        _ => scalar(kind).map_or((Leaf::Struct, Some(kind.to_owned()), None), |leaf| (leaf, None, None)),
    };
    Known { name, kind: leaf, inner, item, keeps_zero, note }
}

fn scalar(kind: &str) -> Option<Leaf> {
    Some(match kind {
        "s" => Leaf::Text,
        "i" => Leaf::Integer,
        "n" => Leaf::Number,
        "b" => Leaf::Boolean,
        "q" => Leaf::Quantity,
        "o" => Leaf::Either,
        "t" => Leaf::Time,
        "d" => Leaf::Duration,
        "y" => Leaf::Bytes,
        "a" => Leaf::Any,
        _ => return None,
    })
}

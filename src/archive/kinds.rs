//! What the API calls a kind: its plural, its scope, its short names.

use std::collections::BTreeSet;

use crate::model::{KINDS, Kind};

/// A kind of an archive, as the API serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedKind {
    pub group: Box<str>,
    pub name: Box<str>,
    /// The versions that the objects name, most stable first; empty only where a kind is told by its name alone.
    pub versions: Vec<String>,
    pub plural: String,
    pub short: Vec<String>,
    pub namespaced: bool,
}

impl ArchivedKind {
    /// What is known of a kind by its name alone.
    pub fn of(group: &str, name: &str) -> Self {
        describe(group, name, &BTreeSet::new(), Held::InNamespaces, &[])
    }

    /// Whether somebody means it by this word, as in kubectl: kind, plural or short name, with group and version or without.
    pub fn answers_to(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let (word, group) = word.split_once('.').map_or((&*word, None), |(word, group)| (word, Some(group)));
        let is_version = |text: &str| text.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        let is_own = |group: &str| {
            let unversioned = group.split_once('.').filter(|(version, _)| is_version(version)).map(|(_, group)| group);
            group == &*self.group || unversioned == Some(&*self.group)
        };
        let is_word = self.name.to_lowercase() == word || self.plural == word || self.short.iter().any(|short| short == word);
        is_word && group.is_none_or(is_own)
    }

    /// The row of the model that reads it.
    pub fn followed(&self) -> Kind {
        followed(&self.group, &self.name)
    }

    /// The API version in which its objects are handed over where they do not say it themselves.
    pub fn api_version(&self) -> String {
        let version = self.versions.first().map_or("v1", String::as_str);
        if self.group.is_empty() { version.to_owned() } else { format!("{}/{version}", self.group) }
    }
}

/// The followed kind with this group and name, else [`Kind::Other`].
pub(super) fn followed(group: &str, name: &str) -> Kind {
    KINDS.iter().find(|row| row.name == name && row.group == group).map_or(Kind::Other, |row| row.kind)
}

/// Kubernetes' own kinds that are not followed: group, kind, plural, short name, namespaced.
const OTHERS: &[(&str, &str, &str, &str, bool)] = &[
    ("", "PodTemplate", "podtemplates", "", true),
    ("", "ComponentStatus", "componentstatuses", "cs", false),
    ("rbac.authorization.k8s.io", "Role", "roles", "", true),
    ("rbac.authorization.k8s.io", "RoleBinding", "rolebindings", "", true),
    ("rbac.authorization.k8s.io", "ClusterRole", "clusterroles", "", false),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", "clusterrolebindings", "", false),
    ("networking.k8s.io", "NetworkPolicy", "networkpolicies", "netpol", true),
    ("certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests", "csr", false),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", "flowschemas", "", false),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", "prioritylevelconfigurations", "", false),
    ("resource.k8s.io", "ResourceClaimTemplate", "resourceclaimtemplates", "", true),
    ("storage.k8s.io", "VolumeAttributesClass", "volumeattributesclasses", "vac", false),
];

/// What a custom resource definition says about its kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Defined {
    pub group: String,
    pub kind: String,
    pub plural: String,
    pub short: Vec<String>,
    pub namespaced: bool,
}

impl Defined {
    /// Reads it from the bytes of the definition.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let crd: serde_json::Value = serde_json::from_slice(bytes).ok()?;
        let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let (spec, names) = (&crd["spec"], &crd["spec"]["names"]);
        Some(Self {
            group: text(&spec["group"])?,
            kind: text(&names["kind"])?,
            plural: text(&names["plural"])?,
            short: names["shortNames"].as_array().into_iter().flatten().filter_map(text).collect(),
            namespaced: spec["scope"] != "Cluster",
        })
    }
}

/// Puts together what is known of a kind. `held` says whether some object of it lies in a namespace.
pub(super) fn describe(group: &str, name: &str, versions: &BTreeSet<String>, held: Held, defined: &[Defined]) -> ArchivedKind {
    let (plural, short, namespaced) = own(group, name)
        .or_else(|| {
            let crd = defined.iter().find(|defined| defined.group == group && defined.kind == name)?;
            Some((crd.plural.clone(), crd.short.clone(), crd.namespaced))
        })
        .unwrap_or_else(|| (plural(name), Vec::new(), held == Held::InNamespaces));
    let mut versions: Vec<String> = versions.iter().cloned().collect();
    versions.sort_by_key(|version| std::cmp::Reverse(stability(version)));
    ArchivedKind { group: group.into(), name: name.into(), versions, plural, short, namespaced }
}

/// Where the objects of a kind lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Held {
    InNamespaces,
    AtTheTop,
}

fn own(group: &str, name: &str) -> Option<(String, Vec<String>, bool)> {
    let followed = KINDS.iter().find(|row| row.group == group && row.name == name && !row.plural.is_empty());
    if let Some(row) = followed {
        return Some((row.plural.to_owned(), row.short.iter().map(|&short| short.to_owned()).collect(), row.namespaced));
    }
    let (_, _, plural, short, namespaced) = OTHERS.iter().find(|other| other.0 == group && other.1 == name)?;
    Some(((*plural).to_owned(), Some(*short).filter(|short| !short.is_empty()).map(str::to_owned).into_iter().collect(), *namespaced))
}

/// The plural as Kubernetes' code generators make it.
fn plural(name: &str) -> String {
    let name = name.to_lowercase();
    let before_last = name.chars().rev().nth(1);
    match name.chars().last() {
        Some('s' | 'x') => name + "es",
        Some('h') if matches!(before_last, Some('c' | 's')) => name + "es",
        Some('y') if !matches!(before_last, Some('a' | 'e' | 'i' | 'o' | 'u')) => name[..name.len() - 1].to_owned() + "ies",
        Some(_) | None => name + "s",
    }
}

/// As the API server orders versions: stable before beta before alpha, then the higher number.
fn stability(version: &str) -> (u8, u32, u32) {
    let number = |text: &str| text.parse().unwrap_or(0);
    let rest = version.strip_prefix('v').unwrap_or(version);
    match (rest.split_once("beta"), rest.split_once("alpha")) {
        (Some((major, minor)), _) => (1, number(major), number(minor)),
        (_, Some((major, minor))) => (0, number(major), number(minor)),
        (None, None) => (2, number(rest), 0),
    }
}

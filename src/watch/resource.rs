//! Where the API serves a kind, as paths and queries.

use crate::model::{Kind, Place};

/// One resource of one API version.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resource {
    /// Empty for Kubernetes' first API.
    pub group: String,
    pub version: String,
    pub plural: String,
    pub scope: Scope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    #[default]
    Namespaced,
    Cluster,
}

impl Resource {
    /// The resource of a followed kind at this version.
    #[must_use]
    pub fn of_kind(kind: Kind, version: &str) -> Self {
        let row = kind.row();
        Self {
            group: row.group.to_owned(),
            version: version.to_owned(),
            plural: row.plural.to_owned(),
            scope: if row.namespaced { Scope::Namespaced } else { Scope::Cluster },
        }
    }

    /// `v1`, `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The path of the list in one place.
    #[must_use]
    pub fn list(&self, place: &Place) -> String {
        self.within(place.namespace())
    }

    /// The path of one object; the namespace of a cluster-scoped one is left out.
    #[must_use]
    pub fn object(&self, namespace: &str, name: &str) -> String {
        let within = self.within(Some(namespace).filter(|namespace| !namespace.is_empty()));
        format!("{within}/{}", escape(name))
    }

    fn within(&self, namespace: Option<&str>) -> String {
        let root = match self.group.as_str() {
            "" => format!("/api/{}", escape(&self.version)),
            group => format!("/apis/{}/{}", escape(group), escape(&self.version)),
        };
        match (self.scope, namespace) {
            (Scope::Namespaced, Some(namespace)) => format!("{root}/namespaces/{}/{}", escape(namespace), escape(&self.plural)),
            (Scope::Namespaced, None) | (Scope::Cluster, _) => format!("{root}/{}", escape(&self.plural)),
        }
    }
}

/// A query in the making.
#[derive(Clone, Debug, Default)]
pub struct Query(String);

impl Query {
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(name);
        self.0.push('=');
        self.0.push_str(&escape(value));
        self
    }

    #[must_use]
    pub fn after(&self, path: &str) -> String {
        format!("{path}{}", self.0)
    }
}

/// Percent-escapes everything that has a meaning of its own in a path or query: names from the outside cannot leave their place.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => escaped.push(char::from(byte)),
            _ => escaped.push_str(&format!("%{byte:02X}")),
        }
    }
    // A path of dots would be walked upwards.
    match escaped.as_str() {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => escaped,
    }
}

//! What the server offers: its version, and every kind it serves, from the aggregated document or from one list a group.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::stream::{self, StreamExt};
use serde_json::Value;

use super::connection::{Connection, Get, Packing};
use super::error::Error;
use super::resource::{Resource, Scope};
use crate::model::{KINDS, KindRow};

/// The server's version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
    /// As the server words it, `v1.34.2-gke.100`.
    pub text: String,
}

/// What the server offers, in the order of group, name and version with the most stable first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discovery {
    pub served: Vec<Served>,
    /// Groups whose kinds could not be read, and why; the others are not touched by that.
    pub unreadable: Vec<(String, String)>,
}

/// One kind at one version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    pub resource: Resource,
    pub kind: String,
    pub singular: String,
    pub short: Vec<String>,
    pub can_list: bool,
    pub can_watch: bool,
}

/// Whether a followed kind is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    Served(Served),
    Absent,
    /// Its group could not be read: asking for the kind itself will tell.
    Unknown,
}

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

impl Version {
    /// Streaming lists are on in 1.32, off in 1.33, on from 1.34 (feature gate WatchList).
    #[must_use]
    pub fn streams_lists(&self) -> bool {
        self.major > 1 || self.minor >= 34 || self.minor == 32
    }
}

/// Asks for the server's version. It is optional: some gateways do not pass it on.
///
/// # Errors
/// No answer within `deadline`, or none that is a version.
pub async fn version(connection: &Connection, deadline: Duration) -> Result<Version, Error> {
    let bytes = connection.fetch(&Get::json("/version".to_owned()), deadline).await?;
    let told: Value = parse("the server's version", &bytes)?;
    // Providers write the minor version as "34+".
    let number = |name: &str| {
        let text = told[name].as_str().unwrap_or_default();
        text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
    };
    Ok(Version { major: number("major"), minor: number("minor"), text: string(&told["gitVersion"]) })
}

/// Asks for everything the server offers.
///
/// # Errors
/// Kubernetes' first API (`/api`) cannot be read; any other group is left out and listed.
pub async fn discover(connection: &Connection, deadline: Duration) -> Result<Discovery, Error> {
    let (core, others) = futures::join!(document(connection, "/api", deadline), document(connection, "/apis", deadline));
    let mut found = Discovery::default();
    found.add(connection, core?, deadline).await;
    match others {
        Ok(others) => found.add(connection, others, deadline).await,
        Err(error) => found.unreadable.push(("*".to_owned(), error.to_string())),
    }
    found.sort();
    Ok(found)
}

impl Discovery {
    /// Where a followed kind is served: at the newest version that both sides know.
    #[must_use]
    pub fn offer(&self, row: &KindRow) -> Offer {
        let of_version = |version: &'static str| {
            let at = |served: &&Served| {
                served.resource.group == row.group && served.resource.plural == row.plural && served.resource.version == version
            };
            self.served.iter().find(at).filter(|served| served.can_list)
        };
        match row.versions.iter().copied().find_map(of_version) {
            Some(served) => Offer::Served(served.clone()),
            None if self.unreadable.iter().any(|(group, _)| group == row.group || group == "*") => Offer::Unknown,
            None => Offer::Absent,
        }
    }

    /// The kinds that a word may mean: plural, singular, kind or short name in any case, with `.group` where that is needed.
    /// Each at its most stable version. A followed kind hides others of the same name, which are then reached by group.
    #[must_use]
    pub fn named(&self, word: &str) -> Vec<&Served> {
        let word = word.to_lowercase();
        let mut seen = BTreeSet::new();
        let named: Vec<&Served> = self
            .served
            .iter()
            .filter(|served| served.answers_to(&word))
            .filter(|served| seen.insert((&served.resource.group, &served.resource.plural)))
            .collect();
        let followed: Vec<&Served> = named.iter().copied().filter(|served| served.is_followed()).collect();
        if followed.is_empty() || word.contains('.') { named } else { followed }
    }

    async fn add(&mut self, connection: &Connection, document: Value, deadline: Duration) {
        match document["kind"].as_str() {
            Some("APIGroupDiscoveryList") => self.add_aggregated(&document),
            Some("APIVersions") => {
                let versions = strings(&document["versions"]);
                self.add_versions(connection, versions.into_iter().map(|version| (String::new(), version)).collect(), deadline).await;
            }
            _ => self.add_versions(connection, group_versions(&document), deadline).await,
        }
    }

    fn add_aggregated(&mut self, document: &Value) {
        for group in items(&document["items"]) {
            let name = string(&group["metadata"]["name"]);
            for version in items(&group["versions"]) {
                let version_name = string(&version["version"]);
                if version["freshness"].as_str() == Some("Stale") {
                    self.unreadable.push((name.clone(), format!("{version_name} does not answer the API server")));
                }
                let resources = items(&version["resources"]);
                self.served.extend(resources.filter_map(|resource| aggregated(&name, &version_name, resource)));
            }
        }
    }

    /// The old way: one list a group and version, eight at a time.
    async fn add_versions(&mut self, connection: &Connection, versions: Vec<(String, String)>, deadline: Duration) {
        let ask = |(group, version): (String, String)| async move {
            let path = match group.as_str() {
                "" => format!("/api/{version}"),
                _ => format!("/apis/{group}/{version}"),
            };
            let answer = document(connection, &path, deadline).await;
            (group, version, answer)
        };
        let mut answers = stream::iter(versions).map(ask).buffer_unordered(8);
        while let Some((group, version, answer)) = answers.next().await {
            match answer {
                Ok(list) => {
                    let resources = items(&list["resources"]);
                    self.served.extend(resources.filter_map(|resource| listed(&group, &version, resource)));
                }
                Err(error) => self.unreadable.push((group, error.to_string())),
            }
        }
    }

    fn sort(&mut self) {
        self.served.sort_by(|a, b| {
            let by_name = (&a.resource.group, &a.resource.plural).cmp(&(&b.resource.group, &b.resource.plural));
            by_name.then_with(|| stability(&b.resource.version).cmp(&stability(&a.resource.version)))
        });
        self.unreadable.sort();
        self.unreadable.dedup();
    }
}

impl Served {
    fn answers_to(&self, word: &str) -> bool {
        let resource = &self.resource;
        let (name, group) = match word.split_once('.') {
            Some((name, group)) => (name, Some(group)),
            None => (word, None),
        };
        let is_group = group.is_none_or(|group| resource.group == group || format!("{}.{}", resource.version, resource.group) == group);
        let names = [resource.plural.as_str(), &self.singular].into_iter().chain(self.short.iter().map(String::as_str));
        is_group && (self.kind.to_lowercase() == name || names.into_iter().any(|own| own == name))
    }

    fn is_followed(&self) -> bool {
        KINDS.iter().any(|row| row.group == self.resource.group && row.plural == self.resource.plural)
    }
}

async fn document(connection: &Connection, path: &str, deadline: Duration) -> Result<Value, Error> {
    let get = Get { path: path.to_owned(), accept: AGGREGATED, packing: Packing::ByDistance };
    let bytes = connection.fetch(&get, deadline).await?;
    parse(path, &bytes)
}

fn parse(what: &str, bytes: &[u8]) -> Result<Value, Error> {
    let read = serde_json::from_slice(bytes);
    read.map_err(|error| Error::Unreadable { what: what.to_owned(), why: error.to_string() })
}

/// A kind that has only subresources has no name to claim.
fn aggregated(group: &str, version: &str, told: &Value) -> Option<Served> {
    let scope = if told["scope"].as_str() == Some("Cluster") { Scope::Cluster } else { Scope::Namespaced };
    let plural = string(&told["resource"]);
    let kind = string(&told["responseKind"]["kind"]);
    served(group, version, (plural, kind, string(&told["singularResource"])), scope, told)
}

fn listed(group: &str, version: &str, told: &Value) -> Option<Served> {
    let scope = if told["namespaced"].as_bool() == Some(false) { Scope::Cluster } else { Scope::Namespaced };
    let names = (string(&told["name"]), string(&told["kind"]), string(&told["singularName"]));
    served(group, version, names, scope, told)
}

fn served(group: &str, version: &str, (plural, kind, singular): (String, String, String), scope: Scope, told: &Value) -> Option<Served> {
    let verbs = strings(&told["verbs"]);
    let can = |verb: &str| verbs.iter().any(|own| own == verb);
    let is_readable = can("list") || can("get");
    if plural.is_empty() || plural.contains('/') || !is_readable {
        return None;
    }
    let resource = Resource { group: group.to_owned(), version: version.to_owned(), plural, scope };
    Some(Served { resource, kind, singular, short: strings(&told["shortNames"]), can_list: can("list"), can_watch: can("watch") })
}

fn group_versions(document: &Value) -> Vec<(String, String)> {
    let versions = |group: &Value| {
        let name = string(&group["name"]);
        let versions: Vec<String> = items(&group["versions"]).map(|version| string(&version["version"])).collect();
        versions.into_iter().map(move |version| (name.clone(), version))
    };
    items(&document["groups"]).flat_map(versions).collect()
}

/// GA before beta before alpha, newer before older (kubernetes.io, *Version priority*); anything else comes last.
fn stability(version: &str) -> (u8, u32, u32) {
    let parse = || {
        let rest = version.strip_prefix('v')?;
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (major, stage) = rest.split_at(digits(rest));
        let major = major.parse().ok()?;
        match stage {
            "" => Some((3, major, 0)),
            _ if stage.starts_with("beta") => Some((2, major, stage[4..].parse().ok()?)),
            _ if stage.starts_with("alpha") => Some((1, major, stage[5..].parse().ok()?)),
            _ => None,
        }
    };
    parse().unwrap_or((0, 0, 0))
}

/// `null` and anything that is no list is empty.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn strings(value: &Value) -> Vec<String> {
    items(value).filter_map(Value::as_str).map(str::to_owned).collect()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

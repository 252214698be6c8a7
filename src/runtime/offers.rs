//! Offers: which kinds there are beside those that are followed, of a cluster by discovery, of files by what they hold.

use crate::app::Offered;
use crate::archive::{Archive, ArchivedKind};
use crate::model::{KINDS, qualified};
use crate::watch::{Discovery, Scope, Served};

/// The kinds of files that nobody follows.
pub fn of_files(archive: &Archive) -> Vec<Offered> {
    let own = archive.kinds().iter().filter(|kind| !is_followed(&kind.group, &kind.name));
    own.map(archived).collect()
}

/// The kinds of a cluster that can be read one by one and that nobody follows, each once.
pub fn of_cluster(offers: &Discovery) -> Vec<Offered> {
    let mut all: Vec<Offered> =
        offers.served.iter().filter(|served| !is_followed(&served.resource.group, &served.kind)).map(served).collect();
    all.sort_by(|a, b| a.plural.cmp(&b.plural));
    all.dedup_by(|a, b| a.plural == b.plural);
    all
}

fn is_followed(group: &str, kind: &str) -> bool {
    KINDS.iter().any(|row| row.group == group && row.name == kind && !row.plural.is_empty())
}

fn served(served: &Served) -> Offered {
    let words = [&served.resource.plural, &served.singular, &served.kind].into_iter().chain(&served.short);
    offered(&served.resource.group, &served.kind, &served.resource.plural, words, served.resource.scope == Scope::Namespaced)
}

fn archived(kind: &ArchivedKind) -> Offered {
    let name = kind.name.to_string();
    let words: Vec<String> = [kind.plural.clone(), name.clone()].into_iter().chain(kind.short.iter().cloned()).collect();
    offered(&kind.group, &name, &kind.plural, words.iter(), kind.namespaced)
}

fn offered<'a>(group: &str, kind: &str, plural: &str, words: impl Iterator<Item = &'a String>, namespaced: bool) -> Offered {
    let plural = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
    let words = words.filter(|word| !word.is_empty()).map(|word| word.to_lowercase()).collect();
    Offered { kind: qualified(&format!("{group}/"), kind).into_owned(), plural, words, namespaced }
}

//! Narrow: what the user asked to see of everything that was judged.

use std::collections::BTreeSet;

use color_eyre::{Result, eyre::bail};

use crate::cli::ClusterArgs;
use crate::diagnose::{Only, Options, Report};
use crate::model::{Cluster, KINDS, Kind, ObjectRef, Requirement, Selector};

/// `-l` and `--field-selector` as the engine takes them.
///
/// # Errors
/// A selector cannot be read, or names a field that means nothing here: silently judging everything would be worse.
pub fn options(args: &ClusterArgs) -> Result<Options> {
    if args.selector.is_none() && args.field_selector.is_none() {
        return Ok(Options::default());
    }
    let labels = args.selector.as_deref().map_or_else(|| Ok(Selector::default()), labels)?;
    let fields = args.field_selector.as_deref().map_or_else(|| Ok(Vec::new()), fields)?;
    Ok(Options { only: Some(Only { labels, fields }), ..Options::default() })
}

/// The objects that KIND/NAME arguments name. Kinds are taken by name, plural or short name, in any case.
///
/// # Errors
/// No such object was read, or several match.
pub fn resolve(cluster: &Cluster, names: &[String], namespaces: &[String]) -> Result<Vec<ObjectRef>> {
    names.iter().map(|name| one(cluster, name, namespaces)).collect()
}

/// Leaves the blockers that hold one of these objects up, or something in one of these namespaces; empty means no limit.
pub fn narrow(mut report: Report, cluster: &Cluster, only: &[ObjectRef], namespaces: &[String]) -> Report {
    let wanted: BTreeSet<ObjectRef> = only.iter().flat_map(|o| [o.clone(), above(cluster, o)]).collect();
    let of_namespace = |o: &ObjectRef| namespaces.is_empty() || namespaces.iter().any(|ns| *ns == *o.namespace);
    report.blockers.retain(|b| {
        let touches = |o: &ObjectRef| wanted.contains(o);
        let named = wanted.is_empty() || touches(&b.root) || b.affected.iter().any(touches) || b.pod_names.iter().any(touches);
        let cluster_wide = b.affected.iter().all(|a| a.namespace.is_empty());
        named && (cluster_wide || b.affected.iter().any(of_namespace))
    });
    report
        .quiet
        .retain(|q| (wanted.is_empty() || wanted.contains(&q.object)) && (q.object.namespace.is_empty() || of_namespace(&q.object)));
    report.count(cluster, namespaces);
    report
}

fn above(cluster: &Cluster, object: &ObjectRef) -> ObjectRef {
    let kind = Kind::named(&object.kind);
    let found = cluster.object(kind, &object.namespace, &object.name).is();
    found.map_or_else(|| object.clone(), |o| cluster.top_controller(kind, o.meta()))
}

fn one(cluster: &Cluster, text: &str, namespaces: &[String]) -> Result<ObjectRef> {
    let Some((kind, name)) = text.split_once('/') else { bail!("{text} is no object; write KIND/NAME, as in deploy/cart") };
    let (namespace, name) = name.split_once('/').map_or((None, name), |(ns, name)| (Some(ns), name));
    let lower = kind.to_lowercase();
    let rows = KINDS.iter().filter(|r| r.name.to_lowercase() == lower || r.plural == lower || r.short.contains(&&*lower));
    let fits = |o: &ObjectRef| {
        namespace.map_or(namespaces.is_empty() || o.namespace.is_empty() || namespaces.iter().any(|ns| *ns == *o.namespace), |ns| {
            ns == &*o.namespace
        })
    };
    let mut found: Vec<ObjectRef> = rows
        .flat_map(|row| cluster.objects(row.kind, None).map(|o| ObjectRef::new(row.name, &o.meta().namespace, &o.meta().name)))
        .filter(|o| *o.name == *name && fits(o))
        .collect();
    match (found.len(), found.pop()) {
        (1, Some(object)) => Ok(object),
        (0, _) | (_, None) => bail!("{text} is not among what was read; check kind, name and namespace"),
        (_, Some(last)) => {
            found.push(last);
            bail!("{text} could be {}: add the namespace with -n", found.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "))
        }
    }
}

/// `app=web,tier!=db,env in (a,b),!canary`, as kubectl reads it.
///
/// # Errors
/// A term is none.
pub(super) fn labels(text: &str) -> Result<Selector> {
    let mut selector = Selector::default();
    for term in terms(text) {
        selector.match_expressions.push(requirement(term.trim())?);
    }
    Ok(selector)
}

/// Splits at commas outside parentheses.
fn terms(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 0, Vec::new());
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                out.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    out.push(&text[start..]);
    out
}

fn requirement(term: &str) -> Result<Requirement> {
    let made = |key: &str, operator: &str, values: Vec<&str>| Requirement {
        key: key.trim().into(),
        operator: operator.into(),
        values: values.into_iter().map(|v| v.trim().into()).collect(),
    };
    for (word, operator) in [(" notin ", "NotIn"), (" in ", "In")] {
        if let Some((key, values)) = term.split_once(word) {
            let Some(values) = values.trim().strip_prefix('(').and_then(|v| v.strip_suffix(')')) else {
                bail!("{term:?} is no label selector; write {}{word}(a,b)", key.trim());
            };
            return Ok(made(key, operator, values.split(',').collect()));
        }
    }
    let pair = |sign: &str| term.split_once(sign);
    let requirement = match (pair("!="), pair("=="), pair("="), term.strip_prefix('!')) {
        (Some((key, value)), ..) => made(key, "NotIn", vec![value]),
        (None, Some((key, value)), ..) | (None, None, Some((key, value)), _) => made(key, "In", vec![value]),
        (None, None, None, Some(key)) => made(key, "DoesNotExist", Vec::new()),
        (None, None, None, None) => made(term, "Exists", Vec::new()),
    };
    if requirement.key.is_empty() || requirement.key.contains(' ') {
        bail!("{term:?} is no label selector; write app=web, app!=web, app in (a,b) or app");
    }
    Ok(requirement)
}

/// Fields that pods can be selected by, of those that mean something here.
const FIELDS: [&str; 4] = ["metadata.name", "metadata.namespace", "spec.nodeName", "status.phase"];

fn fields(text: &str) -> Result<Vec<(String, String, bool)>> {
    let one = |term: &str| {
        let (path, value, equal) = match (term.split_once("!="), term.split_once("==").or_else(|| term.split_once('='))) {
            (Some((path, value)), _) => (path, value, false),
            (None, Some((path, value))) => (path, value, true),
            (None, None) => bail!("{term:?} is no field selector; write status.phase=Pending"),
        };
        if !FIELDS.contains(&path.trim()) {
            bail!("field {path} is not known here; known are {}", FIELDS.join(", "));
        }
        Ok((path.trim().to_owned(), value.trim().to_owned(), equal))
    };
    text.split(',').map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_selectors_are_read_as_kubectl_does() {
        let selector = labels("app=web,tier!=db,env in (a, b),!canary,team").expect("a selector");
        let pod = |key: &str| match key {
            "app" => Some("web"),
            "env" => Some("b"),
            "team" => Some("x"),
            _ => None,
        };
        assert!(selector.matches(pod));
        assert!(!selector.matches(|key| if key == "canary" { Some("yes") } else { pod(key) }));
        assert!(labels("two words").is_err());
    }

    #[test]
    fn a_field_that_is_not_known_is_an_error_and_never_everything() {
        assert!(fields("spec.foo=bar").is_err());
        assert_eq!(fields("status.phase!=Running").expect("known"), vec![("status.phase".into(), "Running".into(), false)]);
    }
}

//! What follows from comparing everything, as text and JSON: objects that are gone or that nobody knows, and whether the cluster could
//! be made again.

use std::fmt::Write;

use serde_json::{Value, json};

use super::clean::clean;
use super::diff::{Surveyed, unreads};
use super::wire::API_VERSION;
use crate::desired::{Governance, Stranger, Unchecked};

/// Lines of one section; of the rest only the number is told, JSON has them all.
const LINES: usize = 20;

/// The list of objects with what was learnt beside them; what follows from the whole is null where the whole was not looked at.
pub(super) fn wire(surveyed: &Surveyed, items: &Value) -> Value {
    let mut list = json!({
        "apiVersion": API_VERSION, "kind": "DiffList", "items": items, "unchecked": unreads(&surveyed.unread),
        "complete": surveyed.stopped.is_none(),
    });
    if let Some(fields) = list.as_object_mut() {
        let answers = answers(&surveyed.governance);
        fields.extend(
            answers.into_iter().map(|(name, value)| (name.to_owned(), if surveyed.stopped.is_some() { Value::Null } else { value })),
        );
    }
    list
}

fn answers(governance: &Governance) -> [(&'static str, Value); 6] {
    let Governance { rebuild, gone, unmanaged, exceptions, again, unclaimed, unnamed } = governance;
    let by = rebuild.cannot.iter().map(|(namespace, owner, n)| json!({"namespace": namespace, "owner": known(owner), "objects": n}));
    let rebuild = json!({
        "objects": rebuild.objects, "can": rebuild.can, "cannot": governance.cannot(), "unknown": rebuild.unknown,
        "by": by.collect::<Vec<_>>(), "notListed": unnamed,
    });
    let gone = gone.iter().map(|gone| json!({"object": gone.object.to_string(), "inventory": gone.inventory}));
    let exceptions = exceptions.iter().map(|exception| {
        json!({"object": exception.object.to_string(), "path": known(&exception.path), "what": exception.what, "manager": known(&exception.by),
            "since": known(&exception.since)})
    });
    let again = again.iter().map(|again| {
        json!({"object": again.object.to_string(), "path": again.path, "times": again.times, "manager": known(&again.by), "last": known(&again.last)})
    });
    [
        ("gone", gone.collect()),
        ("unmanaged", strangers(unmanaged).into()),
        ("rebuild", rebuild),
        ("exceptions", exceptions.collect()),
        ("driftedAgain", again.collect()),
        ("unclaimed", strangers(unclaimed).into()),
    ]
}

fn strangers(all: &[Stranger]) -> Vec<Value> {
    let one = |stranger: &Stranger| json!({"object": stranger.object.to_string(), "manager": known(&stranger.by), "since": known(&stranger.since), "note": known(&stranger.note)});
    all.iter().map(one).collect()
}

fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// The same for a person.
pub(super) fn text(out: &mut String, surveyed: &Surveyed) {
    let count = |test: fn(&super::diff::Compared) -> bool| surveyed.all.iter().filter(|compared| test(compared)).count();
    let drifted = count(|compared| compared.diff.fields.iter().any(|field| field.verdict.is_loud()));
    let shown = count(super::diff::Compared::is_telling);
    let said = count(|compared| compared.source.is_some());
    let objects = if said == 1 { "1 object says" } else { &format!("{said} objects say") };
    let gap = if shown == 0 { "" } else { "\n" };
    let _ = writeln!(out, "{gap}{objects} what was asked for; with drift: {drifted}.");
    match &surveyed.stopped {
        Some(at) => {
            let _ = writeln!(
                out,
                "{}",
                clean(&format!("Stopped {at}: what is not shown was not all looked at, and the questions below stay open."))
            );
        }
        None => governance(out, surveyed),
    }
    for line in surveyed.unread.iter().map(Unchecked::to_string) {
        let _ = writeln!(out, "{}", clean(&line));
    }
}

fn governance(out: &mut String, surveyed: &Surveyed) {
    let Surveyed { governance, now, .. } = surveyed;
    let Governance { rebuild, gone, unmanaged, exceptions, again, unclaimed, unnamed } = governance;
    let gone = gone.iter().map(|gone| format!("{}  listed by {}", gone.object, gone.inventory));
    section(out, "Gone: an inventory lists it, and the cluster does not have it", &gone.collect::<Vec<_>>());
    let of = |strangers: &[Stranger]| strangers.iter().map(|s| format!("{}  {}", s.object, s.said(*now))).collect::<Vec<_>>();
    section(out, "Unmanaged: in a namespace that somebody manages, and in no inventory and no source", &of(unmanaged));
    let _ = writeln!(out, "\nCan this cluster be rebuilt from source? {}.", capital(&rebuild.said(&surveyed.unread)));
    for line in rebuild.by_namespace() {
        let _ = writeln!(out, "  {}", clean(&line));
    }
    let exceptions = exceptions.iter().map(|exception| format!("{}  {}", exception.object, exception.said(*now)));
    section(out, "Access rules and policy exceptions that no source asked for, oldest first", &exceptions.collect::<Vec<_>>());
    let again = again.iter().map(|again| format!("{}  {}", again.object, again.said(*now)));
    section(out, "Drifted again after it had been put right", &again.collect::<Vec<_>>());
    section(out, "Claimed by nobody: no source and no label that names an owner", &of(unclaimed));
    if *unnamed > 0 {
        let _ = writeln!(out, "\n{unnamed} more objects that nobody declares are counted and not listed.");
    }
    out.push('\n');
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Nothing where there is nothing to say.
fn section(out: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{title}: {}.", lines.len());
    for line in lines.iter().take(LINES) {
        let _ = writeln!(out, "  {}", clean(line));
    }
    if lines.len() > LINES {
        let _ = writeln!(out, "  and {} more; -o json lists them", lines.len() - LINES);
    }
}

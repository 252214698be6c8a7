//! What is wrong with accept rules: those that meet nothing, that have expired, that accept more than anybody had in mind. Reads no clock.

use super::accept::{Bounds, Met, Rule, Tally, day};
use crate::model::Time;

/// A remark about a rule, or about a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lint {
    /// Where it is written: `accept.toml:3`, or a file.
    pub about: String,
    pub fault: Fault,
    /// What that means and what to do.
    pub text: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// It meets no difference.
    MatchesNothing,
    Expired,
    /// No value is within its bounds.
    AcceptsNothing,
    /// It accepts more than one deviation.
    TooWide,
    /// It counts items of a list, whose places change.
    Positional,
    /// The baseline has an object that is gone.
    Gone,
}

/// How much was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looked {
    /// At everything: what no rule met is not there.
    AtAll,
    /// At some objects: nothing can be said of rules for others.
    AtSome,
}

impl Lint {
    /// `accept.toml:3: matches nothing: there is no such Deployment`.
    pub fn line(&self) -> String {
        format!("{}: {}", self.about, self.text)
    }
}

impl Fault {
    /// The word in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::MatchesNothing => "matches-nothing",
            Self::Expired => "expired",
            Self::AcceptsNothing => "accepts-nothing",
            Self::TooWide => "too-wide",
            Self::Positional => "positional",
            Self::Gone => "gone",
        }
    }
}

/// What is wrong with these rules after they met what the tally tells: in the order of the rules.
pub fn lint(rules: &[Rule], tally: &Tally, now: Time, looked: Looked) -> Vec<Lint> {
    let of = |(i, rule): (usize, &Rule)| {
        let met = tally.met(i);
        if let Some(text) = rule.bounds.contradiction() {
            return vec![Lint { about: rule.id.clone(), fault: Fault::AcceptsNothing, text }];
        }
        let found = [expired(rule, &met, now), nothing(rule, &met, now, looked), wide(rule, &met), positional(rule)];
        found.into_iter().flatten().map(|(fault, text)| Lint { about: rule.id.clone(), fault, text }).collect::<Vec<_>>()
    };
    rules.iter().enumerate().flat_map(of).collect()
}

type Said = Option<(Fault, String)>;

fn expired(rule: &Rule, met: &Met, now: Time) -> Said {
    let expires = rule.expires.filter(|_| rule.has_expired(now))?;
    let still = match met.covered {
        0 => "and nothing is left that it would accept: delete it".to_owned(),
        1 => "and 1 difference is no longer accepted: put it right, or accept it anew".to_owned(),
        n => format!("and {n} differences are no longer accepted: put them right, or accept them anew"),
    };
    Some((Fault::Expired, format!("expired after {}, {still}", day(expires))))
}

fn nothing(rule: &Rule, met: &Met, now: Time, looked: Looked) -> Said {
    if met.covered > 0 || rule.has_expired(now) {
        return None;
    }
    let text = match (met.objects, &met.elsewhere, looked) {
        (0, Some(group), _) if rule.group.as_ref().is_some_and(|own| own != group) => {
            let own = rule.group.as_deref().unwrap_or_default();
            format!("matches nothing: {} is of group {:?}, the rule says {own:?}", rule.kind, group)
        }
        (0, Some(_), _) => format!("matches nothing: no {} of that name has these labels", rule.kind),
        (0, None, Looked::AtAll) => format!("matches nothing: there is no such {}", rule.kind),
        (0, None, Looked::AtSome) => return None,
        (_, _, _) => format!("matches nothing: no difference at {} that it accepts; was it put right?", rule.path),
    };
    Some((Fault::MatchesNothing, text))
}

fn wide(rule: &Rule, met: &Met) -> Said {
    let is_any = rule.kind.starts_with('*');
    let is_limited = rule.namespace.is_some() || rule.name.is_some() || !rule.selector.is_empty() || rule.manager.is_some();
    let why = if is_any {
        "it is about every kind: name one".to_owned()
    } else if rule.path.is_wide() && rule.manager.is_none() {
        "its path holds most of the object: name the fields".to_owned()
    } else if !is_limited && rule.bounds == Bounds::default() {
        "it is about every object of the kind and any value: name a namespace, a name, labels, a manager or values".to_owned()
    } else if met.weakened > 0 {
        let differences = if met.weakened == 1 { "1 difference".to_owned() } else { format!("{} differences", met.weakened) };
        format!("it covers {differences} that weaken an object, at places that it does not name: name them")
    } else {
        return None;
    };
    Some((Fault::TooWide, format!("too wide: {why}")))
}

fn positional(rule: &Rule) -> Said {
    rule.path.is_positional().then(|| {
        (Fault::Positional, format!("{} counts items of a list: another item before it and the rule is about something else", rule.path))
    })
}

//! The words and shapes that all screens share: verdicts, numbers, names of objects.

use super::Scene;
use super::ages::Ages;
use crate::diagnose::{Blocker, ClockKind, Verdict};
use crate::model::ObjectRef;
use crate::page::{Cut, Line, Role, Span};

/// `■ BLOCKED`, `◔ DELAYED 3:10`, `○ clearing`: a shape, a word and a colour.
pub(super) fn verdict(scene: &Scene<'_>, blocker: &Blocker, ages: &Ages) -> Line {
    if scene.clearing(&blocker.id).is_some() {
        return Line::new().dim("○ clearing");
    }
    let left = blocker.clock.as_ref().and_then(|clock| clock.at).map(|at| ages.left(at));
    match (blocker.verdict, left) {
        (Verdict::Blocked, _) => Line::new().blocked("■ BLOCKED"),
        (Verdict::Delayed, Some(left)) => Line::new().delayed(format!("◔ DELAYED {left}")),
        (Verdict::Delayed, None) => Line::new().delayed("◔ DELAYED"),
        (Verdict::Quiet, _) => Line::new().dim("· quiet"),
    }
}

/// The shape alone.
pub(super) fn mark(verdict: Verdict) -> (Role, &'static str) {
    match verdict {
        Verdict::Blocked => (Role::Blocked, "■"),
        Verdict::Delayed => (Role::Delayed, "◔"),
        Verdict::Quiet => (Role::Dim, "·"),
    }
}

/// Whether it is worth waiting, as a sentence.
pub(super) fn worth_waiting(blocker: &Blocker, ages: &Ages) -> Line {
    let Some(clock) = &blocker.clock else {
        return match blocker.verdict {
            Verdict::Blocked => Line::new().blocked("No").plain(": nothing changes until somebody changes something."),
            Verdict::Delayed => Line::new().delayed("Yes").plain(": a mechanism is at work; nothing says how long it takes."),
            Verdict::Quiet => Line::from("It is so on purpose."),
        };
    };
    let what = clock.what.clone();
    let when = clock.at.map(|at| format!(" at {}, {}", ages.clock(at), in_left(&ages.left(at)))).unwrap_or_default();
    let says = match clock.kind {
        ClockKind::Deadline => format!(": the deadline ({what}) runs out{when}"),
        ClockKind::Retry => format!(": it is tried again ({what}){when}"),
        ClockKind::Budget => format!(": it has a budget left ({what}); it is used up{when}"),
        ClockKind::Grace => format!(": a grace period ({what}) ends{when}"),
        ClockKind::Provisioning => format!(": it is being made ({what}){when}"),
    };
    match blocker.verdict {
        Verdict::Blocked => Line::new().blocked("No").plain(format!("{says}; that alone will not lift it.")),
        Verdict::Delayed | Verdict::Quiet => Line::new().delayed("Yes").plain(format!("{says}.")),
    }
}

fn in_left(left: &str) -> String {
    if left == "due" { "which has passed".to_owned() } else { format!("in {left}") }
}

/// `14 pods 3w`: what a row holds up, short.
pub(super) fn holds_up(pods: usize, workloads: usize) -> String {
    let word = if pods == 1 { "pod" } else { "pods" };
    match (pods, workloads) {
        (0, workloads) => format!("{}w", number(workloads)),
        (pods, 0) => format!("{} {word}", number(pods)),
        (pods, workloads) => format!("{} {word} {}w", number(pods), number(workloads)),
    }
}

/// `1 pod`, `1,284 pods`.
pub(super) fn plural(n: usize, word: &str) -> String {
    format!("{} {word}{}", number(n), if n == 1 { "" } else { "s" })
}

/// `61,500`.
pub(super) fn number(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `Pod shop/cart-6d4…-x2x7k`: the kind is context, the name keeps what tells it apart.
pub(super) fn object(object: &ObjectRef) -> Line {
    Line::new().dim(format!("{} ", object.kind)).span(name(object))
}

/// `shop/cart`.
pub(super) fn name(object: &ObjectRef) -> Span {
    let cut = if &*object.kind == "Pod" { Cut::Pod } else { Cut::End };
    Span::from(object.place()).cut(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_words_agree() {
        assert_eq!([0, 12, 999, 1284, 1_000_000].map(number), ["0", "12", "999", "1,284", "1,000,000"]);
        assert_eq!([holds_up(14, 3), holds_up(1, 1), holds_up(0, 2), holds_up(3, 0)], ["14 pods 3w", "1 pod 1w", "2w", "3 pods"]);
        assert_eq!(plural(1, "pod"), "1 pod");
    }
}

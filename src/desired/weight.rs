//! How bad the differences of an object are together, for lists that show the worst object first.

use std::cmp::Reverse;

use super::diff::FieldDiff;

/// The less it is, the worse: what weakens security first, then how much drifted, then the worst verdict, then what is explained but
/// weaker, then how much differs at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Weight {
    weaker: Reverse<usize>,
    risky: Reverse<usize>,
    loud: Reverse<usize>,
    verdict: usize,
    hidden: Reverse<usize>,
    all: Reverse<usize>,
}

impl Weight {
    pub fn of(fields: &[FieldDiff]) -> Self {
        let count = |test: fn(&FieldDiff) -> bool| Reverse(fields.iter().filter(|field| test(field)).count());
        Self {
            weaker: count(|field| field.verdict.is_loud() && field.is_weaker()),
            risky: count(|field| field.verdict.is_loud() && field.risk.is_some()),
            loud: count(|field| field.verdict.is_loud()),
            verdict: fields.iter().map(|field| field.verdict.rank()).min().unwrap_or(usize::MAX),
            hidden: count(|field| field.is_weaker()),
            all: Reverse(fields.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desired::{Direction, Path, Risk, RiskClass, Told, Verdict};

    fn field(verdict: Verdict, direction: Option<Direction>) -> FieldDiff {
        let risk = direction.map(|direction| Risk { class: RiskClass::Privilege, direction, text: String::new() });
        FieldDiff {
            path: Path::default(),
            desired: None,
            live: None,
            verdict,
            risk,
            owner: None,
            reason: String::new(),
            told: Told::default(),
        }
    }

    #[test]
    fn what_weakens_comes_before_any_number_of_other_differences() {
        let drift = |direction| field(Verdict::Drift, direction);
        let order = [
            vec![drift(Some(Direction::Weakening))],
            vec![drift(Some(Direction::Changed)), drift(None)],
            vec![drift(Some(Direction::Changed))],
            vec![drift(None), drift(None), drift(None)],
            vec![field(Verdict::Conflict, None)],
            vec![drift(None)],
            vec![field(Verdict::Pending, None)],
            vec![field(Verdict::InvalidDesired, None)],
            vec![field(Verdict::Unknown, None)],
            vec![field(Verdict::Approved, Some(Direction::Weakening))],
            vec![field(Verdict::Approved, None)],
            vec![],
        ];
        let weights: Vec<Weight> = order.iter().map(|fields| Weight::of(fields)).collect();
        assert!(weights.is_sorted() && weights.windows(2).all(|pair| pair[0] != pair[1]), "{weights:#?}");
    }
}

//! The values that one field had, in turn, and who wrote them: whether two write against each other, and whether it went wrong again after
//! it had been put right. Keeps no value, only what tells values apart.

use std::collections::VecDeque;

use serde_json::Value;

use super::equal::{present, quantity};

/// More turns back nobody asks.
const KEPT: usize = 16;

/// What a field was, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns(VecDeque<Turn>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Turn {
    mark: Mark,
    /// "" if nobody says who.
    by: String,
    at: String,
}

/// What tells a value from others; spellings of an amount are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(u64);

/// Two that write a field in turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fight {
    pub one: String,
    pub other: String,
    /// When each of the last three writes was made, where that is known.
    pub at: [String; 3],
}

/// A field that went wrong anew after it had been put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relapse {
    pub times: usize,
    pub by: String,
    /// When it was seen last.
    pub last: String,
    /// When it had been put right before that, and by whom.
    pub righted: String,
    pub righted_by: String,
}

impl Mark {
    pub fn of(value: Option<&Value>) -> Self {
        use std::hash::{Hash, Hasher};
        let mut hasher = std::hash::DefaultHasher::new();
        match present(value) {
            None => 0_u8.hash(&mut hasher),
            Some(value) => match quantity(value) {
                Some(amount) => (1_u8, amount.nano()).hash(&mut hasher),
                None => (2_u8, value.to_string()).hash(&mut hasher),
            },
        }
        Self(hasher.finish())
    }
}

impl Turns {
    /// Takes in what the field is, and who wrote it last; says whether it changed.
    pub fn see(&mut self, mark: Mark, by: &str, at: &str) -> bool {
        if self.0.back().is_some_and(|last| last.mark == mark) {
            return false;
        }
        self.0.push_back(Turn { mark, by: by.to_owned(), at: at.to_owned() });
        if self.0.len() > KEPT {
            self.0.pop_front();
        }
        true
    }

    /// Two writers of whom each has overwritten the other.
    pub fn fight(&self) -> Option<Fight> {
        let named = |turn: &&Turn| !turn.by.is_empty();
        let turns: Vec<&Turn> = self.0.iter().filter(named).collect();
        let last = turns.windows(3).rev().find(|w| w[0].by == w[2].by && w[0].by != w[1].by)?;
        let at = [&last[0].at, &last[1].at, &last[2].at].map(Clone::clone);
        Some(Fight { one: last[0].by.clone(), other: last[1].by.clone(), at })
    }

    /// Whether it was something else, then this, and is something else again.
    pub fn relapse(&self, right: &Mark) -> Option<Relapse> {
        let is_wrong: Vec<bool> = self.0.iter().map(|turn| turn.mark != *right).collect();
        let begins = |at: &usize| is_wrong[*at] && (*at == 0 || !is_wrong[at - 1]);
        let runs: Vec<usize> = (0..is_wrong.len()).filter(begins).collect();
        let last = *runs.last().filter(|_| runs.len() > 1 && is_wrong.last() == Some(&true))?;
        let righted = &self.0[last - 1];
        Some(Relapse {
            times: runs.len(),
            by: self.0[last].by.clone(),
            last: self.0[last].at.clone(),
            righted: righted.at.clone(),
            righted_by: righted.by.clone(),
        })
    }
}

impl Fight {
    /// `argocd-controller and kubectl-edit write it in turn, last at …, … and …`.
    pub fn words(&self) -> String {
        let times: Vec<&str> = self.at.iter().map(String::as_str).filter(|at| !at.is_empty()).collect();
        let when = match times.as_slice() {
            [] => String::new(),
            [rest @ .., last] if !rest.is_empty() => format!(", last at {} and {last}", rest.join(", ")),
            all => format!(", last at {}", all.join("")),
        };
        format!("{} and {} write it in turn{when}", self.one, self.other)
    }
}

impl Relapse {
    /// `drifted 2 times: put right by argocd-controller at …, written again by kubectl-edit at …`.
    pub fn words(&self) -> String {
        let by = |who: &str| if who.is_empty() { String::new() } else { format!(" by {who}") };
        let at = |time: &str| if time.is_empty() { String::new() } else { format!(" at {time}") };
        let (right, wrong) = (by(&self.righted_by) + &at(&self.righted), by(&self.by) + &at(&self.last));
        format!("drifted again: {} times in all; put right{right}, then changed{wrong}", self.times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn turns(all: &[(i64, &str)]) -> Turns {
        let mut turns = Turns::default();
        for (n, (value, by)) in all.iter().enumerate() {
            turns.see(Mark::of(Some(&json!(value))), by, &n.to_string());
        }
        turns
    }

    #[test]
    fn it_takes_three_turns_of_two_to_make_a_fight() {
        assert_eq!(turns(&[(3, "a"), (5, "b")]).fight(), None);
        assert_eq!(turns(&[(3, "a"), (5, "b"), (4, "c")]).fight(), None);
        assert_eq!(turns(&[(3, "a"), (3, "b"), (3, "a")]).fight(), None, "who writes the same changes nothing");
        let fight = turns(&[(1, "c"), (3, "a"), (5, "b"), (3, "a")]).fight().expect("a fight");
        assert_eq!(fight.words(), "a and b write it in turn, last at 1, 2 and 3");
    }

    #[test]
    fn what_was_never_put_right_did_not_go_wrong_again() {
        let right = Mark::of(Some(&json!("3")));
        assert_eq!(turns(&[(5, "b"), (6, "b"), (7, "b")]).relapse(&right), None);
        assert_eq!(turns(&[(5, "b"), (3, "a")]).relapse(&right), None);
        let relapse = turns(&[(3, "a"), (5, "b"), (3, "a"), (6, "b")]).relapse(&right).expect("a relapse");
        assert_eq!(relapse.words(), "drifted again: 2 times in all; put right by a at 2, then changed by b at 3");
    }

    #[test]
    fn spellings_of_an_amount_are_one_value() {
        assert_eq!(Mark::of(Some(&json!("1000m"))), Mark::of(Some(&json!(1))));
        assert_ne!(Mark::of(Some(&json!("a"))), Mark::of(None));
        assert_eq!(Mark::of(Some(&Value::Null)), Mark::of(None));
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut turns = Turns::default();
        (0..1000).for_each(|n| {
            turns.see(Mark::of(Some(&json!(n))), "a", "");
        });
        assert_eq!(turns.0.len(), KEPT);
    }
}

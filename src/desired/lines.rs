//! The two sides of a difference line by line, where they are long enough that nobody would find the change: what both say is folded.
//! Says nothing of what it means.

use serde_json::Value;

use super::comparison::written;

/// A line of two texts beside each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    Desired(String),
    Live(String),
    /// Both say it; it stands next to a change.
    Both(String),
    /// So many lines that both say.
    Alike(usize),
}

/// Lines that both say, shown before and after a change.
const CONTEXT: usize = 2;
/// Texts that differ in more lines are shown one after the other.
const EDITS: usize = 200;

/// What is asked for beside what is there. Of a JSON text that only one line holds, the fields are the lines.
pub fn beside(desired: Option<&Value>, live: Option<&Value>) -> Vec<Line> {
    let embedded = || Some((embedded(desired?)?, embedded(live?)?)).filter(|(one, other)| one != other);
    let sides = embedded().map(|(one, other)| [written(Some(&one)), written(Some(&other))]);
    let [desired, live] = sides.unwrap_or_else(|| [written(desired), written(live)]);
    if desired.len() > 1 && live.len() > 1 { folded(merged(&desired, &live)) } else { apart(desired, live) }
}

/// What stands for lines that both say.
pub fn alike(count: usize) -> String {
    if count == 1 { "1 line is the same".to_owned() } else { format!("{count} lines are the same") }
}

/// The tree in a text, if it is JSON that holds one.
fn embedded(value: &Value) -> Option<Value> {
    let text = value.as_str()?.trim_start();
    let tree = || serde_json::from_str::<Value>(text).ok();
    text.starts_with(['{', '[']).then(tree).flatten()
}

fn apart(desired: Vec<String>, live: Vec<String>) -> Vec<Line> {
    desired.into_iter().map(Line::Desired).chain(live.into_iter().map(Line::Live)).collect()
}

/// Both texts in one, by the fewest lines that go and come.
fn merged(desired: &[String], live: &[String]) -> Vec<Line> {
    let begin = desired.iter().zip(live).take_while(|(one, other)| one == other).count();
    let rest = (desired.len() - begin).min(live.len() - begin);
    let end = desired.iter().rev().zip(live.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    let (from, to) = (&desired[begin..desired.len() - end], &live[begin..live.len() - end]);
    let middle = edited(from, to).unwrap_or_else(|| apart(from.to_vec(), to.to_vec()));
    let both = |lines: &[String]| lines.iter().cloned().map(Line::Both).collect::<Vec<_>>();
    [both(&desired[..begin]), middle, both(&desired[desired.len() - end..])].concat()
}

/// The shortest way from one to the other, found greedily as E. W. Myers does it; `None` where it is long.
fn edited(from: &[String], to: &[String]) -> Option<Vec<Line>> {
    let limit = EDITS.min(from.len() + to.len());
    // How far each diagonal (lines of `from` less lines of `to`, counted from the middle) was reached; before each round.
    let mut reached = vec![0_usize; 2 * limit + 3];
    let mut rounds = Vec::new();
    for edits in 0..=limit {
        rounds.push(reached.clone());
        for diagonal in (limit + 1 - edits..=limit + 1 + edits).step_by(2) {
            let mut x = stepped(&reached, diagonal, limit + 1, edits).0;
            let mut y = x + limit + 1 - diagonal;
            while x < from.len() && y < to.len() && from[x] == to[y] {
                (x, y) = (x + 1, y + 1);
            }
            reached[diagonal] = x;
            if x >= from.len() && y >= to.len() {
                return Some(traced(&rounds, (from, to), limit + 1));
            }
        }
    }
    None
}

/// Where a diagonal begins, and the diagonal before: below (a line of `to` came) or above (a line of `from` went).
fn stepped(reached: &[usize], diagonal: usize, middle: usize, edits: usize) -> (usize, usize) {
    let (below, above) = (diagonal + 1, diagonal - 1);
    let is_first = diagonal + edits == middle;
    let is_last = diagonal == middle + edits;
    if edits == 0 {
        (0, diagonal)
    } else if is_first || !is_last && reached[above] < reached[below] {
        (reached[below], below)
    } else {
        (reached[above] + 1, above)
    }
}

fn traced(rounds: &[Vec<usize>], (from, to): (&[String], &[String]), middle: usize) -> Vec<Line> {
    let (mut x, mut y, mut lines) = (from.len(), to.len(), Vec::new());
    for (edits, reached) in rounds.iter().enumerate().rev() {
        let diagonal = middle + x - y;
        let (start, before) = stepped(reached, diagonal, middle, edits);
        while x > start {
            (x, y) = (x - 1, y - 1);
            lines.push(Line::Both(from[x].clone()));
        }
        if before > diagonal {
            y -= 1;
            lines.push(Line::Live(to[y].clone()));
        } else if before < diagonal {
            x -= 1;
            lines.push(Line::Desired(from[x].clone()));
        }
    }
    lines.reverse();
    lines
}

/// What is far from any change is counted.
fn folded(lines: Vec<Line>) -> Vec<Line> {
    let changes: Vec<usize> = lines.iter().enumerate().filter(|(_, line)| !matches!(line, Line::Both(_))).map(|(at, _)| at).collect();
    let near = |at: usize| {
        let next = changes.partition_point(|change| *change < at);
        let is_near = |change: Option<&usize>| change.is_some_and(|change| change.abs_diff(at) <= CONTEXT);
        is_near(changes.get(next)) || is_near(next.checked_sub(1).and_then(|before| changes.get(before)))
    };
    let mut all: Vec<Line> = Vec::new();
    for (at, line) in lines.into_iter().enumerate() {
        match (near(at), all.last_mut()) {
            (true, _) => all.push(line),
            (false, Some(Line::Alike(count))) => *count += 1,
            (false, _) => all.push(Line::Alike(1)),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shown(one: &Value, other: &Value) -> Vec<String> {
        let line = |line| match line {
            Line::Desired(text) => format!("-{text}"),
            Line::Live(text) => format!("+{text}"),
            Line::Both(text) => format!(" {text}"),
            Line::Alike(count) => format!("={count}"),
        };
        beside(Some(one), Some(other)).into_iter().map(line).collect()
    }

    #[test]
    fn one_changed_line_of_a_long_text_stands_between_its_neighbours() {
        let text = |changed: &str| {
            Value::from((0..100).map(|at| if at == 40 { format!("{changed}\n") } else { format!("line {at}\n") }).collect::<String>())
        };
        assert_eq!(shown(&text("a"), &text("b")), ["=38", " line 38", " line 39", "-a", "+b", " line 41", " line 42", "=57"]);
        assert_eq!(shown(&json!("a"), &json!("b")), ["-a", "+b"]);
        assert_eq!(shown(&json!({"a": [1, 2]}), &json!(3)).last().map(String::as_str), Some("+3"));
    }

    #[test]
    fn of_json_in_a_text_the_changed_field_is_shown() {
        let [one, other] =
            [1, 2].map(|port| Value::from(json!({"host": "a", "port": port, "paths": ["x", "y", "z"], "mode": "m"}).to_string()));
        let shown = shown(&one, &other);
        assert!(
            shown.contains(&"-port: 1".to_owned())
                && shown.contains(&"+port: 2".to_owned())
                && !shown.iter().any(|line| line.contains('{')),
            "{shown:?}"
        );
    }

    proptest! {
        #[test]
        fn either_text_can_be_read_from_both(one in prop::collection::vec("[abc]", 2..40), other in prop::collection::vec("[abc]", 2..40)) {
            let lines = merged(&one, &other);
            let side = |is_side: fn(&Line) -> Option<&String>| lines.iter().filter_map(is_side).cloned().collect::<Vec<_>>();
            prop_assert_eq!(side(|line| if let Line::Desired(text) | Line::Both(text) = line { Some(text) } else { None }), one);
            prop_assert_eq!(side(|line| if let Line::Live(text) | Line::Both(text) = line { Some(text) } else { None }), other);
        }
    }
}

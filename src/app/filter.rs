//! The filter of a list: words that must occur as typed, `!not`, `~fuzzy`, and what a row is about (`ns:shop is:blocked since:<15m`).

use super::fuzzy::fuzzy;

/// What was typed, and the terms that were understood; a term that is not is said and left out, so that the list never empties by mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub text: String,
    terms: Vec<Term>,
    /// Terms that were not understood, with what would be.
    pub ignored: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    test: Test,
    wanted: Wanted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Contains(String),
    Fuzzy(String),
    Namespace(String),
    Layer(String),
    Cause(String),
    Kind(String),
    Node(String),
    Is(String),
    Younger(u32),
    Older(u32),
}

/// What a filter can know about a row. Texts may be in any case.
#[derive(Clone, Debug, Default)]
pub struct Facts<'a> {
    /// All that is written in the row.
    pub text: &'a str,
    pub namespaces: Vec<&'a str>,
    pub layer: &'a str,
    pub cause: &'a str,
    pub kinds: Vec<&'a str>,
    pub nodes: Vec<&'a str>,
    /// `blocked`, `delayed`, `clearing`, `muted`, `quiet`, `new`.
    pub is: Vec<&'a str>,
    /// Seconds since it began.
    pub age: Option<u32>,
}

/// What `is:` can ask.
const STATES: [&str; 6] = ["blocked", "delayed", "clearing", "muted", "quiet", "new"];

impl Filter {
    pub fn parse(text: &str) -> Self {
        let mut filter = Self { text: text.to_owned(), ..Self::default() };
        for word in text.split_whitespace() {
            let (rest, wanted) = match word.strip_prefix('!') {
                Some(rest) => (rest, Wanted::No),
                None => (word, Wanted::Yes),
            };
            match test(&rest.to_lowercase()) {
                Ok(Some(test)) => filter.terms.push(Term { test, wanted }),
                // Not finished yet: `!`, `ns:`.
                Ok(None) => {}
                Err(hint) => filter.ignored.push(format!("{word} ({hint})")),
            }
        }
        filter
    }

    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub fn matches(&self, facts: &Facts<'_>) -> bool {
        let text = facts.text.to_lowercase();
        self.terms.iter().all(|term| term.test.holds(&text, facts) == (term.wanted == Wanted::Yes))
    }

    /// Whether the words alone match, for lists that have no more than text.
    pub fn matches_text(&self, text: &str) -> bool {
        self.matches(&Facts { text, ..Facts::default() })
    }
}

fn test(word: &str) -> Result<Option<Test>, &'static str> {
    if let Some(rest) = word.strip_prefix('~') {
        return Ok(some(rest, Test::Fuzzy));
    }
    let Some((name, value)) = word.split_once(':') else {
        return Ok(some(word, Test::Contains));
    };
    match name {
        "ns" | "namespace" => Ok(some(value, Test::Namespace)),
        "layer" => Ok(some(value, Test::Layer)),
        "cause" => Ok(some(value, Test::Cause)),
        "kind" => Ok(some(value, Test::Kind)),
        "node" => Ok(some(value, Test::Node)),
        "is" if STATES.iter().any(|state| state.starts_with(value)) => Ok(some(value, Test::Is)),
        "is" => Err("is:blocked delayed clearing muted quiet new"),
        "since" => since(value),
        // An image has a colon too, behind a slash or before a tag; a bare word before it is a term that does not exist.
        _ if name.contains(['/', '.', '=']) || value.starts_with(|c: char| c.is_ascii_digit() || c == '/') => {
            Ok(some(word, Test::Contains))
        }
        _ => Err("ns: layer: cause: kind: node: is: since:"),
    }
}

fn some(value: &str, test: fn(String) -> Test) -> Option<Test> {
    (!value.is_empty()).then(|| test(value.to_owned()))
}

/// `<15m`, `15m` and `>2h`.
fn since(value: &str) -> Result<Option<Test>, &'static str> {
    let (value, test): (&str, fn(u32) -> Test) = match value.strip_prefix('>') {
        Some(rest) => (rest, Test::Older),
        None => (value.strip_prefix('<').unwrap_or(value), Test::Younger),
    };
    if value.is_empty() {
        return Ok(None);
    }
    let (digits, unit) = value.split_at(value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len()));
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        // Not finished yet.
        "" => return Ok(None),
        _ => return Err("since:<15m, since:>2h"),
    };
    let count: u32 = digits.parse().map_err(|_| "since:<15m, since:>2h")?;
    Ok(Some(test(count.saturating_mul(seconds))))
}

impl Test {
    fn holds(&self, text: &str, facts: &Facts<'_>) -> bool {
        let any = |values: &[&str], part: &str| values.iter().any(|value| value.to_lowercase().contains(part));
        match self {
            Self::Contains(part) => text.contains(part.as_str()),
            Self::Fuzzy(query) => fuzzy(query, text).is_some(),
            Self::Namespace(part) => any(&facts.namespaces, part),
            Self::Layer(part) => any(&[facts.layer], part),
            Self::Cause(part) => any(&[facts.cause], part),
            Self::Kind(part) => any(&facts.kinds, part),
            Self::Node(part) => any(&facts.nodes, part),
            Self::Is(part) => facts.is.iter().any(|state| state.starts_with(part.as_str())),
            Self::Younger(seconds) => facts.age.is_some_and(|age| age < *seconds),
            Self::Older(seconds) => facts.age.is_some_and(|age| age > *seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(filter: &str) -> bool {
        let facts = Facts {
            text: "Registry.example.net answers 401 cart:1.8.2",
            namespaces: vec!["shop", "pay"],
            layer: "image",
            cause: "image-denied",
            kinds: vec!["Deployment"],
            nodes: vec!["n17"],
            is: vec!["blocked"],
            age: Some(600),
        };
        Filter::parse(filter).matches(&facts)
    }

    #[test]
    fn words_occur_as_typed() {
        assert!(matches("answers 401") && matches("registry") && matches("cart:1.8"));
        assert!(!matches("answrs") && matches("~answrs") && !matches("!401") && matches("!402"));
    }

    #[test]
    fn terms_ask_what_a_row_is_about() {
        for yes in [
            "ns:shop",
            "layer:image",
            "cause:denied",
            "kind:deploy",
            "node:n17",
            "is:blocked",
            "since:<15m",
            "since:15m",
            "since:>5m",
            "!ns:db",
        ] {
            assert!(matches(yes), "{yes}");
        }
        for no in ["ns:db", "layer:node", "is:delayed", "since:<5m", "since:>1h", "!is:blocked", "registry ns:db"] {
            assert!(!matches(no), "{no}");
        }
    }

    #[test]
    fn a_term_that_is_not_understood_is_said_and_left_out() {
        let filter = Filter::parse("registry since:soon is:fine");
        assert!(matches("registry since:soon is:fine"));
        assert_eq!(filter.ignored, ["since:soon (since:<15m, since:>2h)", "is:fine (is:blocked delayed clearing muted quiet new)"]);
        assert_eq!(Filter::parse("! ns: since:< since:15 is:"), Filter { text: "! ns: since:< since:15 is:".into(), ..Filter::default() });
    }

    #[test]
    fn what_has_no_age_matches_no_age() {
        assert!(!Filter::parse("since:<15m").matches_text("x") && !Filter::parse("since:>15m").matches_text("x"));
    }
}

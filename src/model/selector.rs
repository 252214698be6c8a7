//! Label selectors.

use super::pack::packed_api;
use super::{Pairs, Text};

packed_api! {
    /// `matchLabels` and `matchExpressions`, all of which must hold.
    pub struct Selector {
        match_labels: Pairs,
        match_expressions: Vec<Requirement>,
    }

    /// `key operator values`.
    pub struct Requirement {
        key: Text,
        operator: Text,
        values: Vec<Text>,
    }
}

impl Eq for Selector {}

impl Eq for Requirement {}

impl Selector {
    /// A selector without terms: it matches everything where Kubernetes says so, nothing elsewhere; the caller knows which.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// The plain map form that Services and ReplicationControllers use.
    pub fn from_map(map: &Pairs) -> Self {
        Self { match_labels: map.clone(), match_expressions: Vec::new() }
    }

    /// Whether all terms hold; `label` gives the value of a key.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.match_labels.iter().all(|(k, v)| label(k) == Some(v)) && self.match_expressions.iter().all(|r| r.holds(label(&r.key)))
    }
}

impl Requirement {
    /// Whether the value of the key satisfies it; `None` where the key is absent. An unknown operator never holds.
    pub fn holds(&self, value: Option<&str>) -> bool {
        let among = || value.is_some_and(|v| self.values.iter().any(|w| &**w == v));
        let number = |text: &str| text.parse::<i64>().ok();
        let bound = || self.values.first().and_then(|v| number(v));
        match &*self.operator {
            "In" => among(),
            "NotIn" => !among(),
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            "Gt" => value.and_then(number).zip(bound()).is_some_and(|(v, b)| v > b),
            "Lt" => value.and_then(number).zip(bound()).is_some_and(|(v, b)| v < b),
            _ => false,
        }
    }
}

//! The figures: what was measured, beside what is required.

use serde_json::{Value, json};

/// One row of the table.
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    pub measured: f64,
    /// At most this much, where something is required.
    pub bound: Option<f64>,
    pub goal: Option<f64>,
}

impl Figure {
    pub fn new(name: &str, unit: &'static str, measured: f64) -> Self {
        Self { name: name.to_owned(), unit, measured, bound: None, goal: None }
    }

    /// The same with what is required and what is hoped for.
    pub fn within(self, bound: f64, goal: f64) -> Self {
        Self { bound: Some(bound), goal: Some(goal), ..self }
    }

    fn json(&self) -> Value {
        json!({"figure": self.name, "unit": self.unit, "measured": self.measured, "bound": self.bound, "goal": self.goal,
            "holds": self.bound.map(|bound| self.measured <= bound)})
    }

    /// As a line of the table.
    pub fn row(&self) -> String {
        let optional = |number: Option<f64>| number.map_or("–".to_owned(), |number| format!("≤ {number}"));
        let mark = if self.bound.is_some_and(|bound| self.measured > bound) { " ✗" } else { "" };
        format!("| {} | {} | {} | {} {}{mark} |", self.name, optional(self.bound), optional(self.goal), rounded(self.measured), self.unit)
    }
}

fn rounded(number: f64) -> String {
    if number.abs() >= 100.0 { format!("{number:.0}") } else { format!("{number:.2}") }
}

/// A Markdown table and the same as one JSON object.
pub fn told(figures: &[Figure], run: &Value) -> String {
    let rows: Vec<String> = figures.iter().map(Figure::row).collect();
    let all: Vec<Value> = figures.iter().map(Figure::json).collect();
    format!("| figure | bound | goal | measured |\n|---|---|---|---|\n{}\n\n{}", rows.join("\n"), json!({"run": run, "figures": all}))
}

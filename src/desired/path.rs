//! Where a field is: steps from the root of an object, written as `spec.ports[port=53,protocol=UDP].nodePort`. Reads no object.

use std::fmt::{self, Display, Formatter, Write};

/// A place in an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Vec<Step>);

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Field(String),
    /// The item of a list with these values under these keys.
    Item(Vec<(String, String)>),
    Index(usize),
}

impl Path {
    /// The path one step further.
    pub fn join(&self, step: Step) -> Self {
        let mut steps = Vec::with_capacity(self.0.len() + 1);
        steps.extend_from_slice(&self.0);
        steps.push(step);
        Self(steps)
    }

    /// The path one field further.
    pub fn field(&self, name: &str) -> Self {
        self.join(Step::Field(name.to_owned()))
    }

    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether the other path leads here or to something that holds this.
    pub fn starts_with(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }

    /// Names of the fields on the way, items left out.
    pub fn fields(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.0.iter().filter_map(Step::name)
    }

    /// The last field on the way, "" at the root.
    pub fn last(&self) -> &str {
        self.fields().next_back().unwrap_or_default()
    }

    /// Whether these fields follow one another on the way, items left out.
    pub fn passes(&self, names: &[&str]) -> bool {
        let all: Vec<&str> = self.fields().collect();
        all.windows(names.len()).any(|window| window == names)
    }
}

impl Step {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Field(name) => Some(name),
            Self::Item(_) | Self::Index(_) => None,
        }
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if is_plain(name) => write!(f, "{}{name}", if i == 0 { "" } else { "." })?,
                Step::Field(name) => write!(f, "[{}]", quoted(name))?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Item(keys) => {
                    let keys: Vec<String> = keys.iter().map(|(key, value)| format!("{key}={}", key_value(value))).collect();
                    write!(f, "[{}]", keys.join(","))?;
                }
            }
        }
        Ok(())
    }
}

/// A name that needs no quotes: no dot, no slash, nothing that the grammar of paths uses.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
}

fn key_value(value: &str) -> String {
    let odd = |c: char| c.is_control() || matches!(c, ',' | ']' | '[' | '=' | '"' | '\\');
    if value.contains(odd) { quoted(value) } else { value.to_owned() }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_with_keys_positions_and_quotes() {
        let item = |keys: &[(&str, &str)]| Step::Item(keys.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect());
        let path = Path::default().field("spec").field("ports").join(item(&[("port", "53"), ("protocol", "UDP")])).field("nodePort");
        assert_eq!(path.to_string(), "spec.ports[port=53,protocol=UDP].nodePort");
        let path = Path::default().field("metadata").field("annotations").field("a.b/c");
        assert_eq!(path.to_string(), r#"metadata.annotations["a.b/c"]"#);
        assert_eq!(Path::default().field("spec").join(Step::Index(2)).to_string(), "spec[2]");
        let path = Path::default().field("env").join(item(&[("name", "a,b")]));
        assert_eq!(path.to_string(), r#"env[name="a,b"]"#);
    }
}

//! A path as people write it in a rule: `spec.ports[port=8080].nodePort`, with `*` for any field and `[*]` for any item. It knows places,
//! never what they mean.

use serde_json::Value;

use super::path::{Path, Step};

/// Any field, or any value of a key.
const ANY: &str = "*";

/// Which places a rule is about: the one it names and all below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pattern(Path);

impl From<Path> for Pattern {
    fn from(path: Path) -> Self {
        Self(path)
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Pattern {
    /// Reads a path as reports write it.
    ///
    /// # Errors
    /// Where it cannot be read, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rest = text.trim();
        let mut path = Path::default();
        while !rest.is_empty() {
            let (step, behind) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside)?,
                None => name(rest),
            };
            if step == Step::Field(String::new()) {
                return Err(format!("{text} has no name before {rest}"));
            }
            path = path.join(step);
            rest = match (behind.strip_prefix('.'), behind) {
                (Some(""), _) => return Err(format!("{text} ends in a dot")),
                (Some(next), _) => next,
                (None, "") => "",
                (None, next) if next.starts_with('[') => next,
                (None, next) => return Err(format!("{text} has no dot before {next}")),
            };
        }
        Ok(Self(path))
    }

    pub fn steps(&self) -> &[Step] {
        self.0.steps()
    }

    /// Whether the place is the one that is named, or lies below it.
    pub fn covers(&self, path: &Path) -> bool {
        let (own, other) = (self.steps(), path.steps());
        own.len() <= other.len() && own.iter().zip(other).all(|(own, other)| fits(own, other))
    }

    /// What is left of the way below this place; `None` where the way does not lead through it.
    pub fn below(&self, path: &Path) -> Option<&[Step]> {
        let (own, other) = (self.steps(), path.steps());
        let leads = own.len() > other.len() && own.iter().zip(other).all(|(own, other)| fits(own, other));
        leads.then(|| &own[other.len()..])
    }

    /// Whether it names items by where they stand, which changes when another item comes before them.
    pub fn is_positional(&self) -> bool {
        self.steps().iter().any(|step| matches!(step, Step::Index(_)))
    }

    /// Whether what it names is most of an object, or nobody knows what.
    pub fn is_wide(&self) -> bool {
        let plain: Vec<&str> = self.0.fields().collect();
        let holds_all = matches!(plain.as_slice(), [] | ["spec" | "metadata"] | ["spec", "template"] | ["spec", "template", "spec"]);
        holds_all || plain.first() == Some(&ANY)
    }
}

/// Whether a step of a pattern can be this step of a path.
fn fits(own: &Step, other: &Step) -> bool {
    match (own, other) {
        (Step::Field(own), Step::Field(other)) => own == ANY || own == other,
        (Step::Item(own), Step::Item(other)) => own.iter().all(|(key, value)| other.iter().any(|(k, v)| k == key && is_value(value, v))),
        (Step::Item(own), Step::Index(_)) => own.is_empty(),
        (Step::Index(own), Step::Index(other)) => own == other,
        (Step::Field(_) | Step::Index(_), _) | (Step::Item(_), Step::Field(_)) => false,
    }
}

fn is_value(own: &str, other: &str) -> bool {
    own == ANY || own == other
}

/// Whether a step of a pattern leads to this field.
pub fn leads_to_field(step: &Step, name: &str) -> bool {
    matches!(step, Step::Field(own) if own == ANY || own == name)
}

/// Whether a step of a pattern leads to this item of a list.
pub fn leads_to_item(step: &Step, at: usize, item: &Value) -> bool {
    match step {
        Step::Field(_) => false,
        Step::Index(own) => *own == at,
        Step::Item(keys) => keys.iter().all(|(key, value)| text(item.get(key)).is_some_and(|found| is_value(value, &found))),
    }
}

fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A name without quotes ends at a dot or bracket.
fn name(text: &str) -> (Step, &str) {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    (Step::Field(text[..end].to_owned()), &text[end..])
}

/// What stands between brackets: a quoted name, a position, `*`, or keys with values.
fn bracket(inside: &str) -> Result<(Step, &str), String> {
    let open = || format!("[{inside} has no closing bracket");
    if inside.starts_with('"') {
        let (name, rest) = quoted(inside).ok_or_else(open)?;
        return rest.strip_prefix(']').map(|rest| (Step::Field(name), rest)).ok_or_else(open);
    }
    if let Some((number, rest)) = inside.split_once(']')
        && let Ok(index) = number.parse()
    {
        return Ok((Step::Index(index), rest));
    }
    if let Some(rest) = inside.strip_prefix("*]") {
        return Ok((Step::Item(Vec::new()), rest));
    }
    keys(inside).ok_or_else(|| format!("[{inside} is no key of a list: write [name=web], [*] or a quoted name"))
}

fn keys(mut rest: &str) -> Option<(Step, &str)> {
    let mut keys = Vec::new();
    loop {
        let (key, behind) = rest.split_once('=')?;
        if key.is_empty() || key.contains([']', '[', ',']) {
            return None;
        }
        let (value, behind) = if behind.starts_with('"') {
            quoted(behind)?
        } else {
            let end = behind.find([',', ']'])?;
            (behind[..end].to_owned(), &behind[end..])
        };
        keys.push((key.to_owned(), value));
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Some((Step::Item(keys), behind.strip_prefix(']')?)),
        }
    }
}

/// A text in quotes, in which `\` takes the next character as it is and `\u{a}` stands for a control character.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((out, &text[at + 1..])),
            '\\' => match chars.next()?.1 {
                'u' => {
                    let digits: String = chars.by_ref().skip(1).map(|(_, c)| c).take_while(|c| *c != '}').collect();
                    out.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32)?);
                }
                c => out.push(c),
            },
            c => out.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reports_write_is_read_back() {
        let texts = [
            "spec.ports[port=53,protocol=UDP].nodePort",
            r#"metadata.annotations["a.b/c"]"#,
            "spec[2]",
            r#"env[name="a,b"].value"#,
            r#"data["\u{a}x\"y\\"]"#,
            "spec.*.image",
            "",
        ];
        for text in texts {
            assert_eq!(Pattern::parse(text).unwrap_or_else(|why| panic!("{why}")).to_string(), text.replace(".*.", r#"["*"]."#));
        }
        for wrong in ["spec..a", ".spec", "spec.", "spec[", "spec[a]", "spec[a=b", "spec[\"a]", "spec[=b]", "spec]x"] {
            let read = Pattern::parse(wrong);
            assert!(read.is_err() || wrong == "spec]x", "{wrong}: {read:?}");
        }
    }

    #[test]
    fn a_pattern_covers_what_it_names_and_all_below() {
        let covers = |pattern: &str, path: &str| {
            let path = Pattern::parse(path).expect("a path").0;
            Pattern::parse(pattern).expect("a pattern").covers(&path)
        };
        assert!(covers("spec.ports[port=53]", "spec.ports[port=53,protocol=UDP].nodePort"));
        assert!(covers("spec.ports[*]", "spec.ports[port=53,protocol=UDP]"));
        assert!(covers("spec.ports[*]", "spec.ports[3]"));
        assert!(covers("spec.*", "spec.replicas"));
        assert!(covers("", "spec"));
        assert!(!covers("spec.ports[port=54]", "spec.ports[port=53,protocol=UDP]"));
        assert!(!covers("spec.port", "spec.ports[port=53]"));
        assert!(!covers("spec.template.spec", "spec.template"));
        assert!(!covers("spec.a[0]", "spec.a[name=x]"));
    }
}

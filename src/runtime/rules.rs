//! Rules: files with accept rules, read with all their mistakes told at once, and appended to without ever losing what is in them.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use color_eyre::{Result, eyre::WrapErr, eyre::bail, eyre::eyre};
use toml::{Table, Value};

use super::key;
use super::narrow;
use crate::desired::{Pattern, Rule};
use crate::model::{Quantity, Time};

/// The rules of all these files, in their order.
///
/// # Errors
/// A file cannot be read, or holds a mistake: a rule that was not understood must not accept anything else instead.
pub fn read(files: &[PathBuf]) -> Result<Vec<Rule>> {
    let (mut rules, mut mistakes) = (Vec::new(), Vec::new());
    for file in files {
        let text = fs::read_to_string(file).wrap_err_with(|| format!("{} cannot be read", file.display()))?;
        let (found, wrong) = parse(&file.display().to_string(), &text);
        rules.extend(found);
        mistakes.extend(wrong);
    }
    let redactor = key::redactor();
    for rule in &mut rules {
        // What people write to explain a rule is printed wherever it is met.
        rule.reason = redactor.text(&rule.reason).into_owned();
        rule.owner = redactor.text(&rule.owner).into_owned();
    }
    if mistakes.is_empty() { Ok(rules) } else { bail!("no rule is used until these are put right:\n  {}", mistakes.join("\n  ")) }
}

/// Reads rules from text; `name` stands for the file. Tells what could not be understood.
fn parse(name: &str, text: &str) -> (Vec<Rule>, Vec<String>) {
    let table = match text.parse::<Table>() {
        Ok(table) => table,
        Err(error) => {
            let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
            return (Vec::new(), vec![format!("{name}:{line}: {}", error.message())]);
        }
    };
    let mut mistakes: Vec<String> = table
        .keys()
        .filter(|key| *key != "accept")
        .map(|key| format!("{name}: there is no {key}; rules are written under [[accept]]"))
        .collect();
    let entries = match table.get("accept") {
        None => &[][..],
        Some(Value::Array(entries)) => entries,
        Some(_) => {
            mistakes.push(format!("{name}: rules are written under [[accept]], with two brackets"));
            &[]
        }
    };
    let lines: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("[[accept]]")).map(|(at, _)| at + 1).collect();
    let mut rules = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let id = lines.get(at).map_or_else(|| format!("{name}#{}", at + 1), |line| format!("{name}:{line}"));
        match entry.as_table().ok_or("is no table".to_owned()).and_then(|entry| rule(&id, entry)) {
            Ok(rule) => rules.push(rule),
            Err(why) => mistakes.push(format!("{id}: {why}")),
        }
    }
    (rules, mistakes)
}

fn rule(id: &str, entry: &Table) -> Result<Rule, String> {
    let mut rule = Rule { id: id.to_owned(), ..Rule::default() };
    let mut has_path = false;
    for (key, value) in entry {
        match key.as_str() {
            "group" => rule.group = Some(text(key, value)?),
            "kind" => rule.kind = text(key, value)?,
            "namespace" => rule.namespace = Some(text(key, value)?),
            "name" => rule.name = Some(text(key, value)?),
            "selector" => rule.selector = narrow::labels(&text(key, value)?).map_err(|error| format!("{error:#}"))?,
            "path" => {
                rule.path = Pattern::parse(&text(key, value)?).map_err(|why| format!("path: {why}"))?;
                has_path = true;
            }
            "value" => rule.bounds.values.push(json(value)),
            "values" => {
                rule.bounds.values.extend(value.as_array().ok_or("values is no list; one value is written value = …")?.iter().map(json))
            }
            "min" => rule.bounds.min = Some(amount(key, value)?),
            "max" => rule.bounds.max = Some(amount(key, value)?),
            "absent" => rule.bounds.absent = value.as_bool().ok_or("absent is true or left out")?,
            "manager" => rule.manager = Some(text(key, value)?),
            "owner" => rule.owner = text(key, value)?,
            "reason" => rule.reason = text(key, value)?,
            "expires" => rule.expires = Some(end(value)?),
            _ => return Err(format!("there is no {key}; a rule has {KEYS}")),
        }
    }
    if rule.kind.is_empty() {
        return Err("it names no kind; kind = \"*\" is any".to_owned());
    }
    if !has_path {
        return Err("it names no path; path = \"spec.replicas\" is one".to_owned());
    }
    if let Some(why) = rule.bounds.contradiction() {
        return Err(why);
    }
    if rule.reason.trim().is_empty() {
        return Err("it says no reason: whoever reads it later has to know why".to_owned());
    }
    Ok(rule)
}

const KEYS: &str = "group, kind, namespace, name, selector, path, value, values, min, max, absent, manager, owner, reason and expires";

fn text(key: &str, value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{key} is {value}, but must be text in quotes"))
}

fn amount(key: &str, value: &Value) -> Result<Quantity, String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    Quantity::parse(&text).ok_or_else(|| format!("{key} is {value}, but must be an amount, as 10 or \"512Mi\""))
}

/// A day is good until it is over.
fn end(value: &Value) -> Result<Time, String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let day = Time::parse(&format!("{text}T00:00:00Z")).filter(|_| text.len() == 10).map(|day| day.plus(86_400));
    day.or_else(|| Time::parse(&text)).ok_or_else(|| format!("expires is {text}, but must be a day or time, as 2026-06-01"))
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::String(text) => serde_json::Value::from(text.as_str()),
        Value::Integer(number) => serde_json::Value::from(*number),
        Value::Float(number) => serde_json::Value::from(*number),
        Value::Boolean(value) => serde_json::Value::from(*value),
        Value::Datetime(time) => serde_json::Value::from(time.to_string()),
        Value::Array(items) => items.iter().map(json).collect(),
        Value::Table(fields) => fields.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
    }
}

/// A value as a rule holds it; `None` for what TOML cannot say.
fn toml(value: &serde_json::Value) -> Option<Value> {
    match value {
        serde_json::Value::Null => None,
        serde_json::Value::Bool(value) => Some(Value::Boolean(*value)),
        serde_json::Value::Number(number) => number.as_i64().map(Value::Integer).or_else(|| number.as_f64().map(Value::Float)),
        serde_json::Value::String(text) => Some(Value::String(text.clone())),
        serde_json::Value::Array(items) => items.iter().map(toml).collect::<Option<_>>().map(Value::Array),
        serde_json::Value::Object(fields) => {
            fields.iter().map(|(key, value)| Some((key.clone(), toml(value)?))).collect::<Option<Table>>().map(Value::Table)
        }
    }
}

/// A rule as it stands in a file.
fn written(rule: &Rule) -> String {
    let mut lines = vec!["[[accept]]".to_owned()];
    let mut put = |key: &str, value: Option<Value>| lines.extend(value.map(|value| format!("{key} = {value}")));
    let text = |text: &str| (!text.is_empty()).then(|| Value::String(text.to_owned()));
    put("group", rule.group.clone().map(Value::String));
    put("kind", text(&rule.kind));
    put("namespace", rule.namespace.as_deref().and_then(text));
    put("name", rule.name.as_deref().and_then(text));
    put("path", Some(Value::String(rule.path.to_string())));
    let values: Option<Vec<Value>> = rule.bounds.values.iter().map(toml).collect();
    put("values", values.filter(|values| !values.is_empty()).map(Value::Array));
    put("absent", rule.bounds.absent.then_some(Value::Boolean(true)));
    put("manager", rule.manager.as_deref().and_then(text));
    put("owner", text(&rule.owner));
    put("reason", text(&rule.reason));
    put("expires", rule.expires.map(|end| Value::String(end.plus(-1).rfc3339()[..10].to_owned())));
    lines.join("\n") + "\n"
}

/// Adds a rule to a file, which is made if it is not there. What is in it stays, byte for byte; a disk that is full leaves it whole.
///
/// # Errors
/// The file holds no rules, or cannot be read or written; then it is as it was.
pub fn append(path: &Path, rule: &Rule) -> Result<()> {
    let named = || path.display().to_string();
    // A link stays a link: what it points to is written.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (before, mode) = match fs::metadata(path) {
        Ok(about) => {
            (fs::read_to_string(path).wrap_err_with(|| format!("{} cannot be read", named()))?, about.permissions().mode() & 0o777)
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => (String::new(), 0o600),
        Err(error) => return Err(error).wrap_err_with(|| format!("{} cannot be read", named())),
    };
    if let Some(mistake) = parse(&named(), &before).1.first() {
        bail!("{} is no file of rules, or has mistakes, so nothing was added: {mistake}", named());
    }
    let gap = match before.as_str() {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    replace(path, &format!("{before}{gap}{}", written(rule)), mode)
        .wrap_err_with(|| format!("{} cannot be written; it is as it was", named()))
}

/// Under a temporary name first, then in its place in one step.
fn replace(path: &Path, text: &str, mode: u32) -> Result<()> {
    let name = path.file_name().ok_or_else(|| eyre!("that names no file"))?.to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let write = || {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desired::Bounds;

    const RULE: &str = "[[accept]]\nkind = \"Deployment\"\nnamespace = \"shop\"\npath = \"spec.replicas\"\nmin = 2\nmax = 10\nreason = \"sale\"\nexpires = 2026-06-01\n";

    fn file(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("holdup-rules-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(name);
        let _ = fs::remove_file(&path);
        path
    }

    #[test]
    fn a_rule_is_good_until_its_day_is_over() {
        let (rules, mistakes) = parse("a.toml", &format!("# why\n{RULE}"));
        assert_eq!((rules.len(), mistakes), (1, Vec::new()));
        assert_eq!((rules[0].id.as_str(), rules[0].expires), ("a.toml:2", Time::parse("2026-06-02T00:00:00Z")));
    }

    #[test]
    fn every_mistake_is_told_and_a_misspelt_key_never_widens_a_rule() {
        let wrong = [
            ("knd = \"x\"", "there is no knd"),
            ("kind = 3", "must be text"),
            ("kind = \"\"", "names no kind"),
            ("path = \"spec[\"", "path:"),
            ("reason = \" \"", "no reason"),
            ("expires = \"soon\"", "must be a day"),
            ("min = \"many\"", "must be an amount"),
            ("min = 10\nmax = \"2\"", "accepts nothing: min 10 is more than max 2"),
            ("absent = true\nmin = 1", "accepts nothing: a field that is absent has no value"),
            ("selector = \"a in b\"", "no label selector"),
            ("values = 3", "no list"),
        ];
        for (line, expected) in wrong {
            let key = line.split(' ').next().expect("a key");
            let rest: Vec<&str> = ["kind = \"A\"", "path = \"a\"", "reason = \"r\""].into_iter().filter(|l| !l.starts_with(key)).collect();
            let (rules, mistakes) = parse("a.toml", &format!("[[accept]]\n{line}\n{}\n", rest.join("\n")));
            assert!(rules.is_empty() && mistakes.len() == 1 && mistakes[0].contains(expected), "{line}: {mistakes:?}");
        }
        assert_eq!(parse("a.toml", "[accept]\n[other]\n").1.len(), 2);
        assert_eq!(parse("a.toml", "[[accept\n").1.len(), 1);
    }

    #[test]
    fn a_rule_that_is_written_is_read_back_and_what_was_there_stays() {
        let path = file("back.toml");
        fs::write(&path, format!("# ours\n{}", RULE.trim_end())).expect("written");
        let bounds = Bounds { values: vec![serde_json::json!({"a b": ["x", 1, true]})], ..Bounds::default() };
        let rule = Rule {
            group: Some(String::new()),
            kind: "ConfigMap".into(),
            namespace: Some("shop".into()),
            name: Some("a\"\u{7f}\n".into()),
            path: Pattern::parse(r#"metadata.annotations["a.b/c"]"#).expect("a path"),
            bounds,
            reason: "why\nnot".into(),
            expires: Time::parse("2026-06-02T00:00:00Z"),
            ..Rule::default()
        };
        append(&path, &rule).expect("appended");
        let text = fs::read_to_string(&path).expect("readable");
        assert!(text.starts_with(&format!("# ours\n{RULE}")), "{text}");
        let rules = read(std::slice::from_ref(&path)).expect("rules");
        assert_eq!(rules[1], Rule { id: rules[1].id.clone(), ..rule });
        let folder = path.parent().expect("a folder");
        assert!(
            fs::read_dir(folder).expect("a folder").all(|entry| !entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .starts_with(".back"))
        );
    }

    #[test]
    fn a_new_file_is_the_users_own_and_a_wrong_one_is_left_alone() {
        let path = file("new.toml");
        let rule = Rule { kind: "A".into(), path: Pattern::parse("a").expect("a path"), reason: "r".into(), ..Rule::default() };
        append(&path, &rule).expect("made");
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let other = file("other.yaml");
        fs::write(&other, "kind: List\n").expect("written");
        assert!(append(&other, &rule).is_err());
        assert_eq!(fs::read_to_string(&other).expect("there"), "kind: List\n");
    }
}

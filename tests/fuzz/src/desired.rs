//! What must hold for any input of desired versus live: objects with owners and copies, records of releases, amounts, manifests, rules
//! and lines of an audit log.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use holdup::desired::{Evidence, Fetched, Object, compare, diff, helm, manifest};
use holdup::export::Paint;
use holdup::export::diff::{Compared, Compilation, Remarks, json, text};
use holdup::model::{Kind, Quantity};
use holdup::redact::Redactor;
use holdup::runtime::{audit, rules};
use serde_json::{Value, json};

use crate::damage::Damage;

fn redactor() -> Redactor {
    Redactor::new(&[7; 32])
}

/// An object is compared with all that it says of itself, and with itself; what comes of it can be printed, and read by scripts.
pub fn managed(_: Kind, bytes: &[u8], damage: &mut Damage) -> Result<(), String> {
    let Ok(mut value) = serde_json::from_slice::<Value>(bytes) else { return Ok(()) };
    let entries = if damage.below(2) == 0 { entries(&value, damage) } else { Value::Null };
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut).filter(|_| !entries.is_null()) {
        metadata.insert("managedFields".to_owned(), entries);
    }
    judged(value, damage)
}

fn judged(value: Value, damage: &mut Damage) -> Result<(), String> {
    let redactor = redactor();
    let mut other = value.clone();
    spoil(&mut other, damage);
    let [one, two] = [value, other].map(|value| Object::new(value, &redactor));
    let twice = Object::new(one.value().clone(), &redactor);
    if twice.value() != one.value() {
        return Err("redacted twice it is another object".to_owned());
    }
    let evidence = Evidence { released: None, related: &[] };
    if let Some(field) = diff(&one, &one, evidence).fields.first() {
        return Err(format!("it differs from itself at {}", field.path));
    }
    compare(&Fetched { live: &one, files: &[], releases: &[], related: &[], redactor: &redactor }, Vec::new());
    let found = Compilation::Named(vec![Compared { diff: diff(&one, &two, evidence), ..Compared::default() }]);
    if text(&found, &Remarks::default(), Paint::Plain).chars().any(|c| c.is_control() && c != '\n') {
        return Err("a control character is printed".to_owned());
    }
    let text = json(&found);
    serde_json::from_str::<Value>(&text).map(drop).map_err(|error| format!("what is printed is no JSON: {error}"))
}

/// Another value somewhere.
fn spoil(value: &mut Value, damage: &mut Damage) {
    let odd = [
        json!(null),
        json!(0),
        json!("x"),
        json!([]),
        json!({}),
        json!([null, {"name": null}, {"name": "a"}, {"name": "a"}]),
        json!(false),
        json!("1e3"),
        json!(1e300),
    ];
    match value {
        Value::Object(fields) if !fields.is_empty() && damage.below(8) > 0 => {
            let nth = damage.below(fields.len());
            fields.values_mut().nth(nth).into_iter().for_each(|value| spoil(value, damage));
        }
        Value::Array(items) if !items.is_empty() && damage.below(8) > 0 => {
            let nth = damage.below(items.len());
            spoil(&mut items[nth], damage);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            *value = odd[damage.below(odd.len())].clone()
        }
    }
}

/// Owners of what the object has, under names and keys of which a few are wrong.
fn entries(value: &Value, damage: &mut Damage) -> Value {
    let names = ["kubectl-client-side-apply", "kubectl", "helm", "kubectl-edit", "kube-controller-manager", "before-first-apply", "", "x"];
    let count = damage.below(4);
    let entry = |damage: &mut Damage| {
        let mut fields = tree(value, damage, 0);
        spoil(&mut fields, damage);
        json!({"manager": names[damage.below(names.len())], "operation": (["Apply", "Update", "?"])[damage.below(3)], "subresource": (["", "scale", "status"])[damage.below(3)],
            "time": (["2026-05-04T10:00:00Z", "", "yesterday"])[damage.below(3)], "fieldsV1": fields})
    };
    (0..count).map(|_| entry(damage)).collect::<Vec<Value>>().into()
}

fn tree(value: &Value, damage: &mut Damage, depth: usize) -> Value {
    let mut fields = serde_json::Map::new();
    match value {
        Value::Object(all) => {
            for (name, value) in all.iter().filter(|(name, _)| *name != "managedFields") {
                if damage.below(3) > 0 {
                    fields.insert(format!("f:{name}"), tree(value, damage, depth + 1));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                let key = match damage.below(4) {
                    0 => format!("i:{at}"),
                    1 => format!("v:{item}"),
                    2 => "k:{".to_owned(),
                    _ => format!("k:{}", json!({"name": item["name"]})),
                };
                fields.insert(key, tree(item, damage, depth + 1));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    if depth > 0 && damage.below(3) == 0 {
        fields.insert(".".to_owned(), json!({}));
    }
    fields.into()
}

/// A record whose payload is damaged before it is packed, after it, or after each layer of base64.
pub fn release(_: Kind, bytes: &[u8], damage: &mut Damage) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    let release = json!({"name": "shop", "namespace": "n", "version": damage.below(3), "manifest": text, "info": {"status": "deployed", "last_deployed": ""},
        "config": {"password": "x"}, "hooks": [{"manifest": text}]});
    let wound = damage.below(5);
    let mut bytes = release.to_string().into_bytes();
    let mut hurt = |bytes: &mut Vec<u8>, layer: usize| {
        if wound == layer {
            damage.bytes(bytes);
        }
    };
    hurt(&mut bytes, 0);
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut packer, &bytes).map_err(|error| error.to_string())?;
    bytes = packer.finish().map_err(|error| error.to_string())?;
    hurt(&mut bytes, 1);
    bytes = STANDARD.encode(bytes).into_bytes();
    hurt(&mut bytes, 2);
    let map = String::from_utf8_lossy(&bytes).into_owned();
    bytes = STANDARD.encode(&bytes).into_bytes();
    hurt(&mut bytes, 3);
    let secret = String::from_utf8_lossy(&bytes).into_owned();
    for (kind, payload) in [("ConfigMap", map), ("Secret", secret)] {
        let record =
            json!({"kind": kind, "metadata": {"name": "sh.helm.release.v1.shop.v1", "namespace": "n"}, "data": {"release": payload}});
        if let Ok(release) = helm::read(&record, &redactor()) {
            release.objects.iter().for_each(|object| drop(object.identity()));
        } else if wound == 4 {
            return Err(format!("a sound record of a {kind} was refused"));
        }
    }
    Ok(())
}

/// An amount is what it is however it is read, compared and written.
pub fn quantity(_: Kind, _: &[u8], damage: &mut Damage) -> Result<(), String> {
    const PIECES: &[&str] = &[
        "0",
        "1",
        "9",
        "12",
        ".",
        "-",
        "+",
        "e",
        "E",
        "e3",
        "E-9",
        "m",
        "u",
        "n",
        "k",
        "M",
        "G",
        "T",
        "P",
        "Ei",
        "Ki",
        "Mi",
        "i",
        " ",
        "99999999999999999999",
        "½",
        "\u{0}",
    ];
    let text: String = (0..damage.below(6)).map(|_| PIECES[damage.below(PIECES.len())]).collect();
    let Some(amount) = Quantity::parse(&text) else { return Ok(()) };
    let spelt = Quantity::spell("memory", amount.nano());
    // Beyond 2⁶³−1 Kubernetes keeps no amount.
    let exact = amount.nano() % 1_000_000 == 0 && amount.value().unsigned_abs() < 1 << 63;
    if exact && Quantity::parse(&spelt).map(|again| again.nano()) != Some(amount.nano()) {
        return Err(format!("{text:?} is spelt {spelt:?}, which is another amount"));
    }
    let with = |amount: &str| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": [{"name": "c", "resources": {"limits": {"cpu": amount}}}]}});
    let redactor = redactor();
    let [one, two] = [text.as_str(), spelt.as_str()].map(|text| Object::new(with(text), &redactor));
    let evidence = Evidence { released: None, related: &[] };
    let verdicts =
        [diff(&one, &two, evidence), diff(&two, &one, evidence)].map(|diff| diff.fields.iter().map(|f| f.verdict.id()).collect::<Vec<_>>());
    let [there, back] = &verdicts;
    if there.contains(&"equal") != back.contains(&"equal") {
        Err(format!("{text:?} and {spelt:?} are equal in one direction only"))
    } else {
        Ok(())
    }
}

/// Documents of any kind; those that can be read are judged.
pub fn manifests(_: Kind, bytes: &[u8], damage: &mut Damage) -> Result<(), String> {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if let Some(value) = serde_json::from_str::<Value>(&text).ok().filter(|_| damage.below(3) > 0) {
        text.clear();
        block(&value, 0, &mut text);
        let mut bytes = format!("{text}---\n{text}").into_bytes();
        (0..damage.below(4)).for_each(|_| damage.bytes(&mut bytes));
        text = String::from_utf8_lossy(&bytes).into_owned();
    }
    let found = manifest::read(&text);
    let lines = text.lines().count().max(1);
    if let Some((line, why)) = found.odd.iter().find(|(line, _)| *line == 0 || *line > lines) {
        return Err(format!("line {line} of {lines}: {why}"));
    }
    found.objects.into_iter().take(3).try_for_each(|object| judged(object, damage))
}

/// YAML in block style, with the scalars as JSON writes them.
fn block(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let nested = |value: &Value| {
        matches!(value, Value::Object(fields) if !fields.is_empty()) || matches!(value, Value::Array(items) if !items.is_empty())
    };
    let mut put = |head: String, value: &Value| {
        out.push_str(&head);
        if nested(value) {
            out.push('\n');
            block(value, depth + 1, out);
        } else {
            out.push_str(&format!(" {value}\n"));
        }
    };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| put(format!("{indent}{}:", Value::from(name.as_str())), value)),
        Value::Array(items) => items.iter().for_each(|item| put(format!("{indent}-"), item)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => out.push_str(&format!("{value}\n")),
    }
}

fn file(name: &str, bytes: &[u8]) -> Result<PathBuf, String> {
    let path = std::env::temp_dir().join(format!("holdup-fuzz-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).map(|()| path).map_err(|error| error.to_string())
}

/// Files of rules: what is no rule is told, with its line.
pub fn rule(_: Kind, _: &[u8], damage: &mut Damage) -> Result<(), String> {
    const RULES: &str = "[[accept]]\ngroup = \"apps\"\nkind = \"Deployment\"\nnamespace = \"shop-*\"\nname = \"cart\"\nselector = \"app in (a, b), !c\"\n\
        path = 'spec.template.spec.containers[name=main].resources.limits[\"nvidia.com/gpu\"]'\nvalues = [1, \"2\", true]\nmanager = \"x\"\nowner = \"team\"\nreason = \"why\"\nexpires = \"2026-12-31\"\n\n\
        [[accept]]\nkind = \"*\"\npath = \"metadata.annotations.*\"\nmin = \"1\"\nmax = 10\nabsent = true\nreason = \"r\"\nexpires = 2026-12-31\n";
    let mut bytes = RULES.as_bytes().to_vec();
    let wounds = damage.below(5);
    (0..wounds).for_each(|_| damage.bytes(&mut bytes));
    let path = file("rules.toml", &bytes)?;
    let read = rules::read(std::slice::from_ref(&path));
    let kept = if wounds == 0 { read.map(drop).map_err(|error| format!("sound rules were refused: {error:#}")) } else { Ok(()) };
    std::fs::remove_file(path).map_err(|error| error.to_string())?;
    kept
}

/// Lines of an audit log, joined to a difference.
pub fn log(_: Kind, bytes: &[u8], damage: &mut Damage) -> Result<(), String> {
    let body = serde_json::from_slice::<Value>(bytes).unwrap_or(Value::Null);
    let event = |at: usize| {
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "a", "stage": "ResponseComplete", "verb": "patch",
            "requestURI": "/apis/apps/v1/namespaces/n/deployments/x?fieldManager=kubectl-edit", "user": {"username": "alice", "groups": ["g"]}, "sourceIPs": ["10.0.0.1"],
            "objectRef": {"resource": "deployments", "apiGroup": "apps", "namespace": "n", "name": "x"}, "responseStatus": {"code": 200},
            "requestObject": body, "responseObject": {"spec": {"replicas": at}}, "requestReceivedTimestamp": format!("2026-05-04T10:00:0{at}.000000Z"), "stageTimestamp": ""})
        .to_string()
    };
    let swept = event(3).replace("\"verb\":\"patch\"", "\"verb\":\"deletecollection\"").replace("\"name\":\"x\"", "\"name\":\"\"");
    let made = event(4).replace("\"verb\":\"patch\"", "\"verb\":\"create\"").replace("\"name\":\"x\"", "\"name\":\"\"");
    let list = format!("{{\"kind\":\"EventList\",\"items\":[{},{made}]}}", event(1));
    let mut lines = format!("{}\n{}\n{swept}\n{list}\n", event(1), event(2)).into_bytes();
    (0..damage.below(6)).for_each(|_| damage.bytes(&mut lines));
    let redactor = redactor();
    let of = |replicas: usize| {
        Object::new(
            json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x", "namespace": "n"}, "spec": {"replicas": replicas}}),
            &redactor,
        )
    };
    let found = diff(&of(1), &of(2), Evidence { released: None, related: &[] });
    let mut compared = [Compared { diff: found, ..Compared::default() }];
    let path = file("audit.log", &lines)?;
    let read = audit::join(std::slice::from_ref(&path), &mut compared, &redactor);
    std::fs::remove_file(path).map_err(|error| error.to_string())?;
    read.map(drop).map_err(|error| format!("{error:#}"))
}

//! The redactor: nothing secret stays, nothing else goes, twice is once.

use holdup::redact::Redactor;
use proptest::prelude::*;
use serde_json::{Value, json};

fn redactor() -> Redactor {
    Redactor::new(&[42; 32])
}

fn redacted(mut object: Value) -> Value {
    let redactor = redactor();
    redactor.object(&mut object);
    let mut twice = object.clone();
    redactor.object(&mut twice);
    assert_eq!(twice, object, "twice is once");
    object
}

#[test]
fn no_canary_survives_wherever_it_is_planted() {
    let inner =
        json!({"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"data":{"pw":"Y2FuYXJ5LTE="},"stringData":{"pw":"canary-1"}});
    let objects = json!({"kind":"List","items":[
        {"data":{"pw":"Y2FuYXJ5LTE=","odd":{"a":"canary-1"}},"stringData":{"pw":"canary-1"},"kind":"Secret","metadata":{"name":"db","annotations":{
            "kubectl.kubernetes.io/last-applied-configuration": inner.to_string(),
            "kapp.k14s.io/original": "{\"data\":{\"pw\":\"Y2FuYXJ5LTE=\"}}",
            "qbec.io/last-applied": "H4sIAAAAAAAAA-canary-1",
            "example.net/last-applied": "apiVersion: v1\nkind: Secret\nstringData:\n  pw: canary-1\n"}}},
        {"kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c",
            "args":["--password","canary-1","--token=canary-1","postgres://app:canary-1@db/x"],
            "env":[{"name":"DB_PASSWORD","value":"canary-1"},{"value":"canary-1","name":"API_KEY"},
                {"name":"CONFIG","value":"{\"password\":\"canary-1\"}"}]}]}},
        {"kind":"ConfigMap","metadata":{"name":"c"},"data":{"SESSION":"canary-1","app.properties":"db.password=canary-1\nx=y"}},
        {"kind":"Database","apiVersion":"example.net/v1","spec":{"adminPassword":"canary-1"}},
        {"kind":"Event","message":"login with Bearer canary-1 refused"},
        {"kind":"SealedThing","spec":{"template":inner}}]});
    let out = redacted(objects).to_string();
    assert!(!out.contains("canary-1"), "{out}");
    assert!(!out.contains("Y2FuYXJ5LTE"), "{out}");
}

#[test]
fn a_value_has_the_same_tag_in_data_in_string_data_and_in_copies() {
    let out = redacted(json!({"kind":"Secret","metadata":{"annotations":{"a":"{\"kind\":\"Secret\",\"data\":{\"k\":\"YWJj\"}}"}},
        "data":{"k":"YWJj"},"stringData":{"k":"abc"}}));
    let digits = out["data"]["k"].as_str().unwrap().strip_prefix("redacted/").unwrap();
    assert_eq!(out["stringData"]["k"], format!("‹redacted:{digits}›"));
    assert!(out["metadata"]["annotations"]["a"].as_str().unwrap().contains(digits));
}

#[test]
fn a_tag_says_neither_the_value_nor_its_length_nor_anything_under_another_key() {
    let one = redactor();
    assert_eq!(one.tag("a").chars().count(), one.tag(&"b".repeat(900)).chars().count());
    assert_eq!(one.tag("a"), one.tag("a"));
    assert_ne!(one.tag("a"), Redactor::new(&[1; 32]).tag("a"));
}

#[test]
fn references_switches_and_public_things_stay() {
    let object = json!({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","annotations":{"kubectl.kubernetes.io/restartedAt":"2026-05-04T10:00:00Z","note":"{ \"a\": 1 }"},
        "managedFields":[{"fieldsV1":{"f:data":{"f:password":{}}}}]},
        "spec":{"automountServiceAccountToken":false,"imagePullSecrets":[{"name":"regcred"}],"volumes":[{"secret":{"secretName":"db"}}],
            "containers":[{"env":[{"name":"DB_PASSWORD","valueFrom":{"secretKeyRef":{"name":"db","key":"password"}}},{"name":"DB_PASSWORD_FILE","value":"/run/pw"},
                {"name":"AUTH_ENABLED","value":"true"},{"name":"OTHER_TOKEN","value":"$(TOKEN)"},{"name":"PASSWORD","value":""}]}]}});
    assert_eq!(redacted(object.clone()), object);
}

#[test]
fn annotations_say_how_one_logs_in_and_hide_with_what() {
    let name = |key: &str| format!("nginx.ingress.kubernetes.io/{key}");
    let shown = [("auth-url", "https://auth.example.net/auth?rd=$request_uri"), ("auth-type", "basic"), ("auth-realm", "Log in, please")];
    let hidden = [("auth-token", "hunter2"), ("basic-auth", "app:hunter2"), ("auth-url", "hunter2"), ("auth-secret", "hunter2")];
    let object = |key: &str, value: &str| json!({"kind":"Ingress","metadata":{"name":"i","annotations":{name(key): value}}});
    for (key, value) in shown {
        assert_eq!(redacted(object(key, value)), object(key, value));
        let copy = json!({"kind":"Ingress","metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration": object(key, value).to_string()}}});
        assert_eq!(redacted(copy.clone()), copy, "the copy and the object are to be compared");
    }
    for (key, value) in hidden {
        let out = redacted(object(key, value)).to_string();
        assert!(!out.contains("hunter2"), "{key}: {out}");
    }
    let out = redacted(object("auth-url", "https://app:hunter2@auth.example.net/x?access_token=hunter2")).to_string();
    assert!(!out.contains("hunter2") && out.contains("@auth.example.net/x"), "{out}");
}

#[test]
fn bytes_that_are_no_json_are_not_passed_on() {
    assert_eq!(redactor().object_bytes(b"{\"kind\":\"Secret\",\"data\":{\"a\":\"YQ==\""), None);
    let out = redactor().object_bytes(b"{\"kind\":\"Secret\",\"data\":{\"a\":\"YQ==\"}}").unwrap();
    assert!(String::from_utf8(out).unwrap().contains("redacted/"));
}

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("password".to_owned()),
        Just("=".to_owned()),
        Just(": ".to_owned()),
        Just("\"".to_owned()),
        Just("\\\"".to_owned()),
        Just("'".to_owned()),
        Just("://".to_owned()),
        Just("u:p@h/".to_owned()),
        Just("Bearer ".to_owned()),
        Just("Cookie: ".to_owned()),
        Just("-----BEGIN KEY-----".to_owned()),
        Just("-----END KEY-----".to_owned()),
        Just("eyJhbGciOiJI.eyJzdWIiOiIx.abcdefgh".to_owned()),
        Just("‹redacted:0123456789abcde›".to_owned()),
        Just("‹redacted:".to_owned()),
        Just("AKIAIOSFODNN7EXAMPLE".to_owned()),
        Just("{\"kind\":\"Secret\",\"data\":{\"a\":\"YQ==\"}}".to_owned()),
        Just("\n".to_owned()),
        "[ -~]{0,12}",
        "\\PC{0,3}",
    ]
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(fragment(), 0..12).prop_map(|parts| parts.concat())
}

fn value() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("kind".to_owned()),
        Just("data".to_owned()),
        Just("stringData".to_owned()),
        Just("metadata".to_owned()),
        Just("annotations".to_owned()),
        Just("name".to_owned()),
        Just("value".to_owned()),
        Just("env".to_owned()),
        Just("password".to_owned()),
        text()
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::from("Secret")),
        Just(Value::from("ConfigMap")),
        text().prop_map(Value::from)
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

#[test]
fn what_one_pass_brings_beside_a_name_is_taken_out_by_the_next() {
    let text = "Bearer -----BEGIN KEY-----Cookie: passwordAKIAIOSFODNN7EXAMPLEeyJhbGciOiJI.eyJzdWIiOiIx.abcdefgh‹redacted:";
    let redactor = redactor();
    let once = redactor.text(text).into_owned();
    assert_eq!(redactor.text(&once), once);
    assert!(!once.contains("AKIAIOSFODNN7EXAMPLE"), "{once}");
}

proptest! {
    #[test]
    fn redacting_text_twice_is_redacting_it_once(text in text()) {
        let redactor = redactor();
        let once = redactor.text(&text).into_owned();
        let twice = redactor.text(&once).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn redacting_any_object_twice_is_redacting_it_once(mut object in value()) {
        let redactor = redactor();
        redactor.object(&mut object);
        let mut twice = object.clone();
        redactor.object(&mut twice);
        prop_assert_eq!(twice, object);
    }
}

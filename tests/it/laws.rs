//! Laws of judging, over all cases and random orders: what is said depends on what is there, never on how it came.

use std::fs;
use std::path::Path;

use holdup::diagnose::{Engine, Options, Progress, Report};
use holdup::model::{Batch, Cluster, CoverageState, Delta, KINDS, Kind, Place, Time};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::picture;

struct Case {
    name: String,
    now: Time,
    objects: Vec<Value>,
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/cases");
    let mut cases = Vec::new();
    for folder in fs::read_dir(root).expect("cases").filter_map(|e| Some(e.ok()?.path())).filter(|p| p.is_dir() && !p.ends_with("drift")) {
        for path in fs::read_dir(folder)
            .expect("a folder")
            .filter_map(|e| Some(e.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "json"))
        {
            let case: Value = serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
            let now = Time::parse(case["now"].as_str().expect("a time")).expect("a time");
            cases.push(Case { name: path.display().to_string(), now, objects: case["objects"].as_array().expect("objects").clone() });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Takes objects in one by one in this order, judging after each, with coverage known from the start or only at the end.
fn step_by_step(objects: &[&Value], now: Time, covered_first: bool) -> Report {
    let mut cluster = Cluster::default();
    let mut engine = Engine::new(Options { clock_is_known: true, only: None });
    let cover = |cluster: &mut Cluster, engine: &mut Engine| {
        for row in KINDS {
            let touched = cluster.apply(Delta::Lost { kind: row.kind, place: Place::All, why: CoverageState::Synced });
            engine.touch(cluster, &touched);
        }
    };
    if covered_first {
        cover(&mut cluster, &mut engine);
    }
    for object in objects {
        let kind = Kind::of(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""));
        let mut batch = Batch::new(kind);
        batch.upsert(object.to_string().as_bytes());
        let touched = cluster.apply(Delta::Batch { kind, place: Place::All, epoch: 1, batch });
        engine.touch(&cluster, &touched);
        while engine.step(&cluster, now) == Progress::More {}
    }
    if !covered_first {
        cover(&mut cluster, &mut engine);
    }
    while engine.step(&cluster, now) == Progress::More {}
    engine.report(&cluster)
}

fn at_once(objects: &[Value], now: Time) -> Report {
    picture::judge(&picture::of(objects, &[]), &now.rfc3339())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn judging_step_by_step_in_any_order_equals_judging_at_once(which in any::<prop::sample::Index>(), order in any::<[u64; 8]>(), covered_first: bool) {
        let cases = cases();
        let case = &cases[which.index(cases.len())];
        let mut objects: Vec<&Value> = case.objects.iter().collect();
        shuffle(&mut objects, order);
        let (left, right) = (step_by_step(&objects, case.now, covered_first), at_once(&case.objects, case.now));
        prop_assert_eq!(left, right, "{}", case.name);
    }
}

/// One thing that happens to a cluster; numbers choose among what there is.
#[derive(Debug, Clone)]
enum Step {
    /// An object comes, or is as it was at first.
    Comes(prop::sample::Index),
    /// It takes the status of another of its kind.
    Turns(prop::sample::Index, prop::sample::Index),
    Goes(prop::sample::Index),
    /// A kind may not be read any more, or again.
    Covered(prop::sample::Index, bool),
    Waits(i64),
}

fn steps() -> impl Strategy<Value = Vec<(Step, bool)>> {
    let index = any::<prop::sample::Index>;
    let step = prop_oneof![
        6 => index().prop_map(Step::Comes),
        4 => (index(), index()).prop_map(|(which, other)| Step::Turns(which, other)),
        3 => index().prop_map(Step::Goes),
        1 => (index(), any::<bool>()).prop_map(|(kind, synced)| Step::Covered(kind, synced)),
        1 => (1..4000_i64).prop_map(Step::Waits),
    ];
    prop::collection::vec((step, any::<bool>()), 1..60)
}

/// A cluster in which things happen, judged after each of them.
struct Running {
    cluster: Cluster,
    engine: Engine,
    now: Time,
}

impl Running {
    fn new(objects: &[Value], now: Time) -> Self {
        let mut running = Self { cluster: Cluster::default(), engine: Engine::new(Options { clock_is_known: true, only: None }), now };
        for row in KINDS {
            running.apply(Delta::Lost { kind: row.kind, place: Place::All, why: CoverageState::Synced });
        }
        objects.iter().for_each(|object| running.send(object, Batch::upsert));
        running
    }

    fn apply(&mut self, delta: Delta) {
        let touched = self.cluster.apply(delta);
        self.engine.touch(&self.cluster, &touched);
    }

    fn send(&mut self, object: &Value, how: impl Fn(&mut Batch, &[u8])) {
        let kind = Kind::of(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""));
        let mut batch = Batch::new(kind);
        how(&mut batch, object.to_string().as_bytes());
        self.apply(Delta::Batch { kind, place: Place::All, epoch: 1, batch });
    }

    fn happens(&mut self, step: &Step, objects: &[Value]) {
        match step {
            Step::Comes(which) => self.send(which.get(objects), Batch::upsert),
            Step::Turns(which, other) => {
                let mut object = which.get(objects).clone();
                let alike: Vec<&Value> = objects.iter().filter(|o| o["kind"] == object["kind"]).collect();
                object["status"] = other.get(&alike)["status"].clone();
                self.send(&object, Batch::upsert);
            }
            Step::Goes(which) => self.send(which.get(objects), Batch::delete),
            Step::Covered(kind, synced) => {
                let denied = CoverageState::Denied { message: "forbidden".into(), since: None };
                let why = if *synced { CoverageState::Synced } else { denied };
                self.apply(Delta::Lost { kind: kind.get(KINDS).kind, place: Place::All, why });
            }
            Step::Waits(seconds) => self.now = self.now.plus(*seconds),
        }
    }

    fn judge(&mut self) {
        while self.engine.step(&self.cluster, self.now) == Progress::More {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Several cases at once, so that causes meet that share workloads, nodes and keys.
    #[test]
    fn a_report_kept_by_difference_equals_one_made_from_nothing(which in any::<[prop::sample::Index; 4]>(), steps in steps()) {
        let cases = cases();
        let objects: Vec<Value> = which.iter().flat_map(|which| which.get(&cases).objects.clone()).collect();
        let mut running = Running::new(&objects, which[0].get(&cases).now);
        for (step, looked) in steps {
            running.happens(&step, &objects);
            running.judge();
            if looked {
                let kept = running.engine.update(&running.cluster);
                prop_assert_eq!(&kept, &running.engine.report(&running.cluster), "after {:?}", step);
                let mut counted = kept.clone();
                counted.count(&running.cluster, &[]);
                prop_assert_eq!(kept, counted, "counted otherwise after {:?}", step);
            } else {
                // Some of the work of a later report.
                running.engine.prepare(&running.cluster, 2);
            }
        }
    }
}

#[test]
fn every_case_is_judged_alike_forwards_and_backwards() {
    for case in cases() {
        let forwards: Vec<&Value> = case.objects.iter().collect();
        let backwards: Vec<&Value> = case.objects.iter().rev().collect();
        let expected = at_once(&case.objects, case.now);
        assert_eq!(step_by_step(&forwards, case.now, true), expected, "{} forwards", case.name);
        assert_eq!(step_by_step(&backwards, case.now, false), expected, "{} backwards", case.name);
    }
}

/// What is said changes with the clock: a picture judged early and again later is the same as one judged late.
#[test]
fn waiting_equals_judging_later() {
    for case in cases() {
        let cluster = picture::of(&case.objects, &[]);
        let mut engine = Engine::new(Options { clock_is_known: true, only: None });
        engine.touch(&cluster, &picture::everything(&cluster));
        let early = case.now.plus(-86_400);
        for now in [early, early.plus(43_200), case.now] {
            while engine.step(&cluster, now) == Progress::More {}
        }
        assert_eq!(engine.report(&cluster), at_once(&case.objects, case.now), "{}", case.name);
    }
}

/// One object with every field null, of the wrong type, or huge, beside the others of its kind.
#[test]
fn an_odd_object_never_hides_the_others() {
    let odd = |template: &Value, value: &Value| {
        let mut odd = template.clone();
        for (field, part) in
            odd.as_object_mut().expect("an object").iter_mut().filter(|(f, _)| !["apiVersion", "kind"].contains(&f.as_str()))
        {
            match part.as_object_mut().filter(|_| field == "spec" || field == "status") {
                Some(map) => map.values_mut().for_each(|v| *v = value.clone()),
                None => *part = value.clone(),
            }
        }
        odd["metadata"] = json!({"name": "odd", "namespace": template["metadata"]["namespace"], "labels": value, "ownerReferences": value});
        odd
    };
    for case in cases() {
        let expected: Vec<String> = at_once(&case.objects, case.now).blockers.into_iter().map(|b| b.id.clone()).collect();
        for value in [Value::Null, json!(7), json!("x".repeat(1 << 16)), json!([[[]]]), json!({"a": {"b": []}})] {
            let mut objects = case.objects.clone();
            let kinds: std::collections::BTreeMap<String, &Value> = case.objects.iter().map(|o| (o["kind"].to_string(), o)).collect();
            let strangers =
                kinds.values().map(|o| odd(o, &value)).filter(|o| o["kind"] != "Node" && o["kind"] != "Lease" && o["kind"] != "Namespace");
            objects.extend(strangers.collect::<Vec<_>>());
            // A stranger may be one more link of a chain: then it is still told, as a consequence.
            let report = at_once(&objects, case.now);
            let causes: Vec<&str> = report.blockers.iter().flat_map(|b| b.consequences.iter().map(|c| c.cause)).collect();
            for id in &expected {
                let told = report.blockers.iter().any(|b| b.id == *id) || causes.iter().any(|c| id.starts_with(&format!("{c}:")));
                assert!(told, "{}: {id} is gone beside odd objects of {value:.20}", case.name);
            }
        }
    }
}

/// `kubectl get pods -o json` alone: owners, leases, secrets, schedulers are not in the input, so nothing may be said to be missing.
#[test]
fn pods_alone_prove_nothing_about_what_is_not_there() {
    let missing = ["does not exist", "is missing", "no scheduler", "not found"];
    for case in cases() {
        let pods: Vec<Value> = case.objects.iter().filter(|o| o["kind"] == "Pod").cloned().collect();
        let others: Vec<String> = KINDS.iter().map(|row| row.name.to_owned()).filter(|name| name != "Pod").collect();
        let said: String = pods.iter().map(Value::to_string).collect::<String>().to_lowercase();
        for b in picture::judge(&picture::of(&pods, &others), &case.now.rfc3339()).blockers {
            let text = format!("{} {}", b.title, b.summary).to_lowercase();
            for word in missing.iter().filter(|word| text.contains(**word)) {
                assert!(said.contains(word), "{}: {} says {word:?} though only pods are known: {text}", case.name, b.id);
            }
        }
    }
}

/// A shuffle that depends on the seed alone.
fn shuffle(objects: &mut [&Value], seed: [u64; 8]) {
    let mut state = seed.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |s, x| s.rotate_left(9) ^ x) | 1;
    for i in (1..objects.len()).rev() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        objects.swap(i, usize::try_from(state % (i as u64 + 1)).expect("an index"));
    }
}

//! Plays the script of the demo and gives the lines of the recording.

use serde_json::{Value, json};

use super::workloads::{Kind, Revision, Workload};
use super::world::{Said, World, hash, rfc3339, uid};
use super::{acts, cluster, declared, nodes, templates, workloads};

/// How long the demo goes on.
const LENGTH: i64 = 300;

/// The recording that this script stands for.
pub fn play(script: &str) -> Vec<String> {
    let script: Value = serde_saphyr::from_str(script).unwrap();
    let epoch = holdup::model::Time::parse(&text(&script["epoch"])).unwrap().unix();
    let mut world = World::new(epoch, text(&script["version"]));
    base(&mut world, &script["base"]);
    for step in script["steps"].as_array().unwrap() {
        let at = epoch + offset(&text(&step["at"]));
        for what in step["do"].as_array().unwrap() {
            let what = what.clone();
            world.at(at, move |world| perform(world, &what));
        }
    }
    world.run_until(epoch - 1);
    world.now = epoch;
    world.start_recording();
    world.run_until(epoch + LENGTH);
    world.into_lines()
}

pub fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub fn number(n: i64) -> u64 {
    u64::try_from(n).unwrap()
}

/// `-18:00`, `0:15`
fn offset(text: &str) -> i64 {
    let (minutes, seconds) = text.trim_start_matches('-').split_once(':').unwrap();
    let all = minutes.parse::<i64>().unwrap() * 60 + seconds.parse::<i64>().unwrap();
    if text.starts_with('-') { -all } else { all }
}

/// `12d`
pub fn age(value: &Value) -> i64 {
    text(value).trim_end_matches('d').parse::<i64>().unwrap() * 86_400
}

fn base(world: &mut World, base: &Value) {
    world.kept_free = base["keep-free"].as_array().into_iter().flatten().map(text).collect();
    for line in base["nodes"].as_array().unwrap() {
        nodes::add(world, line);
    }
    cluster::add(world, base);
    for line in base["workloads"].as_array().unwrap() {
        workload(world, line);
    }
    world.render();
    cluster::add_policies(world, base);
    declared::add_by_hand(world, base);
}

fn workload(world: &mut World, line: &Value) {
    let (kind, place) =
        [("deployment", Kind::Deployment), ("statefulset", Kind::StatefulSet), ("daemonset", Kind::DaemonSet), ("cronjob", Kind::Job)]
            .into_iter()
            .find_map(|(name, kind)| Some((kind, line[name].as_str()?)))
            .unwrap();
    let (namespace, name) = place.split_once('/').unwrap();
    if kind == Kind::Job {
        return cron_job(world, line, namespace, name);
    }
    let created = world.epoch - age(&line["age"]);
    let template = templates::template(line, name, kind);
    let replicas = line["replicas"].as_i64().unwrap_or(12);
    let given = |field: &str, default: i64| line[field].as_i64().unwrap_or(default);
    let revision = revision(name, template, created, replicas, &Value::Null);
    let workload = Workload {
        kind,
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        created,
        replicas,
        surge: given("surge", (replicas + 3) / 4),
        unavailable: given("unavailable", replicas / 4),
        recreate: line["recreate"] == true,
        claims: cluster::claim_template(line),
        service: line["service"].as_str().unwrap_or_default().to_owned(),
        revisions: vec![revision.clone()],
        edits: Vec::new(),
        generation: 1,
        progress: created,
        timed_out: false,
        available: (true, created + 20),
        refused: None,
        extra: line.clone(),
        ended: None,
    };
    world.workloads.insert(place.to_owned(), workload);
    let on: Vec<String> = match line["on"].as_array() {
        Some(on) => on.iter().map(text).collect(),
        None => world.objects.keys().filter(|key| key.0 == "Node").map(|key| key.2.clone()).collect(),
    };
    let placed: Vec<(i64, String)> = (0..replicas).map(|n| (n, on[usize::try_from(n).unwrap() % on.len()].clone())).collect();
    cluster::add_around(world, line, namespace, name, &placed);
    for (n, node) in &placed {
        let made = created + 3 + n * 17;
        let pod = workloads::new_pod(world, place, &revision, Some((made, node)));
        acts::settle(world, &pod, node);
    }
    world.touch(place);
}

fn revision(name: &str, template: Value, made: i64, replicas: i64, then: &Value) -> Revision {
    let hash = hash(&format!("{name}{template}"));
    const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
    let hash = (0..10).map(|n| char::from(LETTERS[usize::try_from(super::world::mix(hash + n) % 27).unwrap()])).collect();
    Revision { hash, template, made, replicas, generation: 1, then: then.clone() }
}

fn cron_job(world: &mut World, line: &Value, namespace: &str, name: &str) {
    let created = world.epoch - age(&line["age"]);
    let suspended = line["suspended"] == true;
    let last = if suspended { created + 86_400 } else { world.epoch - 660 };
    let object = json!({"kind": "CronJob", "apiVersion": "batch/v1", "metadata": {"name": name, "namespace": namespace, "uid": uid(&format!("CronJob/{namespace}/{name}")), "resourceVersion": "", "generation": 1, "creationTimestamp": rfc3339(created)},
        "spec": {"schedule": line["schedule"], "concurrencyPolicy": "Forbid", "suspend": suspended,
            "jobTemplate": {"metadata": {}, "spec": {"backoffLimit": 0, "template": templates::template(line, name, Kind::Job)}}, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1},
        "status": {"lastScheduleTime": rfc3339(last), "lastSuccessfulTime": rfc3339(last + 40)}});
    world.put(declared::applied(object));
}

/// One line of a step.
fn perform(world: &mut World, what: &Value) {
    let target = |key: &str| what[key].as_str().map(str::to_owned);
    if let Some(key) = target("deploy") {
        deploy(world, &key, what);
    } else if let Some(key) = target("scale") {
        scale(world, &key, what);
    } else if let Some(node) = target("silent") {
        world.silent.push(node);
    } else if let Some(node) = target("lost") {
        nodes::lose(world, &node);
    } else if let Some(node) = target("cordon") {
        nodes::cordon(world, &node, &text(&what["by"]));
    } else if let Some(object) = target("patch") {
        condition(world, &object, &what["condition"]);
    } else if let Some(object) = target("event") {
        let about = reference(&object);
        let said = [&what["type"], &what["reason"], &what["message"], &what["from"]].map(text);
        world.event(&about, &Said { kind: &said[0], reason: &said[1], message: &said[2], from: &said[3], host: "", field: "" });
    } else if let Some(key) = target("run") {
        run(world, &key, what);
    } else if let Some(key) = target("unready") {
        let pod = world.pods.iter().find(|(_, pod)| pod.workload == key).map(|(key, _)| key.clone()).unwrap();
        acts::unready(world, &pod, &text(&what["message"]), what);
    } else {
        panic!("nobody knows how to do {what}");
    }
}

fn reference(text: &str) -> super::world::Key {
    let parts: Vec<String> = text.split('/').map(str::to_owned).collect();
    (parts[0].clone(), parts[1].clone(), parts[2].clone())
}

fn deploy(world: &mut World, key: &str, what: &Value) {
    let now = world.now;
    let workload = world.workloads.get_mut(key).unwrap();
    let (template, fields) = templates::changed(&workload.newest().template, what);
    let revision = revision(&workload.name, template, now, 0, &what["then"]);
    workload.revisions.push(revision);
    workload.edits.push((text(&what["by"]), now, fields));
    workload.generation += 1;
    workload.progress = now;
    workload.timed_out = false;
    world.touch(key);
    world.render();
    workloads::reconcile(world, key);
    workloads::watch_deadline(world, key.to_owned());
    if world.workloads[key].refused.is_some() {
        for after in [1, 2, 4, 8, 16, 33, 66, 131, 200] {
            let key = key.to_owned();
            world.after(after, move |world| workloads::create(world, &key));
        }
    }
}

fn scale(world: &mut World, key: &str, what: &Value) {
    let replicas = what["replicas"].as_i64().unwrap();
    let now = world.now;
    let workload = world.workloads.get_mut(key).unwrap();
    let before = workload.replicas;
    workload.replicas = replicas;
    workload.generation += 1;
    workload.edits.push((declared::SCALE.to_owned(), now, json!({"spec": {"replicas": replicas}})));
    workload.revisions.last_mut().unwrap().then = what["then"].clone();
    let (namespace, name, line) = (workload.namespace.clone(), workload.name.clone(), workload.extra.clone());
    world.touch(key);
    world.render();
    let about = ("StatefulSet".to_owned(), namespace.clone(), name.clone());
    for ordinal in before..replicas {
        let claim = format!("data-{name}-{ordinal}");
        cluster::claim(world, &line, &namespace, &claim, None, &name);
        let message = format!("create Claim {claim} Pod {name}-{ordinal} in StatefulSet {name} success");
        world.event(
            &about,
            &Said { kind: "Normal", reason: "SuccessfulCreate", message: &message, from: "statefulset-controller", host: "", field: "" },
        );
        workloads::create(world, key);
    }
}

fn condition(world: &mut World, object: &str, wanted: &Value) {
    let (kind, namespace, name) = reference(object);
    let now = rfc3339(world.now);
    world.change(&kind, &namespace, &name, |object| {
        let conditions = object["status"]["conditions"].as_array_mut().unwrap();
        let condition = conditions.iter_mut().find(|condition| condition["type"] == wanted["type"]).unwrap();
        for field in ["status", "reason", "message"] {
            condition[field] = wanted[field].clone();
        }
        condition["lastTransitionTime"] = json!(now);
    });
}

/// Starts a Job of a CronJob, as its controller would at this minute.
fn run(world: &mut World, key: &str, what: &Value) {
    let (namespace, cron) = key.split_once('/').unwrap();
    let now = world.now;
    let object = world.get("CronJob", namespace, cron).unwrap().clone();
    let name = format!("{cron}-{}", now / 60);
    let job = format!("{namespace}/{name}");
    let mut template = object["spec"]["jobTemplate"]["spec"]["template"].clone();
    let uid = uid(&format!("Job/{job}"));
    for (label, value) in [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ] {
        template["metadata"]["labels"][label] = json!(value);
    }
    let owner = json!({"apiVersion": "batch/v1", "kind": "CronJob", "name": cron, "uid": object["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true});
    let workload = Workload {
        kind: Kind::Job,
        namespace: namespace.to_owned(),
        name: name.clone(),
        created: now,
        replicas: 1,
        surge: 0,
        unavailable: 0,
        recreate: false,
        claims: Value::Null,
        service: String::new(),
        revisions: vec![revision(&name, template, now, 1, &what["then"])],
        edits: Vec::new(),
        generation: 1,
        progress: now,
        timed_out: false,
        available: (true, now),
        refused: None,
        extra: json!({"owner": owner}),
        ended: None,
    };
    world.workloads.insert(job.clone(), workload);
    world.touch(&job);
    world.render();
    let about = ("CronJob".to_owned(), namespace.to_owned(), cron.to_owned());
    let message = format!("Created job {name}");
    world.event(
        &about,
        &Said { kind: "Normal", reason: "SuccessfulCreate", message: &message, from: "cronjob-controller", host: "", field: "" },
    );
    let scheduled = rfc3339(now);
    let active = json!([{"kind": "Job", "namespace": namespace, "name": name, "uid": uid, "apiVersion": "batch/v1"}]);
    world.change("CronJob", namespace, cron, |object| {
        object["status"]["lastScheduleTime"] = json!(scheduled);
        object["status"]["active"] = active;
    });
    let done = (namespace.to_owned(), cron.to_owned());
    world.after(13, move |world| {
        world.change("CronJob", &done.0, &done.1, |object| drop(object["status"].as_object_mut().unwrap().shift_remove("active")))
    });
    workloads::create(world, &job);
}

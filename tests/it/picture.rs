//! A cluster made from plain objects, for tests.

use holdup::diagnose::{Engine, Options, Progress, Report};
use holdup::model::{Batch, Cluster, CoverageState, Delta, KINDS, Kind, Object, Place, Time};
use serde_json::Value;

/// A picture of these objects in which every kind was read completely, but for the named ones.
pub fn of(objects: &[Value], unknown: &[String]) -> Cluster {
    let mut cluster = Cluster::default();
    for row in KINDS {
        let (kind, place) = (row.kind, Place::All);
        let mut batch = Batch::new(kind);
        for object in objects.iter().filter(|o| kind_of(o) == kind) {
            batch.upsert(object.to_string().as_bytes());
        }
        cluster.apply(Delta::Began { kind, place: place.clone(), epoch: 1 });
        cluster.apply(Delta::Batch { kind, place: place.clone(), epoch: 1, batch });
        cluster.apply(Delta::Synced { kind, place: place.clone(), epoch: 1 });
        if unknown.iter().any(|name| name == row.name) {
            let why = CoverageState::Denied { message: "forbidden".into(), since: None };
            cluster.apply(Delta::Lost { kind, place, why });
        }
    }
    cluster
}

/// Judges everything in it as of `now`.
pub fn judge(cluster: &Cluster, now: &str) -> Report {
    let now = Time::parse(now).expect("a time");
    let mut engine = Engine::new(Options { clock_is_known: true, only: None });
    engine.touch(cluster, &everything(cluster));
    while engine.step(cluster, now) == Progress::More {}
    engine.report(cluster)
}

pub fn everything(cluster: &Cluster) -> holdup::model::Touched {
    let mut touched = holdup::model::Touched::default();
    for row in KINDS {
        for object in cluster.objects(row.kind, None) {
            let meta = object.meta();
            // Kinds without a row share a store, where the kind is part of the name.
            let name = if let (Object::Other(other), Kind::Other) = (object, row.kind) {
                format!("{}/{}", other.kind_name(), meta.name).into()
            } else {
                meta.name.clone()
            };
            touched.objects.insert((row.kind, meta.namespace.clone(), name));
        }
    }
    touched
}

fn kind_of(object: &Value) -> Kind {
    Kind::of(object["apiVersion"].as_str().unwrap_or(""), object["kind"].as_str().unwrap_or(""))
}

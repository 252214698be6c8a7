//! The columns that `kubectl get` shows of each kind, as the API server's printers make them; all other kinds show name and age.

use serde_json::{Value, json};

use super::pod_status;
use crate::model::Time;

/// A column: its title, whether it is shown with `-o wide` only, and how its cell is made.
pub(super) struct Column {
    pub name: &'static str,
    pub priority: u8,
    pub cell: fn(&Shown<'_>) -> Value,
}

/// An object that is shown, and the moment as of which.
pub(super) struct Shown<'a> {
    pub object: &'a Value,
    pub now: Option<Time>,
}

impl Column {
    /// The type that kubectl is told; it right-aligns nothing by it.
    pub(super) fn kind(&self) -> &'static str {
        match self.name {
            "Desired" | "Current" | "Ready" | "Up-to-date" | "Available" | "Data" | "Active" | "MinPods" | "MaxPods" | "Replicas" => {
                "integer"
            }
            _ => "string",
        }
    }
}

const fn wide(name: &'static str, cell: fn(&Shown<'_>) -> Value) -> Column {
    Column { name, priority: 1, cell }
}

const fn column(name: &'static str, cell: fn(&Shown<'_>) -> Value) -> Column {
    Column { name, priority: 0, cell }
}

const NAME: Column = column("Name", |shown| shown.object["metadata"]["name"].clone());
const AGE: Column = column("Age", |shown| shown.age(&shown.object["metadata"]["creationTimestamp"]));

/// The columns of a kind.
pub(super) fn columns(group: &str, plural: &str) -> &'static [Column] {
    TABLES.iter().find(|(own, name, _)| *own == group && *name == plural).map_or(&[NAME, AGE], |(_, _, columns)| columns)
}

type Table = (&'static str, &'static str, &'static [Column]);

const TABLES: &[Table] = &[
    (
        "",
        "pods",
        &[
            NAME,
            column("Ready", |shown| {
                let cells = pod_status::cells(shown.object);
                json!(format!("{}/{}", cells.ready, cells.containers))
            }),
            column("Status", |shown| json!(pod_status::cells(shown.object).status)),
            column("Restarts", |shown| {
                let cells = pod_status::cells(shown.object);
                match cells.restarted_at.filter(|_| cells.restarts > 0) {
                    Some(at) => json!(format!("{} ({} ago)", cells.restarts, shown.age(&json!(at)).as_str().unwrap_or("<unknown>"))),
                    None => json!(cells.restarts.to_string()),
                }
            }),
            AGE,
            wide("IP", |shown| shown.text("/status/podIP")),
            wide("Node", |shown| shown.text("/spec/nodeName")),
            wide("Nominated Node", |shown| shown.text("/status/nominatedNodeName")),
            wide("Readiness Gates", |_| json!("<none>")),
        ],
    ),
    (
        "",
        "nodes",
        &[
            NAME,
            column("Status", |shown| {
                let ready = shown
                    .condition("Ready")
                    .map_or("Unknown", |condition| if condition["status"] == "True" { "Ready" } else { "NotReady" });
                json!(if shown.object["spec"]["unschedulable"] == true { format!("{ready},SchedulingDisabled") } else { ready.to_owned() })
            }),
            column("Roles", |shown| {
                let labels = shown.object["metadata"]["labels"].as_object();
                let mut roles: Vec<&str> =
                    labels.into_iter().flatten().filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/")).collect();
                roles.sort_unstable();
                json!(if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") })
            }),
            AGE,
            column("Version", |shown| shown.text("/status/nodeInfo/kubeletVersion")),
            wide("Internal-IP", |shown| shown.address("InternalIP")),
            wide("External-IP", |shown| shown.address("ExternalIP")),
            wide("OS-Image", |shown| shown.text("/status/nodeInfo/osImage")),
            wide("Kernel-Version", |shown| shown.text("/status/nodeInfo/kernelVersion")),
            wide("Container-Runtime", |shown| shown.text("/status/nodeInfo/containerRuntimeVersion")),
        ],
    ),
    ("", "namespaces", &[NAME, column("Status", |shown| shown.text("/status/phase")), AGE]),
    (
        "",
        "events",
        &[
            column("Last Seen", |shown| {
                let paths = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime", "/firstTimestamp", "/metadata/creationTimestamp"];
                shown.age(paths.iter().filter_map(|path| shown.object.pointer(path)).find(|time| time.is_string()).unwrap_or(&Value::Null))
            }),
            column("Type", |shown| shown.text("/type")),
            column("Reason", |shown| shown.text("/reason")),
            column("Object", |shown| {
                let about = [&shown.object["involvedObject"], &shown.object["regarding"]]
                    .into_iter()
                    .find(|about| about.is_object())
                    .unwrap_or(&Value::Null);
                json!(format!("{}/{}", text(&about["kind"]).to_lowercase(), text(&about["name"])))
            }),
            wide("Source", |shown| shown.text("/source/component")),
            column("Message", |shown| json!([text(&shown.object["message"]), text(&shown.object["note"])].concat().trim())),
            wide("Count", |shown| shown.count("/count")),
            wide("Name", |shown| shown.object["metadata"]["name"].clone()),
        ],
    ),
    (
        "",
        "services",
        &[
            NAME,
            column("Type", |shown| shown.text("/spec/type")),
            column("Cluster-IP", |shown| shown.text("/spec/clusterIP")),
            column("External-IP", |shown| {
                let ingress =
                    shown.list("/status/loadBalancer/ingress").filter_map(|point| point["ip"].as_str().or(point["hostname"].as_str()));
                let all: Vec<&str> = ingress.collect();
                json!(if all.is_empty() { "<none>".to_owned() } else { all.join(",") })
            }),
            column("Port(s)", |shown| {
                let ports: Vec<String> =
                    shown.list("/spec/ports").map(|port| format!("{}/{}", port["port"], text(&port["protocol"]))).collect();
                json!(ports.join(","))
            }),
            AGE,
        ],
    ),
    ("", "configmaps", &[NAME, column("Data", |shown| json!(shown.size("/data") + shown.size("/binaryData"))), AGE]),
    ("", "secrets", &[NAME, column("Type", |shown| shown.text("/type")), column("Data", |shown| json!(shown.size("/data"))), AGE]),
    (
        "",
        "persistentvolumeclaims",
        &[
            NAME,
            column("Status", |shown| {
                if shown.object["metadata"]["deletionTimestamp"].is_null() { shown.text("/status/phase") } else { json!("Terminating") }
            }),
            column("Volume", |shown| json!(shown.plain("/spec/volumeName"))),
            column("Capacity", |shown| json!(shown.plain("/status/capacity/storage"))),
            column("Access Modes", |shown| json!(modes(shown.list("/status/accessModes")))),
            column("StorageClass", |shown| json!(shown.plain("/spec/storageClassName"))),
            AGE,
        ],
    ),
    (
        "",
        "persistentvolumes",
        &[
            NAME,
            column("Capacity", |shown| json!(shown.plain("/spec/capacity/storage"))),
            column("Access Modes", |shown| json!(modes(shown.list("/spec/accessModes")))),
            column("Reclaim Policy", |shown| shown.text("/spec/persistentVolumeReclaimPolicy")),
            column("Status", |shown| shown.text("/status/phase")),
            column("Claim", |shown| {
                let claim = &shown.object["spec"]["claimRef"];
                json!(if claim.is_object() { format!("{}/{}", text(&claim["namespace"]), text(&claim["name"])) } else { String::new() })
            }),
            column("StorageClass", |shown| json!(shown.plain("/spec/storageClassName"))),
            AGE,
        ],
    ),
    (
        "apps",
        "deployments",
        &[
            NAME,
            column("Ready", |shown| json!(format!("{}/{}", shown.number("/status/readyReplicas"), shown.replicas()))),
            column("Up-to-date", |shown| json!(shown.number("/status/updatedReplicas"))),
            column("Available", |shown| json!(shown.number("/status/availableReplicas"))),
            AGE,
            wide("Containers", |shown| json!(shown.containers("name"))),
            wide("Images", |shown| json!(shown.containers("image"))),
        ],
    ),
    (
        "apps",
        "replicasets",
        &[
            NAME,
            column("Desired", |shown| json!(shown.replicas())),
            column("Current", |shown| json!(shown.number("/status/replicas"))),
            column("Ready", |shown| json!(shown.number("/status/readyReplicas"))),
            AGE,
            wide("Images", |shown| json!(shown.containers("image"))),
        ],
    ),
    (
        "apps",
        "statefulsets",
        &[
            NAME,
            column("Ready", |shown| json!(format!("{}/{}", shown.number("/status/readyReplicas"), shown.replicas()))),
            AGE,
            wide("Images", |shown| json!(shown.containers("image"))),
        ],
    ),
    (
        "apps",
        "daemonsets",
        &[
            NAME,
            column("Desired", |shown| json!(shown.number("/status/desiredNumberScheduled"))),
            column("Current", |shown| json!(shown.number("/status/currentNumberScheduled"))),
            column("Ready", |shown| json!(shown.number("/status/numberReady"))),
            column("Up-to-date", |shown| json!(shown.number("/status/updatedNumberScheduled"))),
            column("Available", |shown| json!(shown.number("/status/numberAvailable"))),
            AGE,
            wide("Images", |shown| json!(shown.containers("image"))),
        ],
    ),
    (
        "batch",
        "jobs",
        &[
            NAME,
            column("Status", |shown| {
                let is = |kind: &str| shown.condition(kind).is_some_and(|condition| condition["status"] == "True");
                let said = ["Complete", "Failed", "Suspended", "FailureTarget", "SuccessCriteriaMet"].into_iter().find(|kind| is(kind));
                json!(match said {
                    Some(kind @ ("Complete" | "Failed")) => kind,
                    _ if !shown.object["metadata"]["deletionTimestamp"].is_null() => "Terminating",
                    Some(kind) => kind,
                    None => "Running",
                })
            }),
            column("Completions", |shown| {
                json!(format!(
                    "{}/{}",
                    shown.number("/status/succeeded"),
                    shown.object.pointer("/spec/completions").and_then(Value::as_i64).unwrap_or(1)
                ))
            }),
            AGE,
        ],
    ),
    (
        "batch",
        "cronjobs",
        &[
            NAME,
            column("Schedule", |shown| shown.text("/spec/schedule")),
            column("Timezone", |shown| shown.text("/spec/timeZone")),
            column("Suspend", |shown| json!(if shown.object["spec"]["suspend"] == true { "True" } else { "False" })),
            column("Active", |shown| json!(shown.list("/status/active").count())),
            column("Last Schedule", |shown| match shown.object.pointer("/status/lastScheduleTime") {
                Some(at) => shown.age(at),
                None => json!("<none>"),
            }),
            AGE,
        ],
    ),
    (
        "autoscaling",
        "horizontalpodautoscalers",
        &[
            NAME,
            column("Reference", |shown| {
                json!(format!("{}/{}", shown.plain("/spec/scaleTargetRef/kind"), shown.plain("/spec/scaleTargetRef/name")))
            }),
            column("MinPods", |shown| json!(shown.number("/spec/minReplicas"))),
            column("MaxPods", |shown| json!(shown.number("/spec/maxReplicas"))),
            column("Replicas", |shown| json!(shown.number("/status/currentReplicas"))),
            AGE,
        ],
    ),
    (
        "policy",
        "poddisruptionbudgets",
        &[
            NAME,
            column("Min Available", |shown| shown.either("/spec/minAvailable")),
            column("Max Unavailable", |shown| shown.either("/spec/maxUnavailable")),
            column("Allowed Disruptions", |shown| json!(shown.number("/status/disruptionsAllowed"))),
            AGE,
        ],
    ),
    (
        "storage.k8s.io",
        "storageclasses",
        &[
            NAME,
            column("Provisioner", |shown| shown.text("/provisioner")),
            column("VolumeBindingMode", |shown| shown.text("/volumeBindingMode")),
            AGE,
        ],
    ),
    ("coordination.k8s.io", "leases", &[NAME, column("Holder", |shown| shown.text("/spec/holderIdentity")), AGE]),
];

impl Shown<'_> {
    /// A text, or what kubectl shows where there is none.
    fn text(&self, path: &str) -> Value {
        let text = self.plain(path);
        json!(if text.is_empty() { "<none>" } else { text })
    }

    fn plain(&self, path: &str) -> &str {
        self.object.pointer(path).map_or("", text)
    }

    fn number(&self, path: &str) -> i64 {
        self.object.pointer(path).and_then(Value::as_i64).unwrap_or(0)
    }

    fn count(&self, path: &str) -> Value {
        json!(self.number(path).max(1).to_string())
    }

    fn either(&self, path: &str) -> Value {
        json!(match self.object.pointer(path) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => "N/A".to_owned(),
        })
    }

    fn size(&self, path: &str) -> usize {
        self.object.pointer(path).and_then(Value::as_object).map_or(0, serde_json::Map::len)
    }

    fn list(&self, path: &str) -> impl Iterator<Item = &Value> {
        self.object.pointer(path).and_then(Value::as_array).into_iter().flatten()
    }

    fn replicas(&self) -> i64 {
        self.object.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1)
    }

    fn condition(&self, kind: &str) -> Option<&Value> {
        self.list("/status/conditions").find(|condition| condition["type"] == kind)
    }

    fn address(&self, kind: &str) -> Value {
        let found = self.list("/status/addresses").find(|address| address["type"] == kind);
        json!(found.map_or("<none>", |address| text(&address["address"])))
    }

    fn containers(&self, field: &str) -> String {
        let all: Vec<&str> = self.list("/spec/template/spec/containers").map(|container| text(&container[field])).collect();
        all.join(",")
    }

    /// How long ago this was, as kubectl writes it.
    fn age(&self, time: &Value) -> Value {
        let since = Time::parse(text(time)).zip(self.now).map(|(then, now)| now.since(then));
        json!(since.map_or_else(|| "<unknown>".to_owned(), human))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `RWO,ROX`
fn modes<'a>(modes: impl Iterator<Item = &'a Value>) -> String {
    let short = |mode: &Value| match text(mode) {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "?",
    };
    modes.map(short).collect::<Vec<_>>().join(",")
}

/// k8s.io/apimachinery/pkg/util/duration: HumanDuration.
fn human(seconds: i64) -> String {
    const DAY: i64 = 86_400;
    const YEAR: i64 = 365 * DAY;
    let two = |(big, first): (i64, &str), (small, second): (i64, &str)| {
        if small == 0 { format!("{big}{first}") } else { format!("{big}{first}{small}{second}") }
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two((seconds / 60, "m"), (seconds % 60, "s")),
        600..10_800 => format!("{}m", seconds / 60),
        10_800..28_800 => two((seconds / 3600, "h"), (seconds / 60 % 60, "m")),
        28_800..172_800 => format!("{}h", seconds / 3600),
        172_800..691_200 => two((seconds / DAY, "d"), (seconds / 3600 % 24, "h")),
        691_200..63_072_000 => format!("{}d", seconds / DAY),
        63_072_000..252_288_000 => two((seconds / YEAR, "y"), (seconds / DAY % 365, "d")),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ages_are_those_of_kubectl() {
        for (seconds, shown) in [
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (10_800, "3h"),
            (172_799, "47h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (800_000, "9d"),
        ] {
            assert_eq!(super::human(seconds), shown);
        }
    }
}

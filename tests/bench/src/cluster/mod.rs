//! A cluster of any size from a seed: realistic objects in the API server's field order and in the order of its lists.

mod nodes;
mod plan;
mod pod;
mod rng;
mod services;
mod spec;
mod storage;
mod workloads;

use std::io::{self, Write};

pub use plan::{Plan, Size};
pub use rng::Rng;

/// Tells one kind's objects of a plan, each as JSON.
type Part = fn(&Plan, &mut dyn FnMut(&str));

/// The kinds in the order in which they are written, pods first.
const OTHERS: &[Part] = &[
    nodes::nodes,
    nodes::namespaces,
    nodes::leases,
    workloads::deployments,
    workloads::replica_sets,
    workloads::daemon_sets,
    workloads::stateful_sets,
    workloads::jobs,
    workloads::cron_jobs,
    services::services,
    services::endpoint_slices,
    services::events,
    storage::claims,
    storage::volumes,
    storage::classes,
];

/// Calls `each` with the JSON of every pod as a list holds it, without kind and API version, by namespace and name.
pub fn each_pod(plan: &Plan, mut each: impl FnMut(&[u8])) {
    let templates: Vec<spec::Template> = plan.owners.iter().map(spec::spec).collect();
    let mut out = String::new();
    for pod in &plan.pods {
        out.clear();
        pod::write(&mut out, plan, pod, &templates[pod.owner]);
        each(out.as_bytes());
    }
}

/// What was written.
#[derive(Debug, Clone, Copy)]
pub struct Written {
    pub hash: u64,
    pub bytes: u64,
    pub pod_bytes: u64,
    pub objects: u64,
}

/// Writes the cluster as lists, one object a line, the pods first.
pub fn write(plan: &Plan, to: &mut dyn Write) -> io::Result<Written> {
    let mut lines = Lines { to, written: Written { hash: 0xcbf2_9ce4_8422_2325, bytes: 0, pod_bytes: 0, objects: 0 }, failed: Ok(()) };
    lines.raw(PODS);
    let mut comma = "";
    each_pod(plan, |pod| {
        lines.raw(comma.as_bytes());
        lines.object(pod);
        comma = ",\n";
    });
    lines.written.pod_bytes = lines.written.bytes;
    lines.raw(b"\n]}\n");
    lines.raw(REST);
    comma = "";
    for kind in OTHERS {
        kind(plan, &mut |object| {
            lines.raw(comma.as_bytes());
            lines.object(object.as_bytes());
            comma = ",\n";
        });
    }
    lines.raw(b"\n]}\n");
    lines.failed?;
    Ok(lines.written)
}

const PODS: &[u8] = b"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"2000000000\"},\"items\":[\n";
const REST: &[u8] = b"{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"\"},\"items\":[\n";

struct Lines<'a> {
    to: &'a mut dyn Write,
    written: Written,
    failed: io::Result<()>,
}

impl Lines<'_> {
    fn object(&mut self, bytes: &[u8]) {
        self.written.objects += 1;
        self.raw(bytes);
    }

    /// The hash is FNV-1a over words of eight bytes: a check of sameness, fast enough for gigabytes.
    fn raw(&mut self, bytes: &[u8]) {
        for word in bytes.chunks(8) {
            let mut eight = [0; 8];
            eight[..word.len()].copy_from_slice(word);
            self.written.hash = (self.written.hash ^ u64::from_le_bytes(eight)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
        }
        self.written.bytes += bytes.len() as u64;
        if self.failed.is_ok() {
            self.failed = self.to.write_all(bytes);
        }
    }
}

//! Scheduling: the scheduler's words taken apart, and every node against a pod, by objects. No clock; the judges are in `causes/scheduling`.

mod choice;
pub(super) mod fleet;
mod grammar;
mod lack;
pub(super) mod neighbours;
mod obstacle;
pub mod place;
mod survey;

pub use choice::{Choice, Proof, choose};
pub use fleet::Nodes;
pub use grammar::{Message, Reason, Unfit, parse};
pub use lack::{Lack, NodeFit};
pub use obstacle::Obstacle;
pub(super) use survey::host_ports;
pub use survey::{Alike, Depth, Survey, names_of, survey};

use super::Cx;
use super::cx::Memory;
use crate::model::{Cluster, Pod, Time};

/// What each node lacks for the pod, nearest to fitting first: the table of the blocker screen. It looks at every pod of the
/// cluster, so it is for one blocker at a time.
pub fn fit(cluster: &Cluster, pod: Pod<'_>) -> Vec<NodeFit> {
    // Nothing here asks the clock.
    let (now, memory) = (Time::from_unix(1).expect("1 is a time"), Memory::default());
    let cx = Cx::new(cluster, now, false, None, &memory);
    let alike = cluster.pod(pod.namespace(), &pod.name()).map(|pod| survey::whole(&cx, pod).alike).unwrap_or_default();
    let each = |a: &Alike<'_>| a.names().map(|node| NodeFit { node: node.into(), lacks: a.lacks.clone() }).collect::<Vec<_>>();
    let mut fits: Vec<(u32, NodeFit)> = alike.iter().flat_map(each).map(|fit| (fit.weight(), fit)).collect();
    fits.sort_by(|(a, x), (b, y)| a.cmp(b).then_with(|| x.node.cmp(&y.node)));
    fits.into_iter().map(|(_, fit)| fit).collect()
}

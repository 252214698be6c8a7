//! Scheduling: the scheduler's words taken apart, and every node against a pod, by objects. No clock; the judges are in `causes/scheduling`.

mod choice;
mod grammar;
mod lack;
pub(super) mod neighbours;
mod obstacle;
pub mod place;
mod survey;

pub use choice::{Choice, Proof, choose};
pub use grammar::{Message, Reason, Unfit, parse};
pub use lack::{Lack, NodeFit};
pub use obstacle::Obstacle;
pub(super) use survey::host_ports;
pub use survey::{Depth, Survey, survey};

use super::Cx;
use crate::model::{Cluster, Pod, Time};

/// What each node lacks for the pod, nearest to fitting first: the table of the blocker screen. It looks at every pod of the
/// cluster, so it is for one blocker at a time.
pub fn fit(cluster: &Cluster, pod: Pod<'_>) -> Vec<NodeFit> {
    // Nothing here asks the clock.
    let cx = Cx::new(cluster, Time::from_unix(1).expect("1 is a time"), false, None);
    let mut fits = match cluster.pod(pod.namespace(), &pod.name()) {
        Some(pod) => survey::whole(&cx, pod).fits,
        None => Vec::new(),
    };
    fits.sort_by(|a, b| a.weight().cmp(&b.weight()).then_with(|| a.node.cmp(&b.node)));
    fits
}

//! Rows: which rows of the table are asked about which subject, and in which order. Sorted out once.

use std::sync::LazyLock;

use crate::model::Object;

use super::subjects::Present;
use super::{CAUSES, Cause, Judge, Stage, Workload};

/// What tells which judges take a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    ControlPlane,
    Pod,
    /// A pod that is being deleted.
    LeavingPod,
    /// Anything else that is being deleted.
    Leaving,
    Workload,
    Claim,
    Node,
    Service,
    Autoscaler,
    Budget,
    Other,
}

/// The rows of one stage.
#[derive(Debug)]
pub(super) struct Rows {
    pub specific: Vec<&'static Cause>,
    /// Asked when none of the others finds anything.
    pub generic: Vec<&'static Cause>,
}

impl Shape {
    const ALL: [Self; 11] = [
        Self::ControlPlane,
        Self::Pod,
        Self::LeavingPod,
        Self::Leaving,
        Self::Workload,
        Self::Claim,
        Self::Node,
        Self::Service,
        Self::Autoscaler,
        Self::Budget,
        Self::Other,
    ];

    pub fn of(present: Present<'_>) -> Self {
        match present {
            Present::ControlPlane => Self::ControlPlane,
            Present::Pod(pod) if pod.deleted().is_some() => Self::LeavingPod,
            Present::Pod(_) => Self::Pod,
            Present::Object(_, object) => Self::of_object(object),
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "what has no judges of its own goes to those of any object")]
    fn of_object(object: &Object) -> Self {
        match object {
            _ if object.meta().deleted.is_some() => Self::Leaving,
            _ if Workload::of(object).is_some() => Self::Workload,
            Object::PersistentVolumeClaim(_) => Self::Claim,
            Object::Node(_) => Self::Node,
            Object::Service(_) => Self::Service,
            Object::HorizontalPodAutoscaler(_) => Self::Autoscaler,
            Object::PodDisruptionBudget(_) => Self::Budget,
            _ => Self::Other,
        }
    }

    /// The stages that have rows for it, in order.
    pub fn stages(self) -> &'static [Rows] {
        static ROWS: LazyLock<Vec<Vec<Rows>>> = LazyLock::new(|| Shape::ALL.iter().map(|shape| rows(*shape)).collect());
        ROWS.get(self as usize).map_or(&[], Vec::as_slice)
    }

    /// What becomes of a pod's containers tells nothing once it is being deleted: only why it is still there is asked.
    fn passes(self, stage: Stage) -> bool {
        self != Self::LeavingPod || matches!(stage, Stage::Deleting | Stage::Node)
    }

    fn suits(self, judge: Judge) -> bool {
        match judge {
            Judge::Pod(_) | Judge::Pods(_) => matches!(self, Self::Pod | Self::LeavingPod),
            Judge::By(_) => false,
            Judge::Workload(_) => self == Self::Workload,
            Judge::Claim(_) => self == Self::Claim,
            Judge::Node(_) => self == Self::Node,
            Judge::Service(_) => self == Self::Service,
            Judge::Autoscaler(_) => self == Self::Autoscaler,
            Judge::Budget(_) => self == Self::Budget,
            Judge::Deleting(_) => matches!(self, Self::Leaving | Self::LeavingPod),
            Judge::Object(_) => matches!(self, Self::Claim | Self::Node | Self::Service | Self::Autoscaler | Self::Budget | Self::Other),
            Judge::ControlPlane(_) => self == Self::ControlPlane,
        }
    }
}

fn rows(shape: Shape) -> Vec<Rows> {
    let of = |stage: Stage, generic: bool| {
        let all = CAUSES.iter().copied().flatten().filter(move |c| c.stage == stage && c.generic == generic);
        all.filter(|c| shape.suits(c.judge)).collect::<Vec<_>>()
    };
    let stages = Stage::ALL.into_iter().filter(|stage| shape.passes(*stage));
    let rows = stages.map(|stage| Rows { specific: of(stage, false), generic: of(stage, true) });
    rows.filter(|rows| !rows.specific.is_empty() || !rows.generic.is_empty()).collect()
}

//! What was asked for, and how it differs from what is: sources of desired state, the comparison, and for every difference why it is
//! there, who wrote it and whether it matters. Reads no file, no clock and no cluster.
//!
//! [`Object`] is redacted when it is made; [`diff`] compares two of them and gives a [`FieldDiff`] for each place that differs.

mod accept;
mod align;
mod applied;
pub mod audit;
mod baseline;
mod body;
mod census;
mod comparison;
mod defaults;
mod diff;
mod disagree;
mod equal;
mod fault;
pub mod gitops;
pub mod helm;
mod ignored;
mod lint;
mod managers;
pub mod manifest;
mod object;
pub mod openapi;
mod oracle;
mod owner;
mod path;
mod pattern;
mod phenomena;
mod place;
mod revision;
mod risk;
mod shape;
mod source;
mod tracking;
mod turns;
mod verdict;
mod walk;
mod watched;
mod weigh;
mod weight;

pub use accept::{Approval, Bounds, Labels, Rule, Tally, approve};
pub use baseline::{BASELINE, Keys, approve as approve_by_baseline, remember, unsettle};
pub use census::{Again, Census, Exception, Gone, Governance, INVENTORIES, Inventory, Rebuild, Says, Stranger, inventory};
pub use comparison::{Against, Comparison, Owned, Unchecked, against, compare, compare_with, written};
pub use diff::{Diff, Evidence, FieldDiff, Owner, Told, diff};
pub use disagree::{Disagreement, Saying};
pub use helm::Release;
pub use lint::{Fault, Lint, Looked, lint};
pub use managers::{Class as ActorClass, Operation};
pub use object::{Identity, Object};
pub use oracle::{Answers, Probed, to_apply, to_create};
pub use path::{Path, Step};
pub use pattern::Pattern;
pub use risk::{ANY_DRIFT, Class as RiskClass, Risk};
pub use shape::{is_built_in, is_exact};
pub use source::{Desired, Fetched, SOURCES, Source, desired, released};
pub use tracking::applier;
pub use turns::{Fight, Mark, Relapse, Turns};
pub use verdict::Verdict;
pub use watched::Watched;
pub use weigh::Direction;
pub use weight::Weight;

//! What was asked for, and how it differs from what is: sources of desired state, the comparison, and for every difference why it is
//! there, who wrote it and whether it matters. Reads no file, no clock and no cluster.
//!
//! [`Object`] is redacted when it is made; [`diff`] compares two of them and gives a [`FieldDiff`] for each place that differs.
//!
//! # What an owner says
//!
//! Whoever changes a value becomes its owner in `managedFields`, before mutating admission has its turn. So, after what is equal, the
//! server's own, a controller's on its own path, or a default that nobody asked for, the first row that fits decides. Ours is the manager
//! that applies the source (`tracking`).
//!
//! | owner of the path | asked for or applied | verdict |
//! |---|---|---|
//! | ours | yes, live differs, and a copy or the deployed release says that it was applied | admission: it rewrote the value |
//! | ours | yes, live differs, and nothing says what was applied, or something newer is asked for | pending (the reason names both) |
//! | ours | no longer, but applied | pending, a removal |
//! | the client that created the object | never | drift: set once, asked for by nothing; without a schema defaulted |
//! | nobody | yes, gone or another value | drift: a removal leaves neither owner nor trace |
//! | nobody | no | admission; in a custom resource without schema unknown |
//! | a tool of people | either | drift by that tool |
//! | another manager that declares | either | drift by a second applier; conflict where the turns were seen |
//! | a program nobody knows, or a controller elsewhere than on its path | no, and a harmless label, annotation, finalizer or owner | controller |
//! | the same | anything else | drift by that name; live-only in a custom resource and without risk unknown |
//! | no `managedFields` at all | either | by value and by what was applied; else drift without owner |
//!
//! Where Kubernetes (seen on 1.37, held by `tests/control-plane/drift_owners.rs`) does not do what one would expect of it:
//!
//! * A request through the scale subresource gets no entry where nobody owned `replicas` before. A request for 0 takes the field from
//!   its owner and gives it to nobody, since `Scale` leaves out a 0; an autoscaler of pods never asks for that.
//! * An object whose `managedFields` were taken away stays without them, whoever updates it; only server-side apply begins them again.
//! * `kubectl replace` writes the whole live object into the last-applied copy, so that copy declares nothing.
//! * What admission puts into an atomic list has the list's owner, the applier; what it adds elsewhere has none. That is so on create,
//!   on patch and on a plain update alike: none of them gives admission's values to the one who asked.
//! * The defaults of an object that a client created or applied by itself belong to that client; after server-side apply they belong to
//!   nobody.

mod accept;
mod admitted;
mod align;
mod applied;
pub mod audit;
mod baseline;
mod body;
mod census;
mod comparison;
mod declared;
mod defaults;
mod diff;
mod disagree;
mod equal;
mod fault;
pub mod gitops;
pub mod helm;
mod ignored;
pub mod lines;
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
pub use census::{Again, Census, Exception, Gone, Governance, INVENTORIES, Inventory, REST, Rebuild, Says, Stranger, inventory};
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

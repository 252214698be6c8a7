//! Why it is stuck: findings from judges, grouped into blockers. No clock, no I/O, no memory of its own but the engine's book-keeping.
//!
//! A judge is one row of [`CAUSES`]: it looks at one subject through [`Cx`] and says [`Finding`] or nothing. The engine asks judges
//! stage by stage; `group` joins findings that share a key, `fold` hangs what waits under what it waits for, `rank` orders.

pub mod backends;
mod blocker;
mod cause;
pub mod causes;
mod cx;
mod engine;
mod facts;
mod finding;
mod fold;
mod gather;
mod group;
mod grouping;
mod layer;
mod ledger;
mod rank;
mod report;
mod rows;
pub mod scheduling;
mod settle;
mod stuck;
mod subjects;
pub mod texts;
mod ties;
pub mod webhooks;

pub use blocker::{Blocker, Consequence, Unchecked};
pub use cause::{Cause, Judge, Stage};
pub use causes::{CAUSES, cause};
pub use cx::Cx;
pub use engine::{Engine, Only, Options, Progress};
pub use facts::Facts;
pub use finding::{Clock, ClockKind, Evidence, Finding, Key, Verdict};
pub use layer::Layer;
pub use report::{Quiet, Report, Summary};
pub use settle::{Settled, settle};
pub use subjects::{Deleting, Workload};

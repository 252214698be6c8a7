//! What leaves the program as text: a report as JSON, YAML, Markdown or plain text, piece by piece: that of a
//! large cluster is never held as a whole. Nothing is printed here; text from the cluster is made harmless and secrets are redacted on the way out, once.

mod clean;
pub mod diff;
mod markdown;
pub mod sources;
mod survey;
mod text;
mod told;
mod wire;

pub use clean::clean;
pub use markdown::markdown;
pub use text::{Paint, text};
pub use wire::{API_VERSION, json, yaml};

use crate::diagnose::Report;
use crate::model::{Cluster, Time};
use crate::redact::Redactor;

/// A report with what it is a report of.
pub struct Exported<'a> {
    pub report: &'a Report,
    pub cluster: &'a Cluster,
    /// The time as of which it was judged.
    pub now: Time,
    /// The context, or the files.
    pub context: Option<&'a str>,
    /// `None`: all namespaces.
    pub namespaces: Option<&'a [String]>,
    /// No kind is loading or stale.
    pub complete: bool,
    /// The only objects asked for; empty: all.
    pub only: &'a [crate::model::ObjectRef],
    pub redactor: &'a Redactor,
}

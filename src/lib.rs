//! `holdup` answers one question during an incident: *what is holding this cluster up, and is it worth waiting?* It only reads.
//!
//! This page is the architecture: what the rooms are, which way data goes, where the program grows.
//!
//! ```text
//!  API server ──bytes──▶ watch ──Delta──▶ model::Cluster ──Touched──▶ diagnose ──▶ Report ──▶ screen ──▶ Page ──▶ ui ──▶ terminal
//!    (or archive: the same objects from files, or the demo)                           └─────▶ export ──▶ text, JSON, YAML, Markdown
//!  terminal ──Chord──▶ app::update ──▶ Effect ──▶ runtime performs ──▶ Msg ──▶ app
//! ```
//!
//! Data goes one way. Everything between a [`model::Delta`] and a [`page::Page`] is functions over plain values: no I/O, no clock, no
//! async, no lock. Only four things remember, each a plain value: the [`model::Cluster`] (what is), the [`diagnose::Engine`] (which
//! subject looked at what, and when it is due), [`diagnose::Settled`] (what was on screen) and [`app::App`] (where the user is). One
//! thread owns all four and the terminal; feeds read bytes into batches on other threads and send them over a bounded channel.
//!
//! # Rooms
//!
//! | room | does | may use |
//! |---|---|---|
//! | [`model`] | what the cluster looks like: kinds, the pull reader, packed pods, coverage | – |
//! | [`redact`] | takes secrets out of objects and text | – |
//! | [`page`] | the view model: what stands on the screen, as data | – |
//! | [`diagnose`] | why it is stuck: causes, findings, grouping, folding, ranking | model |
//! | [`desired`] | what was asked for: sources, the comparison, who wrote a difference and whether it matters | model, redact |
//! | [`archive`] | clusters that are files: read, write, serve as a read-only API, the demo | model, redact |
//! | [`watch`] | the only room that names kube: connections, feeds, single objects | model, redact |
//! | [`app`] | the state machine: keys to effects | page, model, diagnose, desired |
//! | [`screen`] | a scene to a page, one file a screen | app, page, model, diagnose, desired |
//! | [`ui`] | the only room that names widgets: draws pages, makes cluster text harmless | page |
//! | [`term`] | takes the terminal and always gives it back | app |
//! | [`export`] | reports and differences as text, JSON, YAML, Markdown | model, diagnose, desired, redact |
//! | [`cli`] | arguments; parsing does nothing | model, watch |
//! | [`config`] | TOML to plain values | – |
//! | [`runtime`] | the loop and the commands; owns clock, channels, tasks | all |
//!
//! `tests/it/tidy.rs` keeps these arrows, and that pure rooms read no clock.
//!
//! # Four tables are where the program grows
//!
//! * [`model::KINDS`]: a followed kind. Feeds, `holdup rbac`, coverage and snapshots come from it.
//! * [`diagnose::CAUSES`]: a known reason with its judge. The engine, `holdup explain` and the README's table come from it.
//! * [`app::ACTIONS`]: a key. Look-up, footer, help, palette and the README's table come from it.
//! * `screen::SCREENS`: a screen.
//!
//! # What keeps it honest
//!
//! A judge looks up nothing but through [`diagnose::Cx`]. Each look answers [`model::Seen`]: *Is*, *Absent* or *Unknown*, and what may
//! not be read is never *Absent*. Each look is recorded, so that a change, or the clock, judges again exactly the subjects it concerns:
//! judging step by step equals judging at once. A judge that panics costs its own subject only.
//!
//! # What keeps it small and fast
//!
//! Replicas share label set and spec; a pod that is plainly well keeps a row and no status. Nothing that is not kept is ever built:
//! the pull reader skips it as bytes. Frames are drawn when something visible changed, and nothing wakes up when nothing did.

pub mod app;
pub mod archive;
pub mod cli;
pub mod config;
pub mod desired;
pub mod diagnose;
pub mod export;
pub mod model;
pub mod page;
pub mod redact;
pub mod runtime;
pub mod screen;
pub mod term;
pub mod ui;
pub mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

/// Runs the program with these arguments, and says how it ended.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let ended = tasks(&cli).map_err(Into::into).and_then(|tasks| {
        let ended = tasks.block_on(runtime::commands::run(&cli));
        // A task that waits for a stalled disk or a dead server must not keep the user.
        tasks.shutdown_timeout(QUIT);
        ended
    });
    ended.unwrap_or_else(|error| {
        // Whatever an error quotes, a file or a server wrote it.
        eprintln!("holdup: {}", runtime::key::redactor().text(&format!("{error:#}")));
        ExitCode::from(runtime::commands::FAILED)
    })
}

/// A dashboard answers keys while objects are read. A command that prints or writes once does everything on one thread: room that one
/// thread let go of, the allocator gives to no other, and for a large cluster that would be a third of all memory.
fn tasks(cli: &cli::Cli) -> std::io::Result<tokio::runtime::Runtime> {
    let once = matches!(cli.command, Some(cli::Command::Report(_) | cli::Command::Snapshot(_)));
    if once { tokio::runtime::Builder::new_current_thread().enable_all().build() } else { tokio::runtime::Runtime::new() }
}

/// How long unfinished work may hold up the end.
const QUIT: std::time::Duration = std::time::Duration::from_millis(300);

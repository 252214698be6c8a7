//! Events: keys, signals, feeds and answers, as one stream with keys first.

use std::time::Duration;

use color_eyre::Result;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use crate::app::Msg;
use crate::runtime::feeds::Feeds;
use crate::term::{Input, Keys};
use crate::watch::FeedMsg;

pub(super) enum Event {
    Input(Input),
    Heard(FeedMsg),
    /// The answer to an effect.
    Answer(Msg),
    /// Somebody else stopped and continued us.
    Continued,
    Stop,
    End,
    /// The time that was waited for has come.
    Tick,
}

/// Everything that can happen.
pub(super) struct Events {
    input: mpsc::UnboundedReceiver<Input>,
    /// None for files, from which nothing more comes.
    feeds: Option<Feeds>,
    answers: mpsc::UnboundedReceiver<Msg>,
    answer: mpsc::UnboundedSender<Msg>,
    signals: Signals,
}

struct Signals {
    terminate: Signal,
    hang_up: Signal,
    stop: Signal,
    resume: Signal,
}

impl Events {
    /// Starts to listen to the keyboard and to signals.
    pub fn new(feeds: Option<Feeds>) -> Result<Self> {
        let (answer, answers) = mpsc::unbounded_channel();
        let signals = Signals {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw()))?,
            resume: signal(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        };
        Ok(Self { input: listen(), feeds, answers, answer, signals })
    }

    /// Where answers to effects go.
    pub fn answers(&self) -> mpsc::UnboundedSender<Msg> {
        self.answer.clone()
    }

    /// What has come from keyboard and effects, without waiting. Keys come before all else.
    pub fn ready(&mut self) -> Option<Event> {
        self.input.try_recv().map(Event::Input).or_else(|_| self.answers.try_recv().map(Event::Answer)).ok()
    }

    /// What has come from feeds, without waiting.
    pub fn heard(&mut self) -> Option<FeedMsg> {
        self.feeds.as_mut()?.messages.try_recv().ok()
    }

    /// Other feeds instead of the present ones, which end.
    pub fn follow(&mut self, feeds: Feeds) {
        self.feeds = Some(feeds);
    }

    pub fn feeds(&self) -> Option<&Feeds> {
        self.feeds.as_ref()
    }

    /// Waits for whatever comes first, no longer than `wait`.
    pub async fn next(&mut self, wait: Option<Duration>) -> Option<Event> {
        let tick = async {
            match wait {
                Some(wait) => tokio::time::sleep(wait).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            input = self.input.recv() => Some(input.map_or(Event::End, Event::Input)),
            Some(msg) = self.answers.recv() => Some(Event::Answer(msg)),
            _ = self.signals.terminate.recv() => Some(Event::End),
            _ = self.signals.hang_up.recv() => Some(Event::End),
            _ = self.signals.stop.recv() => Some(Event::Stop),
            _ = self.signals.resume.recv() => Some(Event::Continued),
            Some(heard) = hear(self.feeds.as_mut()) => Some(Event::Heard(heard)),
            () = tick => Some(Event::Tick),
        }
    }
}

/// What feeds say next; without feeds nothing ever.
async fn hear(feeds: Option<&mut Feeds>) -> Option<FeedMsg> {
    match feeds {
        Some(feeds) => feeds.messages.recv().await,
        None => std::future::pending().await,
    }
}

/// Reading keys blocks, so it has a thread of its own; it ends with the terminal.
fn listen() -> mpsc::UnboundedReceiver<Input> {
    let (send, receive) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let mut keys = Keys::default();
        while let Ok(input) = keys.wait() {
            if send.send(input).is_err() {
                return;
            }
        }
    });
    receive
}

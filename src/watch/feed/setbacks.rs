//! How a feed takes refusals, broken answers, silence and sleep: the other half of its state machine.

use std::time::Duration;

use super::{AfterList, Do, Feed, LATER, LOGIN, LONGEST_REST, Lost, Moment, Note, POLL, Phase, Said, Streams, Then};
use crate::watch::error::{Error, Status};

/// After so many watches that were cut, something on the way is named.
const CUTS: u32 = 3;
/// A watch that ends this long before its time was still allowed to.
const EARLY: Duration = Duration::from_secs(10);
/// One that ends sooner than this was not cut by a timer on the way.
const INSTANT: Duration = Duration::from_secs(5);
/// After so many failures at one version, the version itself is suspect.
const SUSPECT: u32 = 3;

impl Feed {
    pub(super) fn refused(&mut self, status: &Status, now: Moment) -> Vec<Do> {
        match self.phase {
            Phase::Streaming { .. } if refuses_streams(status) || status.code == 403 => self.change_to_pages(now),
            Phase::Streaming { .. } | Phase::Paging { .. } => self.list_refused(status, now),
            Phase::Watching { .. } => self.watch_refused(status, now),
            Phase::Asleep | Phase::Resting { .. } => Vec::new(),
        }
    }

    pub(super) fn failed(&mut self, error: &Error, now: Moment) -> Vec<Do> {
        match self.phase {
            // A close before the bookmark: the server or something on the way does not let streams through.
            Phase::Streaming { opened: true } => self.change_to_pages(now),
            Phase::Streaming { opened: false } | Phase::Paging { .. } => self.setback(error.to_string(), None, Then::List, now),
            Phase::Watching { opened: true, .. } => self.ended(now),
            Phase::Watching { opened: false, .. } => self.setback(error.to_string(), None, Then::Watch, now),
            Phase::Asleep | Phase::Resting { .. } => Vec::new(),
        }
    }

    /// An ERROR event.
    pub(super) fn ended_with(&mut self, status: &Status, now: Moment) -> Vec<Do> {
        match self.phase {
            Phase::Streaming { .. } if refuses_streams(status) => self.change_to_pages(now),
            Phase::Streaming { .. } if status.code == 410 => self.expired(now),
            Phase::Watching { .. } if status.code == 410 => self.list_anew(now),
            Phase::Streaming { .. } | Phase::Paging { .. } => self.setback(status.message.clone(), None, Then::List, now),
            Phase::Watching { .. } => self.watch_failed(status, now),
            Phase::Asleep | Phase::Resting { .. } => Vec::new(),
        }
    }

    pub(super) fn ended(&mut self, now: Moment) -> Vec<Do> {
        match self.phase {
            Phase::Streaming { .. } => self.change_to_pages(now),
            Phase::Watching { seconds, .. } => self.watch_ended(Duration::from_secs(u64::from(seconds)), now),
            Phase::Asleep | Phase::Paging { .. } | Phase::Resting { .. } => Vec::new(),
        }
    }

    pub(super) fn woke(&mut self, now: Moment) -> Vec<Do> {
        if self.wakes().is_none_or(|due| now < due) {
            return Vec::new();
        }
        let silent = Error::Silent { after: now - self.heard }.to_string();
        match self.phase {
            Phase::Resting { then, .. } => self.go_on(then, now),
            Phase::Streaming { .. } => self.change_to_pages(now),
            Phase::Paging { .. } => self.setback(silent, None, Then::List, now),
            Phase::Watching { opened: false, .. } => self.setback(silent, None, Then::Watch, now),
            Phase::Watching { opened: true, .. } => self.reconnect(now),
            Phase::Asleep => Vec::new(),
        }
    }

    pub(super) fn restart(&mut self, why: Option<String>, now: Moment) -> Vec<Do> {
        let mut doing = vec![Do::Close];
        doing.extend(why.and_then(|why| self.trouble(why)));
        let then = match self.phase {
            Phase::Asleep => return Vec::new(),
            Phase::Watching { .. } | Phase::Resting { then: Then::Watch, .. } => Then::Watch,
            Phase::Paging { .. } | Phase::Streaming { .. } | Phase::Resting { then: Then::List, .. } => Then::List,
        };
        doing.extend(self.go_on(then, now));
        doing
    }

    fn go_on(&mut self, then: Then, now: Moment) -> Vec<Do> {
        match then {
            Then::List => self.list(now),
            Then::Watch => self.watch(now),
        }
    }

    /// This kind is not asked for streams again.
    fn change_to_pages(&mut self, now: Moment) -> Vec<Do> {
        self.plan.streams = Streams::No;
        [Do::Close].into_iter().chain(self.list(now)).collect()
    }

    fn list_refused(&mut self, status: &Status, now: Moment) -> Vec<Do> {
        match status.code {
            410 => self.expired(now),
            401 => self.lost(Lost::NotLetIn(status.message.clone()), LOGIN, Then::List, now),
            403 => self.lost(Lost::Denied(status.message.clone()), LATER, Then::List, now),
            404 | 405 => self.lost(Lost::Absent(status.message.clone()), LATER, Then::List, now),
            _ => self.setback(status.to_string(), status.retry_after, Then::List, now),
        }
    }

    fn watch_refused(&mut self, status: &Status, now: Moment) -> Vec<Do> {
        match status.code {
            403 | 405 => self.watch_forbidden(now),
            401 => self.lost(Lost::NotLetIn(status.message.clone()), LOGIN, Then::Watch, now),
            // The version is too old, or none that this server knows, or the kind went: a list tells.
            400 | 404 | 410 | 422 => self.list_anew(now),
            _ => self.watch_failed(status, now),
        }
    }

    /// Rights to list, but not to watch.
    fn watch_forbidden(&mut self, now: Moment) -> Vec<Do> {
        self.plan.after_list = AfterList::ListAgain(POLL);
        self.plan.streams = Streams::No;
        self.watch_again = Some(now + LATER);
        self.misses = 0;
        if self.said == Said::Well {
            self.rest(POLL, Then::List, now);
            return vec![Do::Close, Do::Say(Note::Polling(POLL))];
        }
        let list = self.list(now);
        [Do::Close, Do::Say(Note::Polling(POLL))].into_iter().chain(list).collect()
    }

    /// The server fails at this version again and again: etcd may have been restored, a list is the way out.
    fn watch_failed(&mut self, status: &Status, now: Moment) -> Vec<Do> {
        let then = if self.misses + 1 < SUSPECT { Then::Watch } else { Then::List };
        self.setback(status.to_string(), status.retry_after, then, now)
    }

    fn watch_ended(&mut self, allowed: Duration, now: Moment) -> Vec<Do> {
        let lived = now.saturating_sub(self.opened);
        if lived + EARLY >= allowed {
            let were_cut = std::mem::take(&mut self.cuts) >= CUTS;
            let well = were_cut.then_some(Do::Say(Note::Well));
            return well.into_iter().chain(self.watch(now)).collect();
        }
        if lived >= INSTANT {
            self.cuts += 1;
        }
        let named = (self.cuts == CUTS && lived >= INSTANT).then_some(Do::Say(Note::Cut(lived)));
        named.into_iter().chain(self.reconnect(now)).collect()
    }

    /// Once at once, then with growing rests; nothing is lost yet, so nothing is said.
    fn reconnect(&mut self, now: Moment) -> Vec<Do> {
        self.misses += 1;
        if self.misses == 1 {
            return [Do::Close].into_iter().chain(self.watch(now)).collect();
        }
        let wait = self.back_off();
        self.rest(wait, Then::Watch, now);
        vec![Do::Close]
    }

    /// A version that is too old heals by a new list, without a word; but not in a tight circle.
    fn list_anew(&mut self, now: Moment) -> Vec<Do> {
        self.misses += 1;
        if self.misses == 1 {
            return [Do::Close].into_iter().chain(self.list(now)).collect();
        }
        let wait = self.back_off();
        self.rest(wait, Then::List, now);
        vec![Do::Close]
    }

    /// A continue token that expired: once from the start.
    fn expired(&mut self, now: Moment) -> Vec<Do> {
        if std::mem::replace(&mut self.restarted, true) {
            self.restarted = false;
            return self.setback("the list expires before it is read".to_owned(), None, Then::List, now);
        }
        [Do::Close].into_iter().chain(self.list(now)).collect()
    }

    fn lost(&mut self, lost: Lost, wait: Duration, then: Then, now: Moment) -> Vec<Do> {
        self.rest(wait, then, now);
        let said = Said::Lost(lost.clone());
        let is_new = self.said != said;
        self.said = said;
        [Do::Close].into_iter().chain(is_new.then_some(Do::Lost(lost))).collect()
    }

    fn setback(&mut self, why: String, wait: Option<Duration>, then: Then, now: Moment) -> Vec<Do> {
        self.misses += 1;
        let wait = match wait {
            Some(wait) => self.spread(wait),
            None => self.back_off(),
        };
        self.rest(wait, then, now);
        [Do::Close].into_iter().chain(self.trouble(why)).collect()
    }

    /// What was read goes stale; what never was goes on loading, with the reason beside it.
    fn trouble(&mut self, why: String) -> Option<Do> {
        let (said, doing) = if self.was_synced {
            let lost = Lost::Stale(why);
            (Said::Lost(lost.clone()), Do::Lost(lost))
        } else {
            (Said::Trouble(why.clone()), Do::Say(Note::Trouble(why)))
        };
        let is_new = self.said != said;
        self.said = said;
        is_new.then_some(doing)
    }

    /// 1 s × 2ⁿ up to 30 s, ± 50 %.
    fn back_off(&mut self) -> Duration {
        let doubled = 1_000_u64 << (self.misses.saturating_sub(1)).min(5);
        let middle = doubled.min(u64::try_from(LONGEST_REST.as_millis()).unwrap_or(u64::MAX));
        Duration::from_millis(middle / 2 + self.roll(middle + 1))
    }

    /// Not before the server asked for, and not all feeds at once.
    fn spread(&mut self, wait: Duration) -> Duration {
        let wait = wait.min(LATER);
        let more = u64::try_from(wait.as_millis() / 2).unwrap_or(0);
        wait + Duration::from_millis(self.roll(more + 1))
    }
}

/// Kubernetes without streaming lists says so in one of these ways; 500 is a storage without watch progress.
fn refuses_streams(status: &Status) -> bool {
    match status.code {
        400 | 404 | 405 | 422 => true,
        500 => status.message.to_lowercase().contains("progress"),
        _ => false,
    }
}

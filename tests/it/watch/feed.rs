//! The state machine of a feed, played by scripts: what is heard on the left, what follows on the right.

use std::time::Duration;

use holdup::watch::feed::{AfterList, Ask, Do, Feed, Heard, Lost, Note, Plan, Streams};
use holdup::watch::{Bookmark, Error, Status};

const STREAMS: Plan = Plan { streams: Streams::Yes, after_list: AfterList::Watch, patience: Duration::from_secs(60), seed: 7 };
const PAGES: Plan = Plan { streams: Streams::No, ..STREAMS };

/// A feed and its clock.
struct Play {
    feed: Feed,
    now: Duration,
}

impl Play {
    fn start(plan: Plan) -> (Self, String) {
        let mut feed = Feed::new(plan);
        let doing = feed.start(Duration::ZERO);
        (Self { feed, now: Duration::ZERO }, told(&doing))
    }

    /// `wake` moves the clock to when the feed wants to be woken, `+5` moves it by five seconds.
    fn hear(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let word = |at: usize| words.get(at).copied().unwrap_or_default();
        let version = || Some(word(1).to_owned()).filter(|version| !version.is_empty());
        let number = |at: usize| word(at).parse().expect("a number");
        let heard = match word(0) {
            "wake" => {
                self.now = self.feed.wakes().expect("the feed waits for something");
                Heard::Woke
            }
            "open" => Heard::Opened,
            "refuse" => Heard::Refused(status(number(1), &words[2..])),
            "error" => Heard::Error(status(number(1), &words[2..])),
            "fail" => Heard::Failed(Error::Cut { why: "reset".into() }),
            "page" => Heard::Page { version: word(1).into(), next: word(2).into() },
            "page-end" => Heard::PageEnd,
            "change" => Heard::Changes { version: version() },
            "mark" => Heard::Bookmark { mark: Bookmark::Plain, version: version() },
            "synced" => Heard::Bookmark { mark: Bookmark::InitialEnd, version: version() },
            "end" => Heard::Ended,
            "restart" => Heard::Restart { why: None },
            "pulse-lost" => Heard::Restart { why: Some("no pulse".into()) },
            wait => {
                self.now += Duration::from_secs(wait.parse().expect("seconds"));
                return String::new();
            }
        };
        told(&self.feed.hear(heard, self.now))
    }

    /// How long the feed waits from now on.
    fn wait(&self) -> f64 {
        (self.feed.wakes().expect("the feed waits for something") - self.now).as_secs_f64()
    }
}

fn status(code: u16, words: &[&str]) -> Status {
    let wait = words.iter().find_map(|word| word.strip_prefix("wait=")?.parse().ok());
    let message = words.iter().filter(|word| !word.contains('=')).copied().collect::<Vec<_>>().join(" ");
    Status { code, reason: String::new(), message, retry_after: wait.map(Duration::from_secs) }
}

fn told(doing: &[Do]) -> String {
    let words: Vec<String> = doing.iter().map(word).collect();
    words.join(", ")
}

fn word(doing: &Do) -> String {
    match doing {
        Do::Ask(Ask::Page { token }) if token.is_empty() => "list".into(),
        Do::Ask(Ask::Page { token }) => format!("list {token}"),
        Do::Ask(Ask::Stream { .. }) => "stream".into(),
        Do::Ask(Ask::Watch { version, .. }) => format!("watch {version}"),
        Do::Close => "close".into(),
        Do::Began => "began".into(),
        Do::Synced => "synced".into(),
        Do::Lost(Lost::Denied(why)) => format!("denied {why}"),
        Do::Lost(Lost::NotLetIn(why)) => format!("not let in {why}"),
        Do::Lost(Lost::Absent(why)) => format!("absent {why}"),
        Do::Lost(Lost::Stale(why)) => format!("stale {why}"),
        Do::Say(Note::Polling(every)) => format!("polling {}", every.as_secs()),
        Do::Say(Note::Cut(after)) => format!("cut after {}", after.as_secs()),
        Do::Say(Note::Trouble(why)) => format!("trouble {why}"),
        Do::Say(Note::Well) => "well".into(),
    }
}

/// Plays the script and compares each line.
fn play(plan: Plan, script: &[(&str, &str)]) -> Play {
    let (mut play, first) = Play::start(plan);
    let mut so_far = first;
    for (at, (line, expected)) in script.iter().enumerate() {
        let heard = if *line == "start" { std::mem::take(&mut so_far) } else { play.hear(line) };
        assert_eq!(heard, *expected, "line {at}: {line}");
    }
    play
}

/// A feed that is live at version 5.
const LIVE: &[(&str, &str)] = &[("start", "began, stream"), ("open", ""), ("change 3", ""), ("synced 5", "synced")];

fn live(script: &[(&str, &str)]) -> Play {
    play(STREAMS, &[LIVE, script].concat())
}

#[test]
fn a_streaming_list_goes_live_at_its_bookmark() {
    live(&[("change 6", ""), ("mark 8", ""), ("end", "close, watch 8"), ("open", "")]);
}

#[test]
fn pages_ask_for_the_next_as_soon_as_the_token_is_known_and_then_watch_from_the_first_version() {
    play(
        PAGES,
        &[
            ("start", "began, list"),
            ("open", ""),
            ("page 40 a", "list a"),
            ("page-end", ""),
            ("open", ""),
            ("page 41 b", "list b"),
            ("page-end", ""),
            ("open", ""),
            ("page 42", ""),
            ("page-end", "synced, watch 40"),
            ("open", ""),
        ],
    );
}

#[test]
fn every_way_to_refuse_streams_leads_to_pages() {
    for refusal in ["refuse 400", "refuse 404", "refuse 405", "refuse 422", "refuse 500 storage feature RequestWatchProgress is disabled"] {
        play(
            STREAMS,
            &[("start", "began, stream"), (refusal, "close, list"), ("open", "began"), ("page 4", ""), ("page-end", "synced, watch 4")],
        );
    }
    for end in ["end", "fail", "wake", "error 500 no watch progress"] {
        play(STREAMS, &[("start", "began, stream"), ("open", ""), ("change 3", ""), (end, "close, list"), ("open", "began")]);
    }
}

#[test]
fn sixty_seconds_without_data_end_a_streaming_list_and_data_keeps_it() {
    let mut play = play(STREAMS, &[("start", "began, stream"), ("open", ""), ("59", ""), ("change 3", ""), ("59", ""), ("change 4", "")]);
    assert!((play.wait() - 60.0).abs() < 0.01, "{}", play.wait());
    assert_eq!(play.hear("wake"), "close, list");
}

#[test]
fn other_errors_of_a_streaming_list_are_real() {
    let play =
        play(STREAMS, &[("start", "began, stream"), ("refuse 500 etcd is gone", "close, trouble Error from server (500): etcd is gone")]);
    assert!((0.5..=1.5).contains(&play.wait()), "{}", play.wait());
}

#[test]
fn a_403_on_a_streaming_list_refuses_the_watch_and_not_the_list() {
    play(
        STREAMS,
        &[
            ("start", "began, stream"),
            ("refuse 403 no watch", "close, list"),
            ("open", "began"),
            ("page 4", ""),
            ("page-end", "synced, watch 4"),
            ("refuse 403 no watch", "close, polling 30"),
            ("wake", "list"),
            ("open", "began"),
            ("page 9", ""),
            ("page-end", "synced"),
            ("wake", "list"),
        ],
    );
}

#[test]
fn a_forbidden_watch_is_tried_again_after_five_minutes() {
    let mut play = play(
        PAGES,
        &[("start", "began, list"), ("open", ""), ("page 4", ""), ("page-end", "synced, watch 4"), ("refuse 403 no", "close, polling 30")],
    );
    let mut lists = 0;
    loop {
        assert_eq!(play.hear("wake"), "list");
        play.hear("open");
        play.hear("page 5");
        lists += 1;
        match play.hear("page-end").as_str() {
            "synced" => assert!(lists < 12),
            "synced, watch 4" | "synced, watch 5" => break,
            other => panic!("{other}"),
        }
    }
    assert_eq!(lists, 10);
    assert_eq!(play.hear("open"), "well");
    assert_eq!(play.hear("change 6"), "");
    assert_eq!(play.hear("end"), "close, watch 6");
}

#[test]
fn denied_lists_and_absent_kinds_are_tried_again_after_five_minutes_without_flicker() {
    for (code, word) in [(403, "denied"), (404, "absent"), (405, "absent")] {
        let refusal = format!("refuse {code} no");
        let mut play = play(PAGES, &[("start", "began, list"), (&refusal, &format!("close, {word} no"))]);
        assert!((play.wait() - 300.0).abs() < 0.01, "{}", play.wait());
        assert_eq!(play.hear("wake"), "list");
        assert_eq!(play.hear(&refusal), "close", "said once");
        assert_eq!(play.hear("wake"), "list");
        assert_eq!(play.hear("open"), "began");
        play.hear("page 3");
        assert_eq!(play.hear("page-end"), "synced, watch 3");
    }
}

#[test]
fn a_401_is_denied_and_tried_again_every_thirty_seconds_where_it_was() {
    let mut listing = play(PAGES, &[("start", "began, list"), ("refuse 401 log in", "close, not let in log in")]);
    assert!((listing.wait() - 30.0).abs() < 0.01);
    assert_eq!(listing.hear("wake"), "list");
    live(&[("end", "close, watch 5"), ("refuse 401 log in", "close, not let in log in"), ("wake", "watch 5"), ("open", "synced")]);
}

#[test]
fn a_410_heals_by_a_new_list_without_a_word() {
    live(&[("error 410 too old", "close, stream"), ("open", "began"), ("synced 9", "synced"), ("end", "close, watch 9")]);
    live(&[("end", "close, watch 5"), ("refuse 410 too old", "close"), ("wake", "stream")]);
    live(&[("change 6", ""), ("error 410 too old", "close, stream"), ("open", "began"), ("error 410 again", "close, stream")]);
}

#[test]
fn a_list_that_is_too_slow_for_its_watch_does_not_run_in_a_circle() {
    let list = [("open", "began"), ("page 9", ""), ("page-end", "synced, watch 9")];
    let mut play = play(
        PAGES,
        &[
            &[("start", "began, list"), ("open", ""), ("page 4", ""), ("page-end", "synced, watch 4"), ("refuse 410 old", "close, list")],
            list.as_slice(),
            &[("refuse 410 old", "close"), ("wake", "list")],
            &list,
            &[("refuse 410 old", "close")],
        ]
        .concat(),
    );
    assert!(play.wait() >= 2.0, "{}", play.wait());
    assert_eq!(play.hear("wake"), "list");
}

#[test]
fn a_continue_token_that_expires_starts_the_list_again_once() {
    let first = [("start", "began, list"), ("open", ""), ("page 4 a", "list a"), ("page-end", ""), ("refuse 410 expired", "close, list")];
    let again = [
        ("open", "began"),
        ("page 5 b", "list b"),
        ("page-end", ""),
        ("refuse 410 expired", "close, trouble the list expires before it is read"),
    ];
    play(PAGES, &[first.as_slice(), &again, &[("wake", "list")]].concat());
}

#[test]
fn a_429_waits_as_long_as_it_was_told() {
    for line in ["refuse 429 wait=20", "refuse 503 wait=20"] {
        let (mut play, _) = Play::start(PAGES);
        play.hear(line);
        assert!((20.0..=30.0).contains(&play.wait()), "{}", play.wait());
    }
}

#[test]
fn back_off_doubles_up_to_half_a_minute_and_only_an_event_or_bookmark_ends_it() {
    let mut play = live(&[("end", "close, watch 5")]);
    let mut waits = Vec::new();
    for at in 0..8 {
        // A connection that opens and ends at once is no proof.
        if at % 2 == 0 {
            play.hear("open");
            play.hear("end");
        } else {
            play.hear("fail");
        }
        waits.push(play.wait());
        assert_eq!(play.hear("wake"), "watch 5");
    }
    for (wait, middle) in waits.iter().zip([2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0, 30.0]) {
        assert!((middle * 0.5..=middle * 1.5).contains(wait), "{waits:?}");
    }
    play.hear("open");
    play.hear("mark 6");
    play.hear("end");
    play.hear("fail");
    assert!(play.wait() <= 3.0, "{}", play.wait());
}

#[test]
fn two_feeds_do_not_come_back_at_the_same_moment() {
    let wait = |seed| {
        let (mut play, _) = Play::start(Plan { seed, ..PAGES });
        play.hear("fail");
        play.wait()
    };
    assert!((wait(1) - wait(2)).abs() > f64::EPSILON);
}

#[test]
fn an_error_clears_only_on_proof() {
    let stale = "close, stale the connection broke: reset; it is tried again";
    live(&[("end", "close, watch 5"), ("fail", stale), ("wake", "watch 5"), ("fail", "close"), ("wake", "watch 5"), ("open", "synced")]);
    live(&[
        ("error 410 old", "close, stream"),
        ("fail", stale),
        ("wake", "stream"),
        ("open", "began"),
        ("change 7", ""),
        ("synced 8", "synced"),
    ]);
}

#[test]
fn a_kind_that_was_never_read_goes_on_loading_with_the_reason_beside_it() {
    let trouble = "close, trouble the connection broke: reset; it is tried again";
    play(
        PAGES,
        &[
            ("start", "began, list"),
            ("fail", trouble),
            ("wake", "list"),
            ("open", "began"),
            ("page 4", ""),
            ("page-end", "synced, well, watch 4"),
        ],
    );
}

#[test]
fn silence_counts_only_where_bookmarks_come() {
    let mut marked = live(&[]);
    assert!((marked.wait() - 150.0).abs() < 0.01);
    assert_eq!(marked.hear("wake"), "close, watch 5");

    let mut unmarked = play(
        PAGES,
        &[
            ("start", "began, list"),
            ("open", ""),
            ("page 4", ""),
            ("page-end", "synced, watch 4"),
            ("open", ""),
            ("200", ""),
            ("change 6", ""),
        ],
    );
    assert!((90.0..=150.0).contains(&unmarked.wait()), "its timeoutSeconds and thirty more: {}", unmarked.wait());
    assert_eq!(unmarked.hear("wake"), "close, watch 6");
}

#[test]
fn headers_that_do_not_come_are_a_failure() {
    let mut play = live(&[("end", "close, watch 5")]);
    assert!((play.wait() - 60.0).abs() < 0.01);
    assert!(play.hear("wake").starts_with("close, stale no answer for 60 s"));
}

#[test]
fn watches_that_are_cut_again_and_again_are_named_and_one_that_lives_clears_it() {
    let cut = [("30", ""), ("change 6", ""), ("end", "close, watch 6"), ("open", "")];
    let mut play = live(&[("30", ""), ("change 6", ""), ("end", "close, watch 6"), ("open", "")]);
    for (line, expected) in cut.iter().chain(&[("30", ""), ("change 6", ""), ("end", "cut after 30, close, watch 6"), ("open", "")]) {
        assert_eq!(play.hear(line), *expected, "{line}");
    }
    play.hear("140");
    play.hear("change 7");
    play.hear("140");
    play.hear("change 7");
    play.hear("30");
    assert_eq!(play.hear("end"), "well, watch 7");
}

#[test]
fn a_watch_that_fails_at_one_version_again_and_again_lists_anew() {
    let failure = "error 500 compacted";
    live(&[
        (failure, "close, stale Error from server (500): compacted"),
        ("wake", "watch 5"),
        ("open", "synced"),
        (failure, "close, stale Error from server (500): compacted"),
        ("wake", "watch 5"),
        ("open", "synced"),
        (failure, "close, stale Error from server (500): compacted"),
        ("wake", "stream"),
    ]);
    live(&[("end", "close, watch 5"), ("refuse 400 invalid version", "close"), ("wake", "stream")]);
}

#[test]
fn after_sleep_everything_starts_again_where_it_was() {
    live(&[("restart", "close, watch 5"), ("open", "")]);
    play(PAGES, &[("start", "began, list"), ("open", ""), ("page 4 a", "list a"), ("restart", "close, list")]);
    play(PAGES, &[("start", "began, list"), ("refuse 403 no", "close, denied no"), ("restart", "close, list")]);
    live(&[("pulse-lost", "close, stale no pulse, watch 5"), ("open", "synced")]);
}

#[test]
fn a_kind_that_is_only_listed_is_listed_again_and_again() {
    let plan = Plan { after_list: AfterList::ListAgain(Duration::from_secs(60)), ..PAGES };
    let mut play = play(plan, &[("start", "began, list"), ("open", ""), ("page 4", ""), ("page-end", "synced")]);
    assert!((play.wait() - 60.0).abs() < 0.01);
    assert_eq!(play.hear("wake"), "list");
    play.hear("fail");
    assert!(play.wait() <= 1.5);
}

#[test]
fn late_answers_change_nothing() {
    let mut play = play(PAGES, &[("start", "began, list"), ("refuse 403 no", "close, denied no")]);
    let wait = play.wait();
    for late in ["open", "page 4 x", "page-end", "change 8", "end", "fail", "refuse 500 late", "error 410 late"] {
        assert_eq!(play.hear(late), "", "{late}");
    }
    assert!((play.wait() - wait).abs() < f64::EPSILON);
}

#[test]
fn a_reader_that_is_slow_is_not_mistaken_for_a_silent_server() {
    let (mut play, _) = Play::start(PAGES);
    play.hear("open");
    play.hear("300");
    play.feed.touch(play.now);
    assert!((play.wait() - 60.0).abs() < 0.01);
}

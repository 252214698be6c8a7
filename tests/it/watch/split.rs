//! Pages and watch lines come out the same wherever the network cuts the bytes.

use holdup::watch::{Bookmark, Head, Lines, NoPage, Page, Verb};
use proptest::prelude::*;
use serde_json::{Value, json};

const PAGE: &str = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"42","continue":"abc==","remainingItemCount":7},"items":[{"metadata":{"name":"a}{\"]["}},{"metadata":{"name":"b"},"spec":{"x":[[1],{"y":"\\"}]}}]}"#;

/// Feeds the text in pieces that end at these places.
fn page(text: &str, cuts: &[usize]) -> Result<(Head, Vec<String>), NoPage> {
    let mut page = Page::default();
    let mut objects = Vec::new();
    for piece in pieces(text.as_bytes(), cuts) {
        page.push(piece);
        objects.extend(page.take().iter().flat_map(texts));
    }
    let (head, rest) = page.finish()?;
    objects.extend(rest.iter().flat_map(texts));
    Ok((head, objects))
}

fn texts(chunk: &holdup::watch::Chunk) -> Vec<String> {
    chunk.objects().map(|(_, bytes)| String::from_utf8(bytes.to_vec()).expect("the test writes UTF-8")).collect()
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

#[test]
fn a_page_gives_its_items_and_its_metadata() {
    let (head, objects) = page(PAGE, &[]).unwrap();
    assert_eq!(head, Head { resource_version: "42".into(), next: "abc==".into(), remaining_item_count: Some(7) });
    assert_eq!(objects, [r#"{"metadata":{"name":"a}{\"]["}}"#, r#"{"metadata":{"name":"b"},"spec":{"x":[[1],{"y":"\\"}]}}"#]);
}

#[test]
fn the_continue_token_is_known_before_the_items_have_come() {
    let mut page = Page::default();
    let items = PAGE.find(r#""items":["#).unwrap() + r#""items":["#.len();
    page.push(&PAGE.as_bytes()[..items]);
    assert_eq!(page.head().unwrap().next, "abc==");
}

#[test]
fn metadata_may_come_after_the_items() {
    let (head, objects) =
        page(r#"{ "items" : [ {"a":1} , {"b":2} ] , "metadata" : {"resourceVersion":"9","continue":null} }"#, &[20]).unwrap();
    assert_eq!((head.resource_version.as_str(), head.next.as_str()), ("9", ""));
    assert_eq!(objects, [r#"{"a":1}"#, r#"{"b":2}"#]);
}

#[test]
fn a_list_without_items_is_empty_and_not_an_error() {
    for items in ["null", "[]"] {
        let text = format!(r#"{{"kind":"PodList","metadata":{{"resourceVersion":"5"}},"items":{items}}}"#);
        let (head, objects) = page(&text, &[]).unwrap();
        assert_eq!((head.resource_version.as_str(), objects.len()), ("5", 0), "{items}");
    }
}

#[test]
fn metadata_of_the_wrong_type_costs_only_itself() {
    let (head, objects) = page(r#"{"metadata":[1],"items":[{"a":1}]}"#, &[]).unwrap();
    assert_eq!((head, objects.len()), (Head::default(), 1));
}

#[test]
fn what_is_no_list_is_named_so() {
    assert_eq!(page(r#"{"kind":"Status","code":403}"#, &[]), Err(NoPage::NoList));
    assert_eq!(page("<html>login</html>", &[]), Err(NoPage::NoList));
    assert_eq!(page("", &[]), Err(NoPage::NoList));
    assert_eq!(page(r#"{"metadata":{},"items":[{"a":"#, &[]), Err(NoPage::Partial));
    assert_eq!(page(r#"{"metadata":{},"items":[{"a":1}"#, &[]), Err(NoPage::Partial));
}

#[test]
fn items_that_are_no_objects_are_handed_on_to_be_counted() {
    let (_, objects) = page(r#"{"items":[null,{"a":1},3,"x",true]}"#, &[9, 11]).unwrap();
    assert_eq!(objects, ["null", r#"{"a":1}"#, "3", "\"x\"", "true"]);
}

#[test]
fn a_list_that_is_not_paged_is_handed_on_in_pieces() {
    let item = json!({"metadata": {"name": "x".repeat(100_000)}}).to_string();
    let items = vec![item.clone(); 60].join(",");
    let mut page = Page::default();
    let mut most = 0;
    let mut seen = 0;
    for piece in format!(r#"{{"metadata":{{}},"items":[{items}]}}"#).as_bytes().chunks(16 << 10) {
        page.push(piece);
        if let Some(chunk) = page.take() {
            most = most.max(chunk.bytes.len());
            seen += chunk.items.len();
        }
    }
    let (_, rest) = page.finish().unwrap();
    seen += rest.map_or(0, |chunk| chunk.items.len());
    assert_eq!(seen, 60);
    assert!(most > 0 && most < 3 << 20, "{most}");
}

fn line(kind: &str, name: &str, version: u32) -> String {
    let object = json!({"kind": "Pod", "metadata": {"name": name, "resourceVersion": version.to_string()}});
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

#[test]
fn watch_events_say_what_happened_and_the_version_to_go_on_from() {
    let mut lines = Lines::default();
    lines.push(line("ADDED", "a", 1).as_bytes());
    lines.push(line("DELETED", "b", 2).as_bytes());
    let heard = lines.take();
    let verbs: Vec<Verb> = heard.chunk.objects().map(|(verb, _)| verb).collect();
    assert_eq!(verbs, [Verb::Put, Verb::Gone]);
    assert_eq!(heard.version.as_deref(), Some("2"));
    assert_eq!((heard.bookmark, heard.skipped), (None, 0));
}

#[test]
fn bookmarks_move_the_version_and_end_the_initial_events() {
    let mark = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    let mut lines = Lines::default();
    lines.push(format!("{}{mark}\n", line("ADDED", "a", 3)).as_bytes());
    let heard = lines.take();
    assert_eq!((heard.bookmark, heard.version.as_deref()), (Some(Bookmark::InitialEnd), Some("7")));

    lines.push(b"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\",\"annotations\":null}}}\n");
    let heard = lines.take();
    assert_eq!((heard.bookmark, heard.version.as_deref()), (Some(Bookmark::Plain), Some("8")));
}

#[test]
fn an_error_event_ends_the_watch_with_its_status() {
    let mut lines = Lines::default();
    lines.push(b"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\",\"message\":\"too old resource version\"}}\n");
    lines.push(line("ADDED", "late", 9).as_bytes());
    let heard = lines.take();
    assert_eq!(heard.error.map(|status| status.code), Some(410));
    assert!(heard.chunk.items.is_empty());
}

#[test]
fn a_partial_last_line_is_dropped_and_a_line_without_sense_is_counted() {
    let mut lines = Lines::default();
    lines.push(format!("nonsense\n\n{}{{\"type\":\"ADDED\",\"obj", line("ADDED", "a", 1)).as_bytes());
    let heard = lines.take();
    assert_eq!((heard.chunk.items.len(), heard.skipped), (1, 1));
    assert!(lines.take().chunk.items.is_empty());
}

#[test]
fn members_of_an_event_may_come_in_any_order() {
    let mut lines = Lines::default();
    lines.push(b" { \"object\" : {\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"4\"}} , \"type\" : \"MODIFIED\" } \r\n");
    let heard = lines.take();
    let (verb, object) = heard.chunk.objects().next().unwrap();
    let object: Value = serde_json::from_slice(object).unwrap();
    assert_eq!((verb, &object["metadata"]["name"]), (Verb::Put, &json!("a")));
    assert_eq!(heard.version.as_deref(), Some("4"));
}

proptest! {
    #[test]
    fn cuts_do_not_change_a_page(cuts in proptest::collection::vec(any::<usize>(), 0..40)) {
        prop_assert_eq!(page(PAGE, &cuts).unwrap(), page(PAGE, &[]).unwrap());
    }

    #[test]
    fn cuts_do_not_change_a_watch(cuts in proptest::collection::vec(any::<usize>(), 0..40), longest in 60_usize..140) {
        let long = line("ADDED", &"x".repeat(120), 5);
        let text = [line("ADDED", "a", 1), long, line("MODIFIED", "b", 2), line("DELETED", "c", 3)].concat();
        let read = |cuts: &[usize]| {
            let mut lines = Lines::with_longest(longest);
            let (mut objects, mut skipped, mut version) = (Vec::new(), 0, None);
            for piece in pieces(text.as_bytes(), cuts) {
                lines.push(piece);
                let heard = lines.take();
                objects.extend(texts(&heard.chunk));
                skipped += heard.skipped;
                version = heard.version.or(version);
            }
            (objects, skipped, version)
        };
        prop_assert_eq!(read(&cuts), read(&[]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b'\\'), Just(b','), Just(b':'), Just(b'\n'), any::<u8>()], 0..200), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        let start = [br#"{"metadata":{},"items":["#.as_slice(), &bytes].concat();
        for text in [&bytes, &start] {
            let (mut page, mut lines) = (Page::default(), Lines::default());
            for piece in pieces(text, &cuts) {
                page.push(piece);
                lines.push(piece);
            }
            let heard = lines.take();
            prop_assert!(heard.chunk.objects().all(|(_, object)| object.len() <= text.len()));
            let found = page.finish().map_or(0, |(_, chunk)| chunk.map_or(0, |chunk| chunk.objects().count()));
            prop_assert!(found <= text.len());
        }
    }
}

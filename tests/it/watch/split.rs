//! Pages and watch lines come out the same wherever the network cuts the bytes.

use bytes::Bytes;
use holdup::model::{Batch, Cluster, Delta, Kind, Place};
use holdup::watch::{Bookmark, Chunk, Head, Heard, Items, Lines, NoPage, Page, Piece, Verb};
use proptest::prelude::*;
use serde_json::{Value, json};

const ITEMS: &str = r#"[{"metadata":{"name":"a}{\"][","labels":{"x":"},{\"metadata\":{"}}},{"metadata":{"name":"b"},"spec":{"x":[[1],{"y":"\\"}]}} , {"metadata":{"name":"c"}}]"#;
const METADATA: &str = r#"{"resourceVersion":"42","continue":"abc==","remainingItemCount":7}"#;

/// As API servers write it, and in the other order.
fn both_orders(metadata: &str, items: &str) -> [String; 2] {
    [
        format!(r#"{{"kind":"NodeList","apiVersion":"v1","metadata":{metadata},"items":{items}}}"#),
        format!(r#"{{"items":{items},"metadata":{metadata},"kind":"NodeList"}}"#),
    ]
}

/// What a page that came in pieces holds: its metadata, the names of its objects, and how many could not be read.
fn page(text: &str, cuts: &[usize]) -> Result<(Head, Vec<String>, usize), NoPage> {
    let (mut page, mut items, mut batch) = (Page::default(), Items::default(), Batch::new(Kind::Node));
    for piece in pieces(text.as_bytes(), cuts) {
        page.push(piece);
        if let Some(piece) = page.take() {
            items.read(&piece, &mut batch);
        }
    }
    let (head, rest) = page.finish()?;
    if let Some(piece) = rest {
        items.read(&piece, &mut batch);
    }
    let refused = batch.refused();
    Ok((head, names(batch), refused))
}

fn names(batch: Batch) -> Vec<String> {
    let mut cluster = Cluster::default();
    cluster.apply(Delta::Batch { kind: Kind::Node, place: Place::All, epoch: 1, batch });
    cluster.objects(Kind::Node, None).map(|object| object.meta().name.to_string()).collect()
}

fn texts(chunk: &Chunk) -> Vec<String> {
    chunk.objects().map(|(_, bytes)| String::from_utf8(bytes.to_vec()).expect("the test writes UTF-8")).collect()
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

#[test]
fn a_page_gives_its_items_and_its_metadata_in_either_order() {
    for text in both_orders(METADATA, ITEMS) {
        let (head, names, refused) = page(&text, &[]).unwrap();
        assert_eq!(head, Head { resource_version: "42".into(), next: "abc==".into(), remaining_item_count: Some(7) });
        assert_eq!((names, refused), (vec!["a}{\"][".to_owned(), "b".to_owned(), "c".to_owned()], 0));
    }
}

#[test]
fn the_continue_token_is_known_before_the_items_have_come() {
    let [text, _] = both_orders(METADATA, ITEMS);
    let mut page = Page::default();
    let items = text.find(r#""items":["#).unwrap() + r#""items":["#.len();
    page.push(&text.as_bytes()[..items]);
    assert_eq!(page.head().unwrap().next, "abc==");
}

#[test]
fn a_list_without_items_is_empty_and_not_an_error() {
    for items in ["null", "[]", " [ ] "] {
        for text in both_orders(r#"{"resourceVersion":"5","continue":null}"#, items) {
            let (head, names, refused) = page(&text, &[]).unwrap();
            assert_eq!((head.resource_version.as_str(), names.len(), refused), ("5", 0, 0), "{text}");
        }
    }
}

#[test]
fn metadata_of_the_wrong_type_costs_only_itself() {
    for text in both_orders("[1]", ITEMS) {
        let (head, names, _) = page(&text, &[]).unwrap();
        assert_eq!((head, names.len()), (Head::default(), 3));
    }
}

#[test]
fn what_is_no_list_or_ends_too_early_is_named_so() {
    for text in [r#"{"kind":"Status","code":403}"#, "<html>login</html>", ""] {
        assert_eq!(page(text, &[]), Err(NoPage::NoList), "{text}");
    }
    for text in [r#"{"metadata":{},"items":[{"a":"#, r#"{"metadata":{},"items":[{"a":1}"#, r#"{"items":[{"a":1}],"metadata":{"#] {
        assert_eq!(page(text, &[]), Err(NoPage::Partial), "{text}");
    }
}

#[test]
fn items_that_are_no_objects_with_a_name_are_counted_and_hide_no_other() {
    let items = r#"[null,{"metadata":{"name":"a"}},3,"x",true,{"metadata":{"name":7}},{"metadata":{"name":"b"},"spec":{"x":tru}},{},{"metadata":{"name":"c"}}]"#;
    for text in both_orders("{}", items) {
        let (_, names, refused) = page(&text, &[9, 40]).unwrap();
        assert_eq!((names, refused), (vec!["a".to_owned(), "c".to_owned()], 7), "{text}");
    }
}

#[test]
fn a_list_that_is_not_paged_is_handed_on_in_pieces() {
    let items: Vec<String> =
        (0..60).map(|at| json!({"metadata": {"name": format!("n{at}"), "x": "x".repeat(100_000)}}).to_string()).collect();
    for text in both_orders(METADATA, &format!("[{}]", items.join(","))) {
        let (mut page, mut items, mut batch) = (Page::default(), Items::default(), Batch::new(Kind::Node));
        let mut most = 0;
        for bytes in text.as_bytes().chunks(16 << 10) {
            page.push(bytes);
            if let Some(piece) = page.take() {
                most = most.max(size(&piece));
                items.read(&piece, &mut batch);
            }
        }
        items.read(&page.finish().unwrap().1.expect("a last piece"), &mut batch);
        assert_eq!((batch.len(), batch.refused()), (60, 0));
        assert!(most > 0 && most < 3 << 20, "{most}");
    }
}

fn size(piece: &Piece) -> usize {
    match piece {
        Piece::Chunks(chunks) => chunks.iter().map(|chunk| chunk.bytes.len()).sum(),
        Piece::Raw(raw) => raw.bytes.len(),
    }
}

#[test]
fn a_page_that_was_given_up_leaves_nothing_for_the_next() {
    let (mut items, mut batch) = (Items::default(), Batch::new(Kind::Node));
    let raw = |text: &str, is_first, is_last| Piece::Raw(holdup::watch::Raw { bytes: text.as_bytes().to_vec().into(), is_first, is_last });
    items.read(&raw(r#"{"metadata":{"name":"a"}},{"metadata""#, true, false), &mut batch);
    items.read(&raw(r#"{"metadata":{"name":"b"}}]}"#, true, true), &mut batch);
    assert_eq!((batch.refused(), names(batch)), (0, vec!["a".to_owned(), "b".to_owned()]));
}

fn hear(lines: &mut Lines, bytes: impl AsRef<[u8]>) -> Heard {
    let mut heard = Heard::default();
    lines.hear(&Bytes::copy_from_slice(bytes.as_ref()), &mut heard);
    heard
}

fn line(kind: &str, name: &str, version: u32) -> String {
    let object = json!({"kind": "Pod", "metadata": {"name": name, "resourceVersion": version.to_string()}});
    format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n")
}

#[test]
fn watch_events_say_what_happened_and_the_version_to_go_on_from() {
    let mut lines = Lines::default();
    let heard = hear(&mut lines, [line("ADDED", "a", 1), line("DELETED", "b", 2)].concat());
    let verbs: Vec<Verb> = heard.objects().map(|(verb, _)| verb).collect();
    assert_eq!(verbs, [Verb::Put, Verb::Gone]);
    assert_eq!(heard.version().as_deref(), Some("2"));
    assert_eq!((heard.bookmark, heard.skipped), (None, 0));
}

#[test]
fn bookmarks_move_the_version_and_end_the_initial_events() {
    let mark = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
    let mut lines = Lines::default();
    let heard = hear(&mut lines, format!("{}{mark}\n", line("ADDED", "a", 3)));
    assert_eq!((heard.bookmark, heard.version().as_deref()), (Some(Bookmark::InitialEnd), Some("7")));

    let heard = hear(&mut lines, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\",\"annotations\":null}}}\n");
    assert_eq!((heard.bookmark, heard.version().as_deref()), (Some(Bookmark::Plain), Some("8")));
}

#[test]
fn an_error_event_ends_the_watch_with_its_status() {
    let mut lines = Lines::default();
    let error = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old resource version"}}"#;
    let heard = hear(&mut lines, format!("{error}\n{}", line("ADDED", "late", 9)));
    assert_eq!(heard.error.map(|status| status.code), Some(410));
    assert!(heard.chunks.is_empty());
}

#[test]
fn a_partial_last_line_is_dropped_and_a_line_without_sense_is_counted() {
    let mut lines = Lines::default();
    let heard = hear(&mut lines, format!("nonsense\n\n{}{{\"type\":\"ADDED\",\"obj", line("ADDED", "a", 1)));
    assert_eq!((heard.objects().count(), heard.skipped), (1, 1));
    assert!(hear(&mut lines, "ect\":1").chunks.is_empty());
}

#[test]
fn members_of_an_event_may_come_in_any_order() {
    let mut lines = Lines::default();
    let heard =
        hear(&mut lines, " { \"object\" : {\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"4\"}} , \"type\" : \"MODIFIED\" } \r\n");
    let (verb, object) = heard.objects().next().unwrap();
    let object: Value = serde_json::from_slice(object).unwrap();
    assert_eq!((verb, &object["metadata"]["name"]), (Verb::Put, &json!("a")));
    assert_eq!(heard.version().as_deref(), Some("4"));
}

/// Three hundred kilobytes, so that pieces of them are passed on as they are.
fn large() -> Vec<String> {
    let object = |at: usize| json!({"metadata": {"name": format!("n{at}")}, "x": "x},{\"metadata\":".repeat(at * 1_500 % 4_000)});
    (0..16).map(|at| object(at).to_string()).collect()
}

/// The names of a page whose pieces come as the network brings them.
fn passed(text: &str, cuts: &[usize]) -> (Vec<String>, usize) {
    let (mut page, mut items, mut batch) = (Page::default(), Items::default(), Batch::new(Kind::Node));
    for piece in pieces(text.as_bytes(), cuts) {
        let mut bytes = Bytes::copy_from_slice(piece);
        while !bytes.is_empty() {
            let piece = page.pass(&mut bytes).or_else(|| {
                page.push(&bytes.split_to(bytes.len().min(10_000)));
                page.take()
            });
            piece.iter().for_each(|piece| items.read(piece, &mut batch));
        }
    }
    let (_, rest) = page.finish().expect("a page");
    rest.iter().for_each(|piece| items.read(piece, &mut batch));
    let refused = batch.refused();
    (names(batch), refused)
}

proptest! {
    #[test]
    fn large_pieces_of_a_page_are_read_wherever_they_are_cut(cuts in proptest::collection::vec(any::<usize>(), 0..8)) {
        let mut expected: Vec<String> = (0..16).map(|at| format!("n{at}")).collect();
        expected.sort();
        for text in both_orders("{}", &format!("[{}]", large().join(", "))) {
            prop_assert_eq!(passed(&text, &cuts), (expected.clone(), 0));
        }
    }

    #[test]
    fn large_pieces_of_a_watch_are_read_wherever_they_are_cut(cuts in proptest::collection::vec(any::<usize>(), 0..8)) {
        let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        let events: Vec<String> = large().iter().map(|object| format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n")).collect();
        let (mut lines, mut objects, mut version) = (Lines::default(), Vec::new(), None);
        for piece in pieces(format!("{}{end}\n", events.concat()).as_bytes(), &cuts) {
            let heard = hear(&mut lines, piece);
            heard.chunks.iter().for_each(|chunk| objects.extend(texts(chunk)));
            prop_assert_eq!(heard.skipped, 0);
            version = heard.version().or(version);
        }
        prop_assert_eq!((objects, version.as_deref()), (large(), Some("7")));
    }

    #[test]
    fn cuts_do_not_change_a_page(cuts in proptest::collection::vec(any::<usize>(), 0..40)) {
        for text in both_orders(METADATA, ITEMS) {
            prop_assert_eq!(page(&text, &cuts).unwrap(), page(&text, &[]).unwrap());
        }
    }

    /// Whatever the pieces of raw items, what is read is the same.
    #[test]
    fn cuts_between_pieces_do_not_change_what_is_read(cuts in proptest::collection::vec(any::<usize>(), 0..12)) {
        let text = &ITEMS[1..];
        let (mut items, mut batch) = (Items::default(), Batch::new(Kind::Node));
        let parts = pieces(text.as_bytes(), &cuts);
        for (at, part) in parts.iter().enumerate() {
            let raw = holdup::watch::Raw { bytes: part.to_vec().into(), is_first: at == 0, is_last: at + 1 == parts.len() };
            items.read(&Piece::Raw(raw), &mut batch);
        }
        prop_assert_eq!((batch.refused(), names(batch)), (0, vec!["a}{\"][".to_owned(), "b".to_owned(), "c".to_owned()]));
    }

    #[test]
    fn cuts_do_not_change_a_watch(cuts in proptest::collection::vec(any::<usize>(), 0..40), longest in 60_usize..140) {
        let long = line("ADDED", &"x".repeat(120), 5);
        let text = [line("ADDED", "a", 1), long, line("MODIFIED", "b", 2), line("DELETED", "c", 3)].concat();
        let read = |cuts: &[usize]| {
            let mut lines = Lines::with_longest(longest);
            let (mut objects, mut skipped, mut version) = (Vec::new(), 0, None);
            for piece in pieces(text.as_bytes(), cuts) {
                let heard = hear(&mut lines, piece);
                heard.chunks.iter().for_each(|chunk| objects.extend(texts(chunk)));
                skipped += heard.skipped;
                version = heard.version().or(version);
            }
            (objects, skipped, version)
        };
        prop_assert_eq!(read(&cuts), read(&[]));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(prop_oneof![Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b'\\'), Just(b','), Just(b':'), Just(b'\n'), any::<u8>()], 0..200), cuts in proptest::collection::vec(any::<usize>(), 0..6)) {
        let start = [br#"{"metadata":{},"items":["#.as_slice(), &bytes].concat();
        for text in [&bytes, &start] {
            let (mut page, mut lines, mut heard) = (Page::default(), Lines::default(), Heard::default());
            for piece in pieces(text, &cuts) {
                page.push(piece);
                lines.hear(&Bytes::copy_from_slice(piece), &mut heard);
            }
            prop_assert!(heard.objects().all(|(_, object)| object.len() <= text.len()));
            let (mut items, mut batch) = (Items::default(), Batch::new(Kind::Pod));
            if let Ok((_, Some(piece))) = page.finish() {
                items.read(&piece, &mut batch);
            }
            prop_assert!(batch.len() + batch.refused() <= text.len());
        }
    }
}

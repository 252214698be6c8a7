//! Frames of pages made by hand: how the view model looks at three sizes, and that drawing never panics.

use holdup::page::*;
use holdup::ui::{Colours, Glyphs, Ground, Theme, draw};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn frame(page: &Page, size: (u16, u16), theme: &Theme) -> String {
    crate::stage::text(page, size, theme)
}

fn blocked(what: &'static str) -> Line {
    Line::new().blocked("■ BLOCKED").plain(what)
}

fn row(id: &'static str, verdict: Line, age: &'static str, layer: &'static str, what: &'static str, much: &'static str) -> Row {
    let cells = vec![verdict, age.into(), Line::new().dim(layer), what.into(), Line::new().dim(much)];
    Row::new(id, cells).opens(Opens::Blocker(id.into()))
}

fn blockers() -> Pane {
    let rows = vec![
        row("taint", blocked(""), "18m", "Pending · scheduling", "no node without taint gpu=true", "14 pods 3w"),
        row("image", blocked(""), "12m", "Waiting · image", "registry.example.net answers 401", "9 pods 2w"),
        row("quota", blocked(""), "9m", "Not created · admission", "quota shop/compute is full: pods 6 of 6", "5 pods 1w"),
        Row { fresh: true, ..row("node", blocked(""), "6m", "Unknown · node", "n17 silent since 11:57, 12 pods frozen", "12 pods 4w") },
        row("init", Line::new().dim("└ also"), "", "Waiting · init", "shop/web waits for shop/db, which is on n17", "2 pods 1w"),
        row("slow", Line::new().delayed("◔ DELAYED 3:10"), "7m", "Stalled · rollout", "shop/api slow: 2 of 3 ready", "1 pod 1w"),
    ];
    let columns = vec![
        Column::new("verdict", Width::Cells(14)),
        Column::new("for", Width::Cells(4)).right(),
        Column::new("where", Width::Range { least: 10, want: 23 }).priority(1),
        Column::new("what", Width::Rest(20)),
        Column::new("holds up", Width::Cells(10)).right(),
    ];
    let len = rows.len();
    let list = List { columns, rows, len, selected: Some("image".into()), ..List::default() };
    Pane { id: "blockers", title: Some("Holding things up".into()), note: None, block: Block::List(list), focus: Focus::Here }
}

fn layers() -> Pane {
    let row = |id: &'static str, name: &'static str, count: &'static str| {
        let count = if count == "0" { Line::new().dim("·") } else { count.into() };
        Row::new(id, vec![Line::new().accent(id), name.into(), count])
    };
    let rows = vec![
        row("0", "all", "6"),
        row("1", "Not created · admission", "1"),
        row("2", "Pending · scheduling", "2"),
        row("3", "Pending · storage", "0"),
        row("", "Control plane", "0"),
    ];
    let columns = vec![Column::new("", Width::Cells(1)), Column::new("", Width::Rest(5)), Column::new("", Width::Cells(3)).right()];
    let list = List { columns, len: rows.len(), rows, selected: Some("0".into()), ..List::default() };
    Pane { id: "layers", title: Some("Layers".into()), note: None, block: Block::List(list), focus: Focus::Elsewhere }
}

fn text(id: &'static str, title: &'static str, lines: Vec<Line>) -> Pane {
    Pane { id, title: Some(title.into()), note: None, block: Block::Text(Text::whole(lines)), focus: Focus::Never }
}

fn why() -> Pane {
    let pod = Span::from("shop/cart-6d4cf56db6-x2x7k").cut(Cut::Pod);
    let message =
        "  \"0/12 nodes are available: 9 node(s) had untolerated taint(s), 3 Insufficient memory. preemption: 0/12 nodes are available\"";
    let lines = vec![
        "14 pods of 3 workloads tolerate no gpu=true:NoSchedule, which 9 of 12 nodes carry. The other three, n1 n4 n7, lack memory: 512Mi short on the best (n4).".into(),
        Line::new(),
        Line::from("Pod ").span(pod).dim("  PodScheduled=False Unschedulable, since 11:45:12"),
        Line::new().dim(message).hang(2),
        Line::from("Next  add a toleration for gpu=true:NoSchedule, or free 512Mi on n4.").hang(6),
    ];
    text("why", "Why", lines)
}

fn triage() -> Page {
    let pane = Layout::Pane;
    let left = vec![
        (Size::Rest(1), pane(layers())),
        (Size::Content { least: 2, most: 6 }, pane(text("unchecked", "not checked", vec!["secrets: forbidden".into()]))),
    ];
    let right = vec![(Size::Rest(1), pane(blockers())), (Size::Content { least: 4, most: 12 }, pane(why()))];
    Page {
        screen: "triage",
        title: "holdup: 4 blocked".into(),
        header: Header {
            left: vec![Part::new(0, Line::new().accent("holdup")), Part::new(1, "prod-eu · all namespaces".into())],
            right: vec![
                Part::new(2, Line::new().fine("●").dim(" live, changed 12:03:41")),
                Part::new(0, Line::new().blocked("4 blocked").plain("   ").delayed("2 delayed")),
                Part::new(3, "31 of 1,284 pods".into()),
            ],
        },
        body: Layout::Columns(vec![(Size::Cells(29), Layout::Rows(left)), (Size::Rest(1), Layout::Rows(right))]),
        footer: Footer::Hints(
            [("⏎", "open"), ("l", "logs"), ("e", "events"), ("/", "filter"), (":", "go to"), ("s", "snapshot"), ("?", "help")]
                .map(|(key, does)| Hint::new(key, does))
                .into(),
        ),
        ..Page::default()
    }
}

fn with_palette() -> Page {
    let rows = ["pod shop/cart-6d4cf56db6-x2x7k", "deployment shop/cart", "service shop/cart"]
        .map(|name| Row::new(name, vec![name.into(), Line::new().dim("object")]));
    let columns = vec![Column::new("", Width::Rest(20)), Column::new("", Width::Cells(10))];
    let list = List { columns, len: 40, rows: rows.into(), first: 3, selected: Some("service shop/cart".into()), ..List::default() };
    let pane = Pane { id: "palette", title: Some("Go to".into()), note: None, block: Block::List(list), focus: Focus::Here };
    let prompt = Prompt { label: ":".into(), text: "cart".into(), cursor: 2, note: Line::new().dim("40 match") };
    Page { overlay: Some(Overlay { prompt: Some(prompt), pane }), ..triage() }
}

#[test]
fn a_triage_page_at_three_sizes() {
    for size in [(80, 24), (120, 40), (200, 60)] {
        insta::assert_snapshot!(format!("triage_{}x{}", size.0, size.1), frame(&triage(), size, &Theme::default()));
    }
}

#[test]
fn a_palette_lies_over_the_body() {
    insta::assert_snapshot!("palette_100x24", frame(&with_palette(), (100, 24), &Theme::default()));
}

#[test]
fn without_unicode_shapes_become_ascii() {
    let theme = Theme { glyphs: Glyphs::Ascii, ..Theme::default() };
    let frame = frame(&triage(), (100, 24), &theme);
    assert!(frame.is_ascii(), "{frame}");
    insta::assert_snapshot!("ascii_100x24", frame);
}

#[test]
fn a_small_terminal_says_so() {
    insta::assert_snapshot!("small_60x16", frame(&triage(), (60, 16), &Theme::default()));
    assert_eq!(frame(&triage(), (20, 3), &Theme::default()), "holdup needs 80×24,\nthis is 20×3\n\n");
}

fn themes() -> impl Strategy<Value = Theme> {
    let colours = prop_oneof![Just(Colours::None), Just(Colours::Sixteen), Just(Colours::Palette), Just(Colours::True)];
    let ground = prop_oneof![Just(Ground::Dark), Just(Ground::Light)];
    let glyphs = prop_oneof![Just(Glyphs::Unicode), Just(Glyphs::Ascii)];
    (colours, ground, glyphs).prop_map(|(colours, ground, glyphs)| Theme { colours, ground, glyphs })
}

fn cuts() -> impl Strategy<Value = Cut> {
    prop_oneof![Just(Cut::End), Just(Cut::Pod), Just(Cut::Image), Just(Cut::Start)]
}

/// Anything a cluster might hold: controls, escapes, bidi, marks, wide and hidden characters among ordinary words.
fn hostile() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "\x1b]0;x\x07",
        "\u{202e}",
        "\0",
        "日本語",
        "e\u{301}\u{302}\u{303}",
        "\u{301}",
        "👍🏽",
        "\u{200d}",
        "\u{fe0f}",
        "\n",
        "\r",
        "\t",
        "🇩🇪",
        "a\u{e0041}",
        "لا",
        "क्षि",
        "한",
    ]);
    let piece = prop_oneof![odd.prop_map(str::to_owned), "[ -~]{0,12}", any::<String>()];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn lines() -> impl Strategy<Value = Line> {
    let span = (hostile(), cuts(), 0..3u16).prop_map(|(text, cut, hang)| (Span::new(Role::Blocked, text).cut(cut), hang));
    prop::collection::vec(span, 0..4).prop_map(|spans| {
        let hang = spans.first().map_or(0, |(_, hang)| *hang * 7);
        spans.into_iter().fold(Line::new(), |line, (span, _)| line.span(span)).hang(hang)
    })
}

fn hostile_page() -> impl Strategy<Value = Page> {
    (prop::collection::vec(lines(), 12..20), 0..30usize, 0..60usize, hostile()).prop_map(|(lines, selected, by, typed)| {
        let mut page = with_palette();
        let rows: Vec<Row> = lines
            .iter()
            .enumerate()
            .map(|(at, line)| Row::new(at.to_string(), vec![line.clone(), line.clone(), line.clone()]).below(vec![line.clone()]))
            .collect();
        let columns = vec![
            Column::new(typed.clone(), Width::Range { least: 1, want: 30 }),
            Column::new("b", Width::Rest(9)).right(),
            Column::new("c", Width::Cells(7)).priority(2),
        ];
        let list = List {
            columns,
            len: 1000,
            first: by,
            rows,
            selected: Some(selected.to_string().into()),
            foot: lines.first().cloned(),
            empty: Vec::new(),
        };
        let sideways = Text { first: 0, len: lines.len(), lines: lines.clone(), wrap: Wrap::Sideways(by) };
        let pane =
            |id, block| Layout::Pane(Pane { id, title: lines.first().cloned(), note: lines.last().cloned(), block, focus: Focus::Here });
        page.body = Layout::Rows(vec![
            (Size::Content { least: 1, most: 9 }, pane("a", Block::Text(Text::whole(lines.clone())))),
            (
                Size::Rest(2),
                Layout::Columns(vec![
                    (Size::Cells(20), pane("b", Block::List(list.clone()))),
                    (Size::Rest(1), pane("c", Block::List(list))),
                ]),
            ),
            (Size::Cells(5), pane("d", Block::Text(sideways))),
        ]);
        page.header.left.extend(lines.iter().take(3).map(|line| Part::new(3, line.clone())));
        page.footer =
            Footer::Prompt(Prompt { label: typed.clone().into(), cursor: typed.chars().count() / 2, text: typed, note: lines[1].clone() });
        page
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn drawing_never_panics_and_no_cell_holds_what_a_terminal_obeys(page in hostile_page(), width in 1..300u16, height in 1..100u16, theme in themes()) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
        draw(&mut buffer, &page, &theme);
        for y in 0..height {
            let mut x = 0;
            while x < width {
                let symbol = buffer[(x, y)].symbol();
                let cells = unicode_width::UnicodeWidthStr::width(symbol) as u16;
                prop_assert!((1..=2).contains(&cells), "{symbol:?} takes {cells}");
                prop_assert!(x + cells <= width, "half of {symbol:?} at the edge");
                prop_assert!(!symbol.chars().any(char::is_control) && !symbol.contains(['\u{202e}', '\u{200b}', '\u{200d}', '\u{feff}']), "{symbol:?}");
                x += cells;
            }
        }
    }
}

#[test]
fn a_megabyte_of_message_is_drawn_as_much_as_fits() {
    let mut page = triage();
    let huge = Line::from("x\u{202e}".repeat(1 << 19)).hang(4);
    page.body = Layout::Pane(text("why", "Why", vec![huge.clone(), huge]));
    let frame = frame(&page, (80, 24), &Theme::default());
    assert!(frame.contains("…"), "{frame}");
}

//! The rules of the house that a machine can check: who uses whom, no clock in pure rooms, sizes, first sentences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms a room may use, and which crates beyond std. A new arrow is a change of the architecture: say it in the crate doc too.
const ARROWS: &[(&str, &[&str], &[&str])] = &[
    ("model", &[], &["compact_str", "hashbrown", "memchr", "serde", "serde_json"]),
    ("redact", &[], &["base64", "serde_json", "ring"]),
    ("page", &[], &[]),
    ("diagnose", &["model"], &["regex_lite"]),
    ("desired", &["model", "redact"], &["base64", "flate2", "serde_json", "serde_saphyr"]),
    (
        "archive",
        &["model", "redact"],
        &[
            "bytes",
            "chrono",
            "flate2",
            "futures",
            "http",
            "http_body",
            "http_body_util",
            "hyper",
            "hyper_util",
            "memchr",
            "ring",
            "rustix",
            "serde",
            "serde_json",
            "serde_saphyr",
            "tokio",
            "tower",
        ],
    ),
    (
        "watch",
        &["model", "redact"],
        &[
            "base64",
            "bytes",
            "flate2",
            "futures",
            "http",
            "http_body",
            "http_body_util",
            "hyper",
            "hyper_rustls",
            "hyper_util",
            "k8s_openapi",
            "kube",
            "memchr",
            "ring",
            "rustix",
            "rustls",
            "secrecy",
            "serde",
            "serde_json",
            "serde_saphyr",
            "tokio",
            "tokio_rustls",
            "tower",
        ],
    ),
    ("app", &["page", "model", "diagnose", "desired"], &[]),
    ("screen", &["app", "page", "model", "diagnose", "desired"], &["chrono"]),
    ("ui", &["page"], &["ratatui", "unicode_width"]),
    ("export", &["model", "diagnose", "desired", "redact"], &["serde", "serde_json", "serde_saphyr"]),
    ("term", &["app"], &["crossterm", "rustix"]),
    ("cli", &["model", "watch"], &["clap", "clap_complete"]),
    ("config", &["app"], &["serde", "toml"]),
];

/// Rooms that never read a clock: everything in them is a function of its arguments.
const TIMELESS: &[&str] = &["model", "redact", "diagnose", "desired", "page", "app", "screen", "ui", "export"];

/// Lines of a file: longer ones do more than one thing.
const LONGEST_FILE: usize = 600;

#[test]
fn rooms_use_only_the_rooms_and_crates_that_the_architecture_allows() {
    let known = crates();
    let mut wrong = Vec::new();
    for (room, rooms, crates) in ARROWS {
        for file in files_of(room) {
            let (used_rooms, used_crates) = used(&file, &known);
            wrong.extend(
                used_rooms
                    .iter()
                    .filter(|r| *r != room && !rooms.contains(&r.as_str()))
                    .map(|r| format!("{}: uses room {r}", file.display())),
            );
            wrong.extend(
                used_crates.iter().filter(|c| !crates.contains(&c.as_str())).map(|c| format!("{}: uses crate {c}", file.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_room_has_its_arrows() {
    let ruled: BTreeSet<&str> = ARROWS.iter().map(|(room, ..)| *room).chain(["runtime", "main", "lib"]).collect();
    let rooms: BTreeSet<String> =
        fs::read_dir(root().join("src")).expect("src").filter_map(|e| Some(e.ok()?.path().file_stem()?.to_str()?.to_owned())).collect();
    let without: Vec<&String> = rooms.iter().filter(|r| !ruled.contains(r.as_str())).collect();
    assert!(without.is_empty(), "rooms without arrows: {without:?}");
}

#[test]
fn pure_rooms_read_no_clock_and_wait_for_nothing() {
    let banned = [
        "SystemTime",
        "Instant::",
        "Utc::now",
        "Local::now",
        ".await",
        "async fn",
        "Mutex",
        "RwLock",
        "std::fs",
        "std::net",
        "std::process",
        "std::env::",
    ];
    let mut wrong = Vec::new();
    for file in TIMELESS.iter().flat_map(|room| files_of(room)) {
        for (number, line) in code(&file) {
            wrong.extend(banned.iter().filter(|word| line.contains(**word)).map(|word| format!("{}:{number}: {word}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_judge_sees_the_cluster_but_through_cx() {
    let folder = root().join("src/diagnose/causes");
    // `Stage::Cluster` is a stage, not the picture.
    let word = |line: &str| line.replace("Stage::Cluster", "").split(|c: char| !c.is_alphanumeric()).any(|w| w == "Cluster");
    let names_it = |f: &Path| code(f).any(|(_, line)| word(&line));
    let wrong: Vec<String> = rust_files(&folder).iter().filter(|f| names_it(f)).map(|f| f.display().to_string()).collect();
    assert!(wrong.is_empty(), "judges that name Cluster: {wrong:?}");
}

#[test]
fn only_watch_names_kube_and_only_ui_names_widgets() {
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")) {
        let room = room_of(&file);
        for (number, line) in code(&file) {
            let strays = line.contains("kube::") && room != "watch" || line.contains("ratatui::widgets") && room != "ui";
            wrong.extend(strays.then(|| format!("{}:{number}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Requests that are no reads exist in one file, are made in one place there, and that place always says `dryRun=All`.
#[test]
fn nothing_but_a_dry_run_can_be_sent_that_is_no_read() {
    let mutating = ["PATCH", "POST", "PUT", "DELETE", "Request::patch", "Request::post", "Request::put", "Request::delete"];
    let kubes = ["kube::Api", "kube::api", "PatchParams", "PostParams", "DeleteParams"];
    let only = root().join("src/watch/dry_run.rs");
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")).iter().filter(|file| **file != only) {
        for (number, line) in code(file) {
            // What is said to people is no request.
            let line: String = line.split('"').step_by(2).collect();
            let names: Vec<&str> = line.split(|c: char| !c.is_alphanumeric() && c != ':' && c != '_').collect();
            let is = |name: &str, word: &str| name == word || name.ends_with(&format!("::{word}"));
            let strays = mutating.iter().chain(&kubes).filter(|word| names.iter().any(|name| is(name, word)));
            wrong.extend(strays.map(|word| format!("{}:{number}: {word}", file.display())));
            wrong.extend(
                line.contains(".method(").then(|| format!("{}:{number}: .method(", file.display())).filter(|_| !line.contains(".method()")),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let lines: Vec<String> = code(&only).map(|(_, line)| line).collect();
    let count = |word: &str| lines.iter().filter(|line| line.contains(word)).count();
    assert_eq!((count(".method("), count("Request::builder()"), count("Request::")), (1, 1, 1), "one place makes the request");
    assert_eq!(count(r#"Query::default().with("dryRun", "All")"#), 1, "and it says dryRun=All");
    assert_eq!(count("Query::default()"), 1, "from which no query can begin without it");
    assert_eq!((count("Method::PATCH"), count("Method::POST"), count("Method::")), (1, 1, 2));
}

#[test]
fn files_are_short_and_say_first_what_they_do() {
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")).into_iter().chain(rust_files(&root().join("tests"))) {
        let text = fs::read_to_string(&file).expect("readable");
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            wrong.push(format!("{}: {lines} lines", file.display()));
        }
        if !text.starts_with("//!") {
            wrong.push(format!("{}: does not open with a sentence", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_is_left_for_later() {
    let words = [["TO", "DO"].concat(), ["FIX", "ME"].concat(), ["XX", "X:"].concat(), ["#[ig", "nore"].concat()];
    let mut wrong = Vec::new();
    for file in rust_files(&root().join("src")).into_iter().chain(rust_files(&root().join("tests"))) {
        let text = fs::read_to_string(&file).expect("readable");
        wrong.extend(words.iter().filter(|w| text.contains(w.as_str())).map(|w| format!("{}: {w}", file.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tests_wait_for_what_they_want_and_never_for_a_time() {
    let word = ["thread::sl", "eep("].concat();
    let sleepy: Vec<PathBuf> =
        rust_files(&root().join("tests")).into_iter().filter(|f| fs::read_to_string(f).expect("readable").contains(&word)).collect();
    assert!(sleepy.is_empty(), "{sleepy:?}");
}

#[test]
fn no_file_is_a_bag_of_helpers() {
    let banned = ["utils", "util", "helpers", "helper", "common", "manager", "handler", "misc"];
    let strays: Vec<PathBuf> = rust_files(&root().join("src"))
        .into_iter()
        .filter(|f| f.file_stem().is_some_and(|s| banned.contains(&&*s.to_string_lossy())))
        .collect();
    assert!(strays.is_empty(), "{strays:?}");
}

#[test]
fn the_top_level_holds_what_it_may_and_nothing_else() {
    let may = ["Cargo.toml", "Cargo.lock", "src", "assets", "tests", "CHANGELOG.md", "README.md", "LICENSE", "target"];
    let names = fs::read_dir(root()).expect("the top level").filter_map(|e| e.ok()?.file_name().into_string().ok());
    let strays: Vec<String> = names.filter(|n| !n.starts_with('.') && !may.contains(&n.as_str())).collect();
    assert!(strays.is_empty(), "{strays:?}");
}

#[test]
fn every_dependency_is_used() {
    let manifest: toml::Value =
        fs::read_to_string(root().join("Cargo.toml")).expect("manifest").parse::<toml::Table>().expect("TOML").into();
    let text: String = rust_files(&root().join("src")).iter().map(|f| fs::read_to_string(f).expect("readable")).collect();
    let names = manifest["dependencies"].as_table().expect("a table").keys().cloned();
    let unused: Vec<String> = names.filter(|n| *n != "k8s-openapi" && !text.contains(&n.replace('-', "_"))).collect();
    assert!(unused.is_empty(), "dependencies that nothing uses: {unused:?}");
}

#[test]
fn ids_of_causes_are_unique_and_in_the_catalogue_with_their_layer() {
    let catalogue: serde_json::Value = serde_json::from_str(include_str!("catalogue.json")).expect("JSON");
    let layers: BTreeMap<&str, &str> = catalogue["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|r| (r["id"].as_str().expect("id"), r["group"].as_str().expect("group")))
        .collect();
    let rows: Vec<_> = holdup::diagnose::CAUSES.iter().copied().flatten().collect();
    let unique: BTreeSet<&str> = rows.iter().map(|c| c.id).collect();
    assert_eq!(unique.len(), rows.len(), "an id occurs twice");
    let wrong: Vec<String> = rows
        .iter()
        .filter(|c| layers.get(c.id) != Some(&c.layer.id()))
        .map(|c| format!("{} in {} (catalogue: {:?})", c.id, c.layer.id(), layers.get(c.id)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_cause_says_what_it_is_and_what_lifts_it() {
    let empty: Vec<&str> = holdup::diagnose::CAUSES
        .iter()
        .copied()
        .flatten()
        .filter(|c| [c.title, c.explanation, c.told_apart, c.cure].iter().any(|t| t.trim().is_empty()))
        .map(|c| c.id)
        .collect();
    assert!(empty.is_empty(), "{empty:?}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_of(room: &str) -> Vec<PathBuf> {
    let single = root().join(format!("src/{room}.rs"));
    let folder = rust_files(&root().join("src").join(room));
    [single].into_iter().filter(|f| f.is_file()).chain(folder).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).into_iter().flatten().filter_map(|e| Some(e.ok()?.path())).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() && path.file_name().is_none_or(|n| n != "target") {
            all.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            all.push(path);
        }
    }
    all
}

fn room_of(file: &Path) -> String {
    let inside = file.strip_prefix(root().join("src")).expect("below src");
    inside.components().next().map(|c| c.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()).unwrap_or_default()
}

/// Lines of code with their numbers: without comments, and without the tests at the end.
fn code(file: &Path) -> impl Iterator<Item = (usize, String)> {
    let text = if is_test(file) { String::new() } else { fs::read_to_string(file).expect("readable") };
    let lines: Vec<String> = text.lines().take_while(|l| l.trim() != "#[cfg(test)]").map(str::to_owned).collect();
    lines.into_iter().enumerate().filter(|(_, l)| !l.trim_start().starts_with("//")).map(|(i, l)| (i + 1, l))
}

/// A module that its parent declares for tests only.
fn is_test(file: &Path) -> bool {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let parent = fs::read_to_string(file.with_file_name("mod.rs")).unwrap_or_default();
    parent.contains(&format!("#[cfg(test)]\nmod {name};"))
}

fn crates() -> BTreeSet<String> {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).expect("manifest").parse().expect("TOML");
    manifest["dependencies"].as_table().expect("a table").keys().map(|k| k.replace('-', "_")).collect()
}

/// Rooms behind `crate::`, and crates before `::`, that a file names.
fn used(file: &Path, known: &BTreeSet<String>) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut rooms, mut crates) = (BTreeSet::new(), BTreeSet::new());
    for (_, line) in code(file) {
        for (at, _) in line.match_indices("crate::") {
            rooms.extend(names(&line[at + "crate::".len()..]));
        }
        for name in known {
            let path = format!("{name}::");
            let starts =
                line.match_indices(&path).any(|(at, _)| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':'));
            if starts {
                crates.insert(name.clone());
            }
        }
    }
    (rooms, crates)
}

/// The first names of a path, or of each path in braces.
fn names(rest: &str) -> Vec<String> {
    let first = |s: &str| s.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let found = match rest.strip_prefix('{') {
        Some(group) => group.split(',').map(first).collect(),
        None => vec![first(rest)],
    };
    found.into_iter().filter(|n| n.chars().next().is_some_and(char::is_lowercase)).collect()
}

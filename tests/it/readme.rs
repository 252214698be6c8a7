//! The README's tables are what the program's tables say. `HOLDUP_BLESS=1 cargo test readme` writes them anew.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use holdup::app::key_table;
use holdup::diagnose::{CAUSES, Cause, Layer};

#[test]
fn the_tables_of_the_readme_are_those_of_the_program() {
    let text = std::fs::read_to_string(path()).expect("README.md");
    let wanted = with(&with(&text, "keys", &key_table()), "causes", &causes());
    if std::env::var_os("HOLDUP_BLESS").is_some() {
        std::fs::write(path(), &wanted).expect("writable");
    }
    assert!(std::fs::read_to_string(path()).expect("README.md") == wanted, "run HOLDUP_BLESS=1 cargo test readme");
}

#[test]
fn every_picture_of_the_readme_is_there() {
    let text = std::fs::read_to_string(path()).expect("README.md");
    let pictures: Vec<&str> = text.split("](assets/").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(!pictures.is_empty());
    for picture in pictures {
        assert!(path().with_file_name("assets").join(picture).is_file(), "{picture}");
    }
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")
}

/// The text with what stands between the marks of this name replaced.
fn with(text: &str, name: &str, table: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
    let (head, rest) = text.split_once(&begin).expect("the beginning is marked");
    let (_, tail) = rest.split_once(&end).expect("the end is marked");
    format!("{head}{begin}\n{}\n\n{end}{tail}", table.trim())
}

fn causes() -> String {
    let mut out = String::from("| layer | cause | what it is |\n|---|---|---|\n");
    for layer in Layer::ALL {
        let mut rows: Vec<&Cause> = CAUSES.iter().copied().flatten().filter(|c| c.layer == layer).collect();
        rows.sort_by_key(|c| c.id);
        for cause in rows {
            let _ = writeln!(out, "| {} | `{}` | {} |", layer.id(), cause.id, cause.title);
        }
    }
    out
}

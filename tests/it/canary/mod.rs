//! Canaries: a secret is planted in every channel through which one could come, and no byte of it may leave the program, in any form, by
//! any command, on any screen, in any file, log or error.

mod commands;
mod planted;
mod screens;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use planted::CHANNELS;

/// What is planted in a channel: a word of its own, so that a leak says where it comes from.
fn word(channel: &str) -> String {
    assert!(CHANNELS.contains(&channel), "{channel} is not among the channels");
    format!("cnry{channel}Pa55w0rd")
}

/// How a word may look when it leaves: as it is (then also in a URL, in JSON and in YAML), reversed into hexadecimal digits, and as
/// base64, once or twice, wherever in the encoded bytes it begins.
fn forms(word: &str) -> Vec<String> {
    let hex: String = word.bytes().map(|byte| format!("{byte:02x}")).collect();
    let once = encoded(word);
    let twice: Vec<String> = once.iter().flat_map(|form| encoded(form)).collect();
    [vec![word.to_owned(), hex], once, twice].concat()
}

/// The characters of the base64 of any text that holds this one, for the three places at which it may begin.
fn encoded(text: &str) -> Vec<String> {
    let at = |before: usize| {
        let whole = STANDARD_NO_PAD.encode(format!("{}{text}", "x".repeat(before)));
        let (start, end) = ((before * 8).div_ceil(6), (before + text.len()) * 8 / 6);
        whole[start..end].to_owned()
    };
    (0..3).map(at).collect()
}

/// The channels whose word is in these bytes.
fn leaks(bytes: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    let leaks = |channel: &&str| forms(&word(channel)).iter().any(|form| text.contains(form.as_str()));
    CHANNELS.iter().filter(|channel| leaks(channel)).copied().collect()
}

#[track_caller]
fn holds_none(what: &str, bytes: &[u8]) {
    let leaked = leaks(bytes);
    let text = String::from_utf8_lossy(bytes);
    let line = |channel: &str| {
        let forms = forms(&word(channel));
        text.lines()
            .find(|line| forms.iter().any(|form| line.contains(form.as_str())))
            .unwrap_or_default()
            .chars()
            .take(900)
            .collect::<String>()
    };
    let told: Vec<String> = leaked.iter().map(|channel| format!("{channel}: {}", line(channel))).collect();
    assert!(told.is_empty(), "{what} shows what was planted in\n{}", told.join("\n"));
}

/// A folder for the files of a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("canary").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The program with nothing of this machine's around it.
fn holdup(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdup"));
    command.args(args).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("RUST_BACKTRACE", "1");
    command.env("HOME", folder).env("XDG_STATE_HOME", folder.join("state")).env("KUBECONFIG", "/nonexistent/kubeconfig");
    command.env("TERM", "xterm-256color").env("LANG", "C.UTF-8").env("TZ", "UTC").stdin(Stdio::null());
    command
}

#[test]
fn a_word_is_found_in_every_form() {
    let word = word("data");
    for text in [word.clone(), format!("a%20{word}%2F"), STANDARD_NO_PAD.encode(format!("ab{word}c")), {
        STANDARD_NO_PAD.encode(format!("x{}", STANDARD_NO_PAD.encode(format!("q{word}"))))
    }] {
        assert_eq!(leaks(format!("before {text} after").as_bytes()), ["data"], "{text}");
    }
    assert!(leaks(b"cnry Pa55w0rd").is_empty());
}

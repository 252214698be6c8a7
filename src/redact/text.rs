//! Finds secrets in free text, in one pass from left to right.

use std::borrow::Cow;

use super::{Redactor, names, tag};

/// Beginnings of tokens that well-known services hand out, and how many characters must follow.
const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("hvs.", 20),
    ("npm_", 30),
    ("sk_live_", 16),
    ("dckr_pat_", 16),
];

pub(super) fn redact<'a>(redactor: &Redactor, text: &'a str) -> Cow<'a, str> {
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while at < text.len() {
        if let Some(length) = tag::starts(&text[at..]) {
            at += length;
        } else if let Some(found) = find(text, kept, at) {
            out.push_str(&text[kept..found.start]);
            out.push_str(&tag::in_text(redactor, &text[found.start..found.end]));
            (kept, at) = (found.end, found.end);
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Where a secret stands; never empty, never in front of what was already looked at.
struct Found {
    start: usize,
    end: usize,
}

/// The secret that is announced or begins at `at`; `kept` is where the text not yet written begins.
fn find(text: &str, kept: usize, at: usize) -> Option<Found> {
    let found = match text.as_bytes()[at] {
        b'-' => pem(text, at).or_else(|| login(text, at)),
        b':' if text[at..].starts_with("://") => user_info(text, at),
        b':' => after_colon(text, kept, at),
        b'=' => after_equals(text, kept, at),
        b'B' | b'b' => bearer(text, at),
        b'e' => jwt(text, at),
        b'g' | b'x' | b'A' | b'h' | b'n' | b's' | b'd' => token(text, at),
        _ => None,
    }?;
    (found.start < found.end).then_some(found)
}

/// From `-----BEGIN X-----` to the end of the matching last line, else to the end of the text.
fn pem(text: &str, at: usize) -> Option<Found> {
    let body = text[at..].strip_prefix("-----BEGIN ")?;
    let body_at = text.len() - body.len();
    let end = body
        .find("-----END ")
        .and_then(|tail| {
            let tail = body_at + tail + "-----END ".len();
            text[tail..].find("-----").map(|dashes| tail + dashes + "-----".len())
        })
        .unwrap_or(text.len());
    Some(Found { start: at, end })
}

/// The password of `-u user:password` and `--user user:password`, as curl and its like take them.
fn login(text: &str, at: usize) -> Option<Found> {
    if at > 0 && !text[..at].ends_with([' ', '\t', '"', '\'']) {
        return None;
    }
    let word = ["-u ", "--user ", "--user=", "--proxy-user "].into_iter().find(|flag| text[at..].starts_with(flag))?;
    let start = at + word.len();
    let end = stretch(text, start, |c| !matches!(c, '"' | '\''));
    let colon = start + text.get(start..end)?.find(':')?;
    // `-u 1000:1000` names a user and a group.
    let numbers = text[start..end].chars().all(|c| c.is_ascii_digit() || c == ':');
    (!numbers && !text[colon + 1..].starts_with("$")).then_some(Found { start: colon + 1, end })
}

/// `scheme://user:password@host`: all before the `@`.
fn user_info(text: &str, at: usize) -> Option<Found> {
    let start = at + "://".len();
    let authority = &text[start..stretch(text, start, |c| !matches!(c, '/' | '?' | '#'))];
    let end = start + authority.rfind('@')?;
    Some(Found { start, end })
}

/// `NAME=value`, `--name=value`, `name="two words"`, also in a URL's query.
fn after_equals(text: &str, kept: usize, at: usize) -> Option<Found> {
    let name = name_before(text, kept, at)?;
    if !names::looks_secret(name) {
        return None;
    }
    let start = at + 1;
    if text[start..].starts_with("$(") || text[start..].starts_with("${") {
        return None;
    }
    let found = quoted(text, start).unwrap_or(Found { start, end: stretch(text, start, |c| !matches!(c, '&' | ';' | ',' | ')')) });
    (!names::is_count(name, &text[found.start..found.end])).then_some(found)
}

/// `name: value` and `"name":"value"`. Prose is full of colons (`failed to fetch token: denied`), so that a value must
/// look made by a machine, unless it is quoted or the name leaves no doubt.
fn after_colon(text: &str, kept: usize, at: usize) -> Option<Found> {
    let name = name_before(text, kept, at)?;
    if is_cookie(name) {
        let start = at + 1 + blanks(&text[at + 1..]);
        let line = text[start..].find(['\n', '\r']).unwrap_or(text.len() - start);
        return Some(Found { start, end: tag_in(text, start, start + line) });
    }
    if !names::looks_secret(name) {
        return None;
    }
    let start = at + 1 + blanks(&text[at + 1..]);
    let bare = Found { start, end: stretch(text, start, |c| !matches!(c, ',' | ';' | ')' | '}' | ']')) };
    match quoted(text, start) {
        Some(found) if text[..at].ends_with(['"', '\'', '\\']) || is_random(&text[found.start..found.end]) => Some(found),
        Some(found) => names::is_strong(name).then_some(found),
        None => (names::is_strong(name) || is_random(&text[bare.start..bare.end])).then_some(bare),
    }
}

fn is_cookie(name: &str) -> bool {
    name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie")
}

/// `Bearer x`, `Basic x`; not the challenge `Bearer realm="…"` and not the words in a sentence.
fn bearer(text: &str, at: usize) -> Option<Found> {
    let word = text.get(at..at + 6)?;
    let length = if word.eq_ignore_ascii_case("bearer") {
        6
    } else if word.eq_ignore_ascii_case("basic ") {
        5
    } else {
        return None;
    };
    let start = at + length + blanks(&text[at + length..]);
    if start == at + length || text[..at].ends_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let end = stretch(text, start, is_token_char);
    let value = &text[start..end];
    let ordinary = ["realm=", "error=", "scope=", "token", "auth", "scheme", "credential"];
    let is_word = ordinary.iter().any(|word| starts_ignoring_case(value, word));
    let long_enough = length == 6 || is_random(value);
    (!is_word && long_enough).then_some(Found { start, end })
}

fn starts_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Three parts of base64url, of which the first begins like `{"`; also when the third is missing.
fn jwt(text: &str, at: usize) -> Option<Found> {
    if !text[at..].starts_with("eyJ") || text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let end = stretch(text, at, |c| c == '.' || c == '-' || c == '_' || c.is_ascii_alphanumeric());
    let parts = text[at..end].split('.');
    let long = parts.filter(|part| part.len() >= 8).count();
    (long >= 2).then_some(Found { start: at, end })
}

fn token(text: &str, at: usize) -> Option<Found> {
    if text[..at].ends_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    let (prefix, least) = TOKENS.iter().find(|(prefix, _)| text[at..].starts_with(prefix))?;
    let end = stretch(text, at, |c| c == '-' || c == '_' || c == '.' || c.is_ascii_alphanumeric());
    (end - at >= prefix.len() + least).then_some(Found { start: at, end })
}

/// The name that ends in front of `at`, quotes left out; it reaches back to `kept` at most.
fn name_before(text: &str, kept: usize, at: usize) -> Option<&str> {
    let before = text[kept..at].trim_end_matches(['"', '\'', '\\']);
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name = &before[before.trim_end_matches(is_name).len()..];
    (!name.is_empty()).then_some(name)
}

/// What stands between quotes that open at `at`; to the end of the line where they do not close.
fn quoted(text: &str, at: usize) -> Option<Found> {
    let escapes = text[at..].len() - text[at..].trim_start_matches('\\').len();
    let quote = text[at + escapes..].chars().next()?;
    if !matches!(quote, '"' | '\'') {
        return None;
    }
    let start = at + escapes + 1;
    let closing = &text[at..start];
    let line = text[start..].find(['\n', '\r']);
    let length = text[start..].find(closing).or(line).unwrap_or(text.len() - start);
    Some(Found { start, end: tag_in(text, start, start + length) })
}

/// Where the run of characters that belong to a value ends: at a blank, a quote, a tag, or where `belongs` says so.
fn stretch(text: &str, start: usize, belongs: impl Fn(char) -> bool) -> usize {
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '\'' | '`' | '\\') || !belongs(c);
    let length = text[start..].find(ends).unwrap_or(text.len() - start);
    tag_in(text, start, start + length)
}

/// The start of the first tag between `start` and `end`, else `end`: what is redacted stays as it is.
fn tag_in(text: &str, start: usize, end: usize) -> usize {
    text[start..end].match_indices('‹').map(|(at, _)| start + at).find(|&at| tag::starts(&text[at..]).is_some()).unwrap_or(end)
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~' | '+' | '/' | '=')
}

/// Looks made by a machine: long, with digits, and either mixed case or without the dashes of a Kubernetes name.
fn is_random(value: &str) -> bool {
    let has = |test: fn(char) -> bool| value.chars().any(test);
    let mixed = has(|c| c.is_ascii_uppercase()) && has(|c| c.is_ascii_lowercase());
    let solid = value.len() >= 20 && !value.contains(['-', '.', '/', ':']);
    value.len() >= 12 && value.chars().all(is_token_char) && has(|c| c.is_ascii_digit()) && (mixed || solid)
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;

    fn redact(text: &str) -> String {
        let redactor = Redactor::new(&[7; 32]);
        let once = redactor.text(text).into_owned();
        assert_eq!(redactor.text(&once), once, "twice is once");
        let mut plain = String::new();
        let mut rest = once.as_str();
        while let Some(at) = rest.find("‹redacted:") {
            plain.push_str(&rest[..at]);
            plain.push('█');
            rest = &rest[at + super::tag::starts(&rest[at..]).unwrap_or(1)..];
        }
        plain + rest
    }

    #[test]
    fn secrets_in_text_are_taken_out_and_nothing_else() {
        for (text, expected) in [
            ("postgres://app:hunter2@db:5432/shop", "postgres://█@db:5432/shop"),
            ("https://token@git.example.net/x.git", "https://█@git.example.net/x.git"),
            ("Authorization: Bearer abc.def", "Authorization: Bearer █"),
            ("--db-password=hunter2 --port=80", "--db-password=█ --port=80"),
            ("export API_KEY='two words'; run", "export API_KEY='█'; run"),
            (r#"{"password": "hunter2", "user": "app"}"#, r#"{"password": "█", "user": "app"}"#),
            (r#"{\"password\":\"hunter2\"}"#, r#"{\"password\":\"█\"}"#),
            ("password: hunter2", "password: █"),
            ("Cookie: a=b; c=d\nHost: x", "Cookie: █\nHost: x"),
            ("GET /x?access_token=abc&page=2", "GET /x?access_token=█&page=2"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nend", "█\nend"),
            ("got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl now", "got █ now"),
            ("key AKIAIOSFODNN7EXAMPLE denied", "key █ denied"),
        ] {
            assert_eq!(redact(text), expected, "{text}");
        }
    }

    #[test]
    fn what_kubernetes_says_stays_as_it_is() {
        for text in [
            "0/12 nodes are available: 9 node(s) had untolerated taint(s), 3 Insufficient memory.",
            "secret \"db-credentials\" not found",
            "couldn't find key DB_PASSWORD in Secret shop/db",
            "MountVolume.SetUp failed for volume \"tls\" : secret \"web-tls\" not found",
            "failed to authorize: failed to fetch anonymous token: unexpected status from GET request to https://auth.docker.io/token?scope=repository%3Alibrary%2Fx%3Apull&service=registry.docker.io: 401 Unauthorized",
            "no basic auth credentials",
            "pull access denied, Bearer realm=\"https://auth.example.net/token\",service=\"r\"",
            "exceeded quota: compute, requested: secrets=1, used: secrets=5, limited: secrets=5",
            "error looking up service account shop/api: serviceaccount \"api\" not found",
            "sessionAffinity: None",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}

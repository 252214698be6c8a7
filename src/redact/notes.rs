//! Annotations that say how somebody logs in, and not with what: `auth-url`, `auth-type`, `session-cookie-max-age`. Their name alone says
//! too little, so that their value has to look like what the name says; in doubt it is no setting.

use super::names::{is_plainly_secret, words};
use super::tag;

/// Whether an annotation whose name looks secret holds an address, a type or the like all the same.
pub(super) fn is_setting(name: &str, value: &str) -> bool {
    // What was taken out already is neither long nor full of digits.
    let value = &*tag::hide(value);
    let words = words(name);
    let last = words.rsplit(' ').next().unwrap_or_default();
    let is_weak = !is_plainly_secret(&words);
    match last {
        "type" => is_word(value),
        "method" | "mode" | "samesite" => is_weak && is_word(value),
        "url" | "uri" | "signin" | "signout" | "issuer" | "endpoint" => is_weak && is_address(value),
        "realm" => is_weak && value.split_whitespace().all(is_harmless),
        "headers" => is_weak && value.split([',', ' ', '/']).all(|part| is_harmless(part) && part.chars().all(is_of_a_name)),
        "age" | "expires" | "duration" | "timeout" | "keepalive" | "requests" => is_weak && is_number(value),
        _ => false,
    }
}

fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// `basic`, `auth-file`.
fn is_word(value: &str) -> bool {
    (1..=24).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-')
}

fn is_number(value: &str) -> bool {
    let digits = value.trim_end_matches(['s', 'm', 'h']);
    (1..=9).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

/// An address without anything that could be a key in itself, as the path of a webhook may be. Who logs in, in front of the host, and
/// tokens in the query are taken out later, as of any address.
fn is_address(value: &str) -> bool {
    let Some(rest) = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://")) else { return false };
    let behind = rest.find(['/', '?', '#']).map_or("", |at| &rest[at..]);
    behind.split(['/', '?', '#', '&', '=', ':']).all(is_harmless) && !value.contains(char::is_whitespace)
}

/// Too short for a key, or without digits as words are; variables of the server that reads it are none.
fn is_harmless(part: &str) -> bool {
    part.starts_with('$') || part.len() < 12 || part.len() < 40 && !part.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_told_from_secrets_by_name_and_value() {
        for (name, value) in [
            ("auth-url", "https://auth.example.net/oauth2/auth?rd=$escaped_request_uri"),
            ("auth-url", "http://user:pw@auth.example.net/check"),
            ("auth-signin", "https://auth.example.net/oauth2/start"),
            ("auth-type", "basic"),
            ("auth-secret-type", "auth-map"),
            ("auth-realm", "Authentication Required - shop"),
            ("auth-response-headers", "X-Auth-Request-User, X-Auth-Request-Email"),
            ("session-cookie-max-age", "172800"),
            ("session-cookie-samesite", "Strict"),
        ] {
            assert!(is_setting(name, value), "{name}: {value}");
        }
        for (name, value) in [
            ("auth-token", "basic"),
            ("basic-auth", "https://auth.example.net"),
            ("auth", "app:hunter2"),
            ("auth-url", "hunter2"),
            ("auth-url", "https://hooks.example.net/services/T024BE7LD/B8KJ2N4Q9XWZ"),
            ("auth-url", "https://auth.example.net/check?key=9f8e7d6c5b4a"),
            ("auth-url", "https://auth.example.net/two words"),
            ("token-url", "https://auth.example.net/"),
            ("auth-snippet", "proxy_set_header X-Key abc;"),
            ("auth-realm", "dXNlcjpodW50ZXIyMTIz"),
            ("auth-secret", "shop/basic"),
            ("password-type", "hunter2"),
            ("auth-keepalive", "12345678901"),
        ] {
            assert!(!is_setting(name, value), "{name}: {value}");
        }
    }
}

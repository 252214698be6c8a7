//! Which names of variables, fields and flags look as if their value were a secret.

/// Parts that mark a name wherever they stand in it, also glued to others as in `PGPASSWORD`.
const ANYWHERE: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "connectionstring",
    "bearer",
];

/// Words that mark a name only when they stand alone: `auth` is not in `author`, `salt` not in `saltstack`.
const WORDS: &[&str] = &["pass", "pwd", "private", "auth", "dsn", "cookie", "cookies", "session", "sessions", "salt"];

/// Last words of names whose value says where a secret is, not what it is.
const REFERENCES: &[&str] = &["name", "names", "ref", "refs", "file", "path", "dir"];

/// Whether a literal value under this name is taken for a secret.
pub fn looks_secret(name: &str) -> bool {
    let words = words(name);
    if words.last().is_some_and(|last| REFERENCES.contains(&last.as_str())) {
        return false;
    }
    let glued: String = words.concat();
    ANYWHERE.iter().any(|part| glued.contains(part)) || words.iter().any(|word| WORDS.contains(&word.as_str()))
}

/// Whether this counts secrets, as a quota does (`secrets=5`) or a language model (`MAX_TOKENS=4096`).
pub(super) fn is_count(name: &str, value: &str) -> bool {
    let last = words(name).pop().unwrap_or_default();
    matches!(last.as_str(), "secrets" | "tokens") && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit())
}

/// Whether even a short, ordinary looking word after this name and a colon is taken for a secret in free text.
pub(super) fn is_strong(name: &str) -> bool {
    let glued = words(name).concat();
    ["password", "passwd", "passphrase", "apikey", "accesskey", "secretkey", "privatekey", "clientsecret"]
        .iter()
        .any(|part| glued.ends_with(part))
}

/// Whether a string field of this name, anywhere in an object, holds a secret itself and is no reference to one.
///
/// Narrower than [`looks_secret`]: `secretName`, `tokenSecretRef`, `sessionAffinity` and `key` name things.
pub(super) fn is_secret_field(name: &str) -> bool {
    let glued = words(name).concat();
    [
        "password",
        "passwd",
        "passphrase",
        "token",
        "apikey",
        "accesskey",
        "secretkey",
        "privatekey",
        "clientsecret",
        "connectionstring",
        "dsn",
    ]
    .iter()
    .any(|end| glued.ends_with(end))
}

/// The lower-case words of a name: parted at everything that is no letter or digit, and where camel case says so.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let starts = !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase());
        if starts && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_secret() {
        for name in [
            "DB_PASSWORD",
            "PGPASSWORD",
            "dbPassword",
            "API_KEY",
            "apiKey",
            "AWS_ACCESS_KEY_ID",
            "BASIC_AUTH",
            "SENTRY_DSN",
            "CONNECTION_STRING",
            "session-id",
            "Cookie",
            "PASSWORD_SALT",
            "BEARER",
            "tls.private",
            "REDIS_PASS",
        ] {
            assert!(looks_secret(name), "{name}");
        }
    }

    #[test]
    fn names_that_do_not() {
        for name in ["AUTHOR", "PATH", "SALTSTACK", "COMPASS", "KEY", "LOG_LEVEL", "OBSESSION", "HOST"] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}

//! Environment variables: where a value comes from, and whom it calls. The value itself is never kept: it may be a secret.

use super::pack::Pack;
use super::pull::{Pull, api};
use super::read::Reader;
use super::{EnvSource, Text};

/// A variable of a container's environment.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(test, derive(serde::Deserialize), serde(from = "Wire"))]
pub struct EnvVar {
    pub name: Text,
    pub value_from: Option<EnvSource>,
    /// The host of the address that the value is, in lower case; empty where it is none.
    pub host: Text,
}

api! {
    pub struct Wire {
        name: Text,
        value: Text,
        value_from: Option<EnvSource>,
    }
}

impl Pull for EnvVar {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        Wire::pull(r).map(Into::into)
    }
}

impl Pack for EnvVar {
    fn pack(&self, out: &mut Vec<u8>) {
        self.name.pack(out);
        self.host.pack(out);
        self.value_from.is_some().pack(out);
        if let Some(source) = &self.value_from {
            source.pack(out);
        }
    }

    fn unpack(input: &mut &[u8]) -> Self {
        let (name, host) = (Pack::unpack(input), Pack::unpack(input));
        let value_from = bool::unpack(input).then(|| EnvSource::unpack(input));
        Self { name, value_from, host }
    }
}

impl From<Wire> for EnvVar {
    fn from(wire: Wire) -> Self {
        let host = host(&wire.name, &wire.value).unwrap_or_default();
        Self { name: wire.name, value_from: wire.value_from, host }
    }
}

/// Parts of names whose values are looked at for nothing.
const SECRET: [&str; 9] = ["PASS", "SECRET", "TOKEN", "KEY", "CRED", "AUTH", "SALT", "COOKIE", "PRIVATE"];

/// Ends of names whose values are an address even where they are a single word.
const ADDRESS: [&str; 12] =
    ["HOST", "HOSTS", "HOSTNAME", "ADDR", "ADDRESS", "SERVER", "SERVERS", "SERVICE", "ENDPOINT", "URL", "URI", "BROKERS"];

/// The host in `postgres`, `db.shop:5432`, `http://user:word@db/x`, `a:9092,b:9092` (the first): never anything else of the value.
fn host(name: &str, value: &str) -> Option<Text> {
    let name = name.to_ascii_uppercase();
    if value.len() > 1024 || SECRET.iter().any(|word| name.contains(word)) {
        return None;
    }
    let (scheme, rest) = value.trim().split_once("://").map_or(("", value.trim()), |(scheme, rest)| (scheme, rest));
    let authority = rest.split(['/', '?', '#', ',', ';']).next()?;
    let address = authority.rsplit_once('@').map_or(authority, |(_, address)| address);
    let (host, port) = address.split_once(':').unwrap_or((address, ""));
    let host = host.to_ascii_lowercase();
    let named = ADDRESS.iter().any(|end| name.ends_with(end)) || host.ends_with(".svc") || host.ends_with(".svc.cluster.local");
    let called = !scheme.is_empty() || named || !port.is_empty() && !authority.contains('@');
    let sound = is_name(&host) && port.bytes().all(|b| b.is_ascii_digit());
    (called && sound).then(|| host.into())
}

/// What DNS takes for a name, and no address of numbers.
fn is_name(host: &str) -> bool {
    let label = |l: &str| !l.is_empty() && l.len() < 64 && !l.starts_with('-') && !l.ends_with('-');
    let characters = host.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'));
    characters && host.split('.').all(label) && host.bytes().any(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn of_an_address_the_host_is_kept() {
        let of = |name: &str, value: &str| host(name, value).map(String::from).unwrap_or_default();
        assert_eq!(of("DB_HOST", "postgres"), "postgres");
        assert_eq!(of("WAIT_FOR", "pg.shop.svc.cluster.local:5432"), "pg.shop.svc.cluster.local");
        assert_eq!(of("BROKER", "kafka-0.kafka:9092,kafka-1.kafka:9092"), "kafka-0.kafka");
        assert_eq!(of("AMQP_URL", "amqp://user:word@rabbit:5672/x"), "rabbit");
        assert_eq!(of("API", "https://API.example.net/v1?x=1"), "api.example.net");
    }

    #[test]
    fn of_anything_else_nothing_is_kept() {
        let none = [
            ("LEVEL", "debug"),
            ("DB_PASSWORD", "postgres"),
            ("API_KEY", "http://word"),
            ("DB_HOST", "10.0.0.1"),
            ("DB_HOST", "a b"),
            ("X", "user:word"),
            ("URL", "http://user:word@/x"),
            ("IMAGE", "app:latest"),
            ("HOST", ""),
        ];
        for (name, value) in none {
            assert_eq!(host(name, value), None, "{name}={value}");
        }
    }
}

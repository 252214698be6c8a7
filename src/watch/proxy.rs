//! Decides which proxy, if any, stands between us and the API server.

use std::net::IpAddr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};

use super::options::Environment;

/// A proxy and what it must be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub(super) protocol: Protocol,
    /// Scheme, host and port, without user and password.
    pub(super) uri: Uri,
    /// User and password, decoded.
    pub(super) login: Option<(String, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// `CONNECT` over plain TCP.
    Http,
    /// `CONNECT` over TLS, with the proxy's own certificate.
    Https,
    /// SOCKS 5; names are resolved by the proxy (`socks5h`) or here (`socks5`).
    Socks { resolves: Resolves },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolves {
    Here,
    AtTheProxy,
}

/// The choice and what had to be ignored on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    pub proxy: Option<Proxy>,
    pub warnings: Vec<String>,
    /// NO_PROXY without its unreadable entries, for plugins; `None` when nothing was unreadable.
    pub clean_no_proxy: Option<String>,
}

/// A kubeconfig `proxy-url` always wins; else `HTTPS_PROXY` or `HTTP_PROXY` by the server's scheme, unless `NO_PROXY` names
/// the server or it is on this machine (golang.org/x/net/http/httpproxy).
#[must_use]
pub fn choose(proxy_url: Option<&str>, server: &Uri, environment: &Environment) -> Choice {
    let mut choice = Choice::default();
    let list = environment.first(&["NO_PROXY", "no_proxy"]);
    let rules = read_rules(list.unwrap_or_default(), &mut choice);
    if let Some(url) = proxy_url.filter(|url| !url.trim().is_empty()) {
        choice.proxy = read(url, "proxy-url", &mut choice.warnings);
        return choice;
    }
    let names: &[&str] = match server.scheme_str() {
        Some("http") => &["HTTP_PROXY", "http_proxy"],
        _ => &["HTTPS_PROXY", "https_proxy"],
    };
    if let Some(url) = environment.first(names)
        && !is_local(server)
        && !rules.iter().any(|rule| rule.covers(server))
    {
        choice.proxy = read(url, names[0], &mut choice.warnings);
    }
    choice
}

impl Proxy {
    /// The value of `Proxy-Authorization`.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        let (user, password) = self.login.as_ref()?;
        let pair = STANDARD.encode(format!("{user}:{password}"));
        HeaderValue::from_str(&format!("Basic {pair}")).ok()
    }
}

fn read(url: &str, from: &str, warnings: &mut Vec<String>) -> Option<Proxy> {
    let url = url.trim();
    let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let proxy = parse(&url);
    if proxy.is_none() {
        warnings.push(format!("{from} is not a proxy address (http, https, socks5 or socks5h): connecting without a proxy"));
    }
    proxy
}

fn parse(url: &str) -> Option<Proxy> {
    let uri: Uri = url.parse().ok()?;
    let (protocol, scheme, port) = match uri.scheme_str()? {
        "http" => (Protocol::Http, "http", 80),
        "https" => (Protocol::Https, "https", 443),
        "socks5" => (Protocol::Socks { resolves: Resolves::Here }, "socks5", 1080),
        "socks5h" => (Protocol::Socks { resolves: Resolves::AtTheProxy }, "socks5", 1080),
        _ => return None,
    };
    let login = uri.authority()?.as_str().rsplit_once('@').map(|(login, _)| {
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        (unescape(user), unescape(password))
    });
    let authority = format!("{}:{}", uri.host()?, uri.port_u16().unwrap_or(port));
    let plain = Uri::builder().scheme(scheme).authority(authority).path_and_query("/");
    Some(Proxy { protocol, uri: plain.build().ok()?, login })
}

/// Percent-escapes decoded; what is not an escape stays as it is.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = match (byte, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// One entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    Everything,
    Network {
        base: IpAddr,
        bits: u8,
    },
    /// Lower case, without leading dot.
    Domain {
        name: String,
        itself: Itself,
        port: Option<u16>,
    },
    Address {
        ip: IpAddr,
        port: Option<u16>,
    },
}

/// Whether `example.com` covers the name itself or, written `.example.com`, only what is below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Itself {
    Too,
    Not,
}

fn read_rules(list: &str, choice: &mut Choice) -> Vec<Rule> {
    let mut kept = Vec::new();
    let mut rules = Vec::new();
    let mut dropped = 0;
    for entry in list.split(',').map(str::trim) {
        match rule(entry) {
            Some(rule) => {
                kept.push(entry);
                rules.push(rule);
            }
            None if list.trim().is_empty() => {}
            None => {
                dropped += 1;
                choice.warnings.push(no_proxy_warning(entry));
            }
        }
    }
    if dropped > 0 {
        choice.clean_no_proxy = Some(kept.join(","));
    }
    rules
}

fn no_proxy_warning(entry: &str) -> String {
    if entry.is_empty() {
        return "NO_PROXY has an empty entry, which is ignored".to_owned();
    }
    format!("NO_PROXY: {entry:?} is neither a name, an address nor a network and is ignored")
}

fn rule(entry: &str) -> Option<Rule> {
    if entry == "*" {
        return Some(Rule::Everything);
    }
    if let Some((base, bits)) = entry.split_once('/') {
        let base: IpAddr = base.parse().ok()?;
        let bits: u8 = bits.parse().ok()?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        return (bits <= most).then_some(Rule::Network { base, bits });
    }
    if let Ok(ip) = entry.trim_matches(['[', ']']).parse() {
        return Some(Rule::Address { ip, port: None });
    }
    let (name, port) = match entry.rsplit_once(':') {
        Some((name, port)) => (name, Some(port.parse().ok()?)),
        None => (entry, None),
    };
    if let Ok(ip) = name.trim_matches(['[', ']']).parse() {
        return Some(Rule::Address { ip, port });
    }
    domain(name, port)
}

fn domain(name: &str, port: Option<u16>) -> Option<Rule> {
    let below = name.strip_prefix("*.").or_else(|| name.strip_prefix('.'));
    let (name, itself) = match below {
        Some(name) => (name, Itself::Not),
        None => (name, Itself::Too),
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let readable = !name.is_empty() && name.chars().all(plain);
    readable.then(|| Rule::Domain { name: name.to_lowercase(), itself, port })
}

impl Rule {
    fn covers(&self, server: &Uri) -> bool {
        let Some(host) = host_of(server) else {
            return false;
        };
        let asked = server.port_u16().unwrap_or_else(|| match server.scheme_str() {
            Some("http") => 80,
            _ => 443,
        });
        let port_fits = |port: &Option<u16>| port.is_none_or(|port| port == asked);
        match self {
            Self::Everything => true,
            Self::Network { base, bits } => host.parse().is_ok_and(|ip| within(ip, *base, *bits)),
            Self::Address { ip, port } => host.parse() == Ok(*ip) && port_fits(port),
            Self::Domain { name, itself, port } => {
                let below = host.strip_suffix(name.as_str()).is_some_and(|rest| rest.ends_with('.'));
                let same = *itself == Itself::Too && host == *name;
                (below || same) && port_fits(port)
            }
        }
    }
}

/// The host in lower case, without the brackets of an IPv6 address and without a final dot.
fn host_of(uri: &Uri) -> Option<String> {
    let host = uri.host()?.trim_matches(['[', ']']).trim_end_matches('.');
    Some(host.to_lowercase())
}

fn is_local(server: &Uri) -> bool {
    let host = host_of(server).unwrap_or_default();
    host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
}

fn within(ip: IpAddr, base: IpAddr, bits: u8) -> bool {
    let (ip, base, width) = match (ip, base) {
        (IpAddr::V4(ip), IpAddr::V4(base)) => (u128::from(ip.to_bits()), u128::from(base.to_bits()), 32),
        (IpAddr::V6(ip), IpAddr::V6(base)) => (ip.to_bits(), base.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
    };
    let shift = width - u32::from(bits);
    ip.checked_shr(shift).unwrap_or(0) == base.checked_shr(shift).unwrap_or(0)
}

/// Whether an address is on this machine or a network of its own: there compression costs more than it saves.
pub(super) fn is_near(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

//! Finds out from a chain of library errors what went wrong on the way to the API server.

use std::error::Error as Cause;

use super::error::Error;
use super::proxy::Proxy;
use super::tls;

/// A request that got no answer.
pub(super) fn unanswered(error: &kube::Error, server: &http::Uri, proxy: Option<&Proxy>) -> Error {
    if let Some(tls) = chain(error).find_map(handshake) {
        return tls::explain(tls);
    }
    if let Some(login) = chain(error).find_map(<dyn Cause>::downcast_ref::<kube::client::AuthError>) {
        return super::client::login(&login.to_string());
    }
    let deepest = chain(error).last().map(ToString::to_string).unwrap_or_default();
    let texts: Vec<String> = chain(error).map(ToString::to_string).collect();
    let is_tunnel = texts.iter().any(|text| text.contains("tunnel") || text.contains("proxy") || text.contains("SOCKS"));
    match proxy {
        Some(proxy) if is_tunnel => Error::Proxy { proxy: shown(&proxy.uri), why: deepest },
        Some(_) | None if was_answering(&texts) => Error::Cut { why: deepest },
        Some(_) | None => Error::NotReached { server: shown(server), why: deepest },
    }
}

/// An address as people may see it: without the name and password that can stand in it.
pub(super) fn shown(address: &http::Uri) -> String {
    let text = address.to_string();
    let Some((scheme, rest)) = text.split_once("://") else { return text };
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    authority.rfind('@').map_or_else(|| text.clone(), |at| format!("{scheme}://{}", &rest[at + 1..]))
}

/// A body that ended too early.
pub(super) fn cut(error: &kube::Error) -> Error {
    if let Some(tls) = chain(error).find_map(handshake) {
        return tls::explain(tls);
    }
    let why = chain(error).last().map(ToString::to_string).unwrap_or_default();
    Error::Cut { why }
}

/// Whether a fresh client certificate may help.
pub(super) fn refuses_certificate(error: &kube::Error) -> bool {
    chain(error).find_map(handshake).is_some_and(tls::is_about_us)
}

/// rustls' errors travel inside one `io::Error` or two, which do not name them as their source.
fn handshake<'a>(cause: &'a (dyn Cause + 'static)) -> Option<&'a rustls::Error> {
    if let Some(error) = cause.downcast_ref() {
        return Some(error);
    }
    let mut io: &std::io::Error = cause.downcast_ref()?;
    loop {
        let inner = io.get_ref()?;
        if let Some(error) = inner.downcast_ref() {
            return Some(error);
        }
        io = inner.downcast_ref()?;
    }
}

fn was_answering(texts: &[String]) -> bool {
    let marks = ["connection closed before message completed", "IncompleteMessage", "end of file before"];
    texts.iter().any(|text| marks.iter().any(|mark| text.contains(mark)))
}

fn chain(error: &kube::Error) -> impl Iterator<Item = &(dyn Cause + 'static)> {
    let first: &(dyn Cause + 'static) = error;
    std::iter::successors(Some(first), |cause| Cause::source(*cause))
}

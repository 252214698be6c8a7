//! What a request asks for: its path, its query, and the form in which the answer is wanted.

/// What the path of a request means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    Version,
    Health,
    /// `/api` and `/apis`.
    Core,
    Groups,
    Group(&'a str),
    Resources {
        group: &'a str,
        version: &'a str,
    },
    OpenApi {
        path: &'a str,
    },
    Objects(Address<'a>),
    Unknown,
}

/// Where objects are served.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Address<'a> {
    pub group: &'a str,
    pub version: &'a str,
    pub namespace: Option<&'a str>,
    pub plural: &'a str,
    pub name: Option<&'a str>,
    pub subresource: Option<&'a str>,
}

pub(super) fn target(path: &str) -> Target<'_> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts[..] {
        ["version"] => Target::Version,
        ["healthz" | "livez" | "readyz", ..] => Target::Health,
        ["openapi", ..] => Target::OpenApi { path },
        ["api"] => Target::Core,
        ["apis"] => Target::Groups,
        ["apis", group] => Target::Group(group),
        ["api", version] => Target::Resources { group: "", version },
        ["apis", group, version] => Target::Resources { group, version },
        ["api", version, ref rest @ ..] => address("", version, rest),
        ["apis", group, version, ref rest @ ..] => address(group, version, rest),
        _ => Target::Unknown,
    }
}

fn address<'a>(group: &'a str, version: &'a str, rest: &[&'a str]) -> Target<'a> {
    let at = |namespace, plural, name, subresource| Target::Objects(Address { group, version, namespace, plural, name, subresource });
    match rest {
        ["namespaces", namespace, plural] if !matches!(*plural, "status" | "finalize") => at(Some(*namespace), plural, None, None),
        ["namespaces", namespace, plural, name] => at(Some(*namespace), plural, Some(*name), None),
        ["namespaces", namespace, plural, name, subresource] => at(Some(*namespace), plural, Some(*name), Some(*subresource)),
        [plural] => at(None, plural, None, None),
        [plural, name] => at(None, plural, Some(*name), None),
        [plural, name, subresource] => at(None, plural, Some(*name), Some(*subresource)),
        _ => Target::Unknown,
    }
}

/// The query of a request, decoded.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    pub(super) fn new(text: Option<&str>) -> Self {
        let pairs = text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        Self(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(name, value)| (decoded(name), decoded(value))).collect())
    }

    /// The value of a parameter; empty counts as not given, as it does for the API server.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    pub(super) fn is(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value, "true" | "1" | "True" | "TRUE" | "t" | "T"))
    }
}

/// `%2C` and `+` as in forms. What is no valid escape stays as it is.
fn decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten().and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(match (escaped, bytes[at]) {
            (Some(byte), _) => byte,
            (None, b'+') => b' ',
            (None, byte) => byte,
        });
        at += if escaped.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// The forms in which an answer can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Table,
    /// Metadata only.
    Partial,
    /// Discovery of everything at once, in this version of its format.
    Aggregated(&'static str),
    /// The binary form of the OpenAPI document.
    Protobuf,
}

/// The first form in the Accept header that there is.
pub(super) fn form(accept: Option<&str>, offered: &[Form]) -> Form {
    let wanted = accept.unwrap_or_default().split(',').filter_map(asked);
    wanted.into_iter().find(|form| *form == Form::Json || offered.contains(form)).unwrap_or(Form::Json)
}

fn asked(media: &str) -> Option<Form> {
    let mut parts = media.split(';').map(str::trim);
    let kind = parts.next()?;
    let parameters: Vec<&str> = parts.collect();
    let has = |parameter: &str| parameters.contains(&parameter);
    if kind.starts_with("application/com.github.proto-openapi") {
        return Some(Form::Protobuf);
    }
    let is_json = matches!(kind, "application/json" | "*/*" | "application/*");
    match parameters.iter().find_map(|parameter| parameter.strip_prefix("as=")) {
        _ if !is_json => None,
        Some("Table") => has("v=v1").then_some(Form::Table),
        Some("PartialObjectMetadata" | "PartialObjectMetadataList") => has("v=v1").then_some(Form::Partial),
        Some("APIGroupDiscoveryList") if has("v=v2") => Some(Form::Aggregated("v2")),
        Some("APIGroupDiscoveryList") if has("v=v2beta1") => Some(Form::Aggregated("v2beta1")),
        Some(_) => None,
        None => Some(Form::Json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_mean_what_they_mean_to_the_api_server() {
        let pods = |namespace, name, subresource| {
            Target::Objects(Address { group: "", version: "v1", namespace, plural: "pods", name, subresource })
        };
        assert_eq!(target("/api/v1/pods"), pods(None, None, None));
        assert_eq!(target("/api/v1/namespaces/shop/pods"), pods(Some("shop"), None, None));
        assert_eq!(target("/api/v1/namespaces/shop/pods/web/log"), pods(Some("shop"), Some("web"), Some("log")));
        let Target::Objects(namespace) = target("/api/v1/namespaces/shop") else { panic!("no object") };
        assert_eq!((namespace.plural, namespace.name, namespace.namespace), ("namespaces", Some("shop"), None));
        assert_eq!(target("/apis/apps/v1"), Target::Resources { group: "apps", version: "v1" });
        assert_eq!(target("/"), Target::Unknown);
    }

    #[test]
    fn the_first_form_that_there_is_wins() {
        let all = [Form::Table, Form::Aggregated("v2")];
        assert_eq!(form(Some("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), &all), Form::Table);
        assert_eq!(form(Some("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), &[]), Form::Json);
        assert_eq!(form(Some("application/vnd.kubernetes.protobuf,application/json"), &all), Form::Json);
        assert_eq!(form(Some("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"), &all), Form::Aggregated("v2"));
        assert_eq!(form(None, &all), Form::Json);
    }

    #[test]
    fn queries_are_decoded() {
        let query = Query::new(Some("limit=500&fieldSelector=reason%21%3DScheduled%2Ctype%3DWarning&continue=&x=%zz+1"));
        assert_eq!((query.number("limit"), query.get("continue")), (Some(500), None));
        assert_eq!(query.get("fieldSelector"), Some("reason!=Scheduled,type=Warning"));
        assert_eq!(query.get("x"), Some("%zz 1"));
    }
}

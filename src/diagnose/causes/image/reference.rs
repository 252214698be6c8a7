//! Reference: the parts of an image's name, as container runtimes read it.

/// `registry.example.net/shop/web:1.8.2` taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    /// `docker.io` where the name has none.
    pub host: &'a str,
    pub repository: &'a str,
    /// Tag or digest; empty where the name has neither (then it is `latest`).
    pub tag: &'a str,
}

impl<'a> Reference<'a> {
    pub fn parse(image: &'a str) -> Self {
        let (host, rest) = match image.split_once('/') {
            Some((first, rest)) if first.contains(['.', ':']) || first == "localhost" => (first, rest),
            Some(_) | None => ("docker.io", image),
        };
        let (repository, tag) = rest.split_once('@').or_else(|| rest.rsplit_once(':')).unwrap_or((rest, ""));
        Self { host, repository, tag }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_runtimes_read_them() {
        let parts = |image| {
            let r = Reference::parse(image);
            (r.host, r.repository, r.tag)
        };
        assert_eq!(parts("nginx"), ("docker.io", "nginx", ""));
        assert_eq!(parts("bitnami/redis:7"), ("docker.io", "bitnami/redis", "7"));
        assert_eq!(parts("10.0.0.5:5000/app"), ("10.0.0.5:5000", "app", ""));
        assert_eq!(parts("localhost/a/b:1"), ("localhost", "a/b", "1"));
        assert_eq!(parts("quay.io/a/b@sha256:00"), ("quay.io", "a/b", "sha256:00"));
        assert_eq!(parts(""), ("docker.io", "", ""));
    }
}

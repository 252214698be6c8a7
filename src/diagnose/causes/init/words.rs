//! Words: the names that a container's command calls or waits for, read without running a shell.

use std::collections::BTreeSet;

use crate::model::{Container, Kind};

/// What a command names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Hosts that it calls, in the order of the command.
    pub hosts: Vec<String>,
    /// Objects that it asks the API server for: `kubectl wait job/migrate`.
    pub objects: Vec<(Kind, String)>,
    /// It does nothing but wait.
    pub is_wait: bool,
}

/// Programs whose next plain word is a host.
const CALLERS: [&str; 16] = [
    "nc",
    "ncat",
    "netcat",
    "nslookup",
    "dig",
    "host",
    "ping",
    "ahosts",
    "hosts",
    "telnet",
    "wait-for",
    "wait-for-it",
    "wait-for-it.sh",
    "wait-for.sh",
    "wait4x",
    "tcp",
];

/// Options whose value is a host.
const OPTIONS: [&str; 6] = ["-h", "--host", "-H", "--hostname", "--server", "--address"];

/// Words of commands that only wait.
const WAITS: [&str; 8] = ["until ", "while ", "wait", "nslookup", "pg_isready", "nc -", "rollout status", "dockerize"];

pub(super) fn named(container: &Container) -> Named {
    let text = container.command.iter().chain(&container.args).map(|w| &**w).collect::<Vec<_>>().join(" ");
    let words = words(&text, container);
    let mut hosts = hosts(&words);
    let objects = objects(&words);
    if hosts.is_empty() && objects.is_empty() {
        hosts = container.env.iter().map(|e| e.host.to_string()).filter(|h| !h.is_empty()).collect();
    }
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    let is_wait = WAITS.iter().any(|w| text.contains(w)) || container.name.contains("wait") || container.image.contains("wait");
    Named { hosts, objects, is_wait }
}

/// Where one command ends and the next begins.
const END: &str = ";";

/// The words of a shell's line, quotes taken away, operators made one, known variables put in.
fn words(text: &str, container: &Container) -> Vec<String> {
    let operators = |c: char| matches!(c, ';' | '|' | '&' | '\n');
    let quotes = |c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '\'' | '`' | '(' | ')' | '=' | ',' | '[' | ']' | '\\');
    let mut all = Vec::new();
    for command in text.split(operators) {
        for word in command.split(quotes).filter(|w| !w.is_empty()).take(512) {
            match word.split_once('$') {
                Some((before, variable)) => all.extend([before.trim_end_matches('.').to_owned(), filled(variable, container)]),
                None => all.push(word.trim_matches(['{', '}']).to_owned()),
            }
        }
        all.push(END.to_owned());
    }
    all.retain(|w| !w.is_empty());
    all
}

/// `${DB_HOST}:5432` with the host that the variable holds, as far as it is known.
fn filled(variable: &str, container: &Container) -> String {
    let bare = variable.trim_start_matches('{');
    let name: String = bare.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let host = container.env.iter().find(|e| *e.name == *name).map_or("", |e| &*e.host);
    let rest = bare.strip_prefix(&*name).unwrap_or("").trim_start_matches('}');
    if host.is_empty() { String::new() } else { format!("{host}{rest}") }
}

fn hosts(words: &[String]) -> Vec<String> {
    let called = |i: usize| -> bool {
        let before: Vec<&String> = words[..i].iter().rev().take(4).take_while(|w| *w != END).collect();
        let program =
            before.iter().find(|w| !w.starts_with('-')).map(|w| if w.starts_with('/') { w.rsplit('/').next().unwrap_or(w) } else { w });
        before.first().is_some_and(|w| OPTIONS.contains(&w.as_str())) || program.is_some_and(|w| CALLERS.contains(&w))
    };
    (0..words.len()).filter_map(|i| host(&words[i], called(i))).collect()
}

/// The host in `http://db:80/x`, `/dev/tcp/db/5432`, `db:5432`; in a plain `db` only where a program calls it.
fn host(word: &str, called: bool) -> Option<String> {
    let rest = word.split_once("://").map(|(_, rest)| rest);
    let device = ["/dev/tcp/", "/dev/udp/"].iter().find_map(|d| word.split_once(d)).map(|(_, rest)| rest);
    let address = rest.or(device).unwrap_or(word).split(['/', '?', '#']).next()?;
    let address = address.rsplit_once('@').map_or(address, |(_, a)| a);
    let (name, port) = address.split_once(':').unwrap_or((address, ""));
    let numbered = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    ((rest.is_some() || device.is_some() || numbered || called) && is_name(&name)).then_some(name)
}

fn is_name(host: &str) -> bool {
    let sound = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    host.len() > 1 && host.len() < 254 && !host.starts_with('-') && host.bytes().all(sound) && host.bytes().any(|b| b.is_ascii_lowercase())
}

fn objects(words: &[String]) -> Vec<(Kind, String)> {
    let asks = words.iter().any(|w| w.ends_with("kubectl")) || words.first().is_some_and(|w| kind(w).is_some());
    if !asks {
        return Vec::new();
    }
    let joined = words.iter().filter_map(|w| w.split_once('/')).filter_map(|(k, name)| Some((kind(k)?, name.to_owned())));
    let apart = words.windows(2).filter_map(|pair| Some((kind(&pair[0])?, pair[1].clone())));
    joined.chain(apart).filter(|(_, name)| is_name(name)).collect()
}

/// The kind that kubectl would read, of those that something may wait for.
fn kind(word: &str) -> Option<Kind> {
    Some(match word.split('.').next().unwrap_or(word) {
        "job" | "jobs" => Kind::Job,
        "deployment" | "deployments" | "deploy" => Kind::Deployment,
        "statefulset" | "statefulsets" | "sts" => Kind::StatefulSet,
        "daemonset" | "daemonsets" | "ds" => Kind::DaemonSet,
        "pod" | "pods" | "po" => Kind::Pod,
        "service" | "services" | "svc" => Kind::Service,
        "secret" | "secrets" => Kind::Secret,
        "configmap" | "configmaps" | "cm" => Kind::ConfigMap,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EnvVar;

    fn of(command: &[&str]) -> Named {
        named(&Container { command: command.iter().map(|w| (*w).into()).collect(), ..Container::default() })
    }

    #[test]
    fn hosts_are_seen_in_the_usual_loops() {
        let loops = [
            ("until nc -z dcim-postgresql 5432; do echo waiting; sleep 2; done", "dcim-postgresql"),
            ("until nslookup db.shop.svc.cluster.local; do sleep 1; done", "db.shop.svc.cluster.local"),
            (
                "until nslookup mydb.$(cat /var/run/secrets/kubernetes.io/serviceaccount/namespace).svc.cluster.local; do sleep 2; done",
                "mydb",
            ),
            ("until wget --spider -q analytics-db:8123/ping; do sleep 5; done", "analytics-db"),
            ("while ! pg_isready -h pg -U app; do sleep 1; done", "pg"),
            ("until redis-cli --host=redis ping; do sleep 1; done", "redis"),
            ("while ! (echo > /dev/tcp/db/5432); do sleep 1; done", "db"),
            ("until curl -fs http://user:word@vault.sec:8200/v1/sys/health; do sleep 3; done", "vault.sec"),
            ("until getent hosts kafka; do sleep 1; done", "kafka"),
            ("/wait-for-it.sh -t 0 mysql:3306", "mysql"),
        ];
        for (script, host) in loops {
            let named = of(&["sh", "-c", script]);
            assert_eq!((named.hosts, named.is_wait), (vec![host.to_owned()], true), "{script}");
        }
    }

    #[test]
    fn objects_are_seen_where_the_api_server_is_asked() {
        assert_eq!(of(&["kubectl", "wait", "--for=condition=complete", "job/migrate"]).objects, [(Kind::Job, "migrate".to_owned())]);
        assert_eq!(of(&["job", "migrate"]).objects, [(Kind::Job, "migrate".to_owned())]);
        assert_eq!(of(&["sh", "-c", "until kubectl get secret tls -n x; do sleep 1; done"]).objects, [(Kind::Secret, "tls".to_owned())]);
        assert_eq!(of(&["sh", "-c", "run job migrate"]).objects, []);
    }

    #[test]
    fn variables_are_put_in_where_their_host_is_known() {
        let env = vec![EnvVar { name: "DB".into(), host: "pg".into(), ..EnvVar::default() }];
        let command = ["sh", "-c", "until nc -z ${DB}:5432; do sleep 1; done"].map(Into::into).to_vec();
        assert_eq!(named(&Container { command, env: env.clone(), ..Container::default() }).hosts, ["pg"]);
        assert_eq!(named(&Container { name: "wait".into(), env, ..Container::default() }).hosts, ["pg"]);
    }

    #[test]
    fn other_words_are_no_hosts() {
        assert_eq!(of(&["sh", "-c", "cp -r /a /b; chown 1000:1000 /data"]).hosts, [""; 0]);
        assert_eq!(of(&["cp"]), Named::default());
        assert_eq!(of(&["sysctl", "-w", "vm.max_map_count=262144"]).hosts, [""; 0]);
    }
}

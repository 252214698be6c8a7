//! Exec plugins: run once, unable to reach the terminal, ended when late, and never shown with their credentials.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use holdup::watch::{Connection, Environment, Error, Manner, Options, Target};
use serde_json::{Value, json};

use super::home::{Home, options, text};
use super::login::{SOON, version};
use super::mock::{Mock, Reply};

const TOKEN: &str = r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t"}}'"#;

fn exec(home: &Home, script: &str, more: &Value) -> Value {
    let mut exec = json!({
        "command": home.script("plugin", script),
        "env": [{"name": "DIR", "value": text(&home.folder)}],
        "apiVersion": "client.authentication.k8s.io/v1",
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        exec[key] = value.clone();
    }
    json!({"exec": exec})
}

async fn open(environment: &Environment, options: &Options) -> Result<Connection, Error> {
    Connection::open(Target::find(options, environment)?, Manner::Unseen).await
}

async fn login_error(home: &Home) -> String {
    let error = open(&home.environment(), &options()).await.expect_err("there is no credential");
    assert!(matches!(error, Error::Login { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn a_plugin_runs_once_and_what_it_says_is_kept() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let script =
        format!("echo ran >> \"$DIR/runs\"; echo 'session is nearly over' >&2; printenv KUBERNETES_EXEC_INFO > \"$DIR/info\"; {TOKEN}");
    home.kubeconfig(&json!({"server": mock.url()}), &exec(&home, &script, &json!({"provideClusterInfo": true})));
    let connection = open(&home.environment(), &options()).await.unwrap();
    for _ in 0..3 {
        connection.fetch(&version(), SOON).await.unwrap();
    }
    assert_eq!(home.read("runs"), "ran\n");
    assert_eq!(mock.asked("/version")[2].header("authorization"), "Bearer t");
    assert_eq!(connection.notes(), ["session is nearly over"]);
    let info: Value = serde_json::from_str(&home.read("info")).unwrap();
    assert_eq!((&info["spec"]["interactive"], &info["spec"]["cluster"]["server"]), (&json!(false), &json!(mock.url())));
}

#[tokio::test]
async fn a_plugin_may_print_yaml_and_leave_a_daemon_behind() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(
        &json!({"server": mock.url()}),
        &exec(&home, "printf 'status:\\n  token: t\\n'; sleep 30 & echo $! > \"$DIR/daemon\"", &json!({})),
    );
    let began = Instant::now();
    open(&home.environment(), &options()).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let daemon: i32 = home.read("daemon").trim().parse().unwrap();
    let daemon = rustix::process::Pid::from_raw(daemon).unwrap();
    rustix::process::kill_process(daemon, rustix::process::Signal::KILL).unwrap();
}

/// Both ways to a session of its own: the `setsid` program, and our own program where there is none.
#[tokio::test]
async fn a_plugin_cannot_reach_the_terminal() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    let script = format!(
        "(exec 3<>/dev/tty) 2>\"$DIR/tty\" && echo opened >> \"$DIR/tty\"; ps -o sid= -p $$ > \"$DIR/session\"; echo $$ > \"$DIR/pid\"; {TOKEN}"
    );
    home.kubeconfig(&json!({"server": mock.url()}), &exec(&home, &script, &json!({})));
    let own = Options { program: Some(PathBuf::from(env!("CARGO_BIN_EXE_holdup"))), ..options() };
    let mut bare = home.environment();
    let folder = home.path("bin");
    std::fs::create_dir_all(&folder).unwrap();
    for tool in ["sh", "ps", "sleep", "cat"] {
        std::os::unix::fs::symlink(bare.program(tool).unwrap(), folder.join(tool)).unwrap();
    }
    bare.variables.insert("PATH".into(), text(&folder));
    assert_eq!(bare.program("setsid"), None);
    for (environment, options) in [(home.environment(), options()), (bare, own)] {
        open(&environment, &options).await.unwrap();
        assert!(!home.read("tty").contains("opened"), "{}", home.read("tty"));
        assert_eq!(home.read("session").trim(), home.read("pid").trim(), "the plugin leads its own session");
    }
}

#[tokio::test]
async fn a_plugin_that_fails_is_quoted_with_the_command_to_run() {
    let home = Home::new();
    let args = json!({"args": ["get-token", "--cluster", "prod", "--client-secret", "s3cr3t", "--token=abc"]});
    home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &exec(&home, "echo 'SSO session has expired' >&2; exit 255", &args));
    let said = login_error(&home).await;
    for part in ["exit code 255", "SSO session has expired", "get-token --cluster prod --client-secret … --token=…"] {
        assert!(said.contains(part), "{said}");
    }
    assert!(!said.contains("s3cr3t") && !said.contains("abc"), "{said}");
}

#[tokio::test]
async fn answers_without_a_credential_are_explained() {
    let home = Home::new();
    for (script, expected) in [
        ("echo nonsense", "no ExecCredential"),
        ("echo '{\"kind\":\"ExecCredential\"}'", "no ExecCredential"),
        ("echo '{\"status\":{}}'", "neither a token nor a certificate"),
        ("true", "no ExecCredential"),
    ] {
        home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &exec(&home, script, &json!({})));
        let said = login_error(&home).await;
        assert!(said.contains(expected), "{script}: {said}");
    }
}

#[tokio::test]
async fn a_missing_plugin_names_how_to_install_it() {
    let home = Home::new();
    let hint = json!({"exec": {"command": "gke-gcloud-auth-plugin-x", "installHint": "Install it with gcloud components."}});
    home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &hint);
    let said = login_error(&home).await;
    assert!(said.contains("is not found") && said.contains("Install it with gcloud components."), "{said}");
}

#[tokio::test]
async fn a_plugin_that_must_ask_is_not_started_unseen() {
    let home = Home::new();
    home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &exec(&home, TOKEN, &json!({"interactiveMode": "Always"})));
    assert!(login_error(&home).await.contains("needs a terminal"));
    let target = Target::find(&options(), &home.environment()).unwrap();
    assert!(target.wants_terminal().is_some_and(|shown| shown.ends_with("plugin")));
    home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &exec(&home, TOKEN, &json!({"interactiveMode": "Never"})));
    assert_eq!(Target::find(&options(), &home.environment()).unwrap().wants_terminal(), None);
}

#[tokio::test]
async fn a_plugin_that_sleeps_is_ended_with_its_children() {
    let home = Home::new();
    let script = "echo 'waiting for the browser' >&2; sleep 600 & echo $! > \"$DIR/child\"; wait";
    home.kubeconfig(&json!({"server": "https://127.0.0.1:1"}), &exec(&home, script, &json!({})));
    let limited = Options { plugin_timeout: Some(Duration::from_millis(300)), ..options() };
    let said = open(&home.environment(), &limited).await.unwrap_err().to_string();
    assert!(said.contains("did not end") && said.contains("waiting for the browser"), "{said}");
    let child: i32 = home.read("child").trim().parse().unwrap();
    let child = rustix::process::Pid::from_raw(child).unwrap();
    let deadline = Instant::now() + SOON;
    while rustix::process::test_kill_process(child).is_ok() && !is_zombie(child) {
        assert!(Instant::now() < deadline, "the child of the plugin lives on");
        tokio::task::yield_now().await;
    }
}

/// Nobody waits for an orphan in a container without init.
fn is_zombie(pid: rustix::process::Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    status.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// Hands out tokens that have run out, and after `good` of them none.
fn short_lived(home: &Home, good: u32) -> Value {
    let script = format!(
        "n=$(cat \"$DIR/runs\" 2>/dev/null | wc -l); echo x >> \"$DIR/runs\"\n\
        [ \"$n\" -ge {good} ] && {{ echo 'no more' >&2; exit 1; }}\n\
        echo '{{\"status\":{{\"token\":\"t'$n'\",\"expirationTimestamp\":\"2020-01-01T00:00:00Z\"}}}}'"
    );
    exec(home, &script, &json!({}))
}

#[tokio::test]
async fn a_token_is_renewed_before_it_runs_out() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&json!({"server": mock.url()}), &short_lived(&home, 2));
    let connection = open(&home.environment(), &options()).await.unwrap();
    for _ in 0..2 {
        connection.fetch(&version(), SOON).await.unwrap();
        connection.reconnect();
    }
    let sent: Vec<String> = mock.asked("/version").iter().map(|seen| seen.header("authorization").to_owned()).collect();
    assert_eq!(sent, ["Bearer t1", "Bearer t1"], "the first was due at once, the second waits half a minute");
}

#[tokio::test]
async fn a_renewal_that_fails_is_said_and_the_last_credential_is_used_as_long_as_it_goes() {
    let mock = Mock::plain(|_| Reply::json(&json!({}))).await;
    let home = Home::new();
    home.kubeconfig(&json!({"server": mock.url()}), &short_lived(&home, 1));
    let connection = open(&home.environment(), &options()).await.unwrap();
    connection.fetch(&version(), SOON).await.unwrap();
    assert_eq!(mock.asked("/version")[0].header("authorization"), "Bearer t0");
    assert!(connection.notes().iter().any(|note| note.contains("no more")), "{:?}", connection.notes());
}

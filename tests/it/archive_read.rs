//! Archives: everything that `--from` takes is read, what is odd is listed with file and line, and nothing blinds the rest.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use holdup::archive::{Archive, ArchiveError, Change, Input, Previous};
use holdup::model::{Cluster, CoverageState, Kind, Time};
use proptest::prelude::*;

/// A folder that goes with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("holdup-it-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn read(text: impl AsRef<[u8]>) -> Archive {
    Archive::from_bytes("input", text.as_ref()).unwrap()
}

/// `Kind/namespace/name` of everything, in the archive's own order.
fn names(archive: &Archive) -> Vec<String> {
    let of = |kind| archive.objects(kind, None).map(move |o| format!("{}/{}/{}", kind.name, o.namespace(), o.name()));
    archive.kinds().iter().flat_map(of).collect()
}

fn skipped(archive: &Archive) -> Vec<String> {
    archive.about().skipped.iter().map(ToString::to_string).collect()
}

const PODS: &str = r#"{"apiVersion":"v1","items":[
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","namespace":"shop","resourceVersion":"7"}},
  {"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"shop","resourceVersion":"9"}},
  {"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}],"kind":"List","metadata":{"resourceVersion":""}}"#;

#[test]
fn a_list_of_kubectl_is_read_and_sorted() {
    let archive = read(PODS);
    assert_eq!(names(&archive), ["Node//n1", "Pod/shop/a", "Pod/shop/b"]);
    assert!(skipped(&archive).is_empty());
    let pods = archive.kind("", "Pod").unwrap();
    assert_eq!(archive.object(pods, "shop", "a").unwrap().version(), 9);
    assert!(archive.object(pods, "other", "a").is_none());
    assert_eq!(archive.resource("", "pods"), Some(pods));
}

#[test]
fn items_of_typed_lists_get_their_kind_from_the_list_wherever_it_says_it() {
    for text in [
        r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a","namespace":"x"},"status":{"phase":"Running"}}]}"#,
        r#"{"items":[{"metadata":{"name":"a","namespace":"x"},"status":{"phase":"Running"}}],"apiVersion":"v1","kind":"PodList"}"#,
    ] {
        let archive = read(text);
        let pods = archive.kind("", "Pod").unwrap();
        let pod: serde_json::Value = serde_json::from_slice(&archive.object(pods, "x", "a").unwrap().bytes()).unwrap();
        assert_eq!((&pod["kind"], &pod["apiVersion"], &pod["status"]["phase"]), (&"Pod".into(), &"v1".into(), &"Running".into()));
    }
}

#[test]
fn lists_inside_lists_arrays_null_items_marks_and_line_ends_do_no_harm() {
    let nested = format!(
        "\u{feff}{{\"kind\":\"List\",\"items\":[{PODS},{{\"kind\":\"ServiceList\",\"apiVersion\":\"v1\",\"items\":[{{\"metadata\":{{\"name\":\"s\",\"namespace\":\"shop\"}}}}]}}]}}"
    );
    assert_eq!(names(&read(&nested)), ["Node//n1", "Pod/shop/a", "Pod/shop/b", "Service/shop/s"]);
    assert_eq!(names(&read(nested.replace('\n', "\r\n"))).len(), 4);
    assert_eq!(names(&read(format!("[{PODS}]"))).len(), 3);
    assert!(names(&read(r#"{"kind":"PodList","apiVersion":"v1","items":null}"#)).is_empty());
    assert!(names(&read(r#"{"kind":"List","items":[]}"#)).is_empty());
}

#[test]
fn odd_objects_are_listed_with_their_line_and_the_rest_is_read() {
    let archive = read(
        r#"{"kind":"List","items":[
null,
17,
{"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"x"}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":null}},
{"metadata":{"name":"who"}},
{"kind":["Pod"],"apiVersion":{},"metadata":"none","status":[null,{"conditions":"x"}]},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"good","namespace":"x","annotations":null,"managedFields":7}}
]}"#,
    );
    assert_eq!(names(&archive), ["Pod/x/good"]);
    assert_eq!(
        skipped(&archive),
        [
            "input:2: is no object",
            "input:3: is no object",
            "input:4: Pod has no name",
            "input:5: Pod has no name",
            "input:6: has no kind (its name is who)",
            "input:7: an object has no name"
        ]
    );
}

#[test]
fn a_file_that_breaks_off_gives_what_was_complete_before() {
    let text = &PODS[..PODS.find("\"kind\":\"Node\"").unwrap()];
    let archive = read(text);
    assert_eq!(names(&archive), ["Pod/shop/a", "Pod/shop/b"]);
    assert_eq!(skipped(&archive), ["input:1: ends in the middle of an object; what was complete before is used"]);
    let archive = read(format!("{PODS}\n%% the rest is garbage\n"));
    assert_eq!(names(&archive).len(), 3);
    assert_eq!(skipped(&archive), ["input:5: is neither JSON nor YAML: %% the rest is garbage"]);
}

const RECORDING: &str = r#"{"at":"2026-05-04T10:00:00Z","type":"BOOKMARK","object":{"kind":"List","apiVersion":"v1","metadata":{"annotations":{"holdup.dev/context":"prod-eu"}}}}
{"at":"2026-05-04T10:00:00Z","type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"x","resourceVersion":"1"}}}
{"at":"2026-05-04T10:00:01Z","type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"x","resourceVersion":"2"}}}
{"at":"2026-05-04T10:00:02Z","type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","na
{"at":"2026-05-04T10:00:03Z","type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"x","resourceVersion":"4"},"status":{"phase":"Failed"}}}
{"at":"2026-05-04T10:00:09Z","type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"x","resourceVersion":"5"}}}
"#;

#[test]
fn a_recording_shows_the_state_at_its_end_and_its_steps() {
    let archive = read(RECORDING);
    assert_eq!(names(&archive), ["Pod/x/a"]);
    assert_eq!(archive.object(archive.kind("", "Pod").unwrap(), "x", "a").unwrap().version(), 4);
    let steps: Vec<_> = archive.steps().map(|step| (step.change, step.object.name())).collect();
    assert_eq!(steps, [(Change::Added, "a"), (Change::Added, "b"), (Change::Modified, "a"), (Change::Deleted, "b")]);
    assert_eq!(archive.about().now(), Time::parse("2026-05-04T10:00:09Z"));
    assert_eq!(archive.about().context.as_deref(), Some("prod-eu"));
    assert_eq!(skipped(&archive), ["input:4: is no valid JSON here; reading goes on at the next line that starts an object"]);
}

#[test]
fn yaml_documents_and_lists_are_read_item_by_item() {
    let archive = read(
        "# a comment\n---\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    namespace: x\n    annotations:\n      n: \"1\"\n      text: |\n        - not an item\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: [broken\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: c, namespace: x, creationTimestamp: 2026-05-04T10:00:00Z}\nkind: List\n---\n---\nkind: Node\napiVersion: v1\nmetadata:\n  name: n1\n",
    );
    assert_eq!(names(&archive), ["Node//n1", "Pod/x/a", "Pod/x/c"]);
    assert_eq!(archive.about().skipped_count, 1);
    assert_eq!((archive.about().skipped[0].line), 17);
    let pod = archive.object(archive.kind("", "Pod").unwrap(), "x", "a").unwrap();
    let pod: serde_json::Value = serde_json::from_slice(&pod.bytes()).unwrap();
    assert_eq!(pod["metadata"]["annotations"]["n"], "1");
    assert_eq!(archive.about().now(), Time::parse("2026-05-04T10:00:00Z"));
}

#[test]
fn gzip_is_unpacked_and_a_cut_one_gives_what_came_before() {
    let folder = Folder::new("gzip");
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let many: String = (0..5000)
        .map(|n| format!("{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"p{n:04}\",\"uid\":\"{}\"}}}}\n", n * 7919))
        .collect();
    packed.write_all(many.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let whole = Archive::open(&[Input::Path(folder.write("a.json.gz", &packed))]).unwrap();
    assert_eq!(whole.about().objects, 5000);
    let cut = Archive::open(&[Input::Path(folder.write("cut.json.gz", &packed[..packed.len() / 2]))]).unwrap();
    assert!((1000..5000).contains(&cut.about().objects), "{}", cut.about().objects);
    assert!(skipped(&cut)[0].contains("cannot be read to its end"));
}

#[test]
fn large_files_are_read_in_place() {
    let folder = Folder::new("large");
    let filler = "x".repeat(3000);
    let many: Vec<String> =
        (0..2000).map(|n| format!("{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"p{n:04}\",\"namespace\":\"x\"}},\"spec\":\"{filler}\\\"\"}}")).collect();
    let path = folder.write("big.json", format!("{{\"kind\":\"List\",\"items\":[{}]}}", many.join(",\n")));
    let archive = Archive::open(&[Input::Path(path)]).unwrap();
    let pods = archive.kind("", "Pod").unwrap();
    assert_eq!(archive.objects(pods, None).len(), 2000);
    assert_eq!(archive.object(pods, "x", "p1234").unwrap().bytes(), many[1234].as_bytes());
}

#[test]
fn a_cluster_info_dump_is_read_as_a_folder_and_as_its_output() {
    let pods = r#"{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"web","namespace":"shop"}}]}"#;
    let log = "==== START logs for container app of pod shop/web ====\n{\"level\":\"error\"}\nbye\n==== END logs for container app of pod shop/web ====\n";
    let folder = Folder::new("dump");
    folder.write("nodes.json", r#"{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}"#);
    folder.write("shop/pods.json", pods);
    folder.write("shop/daemonsets.json", r#"{"kind":"DaemonSetList","apiVersion":"apps/v1","items":[]}"#);
    folder.write("shop/web/logs.txt", log);
    folder.write("shop/notes.txt", "not ours");
    let dump = Archive::open(&[Input::Path(folder.path().to_owned())]).unwrap();
    let printed =
        read(format!("{pods}\n{log}{{\"kind\":\"NodeList\",\"apiVersion\":\"v1\",\"items\":[{{\"metadata\":{{\"name\":\"n1\"}}}}]}}"));
    for archive in [&dump, &printed] {
        assert_eq!(names(archive), ["Node//n1", "Pod/shop/web"]);
        let log: serde_json::Value = serde_json::from_slice(&archive.log("shop", "web", "app", Previous::No).unwrap().bytes()).unwrap();
        assert_eq!(log["lines"], serde_json::json!(["{\"level\":\"error\"}", "bye"]));
        assert!(archive.log("shop", "web", "app", Previous::Yes).is_none());
    }
    assert_eq!(dump.about().state("apps", "DaemonSet", Some("shop")), CoverageState::Synced);
    assert!(matches!(dump.about().state("apps", "DaemonSet", Some("other")), CoverageState::Absent { .. }));
}

#[test]
fn a_must_gather_is_read_with_the_newest_version_of_each_object_and_its_logs() {
    let folder = Folder::new("gather");
    let pod = |version: u32| {
        format!("---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n  namespace: shop\n  resourceVersion: \"{version}\"\n")
    };
    folder.write(
        "img/namespaces/shop/core/pods.yaml",
        format!("apiVersion: v1\nkind: PodList\nitems:\n- {}", pod(7)[4..].trim_end().replace('\n', "\n  ")),
    );
    folder.write("img/namespaces/shop/pods/web/web.yaml", pod(9));
    folder.write("img/namespaces/shop/pods/web/app/app/logs/previous.log", "first\nlast\n");
    folder.write("img/cluster-scoped-resources/core/nodes/n1.yaml", "apiVersion: v1\nkind: Node\nmetadata:\n  name: n1\n");
    folder.write("img/event-filter.html", "<html>");
    let archive = Archive::open(&[Input::Path(folder.path().to_owned())]).unwrap();
    assert_eq!(names(&archive), ["Node//n1", "Pod/shop/web"]);
    assert_eq!(archive.object(archive.kind("", "Pod").unwrap(), "shop", "web").unwrap().version(), 9);
    assert!(archive.log("shop", "web", "app", Previous::Yes).is_some());
    assert!(skipped(&archive).is_empty());
}

#[test]
fn what_a_plain_list_holds_is_complete_there_and_nothing_else_is() {
    let about = read(PODS).about().clone();
    assert_eq!(about.state("", "Pod", Some("shop")), CoverageState::Synced);
    assert!(matches!(about.state("", "Pod", Some("other")), CoverageState::Absent { .. }));
    assert!(matches!(about.state("", "Pod", None), CoverageState::Absent { .. }));
    assert_eq!(about.state("", "Node", None), CoverageState::Synced);
    assert!(matches!(about.state("", "Secret", Some("shop")), CoverageState::Absent { .. }));
}

#[test]
fn a_snapshot_says_itself_what_is_complete() {
    let coverage = serde_json::json!([{"kind":"Pod","namespace":"shop","state":"synced"},{"kind":"Secret","state":"denied","message":"secrets is forbidden"},{"kind":"Certificate.cert-manager.io","state":"synced"}]);
    let text = serde_json::json!({"apiVersion":"v1","kind":"List","metadata":{"annotations":{"holdup.dev/captured-at":"2026-05-04T10:12:00Z",
        "holdup.dev/coverage":coverage.to_string(),"holdup.dev/gone":"[\"Secret/shop/db\"]","holdup.dev/version":"0.1.0"}},
        "items":[{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"shop"}},{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"db"}}]});
    let archive = read(text.to_string());
    let about = archive.about();
    assert_eq!(about.captured_at, Time::parse("2026-05-04T10:12:00Z"));
    assert_eq!(about.gone, ["Secret/shop/db"]);
    assert_eq!(about.state("", "Pod", Some("shop")), CoverageState::Synced);
    assert!(matches!(about.state("", "Pod", Some("db")), CoverageState::Absent { .. }));
    assert!(matches!(about.state("", "Secret", Some("shop")), CoverageState::Denied { .. }));
    assert!(archive.kind("cert-manager.io", "Certificate").is_some());
    let mut cluster = Cluster::default();
    archive.deltas().for_each(|delta| drop(cluster.apply(delta)));
    assert!(cluster.coverage().is_synced(Kind::Pod, "shop") && !cluster.coverage().is_synced(Kind::Pod, "db"));
    assert_eq!(cluster.count(Kind::Pod), 2);
    assert!(matches!(cluster.coverage().get(Kind::Secret, "x"), Some(CoverageState::Denied { .. })));
}

#[test]
fn the_moment_of_judgement_is_the_newest_thing_that_happened_and_nothing_to_come() {
    let archive = read(
        r#"{"kind":"List","items":[
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":"2026-05-04T10:00:00Z","deletionTimestamp":"2026-05-04T23:00:00Z"},
            "spec":{"time":"2030-01-01T00:00:00Z"},"status":{"notAfter":"2031-01-01T00:00:00Z","conditions":[{"lastTransitionTime":"2026-05-04T10:01:00Z"}]}},
        {"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l"},"spec":{"renewTime":"2026-05-04T10:03:00.123456Z"}},
        {"kind":"Event","apiVersion":"v1","metadata":{"name":"e","managedFields":[{"time":"2026-05-04T10:02:00Z","fieldsV1":{"time":"2033-01-01T00:00:00Z"}}]}}]}"#,
    );
    assert_eq!(archive.about().now(), Time::parse("2026-05-04T10:03:00Z"));
    assert_eq!(archive.about().captured_at, None);
}

#[test]
fn events_of_both_groups_and_custom_kinds_are_found_under_the_name_the_api_gives_them() {
    let archive = read(
        r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"e","namespace":"x"},"regarding":{}}
{"kind":"Mesh","apiVersion":"example.net/v1beta1","metadata":{"name":"m"}}
{"kind":"Mesh","apiVersion":"example.net/v1","metadata":{"name":"n"}}
{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1","metadata":{"name":"mice.example.net"},"spec":{"group":"example.net","scope":"Namespaced","names":{"kind":"Mouse","plural":"mice","shortNames":["mo"]}}}
{"kind":"Mouse","apiVersion":"example.net/v1","metadata":{"name":"jerry","namespace":"x"},"items":[{"kind":"Cheese","metadata":{"name":"brie"}}]}"#,
    );
    assert_eq!(archive.resource("", "events").map(|kind| archive.objects(kind, Some("x")).len()), Some(1));
    assert_eq!(
        archive.resource("example.net", "meshes").map(|kind| kind.versions.clone()),
        Some(vec!["v1".to_owned(), "v1beta1".to_owned()])
    );
    let mice = archive.resource("example.net", "mice").unwrap();
    assert!(mice.namespaced && mice.short == ["mo"]);
    assert!(archive.kind("", "Cheese").is_none());
}

#[test]
fn inputs_without_any_object_are_refused_with_a_reason() {
    let folder = Folder::new("nothing");
    let error = |inputs: &[Input]| Archive::open(inputs).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error(&[Input::Path(folder.path().join("none.json"))]).contains("none.json"));
    assert!(error(&[Input::Path(folder.path().to_owned())]).contains("no file below it"));
    assert!(error(&[Input::Path(folder.write("empty.json", ""))]).contains("it is empty"));
    assert!(matches!(Archive::from_bytes("x", b"{}"), Err(ArchiveError::NothingInIt { .. })));
    assert!(matches!(Archive::from_bytes("x", b"hello: world"), Err(ArchiveError::NothingInIt { .. })));
    let good = folder.write("good.json", PODS);
    assert_eq!(names(&Archive::open(&[Input::Path(good.clone()), Input::Path(good)]).unwrap()).len(), 3);
}

proptest! {
    /// Whatever a file holds: it is read or refused, and what it holds besides is still there.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..400_usize, with in any::<u8>()) {
        let _ = Archive::from_bytes("any", &bytes);
        let mut odd = PODS.as_bytes().to_vec();
        if let Some(byte) = odd.get_mut(at) {
            *byte = with;
        }
        odd.extend_from_slice(b"\n{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"last\",\"namespace\":\"x\"}}");
        if let Ok(archive) = Archive::from_bytes("odd", &odd) {
            let last = archive.kind("", "Pod").and_then(|pods| archive.object(pods, "x", "last")).is_some();
            prop_assert!(last || odd[0] != b'{', "{}", String::from_utf8_lossy(&odd));
        }
    }

    #[test]
    fn any_text_is_read_as_yaml_or_refused(text in "(---\n|[a-z]{1,4}: |items:\n|- |  |\n|\\{|\\[|\"|'|&a|\\*a|\\||x){0,30}") {
        let _ = Archive::from_bytes("any", text.as_bytes());
    }

    /// A recording of which any line broke off anywhere gives all other lines.
    #[test]
    fn a_broken_line_costs_itself_only(broken in 0..20_usize, kept in 1..90_usize) {
        let line = |n: usize| format!("{{\"type\":\"ADDED\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"p{n:02}\",\"labels\":{{\"a\":\"b\"}}}}}}}}");
        let lines: Vec<String> = (0..20).map(|n| if n == broken { line(n)[..kept].to_owned() } else { line(n) }).collect();
        let archive = read(lines.join("\n"));
        prop_assert_eq!(archive.about().objects, 19, "{}", lines[broken]);
    }
}

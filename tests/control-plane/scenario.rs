//! One trouble made by real controllers, and what `holdup report` must say about it.

use crate::api::items;
use crate::holdup;
use crate::plane::Plane;
use crate::wait::{eventually, seconds};
use serde_json::{Value, json};

pub struct Scenario {
    pub namespace: &'static str,
    pub steps: &'static [Step],
    /// None where nothing may be said.
    pub expected: Option<Expected>,
}

/// How the trouble is made: each step has stood before the next one begins.
pub enum Step {
    Apply(&'static str),
    /// The server refuses a pod of this namespace with this text: admission has taken up what was applied.
    Refuses(&'static str),
    /// The list or object at this path holds this text, as the controllers have written it.
    Shows {
        path: &'static str,
        text: &'static str,
    },
    Do(fn(&Plane)),
}

pub struct Expected {
    pub layer: &'static str,
    /// The cause, and others that say the same of this trouble.
    pub causes: &'static [&'static str],
    /// The verdict, and the one that it becomes with time.
    pub verdicts: &'static [&'static str],
    pub roots: &'static [&'static str],
    pub affected: &'static [&'static str],
    /// Causes that must be said to go with this one.
    pub consequences: &'static [&'static str],
    /// After that many seconds at most; some verdicts change only with time.
    pub within: u64,
}

impl Scenario {
    /// Makes the trouble and waits until the control plane itself shows it.
    pub fn stand(&self, plane: &Plane) {
        for step in self.steps {
            match step {
                Step::Apply(manifests) => plane.apply(manifests),
                Step::Refuses(text) => self.await_refusal(plane, text),
                Step::Shows { path, text } => await_text(plane, path, text),
                Step::Do(act) => act(plane),
            }
        }
    }

    /// Waits until `holdup report` says what is expected, and nothing else, of this namespace.
    pub fn is_named_right(&self, plane: &Plane) {
        let within = self.expected.as_ref().map_or(30, |expected| expected.within);
        eventually(seconds(within), &format!("`holdup report -n {}` names it right", self.namespace), || {
            self.judged_right(&holdup::report(plane, &["-n", self.namespace])?)
        });
    }

    /// Whether this report says the right thing of this namespace; else what it says instead.
    pub fn judged_right(&self, report: &Value) -> Result<(), String> {
        let said: Vec<&Value> = holdup::blockers(report).filter(|blocker| self.concerns(blocker)).collect();
        match (&self.expected, said.as_slice()) {
            (None, []) => Ok(()),
            (Some(expected), [blocker]) => expected.agrees(blocker),
            (None, _) => Err(format!("nothing was to be said, but there is\n{}", holdup::lines(&said))),
            (Some(_), []) => Err("nothing is said".into()),
            (Some(_), _) => Err(format!("one blocker was to be said, but there are\n{}", holdup::lines(&said))),
        }
    }

    fn concerns(&self, blocker: &Value) -> bool {
        let inside =
            |reference: &str| reference.split('/').nth(1) == Some(self.namespace) || reference == format!("Namespace//{}", self.namespace);
        inside(blocker["root"].as_str().unwrap_or_default()) || holdup::references(blocker, "affected").iter().any(|r| inside(r))
    }

    fn await_refusal(&self, plane: &Plane, text: &str) {
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "tried"},
            "spec": {"containers": [{"name": "main", "image": "registry.test/tried:1"}]}});
        let path = format!("/api/v1/namespaces/{}/pods?dryRun=All", self.namespace);
        eventually(seconds(30), &format!("a pod in {} is refused with: {text}", self.namespace), || match plane.api.create(&path, &pod) {
            Err(refusal) if refusal.contains(text) => Ok(()),
            Err(other) => Err(other),
            Ok(_) => Err("it is accepted".into()),
        });
    }
}

pub fn await_text(plane: &Plane, path: &str, text: &str) {
    eventually(seconds(60), &format!("{path} shows: {text}"), || {
        let answer = plane.api.get(path)?;
        if answer.to_string().contains(text) { Ok(()) } else { Err(states(&answer)) }
    });
}

/// The statuses of what a path holds, for the message of a failure.
fn states(answer: &Value) -> String {
    let one = |object: &Value| format!("{} {}", object["metadata"]["name"], object["status"]);
    if answer["items"].is_array() { items(answer).iter().map(one).collect::<Vec<_>>().join("\n") } else { one(answer) }
}

impl Expected {
    fn agrees(&self, blocker: &Value) -> Result<(), String> {
        let text = |field: &str| blocker[field].as_str().unwrap_or_default();
        let affected = holdup::references(blocker, "affected");
        let mut wrong = Vec::new();
        if !self.causes.contains(&text("cause")) {
            wrong.push(format!("cause is none of {:?}", self.causes));
        }
        if text("layer") != self.layer {
            wrong.push(format!("layer is not {}", self.layer));
        }
        if !self.verdicts.contains(&text("verdict")) {
            wrong.push(format!("verdict is none of {:?}", self.verdicts));
        }
        if !self.roots.contains(&text("root")) {
            wrong.push(format!("root is none of {:?}", self.roots));
        }
        if affected != self.affected {
            wrong.push(format!("affected is not {:?}", self.affected));
        }
        let said: Vec<&Value> = blocker["consequences"].as_array().into_iter().flatten().map(|one| &one["cause"]).collect();
        if !self.consequences.iter().all(|cause| said.iter().any(|one| *one == cause)) {
            wrong.push(format!("consequences lack one of {:?}", self.consequences));
        }
        if wrong.is_empty() { Ok(()) } else { Err(format!("{}: {}", wrong.join(", "), holdup::lines(&[blocker]))) }
    }
}

//! The cases of this target and how they are run: side by side, then one by one, each with its time.

use crate::plane::Plane;
use crate::scenario::Scenario;
use crate::troubles::SCENARIOS;
use crate::{audit, drift, drift_audit, drift_dry_run, drift_helm, drift_owners, plugins, restart, rights, say, serve, troubles};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

pub struct Case {
    pub name: String,
    run: Run,
}

/// A trouble, and what is `Shared`, can run beside others; what is `Alone` needs the plane for itself.
enum Run {
    Trouble(&'static Scenario),
    Shared(fn(&Plane)),
    Alone(fn(&Plane)),
}

/// Most of a case is waiting for controllers, so there may be more of them at a time than cores.
const SIDE_BY_SIDE: usize = 6;

/// In the order in which they are run.
pub fn all() -> Vec<Case> {
    let trouble = |scenario: &'static Scenario| Case { name: format!("trouble: {}", scenario.namespace), run: Run::Trouble(scenario) };
    let mut cases: Vec<Case> = SCENARIOS.iter().map(trouble).collect();
    cases.extend(SHARED.iter().map(|(name, run)| Case { name: (*name).to_owned(), run: Run::Shared(*run) }));
    cases.extend(ALONE.iter().map(|(name, run)| Case { name: (*name).to_owned(), run: Run::Alone(*run) }));
    cases
}

type Named = (&'static str, fn(&Plane));

const SHARED: &[Named] = &[
    ("rights to one namespace are enough for its troubles", rights::one_namespace),
    ("an exec plugin that is slow and chatty is asked once", plugins::slow_and_chatty),
    ("an exec plugin that fails is quoted", plugins::failing),
    ("an exec plugin that hangs ends with the time-out", plugins::hanging),
    ("the dashboard names the exec plugin it waits for", plugins::named_while_it_runs),
    ("drift: what was applied has none, and each hand behind it is named", drift::hands_are_named),
    ("drift: an autoscaler owns replicas", drift::an_autoscaler_owns_replicas),
    ("drift: appliers on the server are told apart", drift::appliers_are_told_apart),
    ("drift: forbidden is not missing", drift::forbidden_is_not_missing),
    ("drift: custom kinds are compared", drift::custom_kinds_are_compared),
    ("drift: a Helm release is compared", drift::a_release_is_compared),
    ("drift: releases of the real client are compared, whatever driver keeps them", drift_helm::releases_of_the_client),
    ("drift: owners after a client-side apply", drift_owners::after_client_side_apply),
    ("drift: owners after a server-side apply", drift_owners::after_server_side_apply),
    ("drift: owners where none is left", drift_owners::where_no_owner_is_left),
    ("drift: what a policy mutates", drift_owners::a_policy_mutates),
    ("drift: the audit log names users", drift_audit::users_are_named),
    ("drift: two that write in turn are in the audit log", drift_audit::turns_are_seen),
    ("drift: an autoscaler and a person scale", drift_audit::scalers_are_told_apart),
    ("drift: a dry run is decided by the server and stores nothing", drift_dry_run::the_server_decides),
    ("kubectl reads a file through holdup serve", serve::kubectl_reads_a_file),
];

const ALONE: &[Named] = &[
    ("one report of the whole cluster names every trouble", troubles::one_report_names_all),
    ("a snapshot reopens with the same blockers", serve::snapshot_reopens),
    ("drift: every kind that is served equals itself", drift::everything_equals_itself),
    ("a dashboard outlives the API server and ends with the picture of a fresh one", restart::dashboard_recovers),
    ("the audit log holds only get, list and watch, and dry runs of one scenario", audit::only_reads),
];

impl Case {
    pub fn is_wanted(&self, words: &[&str]) -> bool {
        words.is_empty() || words.iter().any(|word| self.name.contains(word))
    }

    fn go(&self, plane: &Plane) {
        match self.run {
            Run::Trouble(scenario) => {
                scenario.stand(plane);
                scenario.is_named_right(plane);
            }
            Run::Shared(run) | Run::Alone(run) => run(plane),
        }
    }

    const fn is_alone(&self) -> bool {
        matches!(self.run, Run::Alone(_))
    }

    const fn trouble(&self) -> Option<&'static Scenario> {
        match self.run {
            Run::Trouble(scenario) => Some(scenario),
            Run::Shared(_) | Run::Alone(_) => None,
        }
    }
}

/// What became of each case: its name, and the reason where it failed.
pub struct Outcomes(Vec<(String, Option<String>)>);

impl Outcomes {
    pub fn of(plane: &Plane, cases: Vec<Case>) -> Self {
        let (alone, shared): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(Case::is_alone);
        let mut outcomes = Self(side_by_side(&shared, |case| case.go(plane)));
        for case in alone {
            outcomes.add(&case.name, || case.go(plane));
        }
        outcomes
    }

    /// Only makes the troubles and waits until they stand.
    pub fn of_making(plane: &Plane, cases: Vec<Case>) -> Self {
        let troubles: Vec<Case> = cases.into_iter().filter(|case| case.trouble().is_some()).collect();
        Self(side_by_side(&troubles, |case| {
            if let Some(scenario) = case.trouble() {
                scenario.stand(plane);
            }
        }))
    }

    pub fn add(&mut self, name: &str, run: impl FnOnce()) {
        self.0.push(outcome(name, run));
    }

    pub fn summary(&self) -> ExitCode {
        let failed: Vec<_> = self.0.iter().filter_map(|(name, why)| Some((name, why.as_ref()?))).collect();
        for (name, why) in &failed {
            say(&format!("\n---- {name} ----\n{why}"));
        }
        say(&format!("\ntest result: {} passed; {} failed", self.0.len() - failed.len(), failed.len()));
        if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn side_by_side(cases: &[Case], go: impl Fn(&Case) + Sync) -> Vec<(String, Option<String>)> {
    // The message comes back as the panic's value, and is printed once, in the summary.
    std::panic::set_hook(Box::new(|_| {}));
    let waiting = Mutex::new(cases.iter());
    let outcomes = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no panic while held").next();
    thread::scope(|scope| {
        for _ in 0..SIDE_BY_SIDE {
            scope.spawn(|| {
                while let Some(case) = next() {
                    let outcome = outcome(&case.name, || go(case));
                    outcomes.lock().expect("no panic while held").push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("no panic while held")
}

fn outcome(name: &str, run: impl FnOnce()) -> (String, Option<String>) {
    let start = Instant::now();
    let why = catch_unwind(AssertUnwindSafe(run)).err().map(|panic| message(panic.as_ref()));
    let word = if why.is_none() { "ok" } else { "FAILED" };
    say(&format!("test {name} ... {word} ({:.1} s)", start.elapsed().as_secs_f64()));
    (name.to_owned(), why)
}

fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "a panic without a text".into())
}

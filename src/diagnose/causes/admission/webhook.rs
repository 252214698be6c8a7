//! Webhooks that say no, and webhooks that do not answer.

use super::refusal::{self, Refusal};
use crate::diagnose::backends::Backend;
use crate::diagnose::webhooks::{self, Hook};
use crate::diagnose::{Cause, ClockKind, Cx, Finding, Judge, Key, Workload, texts};
use crate::model::{Kind, ObjectRef};

const ROW: Cause = Cause {
    docs: "reference/access-authn-authz/extensible-admission-controllers/",
    needs: &[Kind::MutatingWebhookConfiguration, Kind::ValidatingWebhookConfiguration, Kind::Service, Kind::EndpointSlice],
    ..super::ROW
};

pub(super) const DENIED: Cause = Cause {
    id: "webhook-denied",
    title: "An admission webhook refuses the pod",
    explanation: "A policy engine or another service that is asked about every pod answered no.",
    told_apart: "webhook-unreachable got no answer at all; validating-admission-policy-denied is evaluated inside the API server.",
    cure: "Make the template meet what the webhook says, or change its policy.",
    judge: Judge::Workload(denied),
    ..ROW
};

pub(super) const UNREACHABLE: Cause = Cause {
    id: "webhook-unreachable",
    title: "An admission webhook cannot be called",
    explanation: "The API server must ask a webhook before it accepts the pod, gets no answer, and the webhook fails closed: the pod is \
                  refused. The service behind may have no ready pod, may not exist, may be cut off, or its certificate is not trusted.",
    told_apart: "webhook-denied got an answer, and it was no. A webhook that must approve its own pods cannot come back by itself.",
    cure: "Bring the pods behind the webhook back, renew its certificate, or set failurePolicy: Ignore until it works.",
    judge: Judge::Workload(unreachable),
    ..ROW
};

pub(super) const TIMEOUT: Cause = Cause {
    id: "webhook-request-timeout",
    title: "Admission takes longer than a request may",
    explanation: "All webhooks that are asked about a pod together took longer than the request may last (34 s by default for admission).",
    told_apart: "webhook-unreachable names one webhook; here the sum is too slow and none is named.",
    cure: "Narrow or speed up the webhooks that match pods, and lower their timeoutSeconds.",
    judge: Judge::Workload(timeout),
    ..ROW
};

fn denied(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let pattern = r#"(?i)admission webhook "(?P<name>[^"]+)" denied the request(?:: (?P<why>.+)| without explanation)?$"#;
    let said = texts::captures(pattern, refusal.message)?;
    let name = &said["name"];
    let why = said.name("why").map_or("without explanation", |m| m.as_str().trim());
    let hook = webhooks::named(cx, name, None);
    let root = hook.map_or_else(|| workload.reference(), |h| h.configuration());
    let key = Key::object(&root);
    let finding = if hook.is_none() && webhooks::sees_all(cx) {
        let title = format!("webhook {name} is gone, the controller has not retried yet");
        refusal.lifted(cx, key, root, "the webhook that refused them does not exist any more").title(title)
    } else {
        let finding = Finding::blocked(key, root)
            .title(format!("webhook {name} refuses pods: {}", first_line(why)))
            .because(format!("admission webhook {name} denies the pod: {why}."))
            .next(format!("Change the template of {} as the webhook asks, or change its policy.", workload.reference()));
        refusal.prove(finding)
    };
    let finding = hook.iter().fold(finding, |f, h| f.fact("configuration", h.configuration()));
    Some(finding.fact("webhook", name).fact("says", first_line(why)))
}

fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or(text);
    if line.chars().count() <= 100 { line.to_owned() } else { line.chars().take(99).chain(['…']).collect() }
}

/// Why a call failed, as far as it decides what to do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The API server's own look at the Service: no endpoint, no Service, no such port.
    NoBackend,
    Certificate,
    /// Time-out, refused, reset, an answer that is none.
    Call,
}

/// A call that failed, with what it was about.
struct Call<'a> {
    name: &'a str,
    reason: &'a str,
    failure: Failure,
    /// Namespace and name of the called Service.
    service: Option<(&'a str, &'a str)>,
}

impl<'a> Call<'a> {
    /// With and without `failed to call webhook:`, with and without quotes around the address.
    fn read(message: &'a str) -> Option<Self> {
        let said = texts::captures(r#"(?i)failed calling (?:admission )?webhook "(?P<name>[^"]+)": (?P<rest>.+)$"#, message)?;
        let (name, rest) = (said.name("name")?.as_str(), said.name("rest")?.as_str());
        let rest = texts::capture(r"(?i)^failed to call webhook: (.+)$", rest).unwrap_or(rest);
        let reason = texts::capture(r#"^\w+ "?https?://[^"\s]+"?: (.+)$"#, rest).unwrap_or(rest);
        let service = texts::captures(r#"https?://(?P<name>[^./:\s"]+)\.(?P<ns>[^./:\s"]+)\.svc\b"#, rest);
        let service = service.and_then(|c| Some((c.name("ns")?.as_str(), c.name("name")?.as_str())));
        Some(Self { name, reason, failure: Failure::of(reason), service })
    }
}

impl Failure {
    fn of(reason: &str) -> Self {
        if texts::matches(r#"(?i)no endpoints available|service "[^"]*" not found|no service port"#, reason) {
            Self::NoBackend
        } else if texts::matches(r"(?i)x509|certificate|tls: ", reason) {
            Self::Certificate
        } else {
            Self::Call
        }
    }
}

/// Failures that go on for so long are not those of a restart.
const NOT_PASSING: i64 = 300;

fn unreachable(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    let call = Call::read(refusal.message)?;
    let hook = webhooks::named(cx, call.name, call.service);
    let (namespace, service) = hook.and_then(|h| h.service()).or(call.service).unwrap_or_default();
    let backend = Some(()).filter(|()| !service.is_empty()).map(|()| Backend::of(cx, namespace, service));
    let root = match (hook, &backend) {
        (Some(h), _) => h.configuration(),
        (None, Some(b)) if b.service.is_unknown() || b.service.is_absent() => workload.reference(),
        (None, Some(b)) => b.reference.clone(),
        (None, None) => workload.reference(),
    };
    let behind = backend.as_ref().map(|b| b.workloads(cx)).unwrap_or_default();
    let state = State::of(cx, &refusal, &call, hook, backend.as_ref());
    let finding = match state {
        State::Lifted(why) => {
            refusal.lifted(cx, Key::object(&root), root.clone(), why).title(format!("webhook {} no longer stands in the way", call.name))
        }
        State::Passing => passing(cx, &refusal, &call, root.clone()),
        State::Down => down(cx, &refusal, &call, &root, backend.as_ref(), &behind),
    };
    let finding = details(finding, &call, hook, backend.as_ref());
    // A certificate that is not trusted does not come from the pods behind.
    let waits = if call.failure == Failure::Certificate { Vec::new() } else { behind };
    Some(waits.into_iter().fold(finding, Finding::waits_on))
}

enum State {
    /// What refused is gone; why.
    Lifted(&'static str),
    /// Calls fail now and then.
    Passing,
    Down,
}

impl State {
    fn of(cx: &Cx<'_>, refusal: &Refusal<'_>, call: &Call<'_>, hook: Option<Hook<'_>>, backend: Option<&Backend<'_>>) -> Self {
        match hook {
            None if webhooks::sees_all(cx) => return Self::Lifted("the webhook that could not be called does not exist any more"),
            Some(h) if !h.fails_closed() => return Self::Lifted("the webhook that could not be called is ignored now when it fails"),
            Some(_) | None => {}
        }
        let dead = backend.is_some_and(Backend::is_dead);
        let ready = backend.is_some_and(|b| b.ready.is_some_and(|n| n > 0));
        match call.failure {
            Failure::NoBackend if ready => Self::Lifted("the service behind the webhook has ready endpoints again"),
            Failure::NoBackend | Failure::Certificate => Self::Down,
            Failure::Call if dead || refusal.lasts(NOT_PASSING) => Self::Down,
            Failure::Call => Self::Passing,
        }
    }
}

fn passing(cx: &Cx<'_>, refusal: &Refusal<'_>, call: &Call<'_>, root: ObjectRef) -> Finding {
    let finding = Finding::delayed(Key::object(&root), root)
        .clock(ClockKind::Retry, "create back-off of the controller", refusal.next_try(cx))
        .title(format!("webhook {} did not answer: {}", call.name, call.reason))
        .because(format!("webhook {} did not answer ({}); the controller tries again.", call.name, call.reason))
        .next("Wait for the next try; if it goes on, look at the pods behind the webhook.");
    refusal.prove(finding)
}

fn down(
    cx: &Cx<'_>,
    refusal: &Refusal<'_>,
    call: &Call<'_>,
    root: &ObjectRef,
    backend: Option<&Backend<'_>>,
    behind: &[ObjectRef],
) -> Finding {
    let name = call.name;
    let what = match (call.failure, backend) {
        (Failure::NoBackend | Failure::Call, Some(b)) if b.service.is_absent() => format!("Service {} does not exist", b.reference.place()),
        (Failure::NoBackend | Failure::Call, Some(b)) if b.is_dead() => {
            format!("Service {} has no ready endpoint", b.reference.place())
        }
        (Failure::NoBackend | Failure::Call | Failure::Certificate, _) => call.reason.to_owned(),
    };
    let circle = behind.iter().any(|w| guards(cx, w, name));
    let next = match (call.failure, behind.first()) {
        (Failure::Certificate, _) => format!("Renew the certificate of webhook {name} or the caBundle in {root}."),
        (_, Some(own)) if circle => format!(
            "Exempt {own} from webhook {name} (namespaceSelector or objectSelector in {root}), or set failurePolicy: Ignore until its pods run."
        ),
        (_, Some(own)) => format!("Bring {own} back, or set failurePolicy: Ignore in {root} until it answers."),
        (_, None) => format!("Bring the service behind webhook {name} back, or set failurePolicy: Ignore in {root} until it answers."),
    };
    let own = if circle { " Its own pods must pass through it, so it cannot come back by itself." } else { "" };
    let finding = Finding::blocked(Key::object(root), root.clone())
        .title(format!("webhook {name} cannot be called: {what}"))
        .because(format!("webhook {name} must approve the pods and fails closed; it cannot be called: {what}.{own}"))
        .next(next);
    refusal.prove(finding)
}

/// Whether the pods of a workload behind the webhook are themselves refused because of it.
fn guards(cx: &Cx<'_>, behind: &ObjectRef, name: &str) -> bool {
    let refusal = cx.workload(behind).and_then(|w| refusal::of(cx, w));
    refusal.is_some_and(|r| Call::read(r.message).is_some_and(|c| c.name == name))
}

fn details(finding: Finding, call: &Call<'_>, hook: Option<Hook<'_>>, backend: Option<&Backend<'_>>) -> Finding {
    let mut finding = finding.fact("webhook", call.name).fact("reason", call.reason);
    if let Some(h) = hook {
        let policy = if h.fails_closed() { "Fail" } else { "Ignore" };
        let path = format!("webhooks[name={}].failurePolicy", h.webhook.name);
        finding = finding.fact("configuration", h.configuration()).fact("failurePolicy", policy);
        finding = finding.evidence(h.configuration(), path, policy, None);
    }
    if let Some(b) = backend {
        finding = finding.fact("service", &b.reference);
        if let Some(ready) = b.ready {
            finding = finding.fact("readyEndpoints", ready).evidence(b.reference.clone(), "endpoints", format!("{ready} ready"), b.changed);
        }
    }
    finding
}

fn timeout(cx: &Cx<'_>, workload: Workload<'_>) -> Option<Finding> {
    let refusal = refusal::of(cx, workload)?;
    if !texts::matches(r"(?i)request did not complete within (?:the )?requested timeout", refusal.message) {
        return None;
    }
    let root = workload.reference();
    let finding = if refusal.lasts(NOT_PASSING) {
        Finding::blocked(Key::object(&root), root)
    } else {
        Finding::delayed(Key::object(&root), root).clock(ClockKind::Retry, "create back-off of the controller", refusal.next_try(cx))
    };
    let slow: Vec<&str> = webhooks::all(cx).into_iter().filter(|h| h.covers("", "pods")).map(|h| &*h.webhook.name).collect();
    let finding = finding
        .title(format!("admission of pods of {} takes too long", workload.reference().place()))
        .because("the webhooks that are asked about a pod take longer together than a request may last.")
        .next("Find the slow webhook among those that match pods, narrow it, or lower its timeoutSeconds.");
    let finding = if slow.is_empty() { finding } else { finding.fact("webhooks", slow.join(", ")) };
    Some(refusal.prove(finding))
}

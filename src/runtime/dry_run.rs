//! Dry run: what the API server says it would store, asked only when the user asked for it by name, for one object at a time.

use serde_json::Value;

use super::reader::{Reader, Unread};
use crate::desired::{Answers, Desired, Object, applier, to_apply, to_create};
use crate::watch::{DryRun, DryVerb, Error, Scope, Served, dry_run, open_api, takes_dry_run};

/// In whose name an apply is tried out where nobody applies on the server yet.
const MANAGER: &str = "holdup-dry-run";

impl Reader {
    /// Tries out what a source asks for: an apply to the object that is there, and a new object beside it. `raw` is the live object
    /// before it was redacted.
    pub async fn try_out(&self, desired: &Desired, live: &Object, raw: &Value) -> Answers {
        match self.prepared(desired, live, raw).await {
            Ok((served, body)) => {
                let manager = applier(desired.object.value(), live.value()).unwrap_or_else(|| MANAGER.to_owned());
                let applied = self.tried(&served, live, DryVerb::Apply, (&manager, &body)).await;
                let created = match served.resource.scope {
                    Scope::Cluster => Err("objects without a namespace are not tried out under another name".to_owned()),
                    Scope::Namespaced => self.tried(&served, live, DryVerb::Create, (MANAGER, &to_create(body))).await,
                };
                Answers { applied, created }
            }
            Err(why) => Answers { applied: Err(why.clone()), created: Err(why) },
        }
    }

    /// Where it goes and what is sent. A server that does not say that it knows dry runs is sent nothing: it would store it.
    async fn prepared(&self, desired: &Desired, live: &Object, raw: &Value) -> Result<(Served, Value), String> {
        if matches!(desired.source, "revision" | "baseline") {
            return Err("an earlier state is not what was asked for; name the manifests or the release".to_owned());
        }
        let version = raw.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let asked = desired.object.value().get("apiVersion").and_then(Value::as_str).unwrap_or(version);
        let served = self.kind_of(asked, &live.identity().kind).map_err(|unread| unread.to_string())?;
        let document = open_api(&self.connection, &served.resource, self.patience()).await;
        let document = document.map_err(|error| format!("whether the server honours dry runs cannot be read: {error}"))?;
        if !takes_dry_run(&document, &served.resource) {
            return Err("the server does not say that it honours dry runs for this kind, so nothing was sent".to_owned());
        }
        let mut body = to_apply(&desired.object, live, raw)?;
        body["apiVersion"] = served.resource.api_version().into();
        Ok((served, body))
    }

    async fn tried(&self, served: &Served, live: &Object, verb: DryVerb, (manager, body): (&str, &Value)) -> Result<Object, String> {
        let identity = live.identity();
        let body = serde_json::to_vec(body).map_err(|error| error.to_string())?;
        let resource = served.resource.clone();
        let wanted = DryRun { verb, resource, namespace: identity.namespace, name: identity.name, manager: manager.to_owned(), body };
        let bytes = dry_run(&self.connection, &wanted, self.patience()).await.map_err(|error| self.refused(&error, verb))?;
        let value = serde_json::from_slice(&bytes).map_err(|error| Unread::Unseen(error.to_string()).to_string())?;
        Ok(Object::new(value, &self.redactor))
    }

    /// The refusal with what it means and what lifts it. Servers quote what they were sent, so it is redacted.
    fn refused(&self, error: &Error, verb: DryVerb) -> String {
        let name = match verb {
            DryVerb::Apply => "patch",
            DryVerb::Create => "create",
        };
        let text = self.redactor.text(&error.to_string()).into_owned();
        match error.code() {
            Some(403) if text.contains("exceeded quota") => format!("a quota stands in the way: {text}"),
            Some(403) => format!("it needs the verb {name}, also for a dry run (holdup rbac --with dry-run): {text}"),
            Some(400) if text.contains("dry run") => {
                format!("a webhook does not take part in dry runs, so admission stays undecided: {text}")
            }
            Some(400 | 422) => format!("the server refuses what is asked for: {text}"),
            Some(_) | None => text,
        }
    }
}

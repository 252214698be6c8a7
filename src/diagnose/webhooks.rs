//! Webhooks by the name that refusals quote: which configuration holds them, and which Service answers for them.

use super::Cx;
use crate::model::{Kind, Object, ObjectRef, Webhook};

/// One entry of a webhook configuration.
#[derive(Clone, Copy)]
pub struct Hook<'a> {
    kind: Kind,
    configuration: &'a str,
    pub webhook: &'a Webhook,
}

impl<'a> Hook<'a> {
    pub fn configuration(&self) -> ObjectRef {
        ObjectRef::new(self.kind.row().name, "", self.configuration)
    }

    /// `failurePolicy` absent means Fail since v1.
    pub fn fails_closed(&self) -> bool {
        &*self.webhook.failure_policy != "Ignore"
    }

    /// Namespace and name of the Service that is called; `None` where a URL is.
    pub fn service(&self) -> Option<(&'a str, &'a str)> {
        self.webhook.client_config.service.as_ref().map(|s| (&*s.namespace, &*s.name))
    }

    /// Whether it is asked about this resource of this API group.
    pub fn covers(&self, group: &str, resource: &str) -> bool {
        self.webhook.rules.iter().any(|rule| {
            let among = |list: &[crate::model::Text], wanted: &str| list.iter().any(|x| &**x == wanted || &**x == "*" || &**x == "*/*");
            among(&rule.api_groups, group) && among(&rule.resources, resource)
        })
    }
}

const KINDS: [Kind; 2] = [Kind::MutatingWebhookConfiguration, Kind::ValidatingWebhookConfiguration];

/// Every webhook of every configuration, mutating ones first.
pub fn all<'a>(cx: &Cx<'a>) -> Vec<Hook<'a>> {
    let mut found = Vec::new();
    for kind in KINDS {
        for object in cx.objects(kind, None) {
            if let Object::WebhookConfiguration(c) = object {
                found.extend(c.webhooks.iter().map(|webhook| Hook { kind, configuration: &c.meta.name, webhook }));
            }
        }
    }
    found
}

/// The webhook that a refusal names. Names are unique within a configuration only: the called Service decides, where it is known.
pub fn named<'a>(cx: &Cx<'a>, name: &str, called: Option<(&str, &str)>) -> Option<Hook<'a>> {
    let hooks: Vec<Hook<'a>> = all(cx).into_iter().filter(|h| &*h.webhook.name == name).collect();
    hooks.iter().find(|h| called.is_some() && h.service() == called).or(hooks.first()).copied()
}

/// Whether every configuration may be read, so that a webhook in none of them is gone.
pub fn sees_all(cx: &Cx<'_>) -> bool {
    KINDS.map(|kind| cx.sees_all(kind, None)).iter().all(|sees| *sees)
}

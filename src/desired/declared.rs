//! What a release declares, found by name, and shared by all who look into it. Says nothing of what differs.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use super::object::{Identity, Object};

/// Objects in the order in which they were declared. A copy costs nothing.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    all: Arc<[Object]>,
    named: Arc<HashMap<String, Vec<usize>>>,
}

impl FromIterator<Object> for Declared {
    fn from_iter<I: IntoIterator<Item = Object>>(objects: I) -> Self {
        let all: Arc<[Object]> = objects.into_iter().collect();
        let mut named: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, object) in all.iter().enumerate() {
            named.entry(object.name().to_owned()).or_default().push(at);
        }
        Self { all, named: Arc::new(named) }
    }
}

impl Deref for Declared {
    type Target = [Object];

    fn deref(&self) -> &[Object] {
        &self.all
    }
}

impl Declared {
    /// The first that can be this object.
    pub fn of(&self, identity: &Identity) -> Option<&Object> {
        let places = self.named.get(&identity.name)?;
        places.iter().map(|at| &self.all[*at]).find(|object| object.identity().is_like(identity))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::redact::Redactor;

    #[test]
    fn an_object_is_found_by_all_of_its_name_and_the_first_of_its_like_is_taken() {
        let redactor = Redactor::new(&[7; 32]);
        let object = |kind: &str, namespace: &str, at: i64| {
            Object::new(json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": namespace}, "at": at}), &redactor)
        };
        let declared: Declared = [object("Secret", "n", 0), object("ConfigMap", "n", 1), object("ConfigMap", "", 2)].into_iter().collect();
        let of = |kind: &str, namespace: &str| Some(declared.of(&object(kind, namespace, 9).identity())?.value()["at"].clone());
        assert_eq!(
            (of("ConfigMap", "n"), of("ConfigMap", "m"), of("Secret", "m"), of("Pod", "n")),
            (Some(json!(1)), Some(json!(2)), None, None)
        );
        assert_eq!(declared.len(), 3);
    }
}

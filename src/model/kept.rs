//! Kept: one object as few bytes. What it is called stands in front and is read without opening it.

use super::Object;
use super::pack::{Pack, put, take};

/// Name, namespace, and the rest of the object. Equal bytes are equal objects.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kept(Box<[u8]>);

impl Kept {
    /// Packs an object under the name that its store knows it by. `scratch` is room that is used again and again: what is kept has
    /// no spare capacity and was never moved.
    pub(super) fn new(name: &str, object: &mut Object, scratch: &mut Vec<u8>) -> Self {
        scratch.clear();
        let meta = object.meta_mut();
        put_key(scratch, name);
        put_key(scratch, &meta.namespace);
        let own = std::mem::take(&mut meta.namespace);
        let named = (&*meta.name == name).then(|| std::mem::take(&mut meta.name));
        object.pack(scratch);
        let meta = object.meta_mut();
        meta.namespace = own;
        named.into_iter().for_each(|name| meta.name = name);
        Self(scratch.as_slice().into())
    }

    /// The object in its own shape.
    pub(super) fn open(&self) -> Object {
        let mut input = self.keys();
        let (name, namespace) = (take_key(&mut input), take_key(&mut input));
        let mut object = Object::unpack(&mut input);
        let meta = object.meta_mut();
        meta.namespace = namespace.into();
        if meta.name.is_empty() {
            meta.name = name.into();
        }
        object
    }

    pub(super) fn name(&self) -> &str {
        take_key(&mut self.keys())
    }

    pub(super) fn namespace(&self) -> &str {
        let mut input = self.keys();
        take_key(&mut input);
        take_key(&mut input)
    }

    fn keys(&self) -> &[u8] {
        &self.0
    }
}

fn put_key(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

fn take_key<'a>(input: &mut &'a [u8]) -> &'a str {
    let length = take(input) as usize;
    let (text, rest) = input.split_at_checked(length).unwrap_or((input, &[]));
    *input = rest;
    std::str::from_utf8(text).unwrap_or_default()
}

//! Pull: how a value of each type is taken out of JSON. A field that is absent, `null` or of the wrong type has its default:
//! one odd field never costs the object, and one odd object never blinds a kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::read::Reader;
use super::{IntOrText, Quantity, Text, Time};

/// A type that the reader can fill. `None` for a value of another type, which is stepped over.
pub(super) trait Pull: Sized {
    fn pull(r: &mut Reader<'_>) -> Option<Self>;
}

/// A struct in Kubernetes' own shape: camelCase names unless `#[serde(rename = …)]` says otherwise, every field optional.
/// In tests serde reads it too, as a second opinion.
macro_rules! api {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $(
            $(#[doc = $doc:literal])* $(#[serde(rename = $wire:literal)])?
            $field:ident : $type:ty
        ),* $(,)? }
    )+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq)]
        #[cfg_attr(test, derive(serde::Deserialize), serde(rename_all = "camelCase", default))]
        pub struct $name { $(
            $(#[doc = $doc])*
            #[cfg_attr(test, serde(deserialize_with = "crate::model::oracle::or_default" $(, rename = $wire)?))]
            pub $field: $type,
        )* }

        impl crate::model::pull::Pull for $name {
            #[allow(unused_mut, reason = "some structs have no field")]
            fn pull(r: &mut crate::model::read::Reader<'_>) -> Option<Self> {
                if !r.object() {
                    return None;
                }
                let mut it = Self::default();
                while let Some(key) = r.key() {
                    $(if *key == *crate::model::pull::wire_name!($field $($wire)?) {
                        it.$field = crate::model::pull::Pull::pull(r).unwrap_or_default();
                        continue;
                    })*
                    drop(key);
                    r.skip();
                }
                Some(it)
            }
        }
    )+};
}

/// How a field is called in JSON, as bytes: made at compile time.
macro_rules! wire_name {
    ($field:ident) => {{
        const FIELD: &str = stringify!($field);
        const NAME: [u8; crate::model::pull::camel_len(FIELD)] = crate::model::pull::camel(FIELD);
        &NAME as &[u8]
    }};
    ($field:ident $wire:literal) => {
        $wire.as_bytes()
    };
}
pub(super) use {api, wire_name};

/// The length of a field's name in camelCase.
pub(super) const fn camel_len(field: &str) -> usize {
    let (bytes, mut i, mut len) = (field.as_bytes(), 0, 0);
    while i < bytes.len() {
        len += (bytes[i] != b'_') as usize;
        i += 1;
    }
    len
}

/// A field's name in camelCase: `host_ip` is `hostIp`.
pub(super) const fn camel<const N: usize>(field: &str) -> [u8; N] {
    let (bytes, mut i, mut at, mut name) = (field.as_bytes(), 0, 0, [0; N]);
    while i < bytes.len() {
        if bytes[i] != b'_' {
            name[at] = if i > 0 && bytes[i - 1] == b'_' { bytes[i].to_ascii_uppercase() } else { bytes[i] };
            at += 1;
        }
        i += 1;
    }
    name
}

impl Pull for Text {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        r.str().map(|text| cut(&text))
    }
}

impl Pull for bool {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        r.bool()
    }
}

impl Pull for i64 {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        r.int()
    }
}

impl Pull for Time {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        r.time()
    }
}

impl Pull for Quantity {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        if r.peek() == b'"' {
            return r.str().and_then(|text| Self::parse(&text));
        }
        let start = r.position();
        let number = matches!(r.peek(), b'-' | b'0'..=b'9');
        r.skip();
        let text = std::str::from_utf8(r.since(start)).ok()?;
        Self::parse(text).filter(|_| number)
    }
}

impl Pull for IntOrText {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        if r.peek() == b'"' { Text::pull(r).map(Self::Text) } else { r.int().map(Self::Int) }
    }
}

/// Absent and of the wrong type are both `None`.
impl<T: Pull> Pull for Option<T> {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        Some(T::pull(r))
    }
}

impl<T: Pull> Pull for Box<T> {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        T::pull(r).map(Self::new)
    }
}

/// Elements of the wrong type are left out.
impl<T: Pull> Pull for Vec<T> {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        let mut list = Self::new();
        if !r.list() {
            return None;
        }
        while r.item() {
            // Most lists have one element or two: room for four, cut down afterwards, would cost more than it saves.
            if list.len() == list.capacity() {
                list.reserve_exact(list.len().max(1));
            }
            list.extend(T::pull(r));
        }
        list.shrink_to_fit();
        Some(list)
    }
}

/// Entries of the wrong type are left out.
impl<T: Pull> Pull for BTreeMap<Text, T> {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        let mut map = Self::new();
        if !r.object() {
            return None;
        }
        while let Some(key) = r.key() {
            let key = cut(&String::from_utf8_lossy(&key));
            match T::pull(r) {
                Some(value) => map.insert(key, value),
                None => map.remove(&key),
            };
        }
        Some(map)
    }
}

/// What one text may take. A message of a megabyte must not cost a megabyte, nor hide what it begins with.
const LONGEST: usize = 8 << 10;

/// The same without a copy where nothing is cut.
pub(super) fn cut_cow(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= LONGEST { text } else { Cow::Owned(cut(&text).into()) }
}

/// The text, cut to 8 KiB at a character, with how much more there was.
pub(super) fn cut(text: &str) -> Text {
    if text.len() <= LONGEST {
        return text.into();
    }
    let end = (0..=LONGEST).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
    format!("{}… ({} more bytes)", &text[..end], text.len() - end).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_huge_text_is_cut_at_a_character_and_says_so() {
        let text = "é".repeat(5000);
        assert_eq!(&*cut(&text), format!("{}… (1808 more bytes)", "é".repeat(4096)));
        assert_eq!(&*cut("short"), "short");
    }

    #[test]
    fn names_are_camel_case() {
        assert_eq!(wire_name!(host_ip), b"hostIp");
        assert_eq!(wire_name!(host_ip "hostIP"), b"hostIP");
        assert_eq!(wire_name!(name), b"name");
    }
}

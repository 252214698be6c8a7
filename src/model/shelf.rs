//! Shelf: a value that thousands of objects hold and few people look at, kept as few bytes until somebody does.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use super::pack::{Pack, packed, put, take, unpacked};
use super::pull::Pull;
use super::read::Reader;

/// Reads like the value itself. What was looked at stays open for as long as the object is kept.
pub struct Shelved<T> {
    bytes: Box<[u8]>,
    open: OnceLock<Box<T>>,
}

impl<T: Pack> Shelved<T> {
    pub(super) fn new(value: &T) -> Self {
        Self::of(&packed(value))
    }
}

impl<T> Shelved<T> {
    /// What packs to nothing but "no field follows" is kept as no bytes, as the default is.
    fn of(bytes: &[u8]) -> Self {
        Self { bytes: if bytes == [0] { Box::default() } else { bytes.into() }, open: OnceLock::new() }
    }
}

impl<T: Pack> Deref for Shelved<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.open.get_or_init(|| Box::new(unpacked(&self.bytes)))
    }
}

impl<T> Default for Shelved<T> {
    fn default() -> Self {
        Self { bytes: Box::default(), open: OnceLock::new() }
    }
}

impl<T: Pack> Pack for Shelved<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.bytes.len() as u64);
        out.extend_from_slice(&self.bytes);
    }

    fn unpack(input: &mut &[u8]) -> Self {
        let length = take(input) as usize;
        let (bytes, rest) = input.split_at_checked(length).unwrap_or((input, &[]));
        *input = rest;
        Self::of(bytes)
    }
}

impl<T> Clone for Shelved<T> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), open: OnceLock::new() }
    }
}

/// Equal bytes are equal values: packing has one form for each.
impl<T> PartialEq for Shelved<T> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<T: Pack + fmt::Debug> fmt::Debug for Shelved<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Pull + Pack> Pull for Shelved<T> {
    fn pull(r: &mut Reader<'_>) -> Option<Self> {
        T::pull(r).map(|value| Self::new(&value))
    }
}

#[cfg(test)]
impl<'de, T: Pack + serde::Deserialize<'de>> serde::Deserialize<'de> for Shelved<T> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        T::deserialize(d).map(|value| Self::new(&value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Container, PodSpec};

    #[test]
    fn what_is_taken_from_the_shelf_is_what_was_put_there() {
        let spec = PodSpec {
            containers: vec![Container { name: "app".into(), image: "web:1".into(), ..Container::default() }],
            ..PodSpec::default()
        };
        let shelved = Shelved::new(&spec);
        assert_eq!((*shelved).clone(), spec);
        assert!(shelved == Shelved::new(&spec) && shelved != Shelved::default());
    }
}

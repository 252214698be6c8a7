//! Pack: structs in Kubernetes' own shape as few bytes, and back. Only fields that differ from their default are written, and
//! words that every cluster uses are one or two bytes. Bytes made here are equal if and only if the values are.

use std::collections::BTreeMap;

use super::pods::{spelled, uuid};
use super::words::{WORDS, word, word_number};
use super::{IntOrText, Quantity, Text, Time};

/// A type that can be packed. What was packed is unpacked by the same version of the same program: nothing else is expected.
pub trait Pack: Sized {
    fn pack(&self, out: &mut Vec<u8>);
    fn unpack(input: &mut &[u8]) -> Self;
}

/// The bytes of a value.
pub(super) fn packed<T: Pack>(value: &T) -> Box<[u8]> {
    let mut out = Vec::new();
    value.pack(&mut out);
    out.into()
}

/// The value of bytes that [`packed`] made.
pub(super) fn unpacked<T: Pack>(mut bytes: &[u8]) -> T {
    T::unpack(&mut bytes)
}

/// `api!` for structs that are also kept packed.
macro_rules! packed_api {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $(
            $(#[doc = $doc:literal])* $(#[serde(rename = $wire:literal)])?
            $field:ident : $type:ty
        ),* $(,)? }
    )+) => {
        $crate::model::pull::api! { $(
            $(#[$meta])*
            pub struct $name { $( $(#[doc = $doc])* $(#[serde(rename = $wire)])? $field : $type, )* }
        )+ }
        $( $crate::model::pack::pack_fields!($name { $($field),* }); )+
    };
}

/// The packing of a struct: a number whose bits say which fields follow.
macro_rules! pack_fields {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::model::pack::Pack for $name {
            #[allow(unused_variables, unused_mut, unused_assignments, reason = "some structs have no field")]
            fn pack(&self, out: &mut Vec<u8>) {
                let default = Self::default();
                let (mut present, mut bit) = (0_u64, 1_u64);
                $(
                    present |= if self.$field == default.$field { 0 } else { bit };
                    bit <<= 1;
                )*
                $crate::model::pack::put(out, present);
                bit = 1;
                $(
                    if present & bit != 0 {
                        $crate::model::pack::Pack::pack(&self.$field, out);
                    }
                    bit <<= 1;
                )*
            }

            #[allow(unused_variables, unused_mut, unused_assignments, reason = "some structs have no field")]
            fn unpack(input: &mut &[u8]) -> Self {
                let mut it = Self::default();
                let (present, mut bit) = ($crate::model::pack::take(input), 1_u64);
                $(
                    if present & bit != 0 {
                        it.$field = $crate::model::pack::Pack::unpack(input);
                    }
                    bit <<= 1;
                )*
                it
            }
        }
    };
}
pub(super) use {pack_fields, packed_api};

/// A number in as few bytes as it needs, seven bits each.
pub(super) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn take(input: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0_u64, 0);
    while let Some((byte, rest)) = input.split_first() {
        *input = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift = (shift + 7) & 63;
    }
    number
}

/// What stands before the bits of a UUID.
const UUID: u64 = (WORDS.len() as u64) << 1 | 1;

/// A text is its length, or its number among the words, told apart by the lowest bit.
pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    match word_number(text) {
        Some(n) => put(out, (n as u64) << 1 | 1),
        None => {
            put(out, (text.len() as u64) << 1);
            out.extend_from_slice(text.as_bytes());
        }
    }
}

pub(super) fn take_text<'a>(input: &mut &'a [u8]) -> &'a str {
    let number = take(input);
    if number & 1 == 1 {
        return word((number >> 1) as usize);
    }
    std::str::from_utf8(of_length(number >> 1, input)).unwrap_or_default()
}

/// The same as bytes, for whoever checks all of them at once.
pub(super) fn take_bytes<'a>(input: &mut &'a [u8]) -> &'a [u8] {
    let number = take(input);
    if number & 1 == 1 { word((number >> 1) as usize).as_bytes() } else { of_length(number >> 1, input) }
}

fn of_length<'a>(length: u64, input: &mut &'a [u8]) -> &'a [u8] {
    let (bytes, rest) = input.split_at_checked(length as usize).unwrap_or((input, &[]));
    *input = rest;
    bytes
}

/// Uids are the bits of their UUID behind the number of a word that is none.
impl Pack for Text {
    fn pack(&self, out: &mut Vec<u8>) {
        match uuid(self.as_bytes()) {
            Some(bits) => {
                put(out, UUID);
                bits.into_iter().for_each(|part| out.extend_from_slice(&part.to_le_bytes()));
            }
            None => put_text(out, self),
        }
    }

    fn unpack(input: &mut &[u8]) -> Self {
        let mut rest = *input;
        if take(&mut rest) != UUID {
            return take_text(input).into();
        }
        let (bits, rest) = rest.split_first_chunk::<16>().unwrap_or((&[0; 16], &[]));
        *input = rest;
        let part = |i: usize| u32::from_le_bytes([bits[i], bits[i + 1], bits[i + 2], bits[i + 3]]);
        spelled([part(0), part(4), part(8), part(12)]).into()
    }
}

impl Pack for bool {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, u64::from(*self));
    }

    fn unpack(input: &mut &[u8]) -> Self {
        take(input) != 0
    }
}

/// Small numbers of either sign are short.
impl Pack for i64 {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, (self << 1 ^ self >> 63) as u64);
    }

    fn unpack(input: &mut &[u8]) -> Self {
        let number = take(input);
        (number >> 1) as Self ^ -((number & 1) as Self)
    }
}

impl Pack for Time {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.unix() as u64);
    }

    fn unpack(input: &mut &[u8]) -> Self {
        Self::from_unix(take(input) as i64).unwrap_or(Self::FIRST)
    }
}

impl Pack for Quantity {
    fn pack(&self, out: &mut Vec<u8>) {
        put_text(out, self.text());
    }

    fn unpack(input: &mut &[u8]) -> Self {
        Self::parse(take_text(input)).unwrap_or_default()
    }
}

impl Pack for IntOrText {
    fn pack(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int(n) => {
                out.push(0);
                n.pack(out);
            }
            Self::Text(text) => {
                out.push(1);
                text.pack(out);
            }
        }
    }

    fn unpack(input: &mut &[u8]) -> Self {
        if take(input) == 0 { Self::Int(Pack::unpack(input)) } else { Self::Text(Pack::unpack(input)) }
    }
}

/// Only fields hold options, and a field is written only when it is there.
impl<T: Pack> Pack for Option<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        if let Some(value) = self {
            value.pack(out);
        }
    }

    fn unpack(input: &mut &[u8]) -> Self {
        Some(T::unpack(input))
    }
}

impl<T: Pack> Pack for Box<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        (**self).pack(out);
    }

    fn unpack(input: &mut &[u8]) -> Self {
        Self::new(T::unpack(input))
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.len() as u64);
        self.iter().for_each(|item| item.pack(out));
    }

    fn unpack(input: &mut &[u8]) -> Self {
        (0..take(input)).map(|_| T::unpack(input)).collect()
    }
}

impl<T: Pack> Pack for BTreeMap<Text, T> {
    fn pack(&self, out: &mut Vec<u8>) {
        put(out, self.len() as u64);
        for (key, value) in self {
            key.pack(out);
            value.pack(out);
        }
    }

    fn unpack(input: &mut &[u8]) -> Self {
        (0..take(input)).map(|_| (Text::unpack(input), T::unpack(input))).collect()
    }
}

//! An answer and its bytes as they come, unpacked where the server packed them.

use std::io::Write;
use std::time::Duration;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Response};
use http_body_util::BodyExt;
use kube::client::Body as Wire;
use serde::Deserialize;

use super::error::{Error, Status};
use super::failure;

/// What the API server answered: headers are there, bytes are still to come.
pub struct Answer {
    pub code: u16,
    pub content_type: String,
    retry_after: Option<Duration>,
    body: Body,
}

/// The bytes of an answer, in the pieces in which they arrive.
pub struct Body {
    wire: Wire,
    packed: Option<Box<MultiGzDecoder<Vec<u8>>>>,
}

/// More than this is not read of a refusal.
const REFUSAL: usize = 64 << 10;

impl Answer {
    pub(super) fn new(response: Response<Wire>) -> Self {
        let headers = response.headers();
        let packed = headers.get(CONTENT_ENCODING).is_some_and(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"gzip"));
        Self {
            code: response.status().as_u16(),
            content_type: text(headers, CONTENT_TYPE),
            retry_after: text(headers, RETRY_AFTER).parse().ok().map(Duration::from_secs),
            body: Body { packed: packed.then(|| Box::new(MultiGzDecoder::new(Vec::new()))), wire: response.into_body() },
        }
    }

    /// The bytes of an answer that says yes, else the refusal.
    ///
    /// # Errors
    /// The server's `Status` for every code but 2xx.
    pub async fn accepted(self) -> Result<Body, Error> {
        if (200..300).contains(&self.code) {
            return Ok(self.body);
        }
        Err(Error::Status(self.refusal().await))
    }

    /// Reads the `Status` of a refusal; what is no Status is kept as its text.
    pub async fn refusal(mut self) -> Status {
        let bytes = self.body.first(REFUSAL).await;
        let told: Told = serde_json::from_slice(&bytes).unwrap_or_default();
        let message = if told.message.is_empty() { plain(&bytes, self.code) } else { told.message };
        let seconds = told.details.and_then(|details| details.retry_after_seconds);
        Status { code: self.code, reason: told.reason, message, retry_after: self.retry_after.or(seconds.map(Duration::from_secs)) }
    }
}

impl Body {
    /// The next piece, or `None` at the end.
    ///
    /// # Errors
    /// The connection broke, or the bytes cannot be unpacked.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let Some(frame) = self.wire.frame().await else {
                return self.finish();
            };
            let frame = frame.map_err(|error| failure::cut(&error))?;
            let Ok(bytes) = frame.into_data() else {
                continue;
            };
            let bytes = self.unpack(bytes)?;
            if !bytes.is_empty() {
                return Ok(Some(bytes));
            }
        }
    }

    /// All bytes.
    ///
    /// # Errors
    /// As [`Self::piece`].
    pub async fn all(mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(piece) = self.piece().await? {
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    async fn first(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while bytes.len() < most
            && let Ok(Some(piece)) = self.piece().await
        {
            bytes.extend_from_slice(&piece);
        }
        bytes.truncate(most);
        bytes
    }

    fn unpack(&mut self, bytes: Bytes) -> Result<Bytes, Error> {
        let Some(packed) = &mut self.packed else {
            return Ok(bytes);
        };
        packed.write_all(&bytes).map_err(|error| broken(&error))?;
        Ok(Bytes::from(std::mem::take(packed.get_mut())))
    }

    fn finish(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(packed) = self.packed.take() else {
            return Ok(None);
        };
        let rest = packed.finish().map_err(|error| broken(&error))?;
        Ok(Some(Bytes::from(rest)).filter(|rest| !rest.is_empty()))
    }
}

fn broken(error: &std::io::Error) -> Error {
    Error::Cut { why: format!("the compressed answer is damaged ({error})") }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    #[serde(deserialize_with = "or_empty")]
    reason: String,
    #[serde(deserialize_with = "or_empty")]
    message: String,
    details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Details {
    retry_after_seconds: Option<u64>,
}

fn or_empty<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// A proxy's or load balancer's page instead of a Status: its first words are enough.
fn plain(bytes: &[u8], code: u16) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words: String = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(200).collect();
    if words.is_empty() {
        return http::StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason()).unwrap_or("no message").to_owned();
    }
    words
}

fn text(headers: &HeaderMap, name: http::HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().trim().to_owned()
}

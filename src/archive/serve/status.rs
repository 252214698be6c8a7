//! Answers that say why there is nothing else: `Status` objects as the API server writes them.

use bytes::Bytes;
use http::{Response, StatusCode, header};
use serde_json::{Value, json};

use super::body::ArchiveBody;

/// Why a request is not answered with what it asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Nothing is served under this path.
    NoSuchPath,
    /// The input holds nothing of this kind here.
    NotInTheInput {
        plural: String,
        namespace: Option<String>,
    },
    NotFound {
        plural: String,
        group: String,
        name: String,
    },
    /// When the archive was made its reader was refused.
    Forbidden {
        message: String,
    },
    /// Archives are read-only.
    ReadOnly {
        method: String,
    },
    /// A selector that cannot be understood, or asks for a field that this kind does not have.
    BadRequest {
        message: String,
    },
    NoLog {
        message: String,
    },
}

impl Refusal {
    pub(super) fn response(&self) -> Response<ArchiveBody> {
        let (code, reason) = match self {
            Self::NoSuchPath | Self::NotInTheInput { .. } | Self::NotFound { .. } | Self::NoLog { .. } => {
                (StatusCode::NOT_FOUND, "NotFound")
            }
            Self::Forbidden { .. } => (StatusCode::FORBIDDEN, "Forbidden"),
            Self::ReadOnly { .. } => (StatusCode::METHOD_NOT_ALLOWED, "MethodNotAllowed"),
            Self::BadRequest { .. } => (StatusCode::BAD_REQUEST, "BadRequest"),
        };
        let mut status =
            json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": self.message(), "reason": reason});
        if let Self::NotFound { plural, group, name } = self {
            status["details"] = json!({"name": name, "group": group, "kind": plural});
        }
        status["code"] = json!(code.as_u16());
        answer(code, &status)
    }

    fn message(&self) -> String {
        match self {
            Self::NoSuchPath => "the server could not find the requested resource".to_owned(),
            Self::NotInTheInput { plural, namespace: None } => format!("{plural} are not in the input"),
            Self::NotInTheInput { plural, namespace: Some(namespace) } => format!("{plural} of namespace {namespace} are not in the input"),
            Self::NotFound { plural, group, name } if group.is_empty() => format!("{plural} \"{name}\" not found"),
            Self::NotFound { plural, group, name } => format!("{plural}.{group} \"{name}\" not found"),
            Self::ReadOnly { method } => format!("{method} is not allowed: this is a file, served read-only"),
            Self::Forbidden { message } | Self::BadRequest { message } | Self::NoLog { message } => message.clone(),
        }
    }
}

/// A JSON answer.
pub(super) fn answer(code: StatusCode, value: &Value) -> Response<ArchiveBody> {
    typed(code, "application/json", Bytes::from(value.to_string()))
}

pub(super) fn typed(code: StatusCode, media: &'static str, bytes: Bytes) -> Response<ArchiveBody> {
    with_body(code, media, ArchiveBody::whole(bytes))
}

pub(super) fn with_body(code: StatusCode, media: &'static str, body: ArchiveBody) -> Response<ArchiveBody> {
    let mut response = Response::new(body);
    *response.status_mut() = code;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(media));
    response
}

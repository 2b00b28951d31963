//! The body of an error reply, in the shape of a wire format or raw.

use dormouse_model::WireFormat;
use serde_json::{Map, Value, json};

/// The body of an error reply.
#[derive(Debug, Clone)]
pub enum ErrorBody {
    /// An error in the shape of the server's wire format.
    Shaped {
        /// The kind, in Anthropic's terms; an OpenAI-compatible server says it in its own.
        kind: String,
        /// What went wrong.
        message: String,
        /// The `code`, for OpenAI-compatible servers.
        code: Value,
        /// More fields of the error object.
        extra: Vec<(String, Value)>,
    },
    /// Anything else, as it stands.
    Raw {
        /// Its content type.
        content_type: String,
        /// The text.
        text: String,
    },
}

impl ErrorBody {
    /// The content type and the bytes, for one wire format.
    pub(crate) fn render(&self, wire: WireFormat, request_id: &str) -> (String, String) {
        match self {
            Self::Raw { content_type, text } => (content_type.clone(), text.clone()),
            Self::Shaped { kind, message, code, extra } => {
                let mut error = Map::new();
                error.insert("message".into(), json!(message));
                let body = match wire {
                    WireFormat::Anthropic => {
                        error.insert("type".into(), json!(kind));
                        error.extend(extra.iter().cloned());
                        json!({"type": "error", "error": error, "request_id": request_id})
                    }
                    WireFormat::OpenAi => {
                        error.insert("type".into(), json!(openai_kind(kind)));
                        error.insert("param".into(), Value::Null);
                        error.insert("code".into(), code.clone());
                        error.extend(extra.iter().cloned());
                        json!({ "error": error })
                    }
                };
                ("application/json".into(), body.to_string())
            }
        }
    }
}

/// What an OpenAI-compatible server calls a kind of error.
fn openai_kind(kind: &str) -> &str {
    match kind {
        "rate_limit_error" => "rate_limit_exceeded",
        "api_error" | "overloaded_error" | "timeout_error" => "server_error",
        "billing_error" => "insufficient_quota",
        "authentication_error" | "permission_error" | "not_found_error" | "request_too_large" => {
            "invalid_request_error"
        }
        other => other,
    }
}

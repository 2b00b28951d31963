//! From a refused request to a typed error: the shapes in which servers and gateways say it.

use std::time::Duration;

use serde::Deserialize;

use crate::error::ModelError;

/// A refused request, before anybody knows what it means.
#[derive(Debug, Clone, Default)]
pub struct HttpRefusal<'a> {
    /// The HTTP status; 200 for an error inside a stream.
    pub status: u16,
    /// `retry-after-ms` or `retry-after`, as a time.
    pub retry_after: Option<Duration>,
    /// `x-should-retry`, where the server sends it.
    pub should_retry: Option<bool>,
    /// The body.
    pub body: &'a str,
}

/// An error body, as far as any server fills it: `{"error":{...}}`, or the inside alone.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Body {
    error: Option<Inside>,
    #[serde(flatten)]
    outside: Inside,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Inside {
    #[serde(rename = "type")]
    kind: Option<serde_json::Value>,
    message: Option<serde_json::Value>,
    code: Option<serde_json::Value>,
    n_prompt_tokens: Option<u64>,
    n_ctx: Option<u64>,
}

impl Inside {
    fn text(value: Option<&serde_json::Value>) -> String {
        match value {
            None | Some(serde_json::Value::Null) => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }
}

/// What a refused request means.
pub fn classify_refusal(refusal: &HttpRefusal<'_>) -> ModelError {
    let parsed: Body = serde_json::from_str(refusal.body).unwrap_or_default();
    let inside = parsed.error.unwrap_or(parsed.outside);
    let kind = Inside::text(inside.kind.as_ref());
    let code = Inside::text(inside.code.as_ref());
    let mut message = Inside::text(inside.message.as_ref());
    if message.is_empty() {
        message = plain_text(refusal.body);
    }
    message = cut(&message, LONGEST_MESSAGE);
    let words = format!("{kind} {code} {message}").to_lowercase();
    let status = status_of(refusal.status, &kind);
    if (400..500).contains(&status) || refusal.status == 200 || status == 500 {
        if says_too_long(&words) {
            let (used, limit) = two_numbers(&message);
            let (used, limit) = (inside.n_prompt_tokens.or(used), inside.n_ctx.or(limit));
            return ModelError::TooLong { used, limit, message };
        }
        if says_thinking_refused(&words) {
            return ModelError::ThinkingRefused(message);
        }
        if status == 400 && says_media_refused(&words) {
            return ModelError::RequestTooLarge(message);
        }
    }
    let error = by_status(status, refusal.retry_after, message, &words);
    obey(error, refusal.should_retry)
}

/// A server that says whether to retry knows better than the status.
fn obey(error: ModelError, should_retry: Option<bool>) -> ModelError {
    match (should_retry, error) {
        (Some(false), ModelError::ServerFault { status, message, .. }) => {
            ModelError::InvalidRequest { status, message }
        }
        (Some(false), ModelError::RateLimited { message, .. }) => ModelError::Billing(message),
        (Some(true), ModelError::InvalidRequest { status, message }) => {
            ModelError::ServerFault { status, retry_after: None, message }
        }
        (_, error) => error,
    }
}

fn by_status(
    status: u16,
    retry_after: Option<Duration>,
    message: String,
    words: &str,
) -> ModelError {
    match status {
        401 => ModelError::NotAuthenticated(message),
        402 => ModelError::Billing(message),
        403 => ModelError::NotAllowed(message),
        404 => ModelError::NotFound(message),
        413 => ModelError::RequestTooLarge(message),
        // A spending cap says 429 forever, and without a time to come back.
        429 if retry_after.is_none() && says_spent(words) => ModelError::Billing(message),
        429 => ModelError::RateLimited { retry_after, message },
        529 => ModelError::Overloaded { retry_after, message },
        408 | 409 | 500..=599 => ModelError::ServerFault { status, retry_after, message },
        400 if says_spent(words) => ModelError::Billing(message),
        _ => ModelError::InvalidRequest { status, message },
    }
}

/// Inside a stream there is no status, only the error's type.
fn status_of(status: u16, kind: &str) -> u16 {
    if status != 200 {
        return status;
    }
    match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}

fn says_too_long(words: &str) -> bool {
    const SAYINGS: &[&str] = &[
        "prompt is too long",
        "prompt_too_long",
        "prompt too long",
        "input is too long",
        "exceed context limit",
        "context_length_exceeded",
        "exceed_context_size",
        "exceeds the available context size",
        "maximum context length",
        "context length exceeded",
        "context window exceeded",
        "exceeds the context window",
        "exceeds the model's context",
        "larger than the context size",
        "too many input tokens",
    ];
    SAYINGS.iter().any(|saying| words.contains(saying))
}

fn says_thinking_refused(words: &str) -> bool {
    words.contains("thinking")
        && ["signature", "cannot be modified", "bound to a different", "must remain as they were"]
            .iter()
            .any(|saying| words.contains(saying))
}

/// A picture or a document is too large, or there are too many: the request is fine without them.
fn says_media_refused(words: &str) -> bool {
    let any = |of: &[&str]| of.iter().any(|saying| words.contains(saying));
    any(&["image", "picture", "pdf", "document", "media"])
        && any(&[
            "exceeds",
            "exceed max",
            "too large",
            "too many",
            "too big",
            "maximum of",
            "could not process",
        ])
}

fn says_spent(words: &str) -> bool {
    [
        "spend limit",
        "spend cap",
        "spending limit",
        "insufficient_quota",
        "credit balance",
        "usage limit",
    ]
    .iter()
    .any(|saying| words.contains(saying))
}

/// The used and the allowed tokens, where a message names them: the largest number is what was sent,
/// the last one what is allowed.
fn two_numbers(message: &str) -> (Option<u64>, Option<u64>) {
    let mut numbers = message
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| digits.len() >= 3)
        .filter_map(|digits| digits.parse::<u64>().ok());
    if message.contains(" > ") {
        let before: u64 = message
            .split(" > ")
            .next()
            .unwrap_or_default()
            .split(|c: char| !c.is_ascii_digit())
            .filter(|digits| digits.len() >= 3)
            .filter_map(|digits| digits.parse::<u64>().ok())
            .sum();
        return ((before > 0).then_some(before), numbers.next_back());
    }
    if message.to_lowercase().contains("maximum context length is") {
        let limit = numbers.next();
        return (numbers.next(), limit);
    }
    (None, None)
}

/// The user reads it.
const LONGEST_MESSAGE: usize = 1_000;

fn cut(text: &str, most: usize) -> String {
    let mut short: String = text.chars().take(most).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// The longest text taken from a body that is no JSON.
const LONGEST_PLAIN: usize = 300;

/// A proxy's page, without its tags.
fn plain_text(body: &str) -> String {
    let mut text = String::new();
    let mut inside_tag = false;
    for c in body.chars() {
        match c {
            '<' => inside_tag = true,
            '>' => {
                inside_tag = false;
                text.push(' ');
            }
            c if !inside_tag => text.push(c),
            _ => {}
        }
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = text.chars().take(LONGEST_PLAIN).collect();
    if cut.is_empty() { "(no explanation given)".to_owned() } else { cut }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, body: &str) -> ModelError {
        classify_refusal(&HttpRefusal { status, body, ..HttpRefusal::default() })
    }

    fn anthropic(kind: &str, message: &str) -> String {
        format!(
            r#"{{"type":"error","error":{{"type":"{kind}","message":"{message}"}},"request_id":"req_1"}}"#
        )
    }

    #[track_caller]
    fn check_too_long(status: u16, body: &str, used: Option<u64>, limit: Option<u64>) {
        match refused(status, body) {
            ModelError::TooLong { used: u, limit: l, .. } => {
                assert_eq!((u, l), (used, limit), "{body}");
            }
            other => panic!("{body} → {other:?}"),
        }
    }

    #[test]
    fn too_long_in_all_its_shapes() {
        let invalid = "invalid_request_error";
        check_too_long(
            400,
            &anthropic(invalid, "prompt is too long: 219898 tokens > 200000 maximum"),
            Some(219_898),
            Some(200_000),
        );
        check_too_long(
            400,
            &anthropic(
                invalid,
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
            ),
            Some(209_573),
            Some(200_000),
        );
        check_too_long(
            400,
            &anthropic(invalid, "Input is too long for requested model"),
            None,
            None,
        );
        check_too_long(
            400,
            r#"{"error":{"message":"capability_rejected: prompt_too_long"}}"#,
            None,
            None,
        );
        check_too_long(
            400,
            r#"{"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}"#,
            Some(5_000),
            Some(4_096),
        );
        check_too_long(
            400,
            r#"{"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens","type":"BadRequestError","code":400}}"#,
            Some(9_000),
            Some(8_192),
        );
        check_too_long(
            400,
            r#"{"error":{"message":"x","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            None,
            None,
        );
        check_too_long(
            200,
            &anthropic(invalid, "prompt is too long: 5000 tokens > 4000 maximum"),
            Some(5_000),
            Some(4_000),
        );
    }

    #[test]
    fn pictures_and_documents_that_are_refused() {
        for message in [
            "messages.2.content.0.image.source.base64: image exceeds 5 MB maximum: 5316852 bytes > 5242880 bytes",
            "At least one of the image dimensions exceed max allowed size: 8000 pixels",
            "Could not process image",
            "A maximum of 100 PDF pages may be provided.",
            "Too many images in the request",
        ] {
            let error = refused(400, &anthropic("invalid_request_error", message));
            assert_eq!(error, ModelError::RequestTooLarge(message.to_owned()));
        }
        let other = refused(400, &anthropic("invalid_request_error", "tools.0: name exceeds 64"));
        assert!(matches!(other, ModelError::InvalidRequest { .. }), "{other:?}");
    }

    #[test]
    fn every_status() {
        let kind = |status, body: &str| std::mem::discriminant(&refused(status, body));
        let like = |error: ModelError| std::mem::discriminant(&error);
        let message = String::new;
        assert_eq!(kind(401, "{}"), like(ModelError::NotAuthenticated(message())));
        assert_eq!(kind(402, "{}"), like(ModelError::Billing(message())));
        assert_eq!(kind(403, "{}"), like(ModelError::NotAllowed(message())));
        assert_eq!(kind(404, "{}"), like(ModelError::NotFound(message())));
        assert_eq!(kind(413, "<html>413</html>"), like(ModelError::RequestTooLarge(message())));
        assert_eq!(
            kind(400, "{}"),
            like(ModelError::InvalidRequest { status: 400, message: message() })
        );
        assert_eq!(
            kind(529, "{}"),
            like(ModelError::Overloaded { retry_after: None, message: message() })
        );
        for status in [408, 409, 500, 502, 503, 504] {
            assert_eq!(
                kind(status, "{}"),
                like(ModelError::ServerFault { status, retry_after: None, message: message() })
            );
        }
        let spent = anthropic("rate_limit_error", "You have reached your spend limit");
        assert_eq!(kind(429, &spent), like(ModelError::Billing(message())));
        assert_eq!(
            kind(429, "{}"),
            like(ModelError::RateLimited { retry_after: None, message: message() })
        );
        assert_eq!(
            kind(200, &anthropic("overloaded_error", "Overloaded")),
            like(ModelError::Overloaded { retry_after: None, message: message() })
        );
    }

    #[test]
    fn a_refused_thinking_block() {
        let text = "messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.";
        assert!(matches!(
            refused(400, &anthropic("invalid_request_error", text)),
            ModelError::ThinkingRefused(_)
        ));
        let text = "`thinking` blocks in the latest assistant message cannot be modified";
        assert!(matches!(
            refused(400, &anthropic("invalid_request_error", text)),
            ModelError::ThinkingRefused(_)
        ));
    }

    #[test]
    fn the_server_knows_whether_to_retry() {
        let refusal = HttpRefusal {
            status: 500,
            should_retry: Some(false),
            body: "{}",
            ..HttpRefusal::default()
        };
        assert_eq!(classify_refusal(&refusal).retryable(), crate::Retryable::No);
        let refusal = HttpRefusal {
            status: 400,
            should_retry: Some(true),
            body: "{}",
            ..HttpRefusal::default()
        };
        assert_eq!(classify_refusal(&refusal).retryable(), crate::Retryable::After(None));
    }

    #[test]
    fn a_page_of_a_proxy_is_readable() {
        let error = refused(502, "<html><h1>502 Bad Gateway</h1>\n<p>nginx</p></html>");
        assert_eq!(error.to_string(), "the server failed with status 502: 502 Bad Gateway nginx");
    }
}

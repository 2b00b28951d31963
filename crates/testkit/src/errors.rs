//! Error replies: each refusal that a model server, a gateway or a proxy is known to give.

use serde_json::{Value, json};

use crate::error_body::ErrorBody;
use crate::reply::Reply;

fn shaped(status: u16, kind: &str, message: impl Into<String>) -> Reply {
    coded(status, kind, message, Value::Null)
}

fn coded(status: u16, kind: &str, message: impl Into<String>, code: Value) -> Reply {
    let body =
        ErrorBody::Shaped { kind: kind.into(), message: message.into(), code, extra: Vec::new() };
    Reply::Error { status, headers: Vec::new(), body }
}

/// The refusals by name.
impl Reply {
    /// 429, to be tried again after so many seconds.
    pub fn rate_limited(retry_after_seconds: u64) -> Self {
        coded(
            429,
            "rate_limit_error",
            "Number of requests has exceeded the rate limit",
            json!("rate_limit_exceeded"),
        )
        .with_header("retry-after", retry_after_seconds.to_string())
    }

    /// 429 without `retry-after`: a spending cap, which keeps failing.
    pub fn spend_cap_429() -> Self {
        coded(
            429,
            "rate_limit_error",
            "You have reached your monthly spend limit",
            json!("insufficient_quota"),
        )
    }

    /// 529: overloaded.
    pub fn overloaded_529() -> Self {
        shaped(529, "overloaded_error", "Overloaded")
    }

    /// 500: the server's own fault.
    pub fn server_error_500() -> Self {
        shaped(500, "api_error", "Internal server error")
    }

    /// 504: the server took too long.
    pub fn timeout_504() -> Self {
        shaped(504, "timeout_error", "Request timed out")
    }

    /// 400: the input alone is larger than the window.
    pub fn prompt_too_long(used: u64, max: u64) -> Self {
        let message = format!("prompt is too long: {used} tokens > {max} maximum");
        coded(400, "invalid_request_error", message, json!("context_length_exceeded"))
    }

    /// 400: the input and the room asked for the answer are together larger than the window.
    pub fn max_tokens_too_long(input: u64, max_tokens: u64, window: u64) -> Self {
        let message = format!(
            "input length and `max_tokens` exceed context limit: {input} + {max_tokens} > {window}, decrease input length or `max_tokens` and try again"
        );
        shaped(400, "invalid_request_error", message)
    }

    /// 413: too many bytes, refused before the server itself.
    pub fn request_too_large_413() -> Self {
        shaped(413, "request_too_large", "Request exceeds the maximum size")
    }

    /// 400: too long, in the words of a gateway.
    pub fn gateway_too_long() -> Self {
        shaped(400, "invalid_request_error", "Input is too long for requested model")
    }

    /// 400 with the code `context_length_exceeded`.
    pub fn openai_context_length_exceeded() -> Self {
        let message = "This model's maximum context length is 128000 tokens. However, your messages resulted in 130512 tokens.";
        coded(400, "invalid_request_error", message, json!("context_length_exceeded"))
    }

    /// 400 as llama.cpp says it: an integer code, and the numbers as fields.
    pub fn llama_exceed_context(n_prompt: u64, n_ctx: u64) -> Self {
        let error = json!({
            "code": 400,
            "message": format!("request ({n_prompt} tokens) exceeds the available context size ({n_ctx} tokens), try increasing it"),
            "type": "exceed_context_size_error",
            "n_prompt_tokens": n_prompt,
            "n_ctx": n_ctx,
        });
        raw(400, "application/json", json!({ "error": error }).to_string())
    }

    /// 400 as vLLM says it.
    pub fn vllm_too_long() -> Self {
        let error = json!({
            "message": "This model's maximum context length is 32768 tokens. However, you requested 40000 tokens in the messages. Please reduce the length of the messages.",
            "type": "BadRequestError",
            "param": null,
            "code": 400,
        });
        raw(400, "application/json", json!({ "error": error }).to_string())
    }

    /// 400: a thinking block does not belong to the conversation it came in.
    pub fn thinking_refused() -> Self {
        let message = "messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block or send it with its original conversation.";
        shaped(400, "invalid_request_error", message)
    }

    /// 400 with any other text.
    pub fn bad_request_400(message: impl Into<String>) -> Self {
        shaped(400, "invalid_request_error", message)
    }

    /// 401: the key is wrong.
    pub fn unauthorized_401() -> Self {
        coded(401, "authentication_error", "invalid x-api-key", json!("invalid_api_key"))
    }

    /// 402: nothing left to pay with.
    pub fn billing_402() -> Self {
        shaped(402, "billing_error", "Your credit balance is too low")
    }

    /// 403: the key may not do this.
    pub fn forbidden_403() -> Self {
        shaped(403, "permission_error", "Your API key does not have permission to use this model")
    }

    /// 404: no such model.
    pub fn not_found_404() -> Self {
        coded(404, "not_found_error", "model: scripted-0", json!("model_not_found"))
    }

    /// 502: the page of a proxy, in HTML.
    pub fn html_502() -> Self {
        let page = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><h1>502 Bad Gateway</h1></body>\r\n</html>\r\n";
        raw(502, "text/html", page)
    }

    /// Adds a header to an error reply.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        match &mut self {
            Self::Error { headers, .. } => headers.push((name.into(), value.into())),
            Self::SlowHeaders(_, inner) => {
                let reply = std::mem::replace(&mut **inner, Self::server_error_500());
                **inner = reply.with_header(name, value);
            }
            Self::Turn(_) | Self::Altered(..) => {
                let header = (name.into(), value.into());
                return self.altered(|alterations| alterations.headers.push(header));
            }
            Self::MidStreamError { .. } => panic!("an error in a stream takes no headers"),
        }
        self
    }
}

fn raw(status: u16, content_type: &str, text: impl Into<String>) -> Reply {
    let body = ErrorBody::Raw { content_type: content_type.into(), text: text.into() };
    Reply::Error { status, headers: Vec::new(), body }
}

#[cfg(test)]
mod tests {
    use dormouse_model::WireFormat;

    use super::*;

    fn rendered(reply: &Reply, wire: WireFormat) -> Value {
        let Reply::Error { body, .. } = reply else { panic!("not an error") };
        serde_json::from_str(&body.render(wire, "req_1").1).unwrap()
    }

    #[test]
    fn errors_have_the_shape_of_their_wire() {
        let reply = Reply::prompt_too_long(219_898, 200_000);
        let anthropic = rendered(&reply, WireFormat::Anthropic);
        assert_eq!(anthropic["type"], "error");
        assert_eq!(anthropic["request_id"], "req_1");
        assert_eq!(anthropic["error"]["type"], "invalid_request_error");
        assert_eq!(
            anthropic["error"]["message"],
            "prompt is too long: 219898 tokens > 200000 maximum"
        );
        let openai = rendered(&reply, WireFormat::OpenAi);
        assert_eq!(openai["error"]["code"], "context_length_exceeded");
        assert!(openai.get("type").is_none());
        let llama = rendered(&Reply::llama_exceed_context(9, 8), WireFormat::OpenAi);
        assert_eq!(llama["error"]["code"], 400);
        assert_eq!(llama["error"]["n_ctx"], 8);
    }

    #[test]
    fn only_the_rate_limit_says_when_to_come_back() {
        for (reply, expected) in [(Reply::rate_limited(7), 1), (Reply::spend_cap_429(), 0)] {
            let Reply::Error { status, headers, .. } = reply else { panic!("not an error") };
            assert_eq!((status, headers.len()), (429, expected));
        }
    }
}

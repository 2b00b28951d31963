//! Where requests of each wire format go, and how they carry what the user typed.

use dormouse_model::WireFormat;

/// The path of requests to the model.
pub fn request_path(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::Anthropic => "/v1/messages",
        WireFormat::OpenAi => "/v1/chat/completions",
    }
}

/// What the user typed, without the heading it has in a small window.
pub fn typed_text(text: &str) -> &str {
    text.strip_prefix("# The user's message\n").unwrap_or(text)
}

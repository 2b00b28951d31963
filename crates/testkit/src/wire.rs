//! Where requests of each wire format go.

use dormouse_model::WireFormat;

/// The path of requests to the model.
pub fn request_path(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::Anthropic => "/v1/messages",
        WireFormat::OpenAi => "/v1/chat/completions",
    }
}

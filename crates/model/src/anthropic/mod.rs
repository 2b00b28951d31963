//! The Anthropic Messages API: how a request is written and an answer is read.

mod encode;
mod stream;

pub(crate) use encode::{head, write_turn};
pub(crate) use stream::AnthropicDecoder;

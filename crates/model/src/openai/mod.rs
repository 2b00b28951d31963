//! OpenAI-compatible chat completions: how a request is written and an answer is read.

mod chunk;
mod encode;
mod stream;

pub(crate) use encode::{head, write_turn};
pub(crate) use stream::OpenAiDecoder;

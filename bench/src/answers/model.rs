//! The model server that answers, over its chat format.

use std::time::{Duration, Instant};

use dormouse_conversation::Block;
use dormouse_model::{HttpModel, Model, Timeouts};
use serde_json::json;

use crate::recall::open_endpoint;

/// A slow machine reads a prompt for minutes.
const TIMEOUT: Duration = Duration::from_mins(10);

/// A model server. Each question is asked by itself, without a conversation before it.
pub(super) struct ModelServer {
    model: Model,
    runtime: tokio::runtime::Runtime,
}

/// An answer and what it took.
pub(super) struct ModelReply {
    pub(super) text: String,
    pub(super) prompt_tokens: u64,
    pub(super) time: Duration,
}

impl ModelServer {
    pub(super) fn at(url: &str) -> Self {
        let timeouts = Timeouts { first_byte: TIMEOUT, idle: TIMEOUT, ..Timeouts::default() };
        let endpoint = open_endpoint(url, timeouts);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Self { model: Model::from(HttpModel::new(endpoint)), runtime: runtime.expect("a runtime") }
    }

    /// Asks a question behind memories; the same question gets the same answer.
    pub(super) fn ask(
        &self,
        instructions: &str,
        memories: &str,
        question: &str,
        longest: u32,
    ) -> ModelReply {
        let user = match memories {
            "" => question.to_owned(),
            memories => format!("Memories:\n{memories}\n\n{question}"),
        };
        let body = json!({
            "model": "any",
            "messages": [
                { "role": "system", "content": instructions },
                { "role": "user", "content": user },
            ],
            "max_tokens": longest,
            "temperature": 0,
            "stream": true,
            "stream_options": { "include_usage": true },
        });
        let begun = Instant::now();
        let completion = match self.runtime.block_on(self.model.ask(body.to_string().into_bytes()))
        {
            Ok(completion) => completion,
            Err(error) => crate::fail::fail(&format!("no answer: {error}")),
        };
        let text = completion.blocks.iter().filter_map(Block::as_text);
        ModelReply {
            text: text.collect(),
            prompt_tokens: completion.usage.input_total(),
            time: begun.elapsed(),
        }
    }
}

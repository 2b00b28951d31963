//! Reading an answer, chunk by chunk. Our blocks are made here: this format has none.

use dormouse_conversation::{Block, StopReason, Usage};
use serde::Deserialize;

use crate::assemble::{arguments_json, quoted};
use crate::classify::{Refusal, classify};
use crate::sse::SseEvent;
use crate::{ModelError, StreamEvent};

#[derive(Deserialize)]
struct ChunkIn {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    choices: Vec<ChoiceIn>,
    #[serde(default)]
    usage: Option<UsageIn>,
    #[serde(default)]
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct ChoiceIn {
    #[serde(default)]
    delta: DeltaIn,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeltaIn {
    content: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Option<Vec<CallIn>>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CallIn {
    index: Option<usize>,
    id: Option<String>,
    function: Option<FunctionIn>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionIn {
    name: Option<String>,
    arguments: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct UsageIn {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<PromptDetailsIn>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PromptDetailsIn {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
}

impl UsageIn {
    /// Here the prompt's tokens include the cached ones; with us they are apart.
    fn neutral(&self) -> Usage {
        let details = self.prompt_tokens_details.as_ref();
        let read = details.and_then(|details| details.cached_tokens).unwrap_or(0);
        let written = details.and_then(|details| details.cache_write_tokens).unwrap_or(0);
        Usage {
            input_tokens: self
                .prompt_tokens
                .unwrap_or(0)
                .saturating_sub(read)
                .saturating_sub(written),
            cache_creation_input_tokens: written,
            cache_read_input_tokens: read,
            output_tokens: self.completion_tokens.unwrap_or(0),
        }
    }
}

/// The block that is being filled.
enum Open {
    Nothing,
    Text(String),
    Thinking { field: &'static str, text: String },
    Call { index: usize, id: String, name: String, arguments: String },
}

/// The state of an answer that is coming in.
pub(crate) struct OpenAiDecoder {
    message_id: String,
    started: bool,
    open: Open,
    calls: usize,
    usage: Usage,
    stop_reason: Option<StopReason>,
    finished: bool,
}

impl Default for OpenAiDecoder {
    fn default() -> Self {
        Self {
            message_id: String::new(),
            started: false,
            open: Open::Nothing,
            calls: 0,
            usage: Usage::default(),
            stop_reason: None,
            finished: false,
        }
    }
}

impl OpenAiDecoder {
    /// Takes a chunk of the stream.
    pub(crate) fn take(&mut self, event: &SseEvent) -> Result<Vec<StreamEvent>, ModelError> {
        if event.data.trim() == "[DONE]" {
            return self.end();
        }
        let chunk: ChunkIn = serde_json::from_str(&event.data).map_err(|error| {
            ModelError::Malformed(format!("a chunk of the stream is not valid JSON: {error}"))
        })?;
        if chunk.error.is_some() {
            return Err(classify(&Refusal {
                status: 200,
                body: &event.data,
                ..Refusal::default()
            }));
        }
        let mut events = Vec::new();
        if !self.started {
            self.started = true;
            self.message_id = chunk.id.unwrap_or_default();
            let (id, model) = (self.message_id.clone(), chunk.model.unwrap_or_default());
            events.push(StreamEvent::Started { id, model, usage: Usage::default() });
        }
        if let Some(usage) = chunk.usage {
            self.usage = self.usage.updated(usage.neutral());
        }
        // Only one answer is ever asked for.
        if let Some(choice) = chunk.choices.into_iter().next() {
            self.take_delta(choice.delta, &mut events)?;
            if let Some(reason) = choice.finish_reason {
                self.close(&mut events)?;
                self.stop_reason = Some(StopReason::from_wire(&reason));
            }
        }
        Ok(events)
    }

    /// The stream has ended; `[DONE]` may be missing, the reason to stop may not.
    pub(crate) fn end(&mut self) -> Result<Vec<StreamEvent>, ModelError> {
        if self.finished {
            return Ok(Vec::new());
        }
        let Some(stop_reason) = self.stop_reason.clone() else {
            return Err(ModelError::BrokenStream(
                "the stream ended before the answer did".to_owned(),
            ));
        };
        self.finished = true;
        // Some servers say `stop` where they called tools: the calls count, not the word.
        let stop_reason = if self.calls > 0 && stop_reason == StopReason::EndTurn {
            StopReason::ToolUse
        } else {
            stop_reason
        };
        Ok(vec![StreamEvent::Finished { stop_reason: Some(stop_reason), usage: self.usage }])
    }

    fn take_delta(
        &mut self,
        delta: DeltaIn,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), ModelError> {
        for (field, text) in
            [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)]
        {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                self.think(field, &text, events)?;
            }
        }
        if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
            if !matches!(self.open, Open::Text(_)) {
                self.close(events)?;
                self.open = Open::Text(String::new());
            }
            if let Open::Text(begun) = &mut self.open {
                begun.push_str(&text);
            }
            events.push(StreamEvent::Text(text));
        }
        for call in delta.tool_calls.unwrap_or_default() {
            self.call(call, events)?;
        }
        Ok(())
    }

    fn think(
        &mut self,
        field: &'static str,
        more: &str,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), ModelError> {
        if !matches!(self.open, Open::Thinking { .. }) {
            self.close(events)?;
            self.open = Open::Thinking { field, text: String::new() };
        }
        if let Open::Thinking { text, .. } = &mut self.open {
            text.push_str(more);
        }
        events.push(StreamEvent::Thinking(more.to_owned()));
        Ok(())
    }

    fn call(&mut self, part: CallIn, events: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let function = part.function.unwrap_or_default();
        let name = function.name.unwrap_or_default();
        let continues = match (&self.open, part.index) {
            (Open::Call { index, .. }, Some(at)) => *index == at,
            // Without an index, a part with a name begins a call.
            (Open::Call { .. }, None) => name.is_empty(),
            (Open::Nothing | Open::Text(_) | Open::Thinking { .. }, _) => false,
        };
        if !continues {
            self.close(events)?;
            let index = part.index.unwrap_or(self.calls);
            // Some servers give no id: any will do, as long as the result bears the same.
            let id = part
                .id
                .filter(|id| !id.is_empty())
                .unwrap_or_else(|| format!("call_{}_{}", self.message_id, self.calls));
            self.open = Open::Call { index, id, name: String::new(), arguments: String::new() };
            self.calls += 1;
        }
        if let Open::Call { name: begun, arguments, .. } = &mut self.open {
            begun.push_str(&name);
            arguments.push_str(&function.arguments.unwrap_or_default());
        }
        Ok(())
    }

    /// Finishes the block that is being filled.
    fn close(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let json = match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => return Ok(()),
            Open::Text(text) => format!(r#"{{"type":"text","text":{}}}"#, quoted(&text)),
            Open::Thinking { field, text } => {
                format!(
                    r#"{{"type":"thinking","thinking":{},"field":{}}}"#,
                    quoted(&text),
                    quoted(field)
                )
            }
            Open::Call { id, name, arguments, .. } => format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
                quoted(&id),
                quoted(&name),
                arguments_json(&arguments)
            ),
        };
        let block =
            Block::from_json(json).map_err(|error| ModelError::Malformed(error.to_string()))?;
        events.push(StreamEvent::Block(block));
        Ok(())
    }
}

//! Reading an answer, event by event.

use std::collections::BTreeMap;

use dormouse_conversation::{StopReason, Usage};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::assemble::{BlockBuilder, BlockDelta};
use crate::classify::{HttpRefusal, classify_refusal};
use crate::error::ModelError;
use crate::event::{ClearedContext, StreamEvent};
use crate::sse::SseEvent;

#[derive(Deserialize)]
struct EventIn<'a> {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    index: u32,
    #[serde(default)]
    message: Option<MessageIn>,
    #[serde(borrow, default)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    context_management: Option<Managed>,
}

/// What the server says it has done about the window. Nothing depends on it but metrics: what is not as it
/// should be counts as nothing.
#[derive(Deserialize)]
#[serde(untagged)]
enum Managed {
    Known { applied_edits: Vec<AppliedEdit> },
    Odd(serde::de::IgnoredAny),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct AppliedEdit {
    #[serde(rename = "cleared_tool_uses")]
    tool_uses: u64,
    #[serde(rename = "cleared_thinking_turns")]
    thinking_turns: u64,
    #[serde(rename = "cleared_input_tokens")]
    tokens: u64,
}

impl Managed {
    fn cleared(&self) -> Option<ClearedContext> {
        let Self::Known { applied_edits } = self else { return None };
        let sum = |of: fn(&AppliedEdit) -> u64| {
            applied_edits.iter().map(of).fold(0_u64, u64::saturating_add)
        };
        let cleared = ClearedContext {
            tool_uses: sum(|edit| edit.tool_uses),
            thinking_turns: sum(|edit| edit.thinking_turns),
            tokens: sum(|edit| edit.tokens),
        };
        (cleared != ClearedContext::default()).then_some(cleared)
    }
}

#[derive(Deserialize)]
struct MessageIn {
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default)]
    model: Option<serde_json::Value>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// A text, or whatever else a server puts in its place.
fn loose(value: Option<serde_json::Value>) -> String {
    match value {
        Some(serde_json::Value::String(text)) => text,
        Some(serde_json::Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

#[derive(Deserialize)]
struct EndIn {
    #[serde(default)]
    stop_reason: Option<String>,
}

/// The state of an answer that is coming in.
#[derive(Default)]
pub(crate) struct AnthropicDecoder {
    message_id: String,
    open: BTreeMap<u32, BlockBuilder>,
    usage: Usage,
    stop_reason: Option<StopReason>,
    finished: bool,
}

impl AnthropicDecoder {
    /// Takes an event of the stream. Events and fields nobody knows are passed over.
    pub(crate) fn take(&mut self, event: &SseEvent) -> Result<Vec<StreamEvent>, ModelError> {
        let read: EventIn<'_> = serde_json::from_str(&event.data).map_err(|error| {
            ModelError::Malformed(format!(
                "an event of the stream is not valid JSON, or not of this format: {error}"
            ))
        })?;
        match read.kind.as_str() {
            "message_start" => Ok(self.start(read.message)),
            "content_block_start" => self.start_block(read.index, read.content_block),
            "content_block_delta" => self.delta(read.index, read.delta),
            "content_block_stop" => self.stop_block(read.index),
            "message_delta" => {
                self.usage = self.usage.updated(read.usage.unwrap_or_default());
                let end: Option<EndIn> =
                    read.delta.and_then(|delta| serde_json::from_str(delta.get()).ok());
                if let Some(reason) = end.and_then(|end| end.stop_reason) {
                    self.stop_reason = Some(StopReason::from_wire(&reason));
                }
                let cleared = read.context_management.as_ref().and_then(Managed::cleared);
                Ok(cleared.map(StreamEvent::Cleared).into_iter().collect())
            }
            "message_stop" => Ok(self.finish()),
            "error" => Err(classify_refusal(&HttpRefusal {
                status: 200,
                body: &event.data,
                ..HttpRefusal::default()
            })),
            _ => Ok(Vec::new()),
        }
    }

    /// The stream has ended: an answer whose reason to stop is known is whole without its last event.
    pub(crate) fn end(&mut self) -> Result<Vec<StreamEvent>, ModelError> {
        if self.finished {
            return Ok(Vec::new());
        }
        if self.stop_reason.is_some() && self.open.is_empty() {
            return Ok(self.finish());
        }
        Err(ModelError::BrokenStream("the stream ended before the answer did".to_owned()))
    }

    fn start(&mut self, message: Option<MessageIn>) -> Vec<StreamEvent> {
        let Some(message) = message else { return Vec::new() };
        self.usage = self.usage.updated(message.usage.unwrap_or_default());
        self.message_id = loose(message.id);
        vec![StreamEvent::Started {
            id: self.message_id.clone(),
            model: loose(message.model),
            usage: self.usage,
        }]
    }

    fn start_block(
        &mut self,
        index: u32,
        block: Option<&RawValue>,
    ) -> Result<Vec<StreamEvent>, ModelError> {
        let block = block
            .ok_or_else(|| ModelError::Malformed("a block starts without content".to_owned()))?;
        self.open.insert(index, BlockBuilder::new(block.to_owned())?);
        Ok(Vec::new())
    }

    fn delta(
        &mut self,
        index: u32,
        delta: Option<&RawValue>,
    ) -> Result<Vec<StreamEvent>, ModelError> {
        let builder = self.open.get_mut(&index).ok_or_else(|| {
            ModelError::Malformed(format!("a delta for block {index}, which has not started"))
        })?;
        let Some(delta) = delta else { return Ok(Vec::new()) };
        Ok(match builder.add(delta)? {
            BlockDelta::Text(text) => vec![StreamEvent::Text(text)],
            BlockDelta::Thinking(text) => vec![StreamEvent::Thinking(text)],
            BlockDelta::Nothing => Vec::new(),
        })
    }

    fn stop_block(&mut self, index: u32) -> Result<Vec<StreamEvent>, ModelError> {
        match self.open.remove(&index) {
            Some(builder) => {
                let fallback = format!("call_{}_{index}", self.message_id);
                Ok(vec![StreamEvent::Block(builder.finish(&fallback)?)])
            }
            None => Ok(Vec::new()),
        }
    }

    /// The end. Text whose own end never came still counts; half a thought or half a call does not.
    fn finish(&mut self) -> Vec<StreamEvent> {
        // Some servers say it twice.
        if std::mem::replace(&mut self.finished, true) {
            return Vec::new();
        }
        let mut steps = Vec::new();
        for (_, builder) in std::mem::take(&mut self.open) {
            if builder.is_text()
                && let Ok(block) = builder.finish("")
            {
                steps.push(StreamEvent::Block(block));
            }
        }
        steps.push(StreamEvent::Finished {
            stop_reason: self.stop_reason.clone(),
            usage: self.usage,
        });
        steps
    }
}

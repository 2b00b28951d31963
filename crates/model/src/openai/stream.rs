//! Reading an answer, chunk by chunk. Our blocks are made here: this format has none.
//!
//! Servers differ in what they leave out, repeat or send as `null`. Whatever can be understood is.

use dormouse_conversation::{Block, StopReason, Usage};

use super::chunk::{CallPart, Chunk, ChunkDelta};
use crate::assemble::{arguments_json, plain_name};
use crate::classify::{HttpRefusal, classify_refusal};
use crate::error::ModelError;
use crate::event::StreamEvent;
use crate::json_text::{self, quoted};
use crate::sse::SseEvent;

/// The text or thought that is being filled: the inside of a string, as written.
enum Open {
    Nothing,
    Text(String),
    Thinking { field: &'static str, body: String },
}

/// A call that is being filled. Several may be open at once.
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    /// JSON text.
    arguments: String,
}

/// The state of an answer that is coming in.
pub(crate) struct OpenAiDecoder {
    message_id: String,
    started: bool,
    open: Open,
    open_calls: Vec<OpenCall>,
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
            open_calls: Vec::new(),
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
        let mut events = Vec::new();
        if event.data.trim() == "[DONE]" {
            // A server that says it is done is done, whether it said why or not.
            self.close_all(&mut events)?;
            if self.stop_reason.is_none() && self.started {
                self.stop_reason = Some(StopReason::EndTurn);
            }
            events.extend(self.end()?);
            return Ok(events);
        }
        let chunk = Chunk::parse(&event.data)?;
        if chunk.is_error {
            return Err(classify_refusal(&HttpRefusal {
                status: 200,
                body: &event.data,
                ..HttpRefusal::default()
            }));
        }
        if !self.started {
            self.started = true;
            self.message_id = chunk.id;
            let (id, model) = (self.message_id.clone(), chunk.model);
            events.push(StreamEvent::Started { id, model, usage: Usage::default() });
        }
        self.usage = self.usage.updated(chunk.usage);
        if let Some(delta) = chunk.delta {
            self.take_delta(delta, &mut events)?;
        }
        if let Some(reason) = chunk.finish_reason {
            self.close_all(&mut events)?;
            self.stop_reason = Some(StopReason::from_wire(&reason));
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
        delta: ChunkDelta,
        events: &mut Vec<StreamEvent>,
    ) -> Result<(), ModelError> {
        if let Some((field, body)) = delta.reasoning {
            if !matches!(self.open, Open::Thinking { .. }) {
                self.close_all(events)?;
                self.open = Open::Thinking { field, body: String::new() };
            }
            if let Open::Thinking { body: begun, .. } = &mut self.open {
                begun.push_str(&body);
            }
            events.push(StreamEvent::Thinking(json_text::decode(&body)));
        }
        if let Some(body) = delta.content {
            if !matches!(self.open, Open::Text(_)) {
                self.close_all(events)?;
                self.open = Open::Text(String::new());
            }
            if let Open::Text(begun) = &mut self.open {
                begun.push_str(&body);
            }
            events.push(StreamEvent::Text(json_text::decode(&body)));
        }
        for part in delta.calls {
            self.close_text(events)?;
            self.take_call(part);
        }
        Ok(())
    }

    /// A part belongs to the open call of its index, unless it brings another id; without an index, to
    /// the last one, unless it brings a name.
    fn take_call(&mut self, part: CallPart) {
        let other_id = |call: &OpenCall| !part.id.is_empty() && part.id != call.id;
        let place = match part.index {
            Some(_) => {
                self.open_calls.iter().rposition(|call| call.index == part.index && !other_id(call))
            }
            None if part.name.is_empty() => self.open_calls.len().checked_sub(1),
            None => None,
        };
        if let Some(call) = place.and_then(|place| self.open_calls.get_mut(place)) {
            // Some servers repeat the whole name with every part.
            if call.name != part.name {
                call.name.push_str(&part.name);
            }
            call.arguments.push_str(&part.arguments);
            return;
        }
        // Some give no id: any will do, as long as the result bears the same.
        let id = if part.id.is_empty() {
            format!("call_{}_{}", self.message_id, self.calls)
        } else {
            part.id
        };
        self.calls += 1;
        self.open_calls.push(OpenCall {
            index: part.index,
            id,
            name: part.name,
            arguments: part.arguments,
        });
    }

    /// Finishes whatever is being filled.
    fn close_all(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        self.close_text(events)?;
        for call in std::mem::take(&mut self.open_calls) {
            let json = format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{}}}"#,
                quoted(&call.id),
                quoted(&plain_name(&call.name)),
                arguments_json(&call.arguments)
            );
            events.push(StreamEvent::Block(block(json)?));
        }
        Ok(())
    }

    fn close_text(&mut self, events: &mut Vec<StreamEvent>) -> Result<(), ModelError> {
        let json = match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => return Ok(()),
            Open::Text(body) => format!(r#"{{"type":"text","text":"{}"}}"#, json_text::mend(&body)),
            Open::Thinking { field, body } => format!(
                r#"{{"type":"thinking","thinking":"{}","field":{}}}"#,
                json_text::mend(&body),
                quoted(field)
            ),
        };
        events.push(StreamEvent::Block(block(json)?));
        Ok(())
    }
}

fn block(json: String) -> Result<Block, ModelError> {
    Block::from_json(json).map_err(|error| ModelError::Malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::event::StreamEvent;
    use crate::response_stream::decode_recorded;
    use crate::wire_format::WireFormat;

    /// The blocks that these chunks give, and how it ended.
    #[track_caller]
    fn check(chunks: &[&str], expected: &[&str]) {
        let stream = format!("data: {}\n\n", chunks.join("\n\ndata: "));
        let (steps, error) = decode_recorded(WireFormat::OpenAi, stream.as_bytes());
        assert_eq!(error, None);
        let blocks: Vec<&str> = steps
            .iter()
            .filter_map(
                |step| if let StreamEvent::Block(block) = step { Some(block.raw()) } else { None },
            )
            .collect();
        assert_eq!(blocks, expected);
        assert!(matches!(steps.last(), Some(StreamEvent::Finished { .. })));
    }

    const DONE: &str = r#"{"choices":[{"finish_reason":"stop"}]}"#;

    fn call(index: &str, id: &str, name: &str, arguments: &str) -> String {
        format!(
            r#"{{"choices":[{{"delta":{{"tool_calls":[{{{index}"id":"{id}","function":{{"name":"{name}","arguments":"{arguments}"}}}}]}}}}]}}"#
        )
    }

    #[test]
    fn calls_of_one_index_with_ids_of_their_own() {
        let (a, b) =
            (call(r#""index":0,"#, "a", "Read", "{}"), call(r#""index":0,"#, "b", "Glob", "{}"));
        let expected = [
            r#"{"type":"tool_use","id":"a","name":"Read","input":{}}"#,
            r#"{"type":"tool_use","id":"b","name":"Glob","input":{}}"#,
        ];
        check(&[&a, &b, DONE], &expected);
    }

    #[test]
    fn a_name_and_id_repeated_with_every_part() {
        let (a, b) =
            (call(r#""index":0,"#, "a", "Read", "{"), call(r#""index":0,"#, "a", "Read", "}"));
        check(&[&a, &b, DONE], &[r#"{"type":"tool_use","id":"a","name":"Read","input":{}}"#]);
    }

    #[test]
    fn calls_whose_parts_alternate() {
        let part =
            |index, id, name, arguments| call(&format!(r#""index":{index},"#), id, name, arguments);
        let parts = [
            part(0, "a", "Read", "{"),
            part(1, "b", "Glob", "{"),
            part(0, "", "", "}"),
            part(1, "", "", "}"),
        ];
        let mut chunks: Vec<&str> = parts.iter().map(String::as_str).collect();
        chunks.push(DONE);
        let expected = [
            r#"{"type":"tool_use","id":"a","name":"Read","input":{}}"#,
            r#"{"type":"tool_use","id":"b","name":"Glob","input":{}}"#,
        ];
        check(&chunks, &expected);
    }

    #[test]
    fn neither_index_nor_id() {
        let (a, b) = (call("", "", "Read", "{"), call("", "", "", "}"));
        check(&[&a, &b, DONE], &[r#"{"type":"tool_use","id":"call__0","name":"Read","input":{}}"#]);
    }

    #[test]
    fn odd_shapes() {
        let text = r#"{"type":"text","text":"hi"}"#;
        let hi =
            r#"{"id":7,"model":null,"choices":[{"delta":{"content":"hi"},"finish_reason":""}]}"#;
        check(&[hi, "[DONE]"], &[text]);
        check(
            &[hi, r#"{"choices":null,"usage":null}"#, r#"{"choices":[{"delta":null}]}"#, DONE],
            &[text],
        );
        check(
            &[hi, DONE, r#"{"choices":[],"usage":{"prompt_tokens":1.5,"completion_tokens":-1}}"#],
            &[text],
        );
        check(
            &[r#"{"choices":[{"delta":{"content":[{"type":"text","text":"hi"}]}}]}"#, DONE],
            &[text],
        );
        let object = r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"R","arguments":{"n":1.10}}}]}}]}"#;
        check(&[object, DONE], &[r#"{"type":"tool_use","id":"a","name":"R","input":{"n":1.10}}"#]);
        let halves = [
            r#"{"choices":[{"delta":{"content":"\ud83d"}}]}"#,
            r#"{"choices":[{"delta":{"content":"\ude00"}}]}"#,
            DONE,
        ];
        check(&halves, &[r#"{"type":"text","text":"\ud83d\ude00"}"#]);
    }
}

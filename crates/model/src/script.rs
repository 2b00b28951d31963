//! A scripted model: what it will say, turn by turn, rendered as the real wire formats would say it.
//!
//! It ships: `dormouse demo` plays it in-process, through the same decoder as a server's stream. The
//! test server plays the same scripts over a socket, in either format.

use serde::Serialize;
use serde_json::value::RawValue;

use dormouse_conversation::Usage;

/// A part of what the model says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptedBlock {
    /// Text.
    Text(String),
    /// Thinking with its signature.
    Thinking {
        /// The thought.
        text: String,
        /// What the server signs it with.
        signature: String,
    },
    /// A tool call.
    ToolCall {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments as the model would write them: JSON, or something that fails to be.
        arguments: String,
    },
    /// A whole block, as JSON (Anthropic only).
    Raw(String),
}

/// One answer of the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptedTurn {
    /// What it says.
    pub pieces: Vec<ScriptedBlock>,
    /// Why it stops; where not set, `tool_use` if it calls a tool, else `end_turn`.
    pub stop_reason: Option<String>,
}

impl ScriptedTurn {
    /// A turn that says nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.pieces.push(ScriptedBlock::Text(text.into()));
        self
    }

    /// Adds a thought.
    #[must_use]
    pub fn thinking(mut self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        self.pieces
            .push(ScriptedBlock::Thinking { text: text.into(), signature: signature.into() });
        self
    }

    /// Adds a tool call.
    #[must_use]
    pub fn call(
        mut self,
        id: impl Into<String>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        self.pieces.push(ScriptedBlock::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        });
        self
    }

    /// Adds a block as JSON.
    #[must_use]
    pub fn raw(mut self, block: impl Into<String>) -> Self {
        self.pieces.push(ScriptedBlock::Raw(block.into()));
        self
    }

    /// Sets why it stops.
    #[must_use]
    pub fn stop(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    fn reason(&self) -> &str {
        let calls = self.pieces.iter().any(|piece| matches!(piece, ScriptedBlock::ToolCall { .. }));
        self.stop_reason.as_deref().unwrap_or(if calls { "tool_use" } else { "end_turn" })
    }
}

/// What surrounds an answer on the wire.
#[derive(Debug, Clone)]
pub struct ResponseFrame {
    /// The server's id of the message.
    pub message_id: String,
    /// What the model calls itself.
    pub model: String,
    /// What the request cost.
    pub usage: Usage,
}

/// A server-sent event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WireEvent {
    /// Its name; empty for OpenAI.
    pub name: &'static str,
    /// Its data: one line.
    pub data: String,
}

impl WireEvent {
    /// The event as it stands in the stream.
    pub fn to_sse(&self) -> String {
        if self.name.is_empty() {
            format!("data: {}\n\n", self.data)
        } else {
            format!("event: {}\ndata: {}\n\n", self.name, self.data)
        }
    }
}

/// How many characters of a text or of arguments come at a time.
const STEP: usize = 12;

fn steps(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(STEP).map(|chunk| chunk.iter().collect()).collect()
}

/// JSON text of a string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A turn in the events of the Anthropic Messages API.
pub fn anthropic_events(turn: &ScriptedTurn, frame: &ResponseFrame) -> Vec<WireEvent> {
    let mut events = Vec::new();
    let mut event = |name: &'static str, data: String| events.push(WireEvent { name, data });
    let usage = frame.usage;
    event(
        "message_start",
        format!(
            r#"{{"type":"message_start","message":{{"id":{},"type":"message","role":"assistant","model":{},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":{},"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"output_tokens":1}}}}}}"#,
            quoted(&frame.message_id),
            quoted(&frame.model),
            usage.input_tokens,
            usage.cache_creation_input_tokens,
            usage.cache_read_input_tokens,
        ),
    );
    for (index, piece) in turn.pieces.iter().enumerate() {
        let (start, deltas) = anthropic_block(piece);
        event(
            "content_block_start",
            format!(r#"{{"type":"content_block_start","index":{index},"content_block":{start}}}"#),
        );
        for delta in deltas {
            event(
                "content_block_delta",
                format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
            );
        }
        event("content_block_stop", format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
    }
    event(
        "message_delta",
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":{},"stop_sequence":null}},"usage":{{"output_tokens":{}}}}}"#,
            quoted(turn.reason()),
            usage.output_tokens,
        ),
    );
    event("message_stop", r#"{"type":"message_stop"}"#.to_owned());
    events
}

/// How a block starts, and the deltas that fill it.
fn anthropic_block(piece: &ScriptedBlock) -> (String, Vec<String>) {
    match piece {
        ScriptedBlock::Text(text) => (
            r#"{"type":"text","text":""}"#.to_owned(),
            steps(text)
                .iter()
                .map(|step| format!(r#"{{"type":"text_delta","text":{}}}"#, quoted(step)))
                .collect(),
        ),
        ScriptedBlock::Thinking { text, signature } => {
            let mut deltas: Vec<String> = steps(text)
                .iter()
                .map(|step| format!(r#"{{"type":"thinking_delta","thinking":{}}}"#, quoted(step)))
                .collect();
            deltas
                .push(format!(r#"{{"type":"signature_delta","signature":{}}}"#, quoted(signature)));
            (r#"{"type":"thinking","thinking":"","signature":""}"#.to_owned(), deltas)
        }
        ScriptedBlock::ToolCall { id, name, arguments } => (
            format!(
                r#"{{"type":"tool_use","id":{},"name":{},"input":{{}}}}"#,
                quoted(id),
                quoted(name)
            ),
            steps(arguments)
                .iter()
                .map(|step| {
                    format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, quoted(step))
                })
                .collect(),
        ),
        ScriptedBlock::Raw(block) => (block.clone(), Vec::new()),
    }
}

#[derive(Serialize)]
struct ChunkOut<'a> {
    id: &'a str,
    object: &'a str,
    created: u64,
    model: &'a str,
    choices: Vec<ChoiceOut<'a>>,
    usage: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct ChoiceOut<'a> {
    index: u32,
    delta: Box<RawValue>,
    finish_reason: Option<&'a str>,
}

/// A turn in the chunks of an OpenAI-compatible server. Raw blocks have no place in this format and
/// are left out.
pub fn openai_events(turn: &ScriptedTurn, frame: &ResponseFrame) -> Vec<WireEvent> {
    let mut deltas = vec![r#"{"role":"assistant","content":""}"#.to_owned()];
    let mut calls = 0;
    for piece in &turn.pieces {
        match piece {
            ScriptedBlock::Text(text) => {
                deltas.extend(
                    steps(text).iter().map(|step| format!(r#"{{"content":{}}}"#, quoted(step))),
                );
            }
            ScriptedBlock::Thinking { text, .. } => {
                deltas.extend(
                    steps(text)
                        .iter()
                        .map(|step| format!(r#"{{"reasoning_content":{}}}"#, quoted(step))),
                );
            }
            ScriptedBlock::ToolCall { id, name, arguments } => {
                deltas.extend(openai_call(calls, id, name, arguments));
                calls += 1;
            }
            ScriptedBlock::Raw(_) => {}
        }
    }
    let reason = match turn.reason() {
        "end_turn" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" => "length",
        other => other,
    };
    let mut events: Vec<WireEvent> =
        deltas.into_iter().map(|delta| openai_chunk(frame, Some((delta, None)), None)).collect();
    events.push(openai_chunk(frame, Some(("{}".to_owned(), Some(reason))), None));
    events.push(openai_chunk(frame, None, Some(openai_usage(frame.usage))));
    events.push(WireEvent { name: "", data: "[DONE]".to_owned() });
    events
}

fn openai_call(index: usize, id: &str, name: &str, arguments: &str) -> Vec<String> {
    let first = format!(
        r#"{{"tool_calls":[{{"index":{index},"id":{},"type":"function","function":{{"name":{},"arguments":""}}}}]}}"#,
        quoted(id),
        quoted(name)
    );
    let rest = steps(arguments).into_iter().map(move |step| {
        format!(
            r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{}}}}}]}}"#,
            quoted(&step)
        )
    });
    std::iter::once(first).chain(rest).collect()
}

fn openai_usage(usage: Usage) -> String {
    format!(
        r#"{{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},"prompt_tokens_details":{{"cached_tokens":{}}}}}"#,
        usage.input_total(),
        usage.output_tokens,
        usage.total(),
        usage.cache_read_input_tokens,
    )
}

fn openai_chunk(
    frame: &ResponseFrame,
    choice: Option<(String, Option<&str>)>,
    usage: Option<String>,
) -> WireEvent {
    let raw = |text: String| RawValue::from_string(text).unwrap_or_default();
    let chunk = ChunkOut {
        id: &frame.message_id,
        object: "chat.completion.chunk",
        created: 1,
        model: &frame.model,
        choices: choice
            .map(|(delta, finish_reason)| ChoiceOut { index: 0, delta: raw(delta), finish_reason })
            .into_iter()
            .collect(),
        usage: usage.map(raw),
    };
    WireEvent { name: "", data: serde_json::to_string(&chunk).unwrap_or_default() }
}

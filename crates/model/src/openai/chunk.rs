//! A chunk of the stream, read loosely: any field may be missing, `null`, or of another type.

use dormouse_conversation::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::json_text;

/// A chunk, as far as it matters.
pub(super) struct Chunk {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) is_error: bool,
    pub(super) usage: Usage,
    pub(super) delta: Option<ChunkDelta>,
    pub(super) finish_reason: Option<String>,
}

/// What a chunk adds. Texts are the inside of a string, as written.
#[derive(Default)]
pub(super) struct ChunkDelta {
    pub(super) content: Option<String>,
    pub(super) reasoning: Option<(&'static str, String)>,
    pub(super) calls: Vec<CallPart>,
}

/// A part of a tool call.
pub(super) struct CallPart {
    pub(super) index: Option<u64>,
    pub(super) id: String,
    pub(super) name: String,
    /// JSON text.
    pub(super) arguments: String,
}

type Raw<'a> = Option<&'a RawValue>;

#[derive(Deserialize, Default)]
#[serde(default)]
struct ChunkIn<'a> {
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    model: Raw<'a>,
    #[serde(borrow)]
    choices: Raw<'a>,
    #[serde(borrow)]
    usage: Raw<'a>,
    #[serde(borrow)]
    error: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ChoiceIn<'a> {
    #[serde(borrow)]
    delta: Raw<'a>,
    #[serde(borrow)]
    finish_reason: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct DeltaIn<'a> {
    #[serde(borrow)]
    content: Raw<'a>,
    #[serde(borrow)]
    reasoning_content: Raw<'a>,
    #[serde(borrow)]
    reasoning: Raw<'a>,
    #[serde(borrow)]
    tool_calls: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct CallIn<'a> {
    #[serde(borrow)]
    index: Raw<'a>,
    #[serde(borrow)]
    id: Raw<'a>,
    #[serde(borrow)]
    function: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct FunctionIn<'a> {
    #[serde(borrow)]
    name: Raw<'a>,
    #[serde(borrow)]
    arguments: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PartIn<'a> {
    #[serde(borrow)]
    text: Raw<'a>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct UsageIn {
    prompt_tokens: Option<f64>,
    completion_tokens: Option<f64>,
    prompt_tokens_details: Option<PromptDetailsIn>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PromptDetailsIn {
    cached_tokens: Option<f64>,
    cache_write_tokens: Option<f64>,
}

impl Chunk {
    pub(super) fn parse(data: &str) -> Result<Self, ModelError> {
        let chunk: ChunkIn<'_> = serde_json::from_str(data).map_err(|error| {
            ModelError::Malformed(format!("a chunk of the stream is not valid JSON: {error}"))
        })?;
        // Only one answer is ever asked for.
        let choice =
            read::<Vec<ChoiceIn<'_>>>(chunk.choices).into_iter().next().unwrap_or_default();
        Ok(Self {
            id: text(chunk.id),
            model: text(chunk.model),
            is_error: chunk.error.is_some(),
            usage: neutral(&read(chunk.usage)),
            delta: choice.delta.map(|raw| delta(&read(Some(raw)))),
            finish_reason: Some(text(choice.finish_reason)).filter(|reason| !reason.is_empty()),
        })
    }
}

/// A value of the expected shape; of any other, as if it were not there.
fn read<'a, T: Deserialize<'a> + Default>(raw: Raw<'a>) -> T {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// A text; a number counts as its digits.
fn text(raw: Raw<'_>) -> String {
    match raw.map(RawValue::get) {
        None => String::new(),
        Some(raw) => json_text::body(raw).map_or_else(|| raw.to_owned(), json_text::decode),
    }
}

/// A text as written, or the texts of a list of parts.
fn written(raw: Raw<'_>) -> Option<String> {
    let raw = raw?;
    let body = match json_text::body(raw.get()) {
        Some(body) => body.to_owned(),
        None => {
            let parts: Vec<PartIn<'_>> = read(Some(raw));
            parts
                .into_iter()
                .filter_map(|part| Some(json_text::body(part.text?.get())?.to_owned()))
                .collect()
        }
    };
    Some(body).filter(|body| !body.is_empty())
}

fn delta(delta: &DeltaIn<'_>) -> ChunkDelta {
    let reasoning =
        [("reasoning_content", delta.reasoning_content), ("reasoning", delta.reasoning)];
    ChunkDelta {
        content: written(delta.content),
        // Some servers send it under both names.
        reasoning: reasoning.into_iter().find_map(|(field, raw)| Some((field, written(raw)?))),
        calls: read::<Vec<CallIn<'_>>>(delta.tool_calls).iter().map(call).collect(),
    }
}

fn call(call: &CallIn<'_>) -> CallPart {
    let function: FunctionIn<'_> = read(call.function);
    CallPart {
        index: call.index.and_then(|raw| raw.get().parse().ok()),
        id: text(call.id),
        name: text(function.name),
        arguments: text(function.arguments),
    }
}

/// Here the prompt's tokens include the cached ones; with us they are apart.
fn neutral(usage: &UsageIn) -> Usage {
    let details = usage.prompt_tokens_details.as_ref();
    let read = Usage::tokens(details.and_then(|details| details.cached_tokens));
    let written = Usage::tokens(details.and_then(|details| details.cache_write_tokens));
    Usage {
        input_tokens: Usage::tokens(usage.prompt_tokens)
            .saturating_sub(read)
            .saturating_sub(written),
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        output_tokens: Usage::tokens(usage.completion_tokens),
    }
}

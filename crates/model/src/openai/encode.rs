//! Writing requests. What is one message for us may be several here: a `tool` message a result, then
//! the user's own.

use dormouse_conversation::{
    Block, BlockKind, Effort, Prefix, RequestOptions, ResponseFormat, ResultContent, Role,
    ToolChoice, ToolDefinition,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::json_text::quoted;
use crate::thinking::ThinkingMode;
use crate::wire_format::{Dialect, MaxTokensField, WireTurn, offered_tools, open_messages};

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<FormatOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<TemplateArguments>,
}

/// Arguments of a local model's chat template, as llama.cpp and vLLM pass them on.
#[derive(Serialize)]
struct TemplateArguments {
    enable_thinking: bool,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ToolOut<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    function: FunctionOut<'a>,
}

#[derive(Serialize)]
struct FunctionOut<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

#[derive(Serialize)]
struct FormatOut<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    json_schema: SchemaOut<'a>,
}

#[derive(Serialize)]
struct SchemaOut<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a RawValue,
}

/// Everything in front of the conversation: options, tools, and the system message.
pub(crate) fn head(dialect: &Dialect, prefix: &Prefix, options: &RequestOptions) -> Vec<u8> {
    let limit = |field| (dialect.max_tokens_field == field).then_some(options.max_tokens);
    let head = Head {
        model: &options.model,
        max_tokens: limit(MaxTokensField::MaxTokens),
        max_completion_tokens: limit(MaxTokensField::MaxCompletionTokens),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        tools: offered_tools(prefix, dialect).map(tool).collect(),
        tool_choice: match options.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some("none"),
        },
        response_format: match &options.response_format {
            ResponseFormat::Text => None,
            ResponseFormat::Json { name, schema } => Some(FormatOut {
                kind: "json_schema",
                json_schema: SchemaOut { name, strict: true, schema },
            }),
        },
        reasoning_effort: options.effort.map(reasoning_effort),
        // OpenAI refuses what it does not know.
        chat_template_kwargs: dialect
            .thinking
            .filter(|_| dialect.max_tokens_field == MaxTokensField::MaxTokens)
            .map(|mode| TemplateArguments { enable_thinking: mode == ThinkingMode::On }),
    };
    let mut bytes = open_messages(&head, dialect);
    let system: Vec<&str> = prefix.system().iter().map(|block| block.text.as_str()).collect();
    if !system.is_empty() {
        bytes.extend_from_slice(
            format!(r#"{{"role":"system","content":{}}},"#, quoted(&system.join("\n\n")))
                .as_bytes(),
        );
    }
    bytes
}

/// The name that this format has for an effort: nothing is above `high`.
fn reasoning_effort(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High | Effort::XHigh | Effort::Max => "high",
    }
}

fn tool(definition: &ToolDefinition) -> ToolOut<'_> {
    ToolOut {
        kind: "function",
        function: FunctionOut {
            name: &definition.name,
            description: &definition.description,
            parameters: &definition.input_schema,
        },
    }
}

/// Appends blocks of one author; a user turn that is continued keeps its list of parts open.
pub(crate) fn write_turn(
    out: &mut Vec<u8>,
    joined: Option<WireTurn>,
    role: Role,
    blocks: &[Block],
) -> WireTurn {
    let before = joined.map_or(0, |turn| turn.blocks);
    match role {
        Role::User => write_user(out, joined, blocks),
        Role::Assistant => write_assistant(out, blocks),
    }
    WireTurn { role, blocks: before + blocks.len(), marker_at: None, end: 0 }
}

fn write_user(out: &mut Vec<u8>, joined: Option<WireTurn>, blocks: &[Block]) {
    let mut parts: Vec<String> = Vec::new();
    for block in blocks {
        if let BlockKind::ToolResult { id } = block.kind() {
            let (text, images) = result_parts(block);
            let message = format!(
                r#"{{"role":"tool","tool_call_id":{},"content":{}}}"#,
                quoted(id.as_str()),
                quoted(&text)
            );
            separate(out);
            out.extend_from_slice(message.as_bytes());
            parts.extend(images);
        } else {
            parts.extend(part(block));
        }
    }
    if parts.is_empty() {
        return;
    }
    let parts = parts.join(",");
    // A turn that ends in parts can be continued; one that ends in a tool's message begins a new one.
    if joined.is_some() && out.ends_with(b"]}") {
        out.truncate(out.len() - 2);
        out.extend_from_slice(format!(",{parts}]}}").as_bytes());
    } else {
        separate(out);
        out.extend_from_slice(format!(r#"{{"role":"user","content":[{parts}]}}"#).as_bytes());
    }
}

fn separate(out: &mut Vec<u8>) {
    if !out.is_empty() {
        out.push(b',');
    }
}

fn text_part(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

fn part(block: &Block) -> Option<String> {
    match block.kind() {
        BlockKind::Text => block.as_text().map(|text| text_part(&text)),
        BlockKind::Image => image_part(block),
        BlockKind::Document => Some(text_part("[a document, which this server can not take]")),
        BlockKind::Thinking
        | BlockKind::RedactedThinking
        | BlockKind::ToolUse { .. }
        | BlockKind::ToolResult { .. }
        | BlockKind::Other(_) => None,
    }
}

#[derive(serde::Deserialize)]
struct Source {
    #[serde(default)]
    media_type: String,
    #[serde(default)]
    data: String,
    #[serde(default)]
    url: String,
}

fn image_part(block: &Block) -> Option<String> {
    let source: Source = serde_json::from_str(block.field("source")?.get()).ok()?;
    let url = if source.url.is_empty() {
        format!("data:{};base64,{}", source.media_type, source.data)
    } else {
        source.url
    };
    Some(format!(r#"{{"type":"image_url","image_url":{{"url":{}}}}}"#, quoted(&url)))
}

/// A tool message holds text only: pictures follow as the user's.
fn result_parts(block: &Block) -> (String, Vec<String>) {
    let (text, images) = match block.result_content() {
        None => (String::new(), Vec::new()),
        Some(ResultContent::Text(text)) => (text, Vec::new()),
        Some(ResultContent::Blocks(blocks)) => {
            let texts: Vec<String> = blocks.iter().filter_map(Block::as_text).collect();
            let images = blocks
                .iter()
                .filter(|block| *block.kind() == BlockKind::Image)
                .filter_map(image_part);
            (texts.join("\n"), images.collect())
        }
    };
    let text = if text.is_empty() && !images.is_empty() {
        "[an image, which follows]".to_owned()
    } else {
        text
    };
    if block.is_error() { (format!("Error: {text}"), images) } else { (text, images) }
}

fn write_assistant(out: &mut Vec<u8>, blocks: &[Block]) {
    let texts: Vec<String> = blocks.iter().filter_map(Block::as_text).collect();
    let calls: Vec<String> = blocks.iter().filter_map(call).collect();
    let content = if texts.is_empty() && !calls.is_empty() {
        "null".to_owned()
    } else {
        quoted(&texts.join("\n"))
    };
    let mut message = format!(r#"{{"role":"assistant","content":{content}"#);
    // Reasoning goes back under the name it came by.
    for block in blocks.iter().filter(|block| *block.kind() == BlockKind::Thinking) {
        if let (Some(field), Some(text)) =
            (block.string_field("field"), block.string_field("thinking"))
        {
            message.push_str(&format!(",{}:{}", quoted(&field), quoted(&text)));
            break;
        }
    }
    if !calls.is_empty() {
        message.push_str(&format!(r#","tool_calls":[{}]"#, calls.join(",")));
    }
    message.push('}');
    separate(out);
    out.extend_from_slice(message.as_bytes());
}

/// Arguments travel as text, as the model wrote them. Those that were no JSON go back inside the object
/// that keeps them: a server that reads its own history would choke on them forever.
fn call(block: &Block) -> Option<String> {
    let call = block.as_received_tool_use()?;
    Some(format!(
        r#"{{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}}"#,
        quoted(call.id.as_str()),
        quoted(call.name),
        quoted(call.input.get()),
    ))
}

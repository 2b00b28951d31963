//! Writing requests. Serialized from structs, in a fixed order, never from a map.

use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{
    Block, BlockKind, Effort, Prefix, RequestOptions, ResponseFormat, Role, ServerTool,
    SystemBlock, ToolChoice, ToolDefinition,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::thinking::ThinkingField;
use crate::wire_format::{
    CacheTtl, Dialect, ServerClearing, WireTurn, offered_tools, open_messages,
};

/// The most searches of a server for one request.
const MOST_SEARCHES: u32 = 8;

#[derive(Serialize)]
struct Head<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Typed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context_management: Option<ContextManagement<'a>>,
}

#[derive(Serialize)]
struct ContextManagement<'a> {
    edits: Vec<ServerEdit<'a>>,
}

/// The one for thinking comes first, or the server refuses it.
#[derive(Serialize)]
#[serde(tag = "type")]
enum ServerEdit<'a> {
    #[serde(rename = "clear_thinking_20251015")]
    Thinking { keep: Counted },
    #[serde(rename = "clear_tool_uses_20250919")]
    ToolUses {
        trigger: Counted,
        keep: Counted,
        clear_at_least: Counted,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        exclude_tools: Vec<&'a str>,
    },
}

#[derive(Serialize)]
struct Counted {
    #[serde(rename = "type")]
    kind: &'static str,
    value: u32,
}

#[derive(Serialize)]
struct SystemOut<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ToolOut<'a> {
    Known {
        #[serde(rename = "type")]
        kind: ServerTool,
        name: &'a str,
        /// The most searches for one request.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_uses: Option<u32>,
    },
    Described {
        name: &'a str,
        description: &'a str,
        input_schema: &'a RawValue,
    },
}

#[derive(Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<&'static str>,
}

#[derive(Serialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<Effort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat<'a>>,
}

#[derive(Serialize)]
struct OutputFormat<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: &'a RawValue,
}

/// Everything in front of the messages, up to and with the bracket that opens them.
pub(crate) fn head(dialect: &Dialect, prefix: &Prefix, options: &RequestOptions) -> Vec<u8> {
    let head = Head {
        model: &options.model,
        max_tokens: options.max_tokens,
        stream: true,
        system: system(prefix.system(), dialect.ttl),
        tools: offered_tools(prefix, dialect).map(|tool| tool_out(tool, dialect)).collect(),
        tool_choice: match options.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some(Typed { kind: "none" }),
        },
        thinking: dialect
            .thinking
            .and_then(|mode| ThinkingField::of(mode, &options.model, options.max_tokens)),
        output_config: output_config(options),
        context_management: dialect
            .clearing
            .map(|clearing| ContextManagement { edits: server_edits(clearing, prefix.tools()) }),
    };
    open_messages(&head, dialect)
}

fn output_config(options: &RequestOptions) -> Option<OutputConfig<'_>> {
    let format = match &options.response_format {
        ResponseFormat::Text => None,
        ResponseFormat::Json { schema, .. } => Some(OutputFormat { kind: "json_schema", schema }),
    };
    let effort = options.effort;
    (effort.is_some() || format.is_some()).then_some(OutputConfig { effort, format })
}

fn server_edits(clearing: ServerClearing, tools: &[ToolDefinition]) -> Vec<ServerEdit<'_>> {
    let count = |kind, value| Counted { kind, value };
    let thinking = clearing
        .keep_thinking_turns
        .map(|turns| ServerEdit::Thinking { keep: count("thinking_turns", turns) });
    let names = tools.iter().map(|tool| tool.name.as_str());
    let tool_uses = ServerEdit::ToolUses {
        trigger: count("input_tokens", clearing.from_tokens),
        keep: count("tool_uses", clearing.keep_tool_uses),
        clear_at_least: count("input_tokens", clearing.at_least_tokens),
        exclude_tools: names.filter(|name| !traits_of(name).clearable).collect(),
    };
    thinking.into_iter().chain([tool_uses]).collect()
}

fn tool_out<'a>(tool: &'a ToolDefinition, dialect: &Dialect) -> ToolOut<'a> {
    match tool.server_tool.filter(|kind| dialect.server_tools.contains(kind)) {
        Some(kind) => ToolOut::Known {
            kind,
            name: &tool.name,
            max_uses: kind.runs_at_server().then_some(MOST_SEARCHES),
        },
        None => ToolOut::Described {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.input_schema,
        },
    }
}

/// Markers at the end of the static part and at the end of the whole.
fn system(blocks: &[SystemBlock], ttl: CacheTtl) -> Vec<SystemOut<'_>> {
    let last_static = blocks.iter().rposition(|block| block.is_static);
    blocks
        .iter()
        .enumerate()
        .map(|(index, block)| SystemOut {
            kind: "text",
            text: &block.text,
            cache_control: (Some(index) == last_static || index + 1 == blocks.len()).then_some(
                CacheControl {
                    kind: "ephemeral",
                    ttl: match ttl {
                        CacheTtl::FiveMinutes => None,
                        CacheTtl::OneHour => Some("1h"),
                    },
                },
            ),
        })
        .collect()
}

/// Appends blocks of one author; `joined` is the turn they continue, reopened.
pub(crate) fn write_turn(
    out: &mut Vec<u8>,
    joined: Option<WireTurn>,
    role: Role,
    blocks: &[Block],
) -> WireTurn {
    let mut turn = if let Some(turn) = joined {
        // Takes the `]}` off again.
        out.truncate(out.len() - 2);
        turn
    } else {
        if !out.is_empty() {
            out.push(b',');
        }
        let role_name = match role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        out.extend_from_slice(format!(r#"{{"role":"{role_name}","content":["#).as_bytes());
        WireTurn { role, blocks: 0, marker_at: None, end: 0 }
    };
    for block in blocks.iter().filter(|block| is_sendable(block)) {
        if turn.blocks > 0 {
            out.push(b',');
        }
        out.extend_from_slice(block.raw().trim_end().as_bytes());
        turn.blocks += 1;
        if may_be_marked(block) {
            turn.marker_at = Some(out.len() - 1);
        } else if role == Role::Assistant {
            turn.marker_at = None;
        }
    }
    out.extend_from_slice(b"]}");
    turn
}

/// Thinking that another kind of server gave us has no signature, and would be refused.
fn is_sendable(block: &Block) -> bool {
    *block.kind() != BlockKind::Thinking || block.field("signature").is_some()
}

fn may_be_marked(block: &Block) -> bool {
    !matches!(block.kind(), BlockKind::Thinking | BlockKind::RedactedThinking | BlockKind::Other(_))
}

//! A content block, kept as the text it arrived as.
//!
//! Numbers like `1.10`, key order and fields nobody has heard of go back to the server unchanged,
//! because what is sent back is the received text and not something rebuilt from it. What the program
//! needs to know of a block (its kind, a call's id and name) is read once, and reading stops as soon as
//! it is known: a tool result of a megabyte costs the first forty bytes.

mod abridged;
mod tool_use;

use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use thiserror::Error;

pub use abridged::TextLength;
pub use tool_use::ToolUse;

use crate::forwarded_call::forwarded_call;
use crate::known_tools::MORE_TOOLS;
use crate::raw_fields::RawFields;
use crate::tokens::{estimate_json, estimate_text};

/// The id that pairs a tool call with its result. Whatever the server chose.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolUseId(String);

impl ToolUseId {
    /// Wraps a server's id.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolUseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a block is, as far as the program cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// Text.
    Text,
    /// Thinking, with its signature.
    Thinking,
    /// Thinking that only the server can read.
    RedactedThinking,
    /// A tool call.
    ToolUse {
        /// Its id.
        id: ToolUseId,
        /// The tool; that of a call made through `MoreTools` is the one it names.
        name: String,
    },
    /// A tool's answer.
    ToolResult {
        /// The call it answers.
        id: ToolUseId,
    },
    /// A picture.
    Image,
    /// A document.
    Document,
    /// Something newer than this program: kept and sent back untouched.
    Other(String),
}

/// What the result of a call that never came back says.
pub const INTERRUPTED_RESULT: &str =
    "[interrupted: the call did not finish, and its result is not known]";

/// Arguments that are no JSON object are kept, as text, under this name: the model's words are not lost,
/// and the call can be answered with what is wrong with them.
pub const INVALID_JSON_KEY: &str = "__invalid_json__";

/// Tokens of an image or a document, whatever its size.
pub(crate) const MEDIA_TOKENS: u32 = 2_000;

/// Why a block cannot be kept.
#[derive(Debug, Error)]
pub enum BlockError {
    /// Not an object with a `type`.
    #[error("a content block is not an object with a `type`: {0}")]
    NoType(String),
    /// A tool call without id or name, or a result without the id of its call.
    #[error("a `{kind}` block has no `{field}`")]
    Missing {
        /// The block's type.
        kind: &'static str,
        /// What is missing.
        field: &'static str,
    },
    /// Not JSON.
    #[error("a content block is not JSON: {0}")]
    Json(#[from] serde_json::Error),
}

struct Inner {
    raw: Box<RawValue>,
    kind: BlockKind,
    tokens: OnceLock<u32>,
    call_digest: OnceLock<u64>,
    /// The length of the result that an abridged block was made of.
    result: Option<TextLength>,
}

/// A content block. Cheap to clone.
#[derive(Clone)]
pub struct Block(Arc<Inner>);

/// What a tool answers with.
#[derive(Debug, Clone)]
pub enum ResultContent {
    /// Text.
    Text(String),
    /// Blocks: text, pictures, documents.
    Blocks(Vec<Block>),
}

impl Block {
    /// Keeps a block as received.
    pub fn from_raw(raw: Box<RawValue>) -> Result<Self, BlockError> {
        let kind = read_kind(raw.get())?;
        Ok(Self::of(raw, kind))
    }

    /// Parses a block.
    pub fn from_json(text: impl Into<String>) -> Result<Self, BlockError> {
        Self::from_raw(RawValue::from_string(text.into())?)
    }

    /// A text block.
    pub fn text(text: &str) -> Self {
        Self::made(BlockKind::Text, &TextWire { kind: "text", text })
    }

    /// The answer of a tool.
    pub fn tool_result(id: &ToolUseId, content: &ResultContent, is_error: bool) -> Self {
        let wire = ResultWire { kind: "tool_result", tool_use_id: id, content, is_error };
        Self::made(BlockKind::ToolResult { id: id.clone() }, &wire)
    }

    /// What replaces the result of a call that never came back.
    pub fn interrupted(id: &ToolUseId) -> Self {
        Self::tool_result(id, &ResultContent::Text(INTERRUPTED_RESULT.to_owned()), true)
    }

    /// A picture, base64.
    pub fn image(media_type: &str, data: &str) -> Self {
        let source = SourceWire { kind: "base64", media_type, data };
        Self::made(BlockKind::Image, &ImageWire { kind: "image", source })
    }

    fn of(raw: Box<RawValue>, kind: BlockKind) -> Self {
        let (tokens, call_digest) = (OnceLock::new(), OnceLock::new());
        Self(Arc::new(Inner { raw, kind, tokens, call_digest, result: None }))
    }

    fn made(kind: BlockKind, wire: &impl Serialize) -> Self {
        // These structs hold strings and blocks only; serializing them has no way to fail.
        let raw = serde_json::value::to_raw_value(wire).unwrap_or_default();
        Self::of(raw, kind)
    }

    /// What it is.
    pub fn kind(&self) -> &BlockKind {
        &self.0.kind
    }

    /// The block as received.
    pub fn raw(&self) -> &str {
        self.0.raw.get()
    }

    /// Whether line ends stand between its tokens (inside a JSON string there are none): such a block
    /// does not fit on a line.
    pub fn has_newlines(&self) -> bool {
        self.raw().contains(['\n', '\r'])
    }

    /// The block on one line, line ends between its tokens made spaces.
    #[must_use]
    pub fn to_single_line(&self) -> Self {
        let flat = self.raw().replace(['\n', '\r'], " ");
        RawValue::from_string(flat)
            .ok()
            .and_then(|raw| Self::from_raw(raw).ok())
            .unwrap_or_else(|| self.clone())
    }

    /// The tokens it takes, estimated once.
    pub fn tokens(&self) -> u32 {
        *self.0.tokens.get_or_init(|| self.estimate_tokens())
    }

    fn estimate_tokens(&self) -> u32 {
        match self.kind() {
            BlockKind::Image | BlockKind::Document => MEDIA_TOKENS,
            BlockKind::ToolUse { .. } | BlockKind::Other(_) => estimate_json(self.raw()),
            BlockKind::Text | BlockKind::Thinking | BlockKind::RedactedThinking => {
                estimate_text(self.raw())
            }
            BlockKind::ToolResult { .. } => match self.result_content() {
                Some(ResultContent::Text(text)) => estimate_text(&text),
                Some(ResultContent::Blocks(blocks)) => {
                    blocks.iter().map(Block::tokens).fold(0, u32::saturating_add)
                }
                None => estimate_json(self.raw()),
            },
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<String> {
        (self.0.kind == BlockKind::Text).then(|| self.string_field("text")).flatten()
    }

    /// A field of the block, as received.
    pub fn field(&self, name: &str) -> Option<&RawValue> {
        let fields: RawFields<'_> = serde_json::from_str(self.raw()).ok()?;
        fields.0.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// A field of the block that is a string.
    pub fn string_field(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.field(name)?.get()).ok()
    }

    /// The content of a tool result: its blocks, or its text.
    pub fn result_content(&self) -> Option<ResultContent> {
        if !matches!(self.0.kind, BlockKind::ToolResult { .. }) {
            return None;
        }
        let Some(content) = self.field("content") else {
            return Some(ResultContent::Text(String::new()));
        };
        if let Ok(text) = serde_json::from_str::<String>(content.get()) {
            return Some(ResultContent::Text(text));
        }
        serde_json::from_str::<Vec<Block>>(content.get()).ok().map(ResultContent::Blocks)
    }

    /// Whether a tool result says that the tool failed.
    pub fn is_error(&self) -> bool {
        self.field("is_error").is_some_and(|value| value.get() == "true")
    }
}

impl PartialEq for Block {
    /// Equal means the same bytes.
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.raw())
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.raw.serialize(serializer)
    }
}

/// Written manually: a raw value does not survive a derived `tag` or `flatten`.
impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_raw(raw).map_err(serde::de::Error::custom)
    }
}

impl Serialize for ResultContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Blocks(blocks) => blocks.serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct TextWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    text: &'a str,
}

#[derive(Serialize)]
struct ResultWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    tool_use_id: &'a ToolUseId,
    content: &'a ResultContent,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

#[derive(Serialize)]
struct ImageWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    source: SourceWire<'a>,
}

#[derive(Serialize)]
struct SourceWire<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    media_type: &'a str,
    data: &'a str,
}

/// The fields that tell what a block is.
#[derive(Default)]
struct Head {
    kind: Option<String>,
    id: Option<String>,
    name: Option<String>,
    tool_use_id: Option<String>,
}

impl Head {
    fn is_known(&self) -> bool {
        match self.kind.as_deref() {
            None => false,
            Some("tool_use") => self.id.is_some() && self.name.is_some(),
            Some("tool_result") => self.tool_use_id.is_some(),
            Some(_) => true,
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum HeadField {
    Type,
    Id,
    Name,
    ToolUseId,
    #[serde(other)]
    Other,
}

struct HeadVisitor<'h>(&'h mut Head);

impl<'de> Visitor<'de> for HeadVisitor<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        // Leaving the map early makes the deserializer complain about the rest; the caller, who sees
        // that the head is known, does not mind.
        while !self.0.is_known()
            && let Some(field) = map.next_key()?
        {
            match field {
                HeadField::Type => self.0.kind = Some(map.next_value()?),
                HeadField::Id => self.0.id = map.next_value()?,
                HeadField::Name => self.0.name = map.next_value()?,
                HeadField::ToolUseId => self.0.tool_use_id = map.next_value()?,
                HeadField::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

fn read_kind(raw: &str) -> Result<BlockKind, BlockError> {
    let mut head = Head::default();
    let read = serde_json::Deserializer::from_str(raw).deserialize_map(HeadVisitor(&mut head));
    let Some(kind) = head.kind else {
        let why = read.err().map_or_else(|| "no `type`".to_owned(), |error| error.to_string());
        return Err(BlockError::NoType(why));
    };
    let missing = |kind, field| BlockError::Missing { kind, field };
    Ok(match kind.as_str() {
        "text" => BlockKind::Text,
        "thinking" => BlockKind::Thinking,
        "redacted_thinking" => BlockKind::RedactedThinking,
        "image" => BlockKind::Image,
        "document" => BlockKind::Document,
        "tool_use" => BlockKind::ToolUse {
            id: ToolUseId(head.id.ok_or(missing("tool_use", "id"))?),
            name: match head.name.ok_or(missing("tool_use", "name"))? {
                name if name == MORE_TOOLS.name => {
                    forwarded_call(raw).map_or(name, |call| call.tool)
                }
                name => name,
            },
        },
        "tool_result" => BlockKind::ToolResult {
            id: ToolUseId(head.tool_use_id.ok_or(missing("tool_result", "tool_use_id"))?),
        },
        _ => BlockKind::Other(kind),
    })
}

#[cfg(test)]
#[path = "block_tests.rs"]
mod tests;

//! Parsing and answering tool calls.

use std::sync::Arc;

use dormouse_memory::Scope;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

use crate::memories::{Client, ClientMemories, MemoryRequestError};
use crate::memory_tool::FileCommandError;

/// Why a call failed. The model reads it.
#[derive(Debug, Error)]
pub(in crate::mcp) enum ToolCallError {
    #[error("the arguments do not fit the tool's schema: {0}")]
    Arguments(#[source] serde_json::Error),
    #[error("`scope`: `{0}` is not user, project, team or all")]
    Scope(String),
    #[error("`{0}` is empty; fill it")]
    Empty(&'static str),
    #[error("the result could not be written as JSON: {0}")]
    Result(#[source] serde_json::Error),
    #[error(transparent)]
    Memory(#[from] MemoryRequestError),
    #[error(transparent)]
    FileCommand(#[from] FileCommandError),
}

/// The result of a call: text for the model, and structured data for programs.
pub(in crate::mcp) struct ToolAnswer {
    pub(in crate::mcp) text: String,
    pub(in crate::mcp) data: Option<Value>,
}

impl ToolAnswer {
    pub(super) fn new(
        text: impl Into<String>,
        data: &impl Serialize,
    ) -> Result<Self, ToolCallError> {
        let data = serde_json::to_value(data).map_err(ToolCallError::Result)?;
        Ok(Self { text: text.into(), data: Some(data) })
    }
}

/// How a tool changes memory, as reported to clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// It only reads.
    Reads,
    /// It adds something with each call.
    Adds,
    /// It replaces or removes something; a second call does nothing more.
    Replaces,
    /// It replaces or removes something else with each call.
    Alters,
}

pub(super) type ToolFunction =
    fn(&ClientMemories, &Client, Value) -> Result<ToolAnswer, ToolCallError>;

/// A tool of the server.
pub(in crate::mcp) struct ServedTool {
    pub(in crate::mcp) name: &'static str,
    pub(super) title: &'static str,
    pub(super) about: &'static str,
    /// The JSON schema of its arguments.
    pub(super) schema: &'static str,
    pub(super) kind: ToolKind,
    pub(super) run: ToolFunction,
}

impl ServedTool {
    pub(in crate::mcp) fn definition(&self) -> Tool {
        // A test parses every schema.
        let schema: JsonObject = serde_json::from_str(self.schema).unwrap_or_default();
        let hints = ToolAnnotations::from_raw(
            None,
            Some(self.kind == ToolKind::Reads),
            Some(matches!(self.kind, ToolKind::Replaces | ToolKind::Alters)),
            Some(matches!(self.kind, ToolKind::Reads | ToolKind::Replaces)),
            Some(false),
        );
        Tool::new(self.name, self.about, Arc::new(schema))
            .with_title(self.title)
            .with_annotations(hints)
    }

    pub(in crate::mcp) fn run(
        &self,
        memories: &ClientMemories,
        client: &Client,
        arguments: JsonObject,
    ) -> Result<ToolAnswer, ToolCallError> {
        (self.run)(memories, client, Value::Object(arguments))
    }
}

pub(super) fn arguments<T: DeserializeOwned>(value: Value) -> Result<T, ToolCallError> {
    serde_json::from_value(value).map_err(ToolCallError::Arguments)
}

/// Parses a scope; without one, or with `all`, every scope is meant.
pub(super) fn scope(word: Option<&str>) -> Result<Option<Scope>, ToolCallError> {
    match word {
        None | Some("all") => Ok(None),
        Some(word) => {
            Scope::from_word(word).map(Some).ok_or_else(|| ToolCallError::Scope(word.to_owned()))
        }
    }
}

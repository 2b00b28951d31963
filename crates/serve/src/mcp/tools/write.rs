//! Tools that change memories.

use dormouse_memory::{MemoryType, NewMemory, Scope};
use serde::Deserialize;
use serde_json::Value;

use super::call::{ToolAnswer, ToolCallError, arguments, scope};
use crate::memories::{self, Client, ClientChange, ClientMemories, MemoryEdit, MemoryRequestError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Save {
    name: String,
    description: String,
    #[serde(rename = "type")]
    kind: MemoryType,
    content: String,
    scope: Option<Scope>,
}

pub(super) fn save(
    memories: &ClientMemories,
    client: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Save = arguments(input)?;
    not_empty("name", Some(&input.name))?;
    not_empty("content", Some(&input.content))?;
    let memory =
        NewMemory::new(&input.name, &input.description, &input.content).with_kind(input.kind);
    answer(memories::save(memories, client, input.scope, &memory))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Update {
    name: String,
    scope: Option<Scope>,
    new_name: Option<String>,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    content: Option<String>,
}

pub(super) fn update(
    memories: &ClientMemories,
    client: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Update = arguments(input)?;
    not_empty("new_name", input.new_name.as_ref())?;
    not_empty("content", input.content.as_ref())?;
    let found = memories.find(&input.name, input.scope)?;
    let edit = MemoryEdit {
        name: input.new_name,
        description: input.description,
        kind: input.kind,
        body: input.content,
    };
    answer(memories::update(&found, client, &edit))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delete {
    name: String,
    scope: Option<Scope>,
}

pub(super) fn delete(
    memories: &ClientMemories,
    client: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Delete = arguments(input)?;
    let found = memories.find(&input.name, input.scope)?;
    answer(memories::delete(&found, client))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Undo {
    change: Option<u64>,
    scope: Option<String>,
}

pub(super) fn undo(
    memories: &ClientMemories,
    client: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Undo = arguments(input)?;
    let scope = scope(input.scope.as_deref())?;
    answer(memories::undo(memories, client, scope, input.change))
}

fn not_empty(field: &'static str, text: Option<&String>) -> Result<(), ToolCallError> {
    match text {
        Some(text) if text.trim().is_empty() => Err(ToolCallError::Empty(field)),
        _ => Ok(()),
    }
}

fn answer(changed: Result<ClientChange, MemoryRequestError>) -> Result<ToolAnswer, ToolCallError> {
    let changed = changed?;
    ToolAnswer::new(changed.text(), &changed)
}

//! Tool calls, and which of them are the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::value::RawValue;

use super::{Block, BlockKind, ToolUseId};

/// A tool call, borrowed from its block.
#[derive(Debug, Clone, Copy)]
pub struct ToolUse<'a> {
    /// Its id.
    pub id: &'a ToolUseId,
    /// The tool.
    pub name: &'a str,
    /// The arguments, as received.
    pub input: &'a RawValue,
}

impl Block {
    /// The call of a tool-use block; one without arguments has `{}`.
    pub fn as_tool_use(&self) -> Option<ToolUse<'_>> {
        let BlockKind::ToolUse { id, name } = &self.0.kind else { return None };
        let input = self.field("input").unwrap_or(RawValue::NULL);
        Some(ToolUse { id, name, input })
    }

    /// For a tool call, a number that calls of the same tool with the same input share. Computed once.
    pub fn call_digest(&self) -> Option<u64> {
        let BlockKind::ToolUse { .. } = &self.0.kind else { return None };
        Some(*self.0.call_digest.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            self.as_tool_use().map(|call| (call.name, call.input.get())).hash(&mut hasher);
            hasher.finish()
        }))
    }
}

//! Tool calls, and which of them are the same.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::value::RawValue;

use super::{Block, BlockKind, ToolUseId};
use crate::forwarded_call::forwarded_call;
use crate::known_tools::MORE_TOOLS;

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
    /// The call of a tool-use block; one without arguments has `{}`. A call made through `MoreTools` is a call of the
    /// tool that it names.
    pub fn as_tool_use(&self) -> Option<ToolUse<'_>> {
        let received = self.as_received_tool_use()?;
        let BlockKind::ToolUse { id, name } = self.kind() else { return None };
        if received.name != MORE_TOOLS.name {
            return Some(received);
        }
        let input = forwarded_call(self.raw()).map_or(received.input, |call| call.arguments);
        Some(ToolUse { id, name, input })
    }

    /// The call as the model made it, for a wire format that writes calls anew.
    pub fn as_received_tool_use(&self) -> Option<ToolUse<'_>> {
        let BlockKind::ToolUse { id, name } = self.kind() else { return None };
        let is_forwarded = forwarded_call(self.raw()).is_some();
        let name = if is_forwarded { MORE_TOOLS.name } else { name };
        Some(ToolUse { id, name, input: self.field("input").unwrap_or(RawValue::NULL) })
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

//! Calls made through the tool `MoreTools`, which names another tool and its arguments.
//!
//! The block keeps the bytes that were received. Whoever looks at the call sees the tool that it is for, so that
//! permissions, hooks, displays and readers of transcripts treat it as a call of that tool.

use serde_json::value::RawValue;

use crate::known_tools::MORE_TOOLS;
use crate::raw_fields::RawFields;

/// The call that a call of `MoreTools` is made for.
pub(crate) struct ForwardedCall<'a> {
    pub(crate) tool: String,
    pub(crate) arguments: &'a RawValue,
}

/// The call that a tool-use block passes on; none if it is no call of `MoreTools`, or has no arguments to pass on.
pub(crate) fn forwarded_call(block: &str) -> Option<ForwardedCall<'_>> {
    // Most blocks need not be parsed for this.
    if !block.contains(MORE_TOOLS.name) {
        return None;
    }
    let fields: RawFields<'_> = serde_json::from_str(block).ok()?;
    let name: String = serde_json::from_str(fields.get("name")?.get()).ok()?;
    if name != MORE_TOOLS.name {
        return None;
    }
    let input: RawFields<'_> = serde_json::from_str(fields.get("input")?.get()).ok()?;
    let tool = serde_json::from_str(input.get("tool")?.get()).ok()?;
    let arguments = input.get("arguments")?;
    arguments.get().starts_with('{').then_some(ForwardedCall { tool, arguments })
}

//! Which hooks of an event run.
//!
//! Invariant: if that cannot be decided, the hook runs. A hook that did not run cannot block anything.

use std::path::Path;

use dormouse_permissions::PermissionRule;
use dormouse_tools::ToolSet;

use crate::config::Hook;
use crate::input::CallInput;

/// Whether a hook's `if` rule matches a call. Of an unknown tool only the name is compared.
pub(crate) fn condition_matches(
    rule: &PermissionRule,
    tools: &ToolSet,
    call: CallInput<'_>,
    folder: &Path,
) -> bool {
    match tools.get(call.tool_name) {
        Some(tool) => rule.applies_to(&tool.permission_request(call.tool_input, folder)),
        None => rule.is_for_tool(call.tool_name, None),
    }
}

/// Whether a hook is configured twice in one file. Equal hooks of different files are no duplicates: relative names may
/// mean different files.
pub(crate) fn are_duplicates(one: &Hook, other: &Hook) -> bool {
    let same_source =
        one.source.origin == other.source.origin && one.source.file == other.source.file;
    let one = &one.handler;
    let other = &other.handler;
    let rule = |rule: &Option<PermissionRule>| rule.as_ref().map(ToString::to_string);
    same_source
        && one.action == other.action
        && one.wait_mode == other.wait_mode
        && one.timeout == other.timeout
        && one.once == other.once
        && rule(&one.condition) == rule(&other.condition)
}

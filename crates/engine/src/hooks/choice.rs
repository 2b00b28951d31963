//! Which hooks of an event are for it.
//!
//! Invariant: where that can not be decided, a hook runs. One that was not run can not say no.

use std::path::Path;

use dormouse_permissions::PermissionRule;
use dormouse_tools::ToolSet;
use serde_json::value::RawValue;

use super::config::Hook;

/// Whether a call is one that a hook's `if` speaks of. Of a tool that came later nothing is known but its name, so the
/// rest of the rule is left to the hook.
pub(super) fn condition_fits(
    rule: &PermissionRule,
    tools: &ToolSet,
    (name, input): (&str, &RawValue),
    folder: &Path,
) -> bool {
    match tools.get(name) {
        Some(tool) => rule.applies_to(&tool.permission_request(input, folder)),
        None => rule.is_for_tool(name, None),
    }
}

/// Whether a hook is set twice in one place, alike in all that matters. What somebody else has set is theirs, even where
/// it reads the same: it may mean another file, or be waited for.
pub(super) fn are_twins(one: &Hook, other: &Hook) -> bool {
    let same_home = one.home.origin == other.home.origin && one.home.file == other.home.file;
    let (one, other) = (&one.handler, &other.handler);
    let rule = |rule: &Option<PermissionRule>| rule.as_ref().map(ToString::to_string);
    same_home
        && one.kind == other.kind
        && one.waiting == other.waiting
        && one.timeout == other.timeout
        && one.once == other.once
        && rule(&one.condition) == rule(&other.condition)
}

//! Which hooks of an event are for it.
//!
//! Invariant: where that can not be decided, a hook runs. One that was not run can not say no.

use std::path::Path;

use dormouse_tools::{Rule, ToolSet};
use serde_json::value::RawValue;

/// Whether a call is one that a hook's `if` speaks of. Of a tool that came later nothing is known but its name, so the
/// rest of the rule is left to the hook.
pub(super) fn condition_fits(
    rule: &Rule,
    tools: &ToolSet,
    (name, input): (&str, &RawValue),
    folder: &Path,
) -> bool {
    match tools.get(name) {
        Some(tool) => rule.touches(&**tool, input, folder),
        None => rule.is_for(name),
    }
}

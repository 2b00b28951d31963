//! `KillShell`: ends a command that runs in the background, with everything it started.

use std::borrow::Cow;
use std::path::Path;

use dormouse_conversation::known_tools::KILL_SHELL;
use dormouse_permissions::{Access, InternalAccess};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shell_note::ShellNote;
use crate::shells::ShellStatus;
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""shell_id":{"type":"string","description":"The id that Bash answered with."}"#,
    r#"},"required":["shell_id"],"additionalProperties":false}"#,
);

const SHORT: &str = "Ends a background command with everything it started.";

const FULL: &str = "\
Ends a command that Bash runs in the background, with everything it started. What it printed last can \
still be seen with BashOutput.";

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(KILL_SHELL.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::Exclusive,
    limit: ResultLimit::Chars(1_000),
    traits: KILL_SHELL.traits,
};

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct KillShell;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    shell_id: String,
}

impl Tool for KillShell {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn access(&self, _: &RawValue, _: &Path) -> Access {
        Access::Internal(InternalAccess {
            reason: "it ends only a command that this conversation started",
            denied_in_plan_mode: Some("it ends a command"),
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Input { shell_id } = parse_input(input)?;
            let shell = context
                .commands
                .shells
                .get(&shell_id)
                .map_err(|error| ToolError::invalid(error.to_string()))?;
            let id = shell_id;
            let note = match shell.status_for_model() {
                ShellStatus::Ended { end, .. } => ShellNote::HadEnded { id, end },
                ShellStatus::Running => ShellNote::Killed { id, end: shell.end().await },
            };
            Ok(ToolOutput::text(note.to_string()))
        })
    }
}

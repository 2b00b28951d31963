//! `BashOutput`: what a command in the background has printed since the last look.
//!
//! Invariant: what is shown once is not shown again; it never waits.

use std::borrow::Cow;

use dormouse_conversation::known_tools::BASH_OUTPUT;
use futures_util::future::BoxFuture;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::shell_note::ShellNote;
use crate::shells::ShellStatus;
use crate::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};

const SCHEMA: &str = concat!(
    r#"{"type":"object","properties":{"#,
    r#""shell_id":{"type":"string","description":"The id that Bash answered with."},"#,
    r#""filter":{"type":"string","#,
    r#""description":"A regular expression: only lines that match are shown, the others are passed over for good."}"#,
    r#"},"required":["shell_id"],"additionalProperties":false}"#,
);

const SHORT: &str = "Shows what a background command printed since the last look, and its status.";

const FULL: &str = "\
Shows what a command that Bash runs in the background has printed since the last look, and whether it \
still runs.

- It does not wait: look again later for more.
- `filter` is a regular expression; lines that do not match are left out and do not come again.
- Of what was never looked at, the newest megabyte is kept; how much is missing before it is said.";

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(BASH_OUTPUT.name),
    full: Cow::Borrowed(FULL),
    short: Cow::Borrowed(SHORT),
    schema: Cow::Borrowed(SCHEMA),
    class: ToolClass::ReadOnly,
    limit: ResultLimit::Chars(30_000),
    traits: BASH_OUTPUT.traits,
};

/// The tool. See the module.
#[derive(Debug, Clone, Copy)]
pub struct BashOutput;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    shell_id: String,
    filter: Option<String>,
}

impl Tool for BashOutput {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { look(&parse_input(input)?, context) })
    }
}

fn look(input: &Input, context: &CallContext) -> Result<ToolOutput, ToolError> {
    let filter = input.filter.as_deref().map(RegexMatcher::new).transpose();
    let filter = filter.map_err(|error| ToolError::invalid(format!("`filter`: {error}")))?;
    let shell = context
        .commands
        .shells
        .get(&input.shell_id)
        .map_err(|error| ToolError::invalid(error.to_string()))?;
    // Looked at first: what it printed before its end is then all there.
    let status = shell.status_for_model();
    let unread = match (&filter, &status) {
        (Some(_), ShellStatus::Running) => shell.take_lines(),
        (None, _) | (_, ShellStatus::Ended { .. }) => shell.take_unread(),
    };
    let id = input.shell_id.clone();
    let note = match status {
        ShellStatus::Running => ShellNote::Runs { id, command: shell.command.clone() },
        ShellStatus::Ended { end, .. } => ShellNote::HasEnded { id, end },
    };
    let mut text = format!("{note}\n");
    if unread.dropped > 0 {
        text.push_str(&format!("[{} bytes before this were dropped unseen]\n", unread.dropped));
    }
    let shown = filter.map_or(unread.text.clone(), |filter| matching(&unread.text, &filter));
    text.push_str(if shown.is_empty() { "[nothing new]" } else { shown.trim_end_matches('\n') });
    Ok(ToolOutput::text(text))
}

fn matching(text: &str, filter: &RegexMatcher) -> String {
    text.split_inclusive('\n')
        .filter(|line| filter.is_match(line.trim_end_matches('\n').as_bytes()).unwrap_or(false))
        .collect()
}

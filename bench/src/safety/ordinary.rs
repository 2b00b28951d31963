//! Which ordinary commands work in the sandbox: a file lists them as `ecosystem | preparation | command`.
//!
//! Each runs in an empty project of its own with the user's home and caches: first the preparation, without the sandbox, then
//! the command without it and, in another project, with it.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_tools::{CommandSandbox, Reaper};
use serde_json::json;

use super::calls::{ToolCalls, policy};
use crate::results::DETAILS;

pub(super) fn run(calls: &ToolCalls, file: &Path) -> String {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| crate::fail::fail(&format!("{}: {error}", file.display())));
    let mut table = String::from(
        "| ecosystem | command | without | in the sandbox |\n| --- | --- | --- | --- |\n",
    );
    let (mut all, mut worked) = (0, 0);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut parts = line.splitn(3, " | ").map(str::trim);
        let (Some(ecosystem), Some(preparation), Some(command)) =
            (parts.next(), parts.next(), parts.next())
        else {
            crate::fail::fail(&format!(
                "{}: not `ecosystem | preparation | command`: {line}",
                file.display()
            ));
        };
        let without = attempt(calls, preparation, command, false);
        let with = attempt(calls, preparation, command, true);
        all += usize::from(without.is_ok());
        worked += usize::from(without.is_ok() && with.is_ok());
        let word = |result: Result<(), String>| result.err().unwrap_or_else(|| "works".to_owned());
        // Writing to a string does not fail.
        let _written =
            writeln!(table, "| {ecosystem} | `{command}` | {} | {} |", word(without), word(with));
    }
    let heading = "\n### ordinary commands\n\n";
    format!(
        "{heading}{worked} of {all} that work without the sandbox work in it.\n{DETAILS}{heading}{table}"
    )
}

/// Runs a command; an error is the last line that it printed.
fn attempt(
    calls: &ToolCalls,
    preparation: &str,
    command: &str,
    sandboxed: bool,
) -> Result<(), String> {
    let folder = tempfile::tempdir_in(".").expect("a folder outside the temporary one");
    // Package managers name packages after the folder.
    let project = folder.path().canonicalize().expect("a path").join("project");
    std::fs::create_dir(&project).expect("a folder");
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let mut context = ToolCalls::context(&project);
    context.commands.reaper = Reaper::of_this_program();
    if !preparation.is_empty() {
        run_line(calls, preparation, &context)?;
    }
    if sandboxed {
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let policy =
            Arc::new(policy(&project, &home, &[temporary.path().to_owned(), "/tmp".into()]));
        context.commands.sandbox = Some(CommandSandbox { policy, confirmer: None });
    }
    run_line(calls, command, &context)
}

fn run_line(
    calls: &ToolCalls,
    line: &str,
    context: &dormouse_tools::CallContext,
) -> Result<(), String> {
    let input = json!({ "command": format!("({line}) > .out 2>&1 && echo WORKED || tail -n 1 .out"), "timeout": 600_000 });
    let output = calls.call("Bash", &input, context);
    let text = match output.content {
        dormouse_conversation::ResultContent::Text(text) => text,
        dormouse_conversation::ResultContent::Blocks(_) => String::new(),
    };
    if text.contains("WORKED") {
        Ok(())
    } else {
        Err(text.lines().next().unwrap_or_default().replace('|', "/"))
    }
}

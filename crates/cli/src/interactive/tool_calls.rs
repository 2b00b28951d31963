//! A tool call in one line: its label and its outcome.

use std::path::Path;
use std::time::Duration;

use dormouse_base::printable;
use dormouse_conversation::known_tools::{BASH, BASH_OUTPUT, KILL_SHELL, traits_of};
use dormouse_conversation::{Block, CallLabel, ResultContent, ResultDisplay};
use dormouse_tools::{CallRefusal, ExitNote, ShellEnd, ShellNote, ToolError};
use serde_json::Value;

use dormouse_tui::style::Style;

use crate::message_catalog::msg;
use crate::wiring::command_text::{duration_text, exit_text, shell_end_text};
use crate::wiring::permission_reason::reason_text;

/// The outcome of a tool call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallOutcome {
    Succeeded(String),
    Failed(String),
}

/// A shorter call does not say how long it took.
const WORTH_SAYING: Duration = Duration::from_secs(5);

impl CallOutcome {
    /// With how long the call took, where that is worth saying.
    pub(crate) fn with_duration(self, took: Duration) -> Self {
        if took < WORTH_SAYING {
            return self;
        }
        let time = duration_text(took);
        let with_time = |text: String| match text.as_str() {
            "" => time,
            text => format!("{text} · {time}"),
        };
        match self {
            Self::Succeeded(text) => Self::Succeeded(with_time(text)),
            Self::Failed(text) => Self::Failed(with_time(text)),
        }
    }
}

/// A short label of a tool call.
pub(crate) fn label(name: &str, input: &str, folder: &Path) -> String {
    let arguments: Value = serde_json::from_str(input).unwrap_or(Value::Null);
    let text = |field: &str| arguments.get(field).and_then(Value::as_str);
    let path = |field: &str| text(field).map(|path| relative(path, folder));
    let label = match traits_of(name).label {
        CallLabel::Command => format!("{name}: {}", text("command").unwrap_or_default().trim()),
        CallLabel::File => format!("{name} {}", path("file_path").unwrap_or_default()),
        CallLabel::Search => {
            let place = path("path").map(|path| format!(" in {path}")).unwrap_or_default();
            format!("{name} {}{place}", text("pattern").unwrap_or_default())
        }
        CallLabel::Subagent => {
            let kind = text("subagent_type").unwrap_or("a fork");
            let called = text("name").map(|called| format!(" {called}")).unwrap_or_default();
            format!("{name}{called} ({kind}): {}", text("description").unwrap_or_default())
        }
        CallLabel::Message => {
            let to = text("to").unwrap_or_default();
            format!("{name} to {to}: {}", text("summary").unwrap_or_default())
        }
        CallLabel::Argument(field) => format!("{name} {}", text(field).unwrap_or_default()),
        CallLabel::Name | CallLabel::Plan => name.to_owned(),
        CallLabel::MemoryFile => {
            let place = text("path").or_else(|| text("old_path")).unwrap_or_default();
            format!("{name} {} {place}", text("command").unwrap_or_default())
        }
        CallLabel::Arguments => format!("{name} {input}"),
    };
    on_one_line(&label)
}

/// A path relative to the folder where it is inside it.
fn relative(path: &str, folder: &Path) -> String {
    let inside = Path::new(path).strip_prefix(folder).ok();
    inside.map_or_else(|| path.to_owned(), |inside| inside.display().to_string())
}

/// The rows of a to-do list.
pub(crate) fn todo_rows(input: &str) -> Vec<(String, Style)> {
    let arguments: Value = serde_json::from_str(input).unwrap_or(Value::Null);
    let todos = arguments.get("todos").and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |step: &Value, field: &str| {
        on_one_line(step.get(field).and_then(Value::as_str).unwrap_or_default())
    };
    let row = |step: &Value| {
        let (mark, style) = match text(step, "status").as_str() {
            "completed" => ("[x]", Style::DIM),
            "in_progress" => ("[>]", Style::BOLD),
            _ => ("[ ]", Style::PLAIN),
        };
        (format!("{mark} {}", text(step, "content")), style)
    };
    todos.iter().map(row).collect()
}

/// The outcome of a call, from its tool result.
pub(crate) fn outcome(name: &str, result: &Block, folder: &Path) -> CallOutcome {
    if let Some(ResultContent::Blocks(blocks)) = result.result_content()
        && blocks.iter().all(|block| block.as_text().is_none())
    {
        return CallOutcome::Succeeded(msg!("call-image"));
    }
    let text = result_text(result);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = on_one_line(lines.next().unwrap_or_default());
    if result.is_error() {
        return CallOutcome::Failed(failure(name, &first, folder));
    }
    if let Some(outcome) = shell_outcome(name, &text) {
        return outcome;
    }
    let count = text.lines().count();
    if let Some((note, before)) = exit_note(name, &text) {
        let exit = exit_text(note);
        return CallOutcome::Failed(match before.lines().count() {
            0 => exit,
            lines => msg!("call-exit-lines", exit = exit, lines = line_count(lines)),
        });
    }
    let more = lines.count();
    CallOutcome::Succeeded(match traits_of(name).result_display {
        // The first line repeats the label; the rest is for the model.
        ResultDisplay::Hidden => String::new(),
        _ if first.is_empty() => msg!("call-no-output"),
        ResultDisplay::LineCount if !first.starts_with('[') => line_count(count),
        ResultDisplay::Links if more > 0 => links(&text),
        _ if more == 0 => without_brackets(&first),
        _ => line_count(count),
    })
}

/// The web addresses of a list of results.
fn links(text: &str) -> String {
    let is_link = |line: &&str| line.starts_with("https://") || line.starts_with("http://");
    let links: Vec<&str> = text.lines().map(str::trim).filter(is_link).collect();
    links.join(" ")
}

/// The text of a tool result.
pub(crate) fn result_text(result: &Block) -> String {
    match result.result_content() {
        Some(ResultContent::Text(text)) => text,
        Some(ResultContent::Blocks(blocks)) => blocks.iter().filter_map(Block::as_text).collect(),
        None => String::new(),
    }
}

/// What a call says about a background command: its state, and how much it has printed.
fn shell_outcome(name: &str, result: &str) -> Option<CallOutcome> {
    let tools = [BASH, BASH_OUTPUT, KILL_SHELL];
    let of_shell = tools.iter().any(|tool| tool.name == name);
    let (note, printed) = of_shell.then(|| ShellNote::read(result)).flatten()?;
    let printed = match printed.lines().count() {
        // A remark of the tool.
        1 if printed.starts_with('[') => msg!("call-no-output"),
        count => line_count(count),
    };
    Some(match note {
        ShellNote::Started { id } => CallOutcome::Succeeded(msg!("shell-started", id = id)),
        ShellNote::Runs { command, .. } => {
            let command = on_one_line(&command);
            CallOutcome::Succeeded(msg!("shell-runs", printed = printed, command = command))
        }
        ShellNote::HasEnded { end, .. } => {
            let exit = shell_end_text(&end);
            let text = msg!("call-exit-lines", exit = exit, lines = printed);
            match end {
                ShellEnd::Exited(ExitNote::Code(0)) | ShellEnd::Stopped => {
                    CallOutcome::Succeeded(text)
                }
                ShellEnd::Exited(_) | ShellEnd::Failed { .. } => CallOutcome::Failed(text),
            }
        }
        ShellNote::Killed { end, .. } | ShellNote::HadEnded { end, .. } => {
            CallOutcome::Succeeded(shell_end_text(&end))
        }
    })
}

/// How a command ended, where it did not succeed, and its output before the note about that.
fn exit_note<'t>(name: &str, output: &'t str) -> Option<(ExitNote, &'t str)> {
    let is_command = traits_of(name).label == CallLabel::Command;
    is_command.then(|| ExitNote::read(output)).flatten()
}

/// Lines of the output to show below a call: the first and the last ones of a command, more of one that failed.
pub(crate) fn preview(name: &str, output: &str, outcome: &CallOutcome) -> Vec<String> {
    let is_command = traits_of(name).label == CallLabel::Command;
    let exit = exit_note(name, output);
    let most = match outcome {
        // Without an exit code nothing was printed: the row says all.
        CallOutcome::Failed(_) if exit.is_none() => return Vec::new(),
        CallOutcome::Failed(_) if is_command => 12,
        CallOutcome::Succeeded(_) if is_command => 5,
        _ => return Vec::new(),
    };
    let printed = exit.map_or(output, |(_, before)| before);
    let lines: Vec<String> = printed.lines().map(on_one_line).collect();
    if lines.len() < 2 && matches!(outcome, CallOutcome::Succeeded(_)) {
        return Vec::new();
    }
    // What is left out takes a row as well.
    if lines.len() <= most + 2 {
        return lines;
    }
    let (first, last) = (most / 3, most - most / 3);
    let hidden = lines.len() - first - last;
    let mark = msg!("call-more-lines", count = hidden);
    let tail = lines.iter().skip(lines.len() - last).cloned();
    lines.iter().take(first).cloned().chain(std::iter::once(mark)).chain(tail).collect()
}

/// A remark of the tool without its brackets.
fn without_brackets(line: &str) -> String {
    let inner = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inner.unwrap_or(line).to_owned()
}

/// The error without the parts that the label shows already, and without words that are for the model.
fn failure(name: &str, first: &str, folder: &Path) -> String {
    let text = shortened(first, folder);
    if ToolError::is_interruption(&text) {
        return msg!("call-interrupted");
    }
    match CallRefusal::read(name, &text) {
        Some(CallRefusal::Declined { said: None }) => msg!("call-declined"),
        Some(CallRefusal::Declined { said: Some(said) }) => {
            msg!("call-declined-because", said = said)
        }
        Some(CallRefusal::Denied { why }) => msg!("call-not-run", why = reason_text(&why)),
        None => msg!("call-failed", why = text),
    }
}

/// Text with the paths inside the folder made relative.
pub(crate) fn shortened(text: &str, folder: &Path) -> String {
    text.replace(&format!("{}/", folder.display()), "")
}

fn line_count(count: usize) -> String {
    msg!("call-lines", count = count)
}

/// Text on one row: line breaks become a mark, and control characters are removed.
pub(crate) fn on_one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    printable(&lines.join(" ⏎ ")).replace('\t', " ")
}

#[cfg(test)]
mod tests {
    use dormouse_conversation::ToolUseId;

    use super::*;

    #[test]
    fn calls_by_what_matters_in_them() {
        let folder = Path::new("/project");
        let label = |name, input| label(name, input, folder);
        assert_eq!(label("Read", r#"{"file_path":"/project/src/a.rs"}"#), "Read src/a.rs");
        assert_eq!(
            label("Bash", r#"{"command":"cd a\nmake \u001b[2J"}"#),
            "Bash: cd a ⏎ make \u{fffd}[2J"
        );
        assert_eq!(label("Grep", r#"{"pattern":"x","path":"src"}"#), "Grep x in src");
        assert_eq!(label("mcp__a__b", r#"{"q":1}"#), r#"mcp__a__b {"q":1}"#);
    }

    #[test]
    fn steps_with_how_far_they_are() {
        let input = r#"{"todos":[{"content":"a","status":"completed"},{"content":"b\u001b","status":"in_progress"},
            {"content":"c","status":"pending"}]}"#;
        let expected =
            [("[x] a", Style::DIM), ("[>] b\u{fffd}", Style::BOLD), ("[ ] c", Style::PLAIN)];
        assert_eq!(todo_rows(input), expected.map(|(text, style)| (text.to_owned(), style)));
        assert_eq!(todo_rows("{}"), []);
    }

    #[test]
    fn outcomes_in_a_few_words() {
        let result = |text: &str, is_error| {
            Block::tool_result(
                &ToolUseId::new("t"),
                &ResultContent::Text(text.to_owned()),
                is_error,
            )
        };
        let fine = |text: &str| CallOutcome::Succeeded(text.to_owned());
        let failed = |text: &str| CallOutcome::Failed(text.to_owned());
        for (name, text, is_error, expected) in [
            ("Bash", "one\ntwo\n", false, fine("2 lines")),
            ("Bash", "52\n", false, fine("52")),
            ("Bash", "", false, fine("no output")),
            ("Bash", "[it printed nothing]", false, fine("it printed nothing")),
            ("Read", "     1\tx\n", false, fine("1 line")),
            ("Edit", "changed", false, fine("")),
            ("Edit", "/project/a is gone\nmore", true, failed("failed: a is gone")),
            ("Bash", "Bash was not run: no", true, failed("not run: no")),
            ("BashOutput", "[shell_1 runs: make]\na\nb", false, fine("running, 2 lines: make")),
            (
                "BashOutput",
                "[shell_1 has ended] [exit code 2]\na",
                false,
                failed("exit code 2, 1 line"),
            ),
            (
                "BashOutput",
                "[shell_1 has ended] [exit code 0]\n[nothing new]",
                false,
                fine("exit code 0, no output"),
            ),
            ("KillShell", "shell_1 has ended: [ended by KillShell]", false, fine("stopped")),
        ] {
            let result = result(text, is_error);
            assert_eq!(outcome(name, &result, Path::new("/project")), expected, "{name} {text}");
        }
    }
}

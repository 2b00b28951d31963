//! The conversation as text: `/copy`, `/export [FILE]`, and its title, `/rename TITLE`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{Dir, RelPath};
use dormouse_context::UserCommandOutput;
use dormouse_conversation::{Block, BlockKind, Message, Role, without_imitated_reminders};
use dormouse_engine::{Conversation, save_title};
use dormouse_tui::sequence::{Base64Text, TerminalSequence};

use crate::interactive::tool_calls;
use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::session_notes;
use crate::wiring::session_start::ActiveSession;

/// Runs `/copy`: the last answer goes to the clipboard, by way of the terminal.
pub(super) fn copy(view: &SharedView, conversation: &Conversation) {
    let Some(answer) = last_answer(conversation.history().messages()) else {
        return view.say(&msg!("copy-nothing"));
    };
    let lines = answer.lines().count();
    let sequence = TerminalSequence::Clipboard(Base64Text::encode(&answer));
    view.say(&match view.live(|live| live.send(&sequence)) {
        Some(()) => msg!("copy-done", count = lines),
        None => msg!("copy-needs-live"),
    });
}

/// Runs `/export [FILE]`.
pub(super) fn export(view: &SharedView, session: &ActiveSession, name: &str) {
    match export_to(name, session) {
        Ok(path) => view.say(&msg!("export-done", path = path.display().to_string())),
        Err(failure) => view.failure(&failure),
    }
}

/// Writes the conversation into a new file below the working directory, or wherever an absolute path leads.
fn export_to(name: &str, session: &ActiveSession) -> Result<PathBuf, Failure> {
    let (conversation, folder) = (session.engine.conversation(), &session.project.folder);
    let default = || format!("dormouse-{}.md", conversation.session());
    let path = folder.join(if name.is_empty() { default() } else { name.to_owned() });
    let (Some(parent), Some(file)) = (path.parent(), path.file_name()) else {
        return Err(Failure::usage(anyhow::anyhow!(msg!("export-no-file"))));
    };
    let file = RelPath::new(file).map_err(Failure::usage)?;
    let folder_of_file = match Dir::open(parent) {
        Err(error) if error.is_not_found() => {
            let folder = parent.display().to_string();
            return Err(Failure::usage(anyhow::anyhow!(msg!("export-no-folder", folder = folder))));
        }
        opened => opened?,
    };
    if folder_of_file.entry(&file).is_ok() {
        let path = path.display().to_string();
        return Err(Failure::usage(anyhow::anyhow!(msg!("export-exists", path = path))));
    }
    let mut written = folder_of_file.create_new_file(&file)?;
    written.write_all(markdown(session).as_bytes()).map_err(Failure::failed)?;
    Ok(path)
}

/// Runs `/rename TITLE`.
pub(super) fn rename(view: &SharedView, conversation: &Conversation, title: &str) {
    if title.is_empty() {
        return view.say(&msg!("rename-empty"));
    }
    match save_title(conversation.session_folder(), title) {
        Ok(()) => view.say(&msg!("rename-done", title = title)),
        Err(error) => view.failure(&error.into()),
    }
}

/// The text of the last answer.
fn last_answer(messages: &[Arc<Message>]) -> Option<String> {
    // A note of the program stands for an answer that never came.
    let is_answer =
        |message: &&Arc<Message>| message.role == Role::Assistant && !message.is_synthetic();
    let mut answers = messages.iter().rev().filter(is_answer).map(|message| answer_text(message));
    answers.find(|text| !text.trim().is_empty())
}

/// What a message of the model says to the user.
fn answer_text(message: &Message) -> String {
    without_imitated_reminders(&message.text())
}

/// The conversation in markdown: its title, messages, answers, calls and what they returned, and the user's own commands.
fn markdown(session: &ActiveSession) -> String {
    let (conversation, folder) = (session.engine.conversation(), &session.project.folder);
    let typed = conversation.user_messages();
    let first = || Some(typed.first()?.text.trim().lines().next()?.to_owned());
    let title = session_notes::title(session.folder.dir(), conversation.session()).or_else(first);
    let mut out = title.map(|title| format!("# {title}\n\n")).unwrap_or_default();
    for message in conversation.history().messages() {
        // They went with the message, in front of it.
        out.extend(message.blocks.iter().filter_map(user_command));
        if let Some(prompt) = typed.iter().find(|prompt| prompt.message == message.id) {
            out.push_str(&format!("## {}\n\n{}\n\n", msg!("export-user"), prompt.text.trim()));
        }
        out.push_str(&blocks(message, folder));
    }
    let last = conversation.history().messages().last().map(|message| message.id);
    out.extend(session.commands.kept_after(last).iter().filter_map(user_command));
    out
}

/// A command that the user ran, with what it printed.
fn user_command(block: &Block) -> Option<String> {
    UserCommandOutput::shown_in(block).map(|shown| fenced(&shown))
}

/// The answer, the calls and the results in a message.
fn blocks(message: &Message, folder: &Path) -> String {
    let mut out = String::new();
    let answer = answer_text(message);
    if message.role == Role::Assistant && !answer.trim().is_empty() {
        out.push_str(&format!("## {}\n\n{}\n\n", msg!("export-model"), answer.trim()));
    }
    for block in &message.blocks {
        if let Some(call) = block.as_tool_use() {
            let label = tool_calls::label(call.name, call.input.get(), folder);
            out.push_str(&format!("`→ {}`\n\n", label.replace('`', "'")));
        } else if matches!(block.kind(), BlockKind::ToolResult { .. }) {
            out.push_str(&fenced(&tool_calls::result_text(block)));
        }
    }
    out
}

/// A text in a fence that is longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.lines().map(|line| line.chars().take_while(|c| *c == '`').count()).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    format!("{fence}\n{}\n{fence}\n\n", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_holds_what_contains_one() {
        assert_eq!(fenced("a\n"), "```\na\n```\n\n");
        assert_eq!(fenced("```\na\n```"), "````\n```\na\n```\n````\n\n");
    }
}

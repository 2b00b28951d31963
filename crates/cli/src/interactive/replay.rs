//! The last turns of a resumed session, shown again, so that the user sees where they are (U-9b).

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_conversation::{Block, BlockKind, Message, Role, ToolUse, ToolUseId};
use dormouse_tui::style::Style;

use super::tool_calls;
use super::view::TerminalView;

/// How many turns are shown.
const TURNS: usize = 3;

/// Shows the last turns of a conversation.
pub(super) fn show_last_turns(messages: &[Arc<Message>], view: &mut TerminalView) {
    let prompts: Vec<usize> =
        (0..).zip(messages).filter(|(_, message)| is_prompt(message)).map(|(at, _)| at).collect();
    let Some(first) = prompts.iter().rev().nth(TURNS - 1).or(prompts.first()) else { return };
    if *first > 0 {
        view.note("… earlier messages are in the transcript", Style::DIM);
    }
    let mut calls: HashMap<&ToolUseId, ToolUse<'_>> = HashMap::new();
    for message in messages.iter().skip(*first) {
        match message.role {
            Role::User if is_prompt(message) => view.echo(&typed_text(message)),
            Role::User => show_results(message, &calls, view),
            Role::Assistant => {
                let text = message.text();
                if !text.trim().is_empty() {
                    view.markdown(&text);
                }
                calls.extend(
                    message
                        .blocks
                        .iter()
                        .filter_map(Block::as_tool_use)
                        .map(|call| (call.id, call)),
                );
            }
        }
    }
}

fn show_results(
    message: &Message,
    calls: &HashMap<&ToolUseId, ToolUse<'_>>,
    view: &mut TerminalView,
) {
    for block in &message.blocks {
        let BlockKind::ToolResult { id } = block.kind() else { continue };
        let Some(call) = calls.get(id) else { continue };
        let label = tool_calls::label(call.name, call.input.get(), view.folder());
        view.finished_call(call.name, &label, block);
    }
}

/// Whether the user typed it.
fn is_prompt(message: &Message) -> bool {
    let flags = message.flags;
    let is_inserted = flags.meta || flags.compact_summary || flags.attachment;
    message.role == Role::User
        && !is_inserted
        && message.tool_results().next().is_none()
        && !typed_text(message).trim().is_empty()
}

/// The first text of a message: what follows was put there by the program.
fn typed_text(message: &Message) -> String {
    message.blocks.iter().find_map(Block::as_text).unwrap_or_default()
}

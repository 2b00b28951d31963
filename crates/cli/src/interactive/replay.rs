//! The last turns of a resumed session, shown again, so that the user sees where they are (U-9b).

use std::time::Duration;

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{
    Block, BlockKind, Message, Role, ToolUse, ToolUseId, without_imitated_reminders,
};
use dormouse_engine::Conversation;
use dormouse_tui::style::Style;

use crate::message_catalog::msg;

use super::tool_calls;
use super::view::TerminalView;

/// How many turns are shown.
const TURNS: usize = 3;

/// Shows the last turns of a conversation.
pub(super) fn show_last_turns(view: &mut TerminalView, conversation: &Conversation) {
    let prompts = conversation.user_messages();
    let shown = prompts.iter().skip(prompts.len().saturating_sub(TURNS));
    let texts: HashMap<MessageId, &str> =
        shown.map(|prompt| (prompt.message, prompt.text.as_str())).collect();
    let messages = conversation.history().messages();
    let is_first = |message: &&Arc<Message>| !texts.contains_key(&message.id);
    let turns = messages.iter().skip_while(is_first);
    if turns.clone().count() < messages.len() && !texts.is_empty() {
        view.note(&msg!("replay-earlier"), Style::DIM);
    }
    view.before_prompt();
    let mut calls: HashMap<&ToolUseId, ToolUse<'_>> = HashMap::new();
    for message in turns {
        match (texts.get(&message.id), message.role) {
            (Some(prompt), _) => view.echo(prompt),
            (None, Role::User) => show_results(message, &calls, view),
            (None, Role::Assistant) => {
                let text = without_imitated_reminders(&message.text());
                if !text.trim().is_empty() {
                    view.markdown(&text);
                }
                let made = message.blocks.iter().filter_map(Block::as_tool_use);
                calls.extend(made.map(|call| (call.id, call)));
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
        let label = tool_calls::label(call.name, call.input.get(), &view.folder);
        view.finished_call(call.name, &label, block, Duration::ZERO);
    }
}

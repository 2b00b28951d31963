//! When the server is asked for a summary (C-28), and what it is told.

use std::sync::Arc;

use dormouse_conversation::{Block, Message, Role};
use dormouse_model::server_summary_text;

use super::range::CompactionRange;
use super::request::{CompactionRequest, CompactionScope};
use crate::fork::ForkSource;

/// The purpose of the request, in the figures.
const PURPOSE: &str = "auto_compact";

/// What the server is told. It replaces the server's own prompt, so it says all.
const INSTRUCTIONS: &str = "Summarise the whole conversation so that the work can go on with the summary alone: what the user asked for, with all conditions; files, commands, decisions and their reasons; errors and how they were fixed; what is open, and the next step. Paths, names, numbers and error texts word for word. If it begins with an earlier summary, merge it. Do not call any tool.";

/// A summary that the server wrote.
pub(super) struct ServerSummary {
    /// As it goes back to the server.
    pub(super) block: Block,
    pub(super) text: String,
}

/// The server's summary of a range. None where it does not offer one, cannot be asked, or fails: then the model is asked.
pub(super) async fn server_summary(
    source: &ForkSource,
    request: &CompactionRequest,
    messages: &[Arc<Message>],
    range: CompactionRange,
) -> Option<ServerSummary> {
    let goes = messages.get(..range.to)?;
    // A turn that is not over cannot be summarized by it.
    let is_over =
        |last: &Arc<Message>| last.role == Role::Assistant && last.tool_calls().next().is_none();
    let can = source.has_server_summaries()
        && request.scope == CompactionScope::Whole
        && goes.last().is_some_and(is_over);
    if !can {
        return None;
    }
    let instructions = match &request.instructions {
        Some(own) => format!("{INSTRUCTIONS}\n\nThe user asks for this in particular:\n{own}"),
        None => INSTRUCTIONS.to_owned(),
    };
    let source = source.clone().with_messages(goes.iter().map(AsRef::as_ref));
    let block = source.server_summary(PURPOSE, &instructions).await?;
    let text = server_summary_text(&block)?;
    Some(ServerSummary { block, text })
}

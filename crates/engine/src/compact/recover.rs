//! Recovery from a request that the server refused (C-21, C-25): makes room, removes images or drops thinking, so that
//! the request can be sent again.

use dormouse_context::compact::{DropThinking, MediaRange, drop_thinking, without_media};
use dormouse_conversation::transcript::FoundWindow;
use dormouse_conversation::{Block, BlockKind, Budget, ContextWindow, MIN_WINDOW, MessageHistory};

use super::report::CompactionOutcome;
use super::request::CompactionRequest;
use super::state::CompactionState;
use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::{EventSink, TurnContext};
use crate::layers::Layers;
use crate::notice::EngineNotice;
use crate::turn_state::Recovery;

impl Engine {
    /// Tries a recovery. Whether it changed anything.
    pub(crate) async fn recover(
        &mut self,
        recovery: Recovery,
        turn: &mut TurnContext<'_>,
    ) -> Result<bool, EngineError> {
        let ours = self.conversation.tokens_used();
        match recovery {
            Recovery::Folds if !self.config.window.compaction.collapse => Ok(false),
            Recovery::Folds => {
                let mut layers = Layers::new(&self.config, &mut self.conversation, &self.figures);
                self.compaction.collapse.fold_all(&mut layers, &self.jobs, turn).await
            }
            Recovery::Room { .. } | Recovery::Bytes => {
                let (used, limit) = match recovery {
                    Recovery::Room { used, limit } => (used, limit),
                    _ => (None, None),
                };
                adopt_server_limit(&mut self.config, &mut self.compaction, ours, used, limit, turn);
                self.compaction.keep_record(&mut self.conversation.transcript)?;
                if self.compaction.breaker.is_stopped() {
                    return Ok(false);
                }
                match Box::pin(self.compact(CompactionRequest::auto(), turn)).await? {
                    CompactionOutcome::Done(report) => Ok(report.after < report.before),
                    CompactionOutcome::Blocked(why) => {
                        turn.notice(EngineNotice::CompactionRefused { why });
                        Ok(false)
                    }
                    CompactionOutcome::Nothing
                    | CompactionOutcome::NotSmaller
                    | CompactionOutcome::Interrupted => Ok(false),
                }
            }
            Recovery::LargestMedia => {
                remove_media(&mut self.conversation, MediaRange::Largest, turn.sink())
            }
            Recovery::Media => remove_media(&mut self.conversation, MediaRange::All, turn.sink()),
            Recovery::Thinking => {
                remove_thinking(&mut self.conversation, DropThinking::KeepPending)
            }
            Recovery::AllThinking => remove_thinking(&mut self.conversation, DropThinking::All),
        }
    }
}

/// A server that refuses less than our window has a smaller one, or counts more tokens than we do.
fn adopt_server_limit(
    config: &mut EngineConfig,
    compaction: &mut CompactionState,
    ours: u64,
    used: Option<u64>,
    limit: Option<u64>,
    turn: &mut TurnContext<'_>,
) {
    let budget = config.model.budget;
    // A number below every real window is a mistake, or about something else.
    let limit = limit.filter(|limit| *limit >= u64::from(MIN_WINDOW));
    let adopted = in_our_tokens(ours.min(u64::from(budget.window)), used, limit);
    let adopted = u32::try_from(adopted).unwrap_or(u32::MAX);
    let Ok(window) = ContextWindow::new(adopted) else { return };
    if adopted >= budget.window {
        return;
    }
    config.model.budget = Budget::for_window(window, budget.max_output);
    // What the server has named is so in the next process too; a guess of ours is not, nor a number that cannot be about this
    // conversation.
    let is_plausible = used.is_none_or(|used| used < 2 * ours && ours < 2 * used);
    if limit.is_some() && is_plausible {
        let believed = compaction.found_window.map_or(budget.window, |found| found.instead_of);
        compaction.found_window = Some(FoundWindow { tokens: adopted, instead_of: believed });
    }
    // Compactions for another window do not count.
    compaction.breaker.reset();
    let says = if limit.is_some() { "is" } else { "seems to be below" };
    turn.notice(format!(
            "The server's limit {says} {adopted} tokens, not {}; using {adopted} (DORMOUSE_CONTEXT_WINDOW sets it)",
            budget.window
        ));
}

/// Removes images and documents. Whether there were any.
fn remove_media(
    conversation: &mut Conversation,
    range: MediaRange,
    sink: &mut EventSink<'_>,
) -> Result<bool, EngineError> {
    let (messages, removed) = without_media(conversation.messages(), range);
    if removed.is_empty() {
        return Ok(false);
    }
    let mut stored = Vec::new();
    for (new, old) in messages.iter().zip(conversation.messages()) {
        let changed: Vec<Block> = new
            .blocks
            .iter()
            .zip(&old.blocks)
            .filter(|(new, old)| new.raw() != old.raw())
            .filter(|(new, _)| matches!(new.kind(), BlockKind::ToolResult { .. }))
            .map(|(new, _)| new.clone())
            .collect();
        if !changed.is_empty() {
            stored.push((new.id, changed));
        }
    }
    for (message, changed) in stored {
        conversation.transcript.record_stored(message, &changed)?;
    }
    let text = format!(
        "The server refuses a request of this size; left out from now on: {}",
        removed.join(", ")
    );
    sink(EngineEvent::Notice(text.into()));
    conversation
        .replace_history(MessageHistory::from_messages(messages)?, "pictures were taken out");
    Ok(true)
}

/// Drops thinking. Whether there was any.
fn remove_thinking(
    conversation: &mut Conversation,
    which: DropThinking,
) -> Result<bool, EngineError> {
    let (messages, changed) = drop_thinking(conversation.messages(), which);
    if changed.is_empty() {
        return Ok(false);
    }
    conversation.transcript.record_thinking_dropped(&changed)?;
    let reason = "thinking that the server refused was dropped";
    conversation.replace_history(MessageHistory::from_messages(messages)?, reason);
    Ok(true)
}

/// What a server takes, as this program counts: one that counts more tokens takes fewer of ours. Where it
/// names no number, a little less than what it refused.
fn in_our_tokens(ours: u64, used: Option<u64>, limit: Option<u64>) -> u64 {
    match (used, limit) {
        (Some(used), Some(limit)) if used > ours => {
            (limit.saturating_mul(ours) / used).max(limit / 2)
        }
        (_, Some(limit)) => limit,
        (_, None) => ours / 5 * 4,
    }
}

#[cfg(test)]
mod tests {
    use super::in_our_tokens;

    #[test]
    fn a_limit_in_our_tokens() {
        assert_eq!(in_our_tokens(10_000, Some(20_000), Some(16_000)), 8_000, "it counts more");
        assert_eq!(in_our_tokens(1_000, Some(20_000), Some(16_000)), 8_000, "but not that much");
        assert_eq!(in_our_tokens(20_000, Some(18_000), Some(16_000)), 16_000);
        assert_eq!(in_our_tokens(20_000, None, Some(16_000)), 16_000);
        assert_eq!(in_our_tokens(20_000, None, None), 16_000);
    }
}

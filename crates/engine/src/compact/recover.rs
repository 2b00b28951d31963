//! What is done about a request that the server refused (C-21, C-25): make room, take out pictures, drop
//! thinking, and let it be tried again.

use std::sync::Arc;

use dormouse_context::compact::{without_media, without_thinking};
use dormouse_conversation::{
    Block, BlockKind, Budget, ContextWindow, MIN_WINDOW, Message, MessageHistory,
};
use tokio_util::sync::CancellationToken;

use super::{CompactionOutcome, CompactionRequest};
use crate::{Engine, EngineError, EngineEvent};

/// What may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Show what is staged as folded.
    Folds,
    /// Make room: the server counted so many tokens and takes at most so many, as far as it says.
    Room {
        /// What it counted.
        used: Option<u64>,
        /// What it takes.
        limit: Option<u64>,
    },
    /// Make room: the request has too many bytes.
    Bytes,
    /// Take out pictures and documents.
    Media,
    /// Drop thinking, but for that of a call whose results are about to be sent.
    Thinking,
    /// Drop all thinking.
    AllThinking,
}

impl Engine {
    /// Does what may help. Whether anything is other now than it was.
    pub(crate) async fn mend(
        &mut self,
        mend: Recovery,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        match mend {
            Recovery::Folds => self.commit_all_folds(interrupt, sink).await,
            Recovery::Room { used, limit } => {
                self.believe(used, limit, sink);
                self.make_room_for_server(interrupt, sink).await
            }
            Recovery::Bytes => {
                self.believe(None, None, sink);
                self.make_room_for_server(interrupt, sink).await
            }
            Recovery::Media => self.take_out_media(sink),
            Recovery::Thinking => self.drop_thinking(false),
            Recovery::AllThinking => self.drop_thinking(true),
        }
    }

    async fn make_room_for_server(
        &mut self,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        if self.breaker.is_stopped() {
            return Ok(false);
        }
        match Box::pin(self.compact(CompactionRequest::auto(), interrupt, sink)).await? {
            CompactionOutcome::Done(report) => Ok(report.after < report.before),
            CompactionOutcome::Blocked(why) => {
                sink(EngineEvent::Notice(format!("a hook refused the compaction: {why}")));
                Ok(false)
            }
            CompactionOutcome::Nothing
            | CompactionOutcome::Vain
            | CompactionOutcome::Interrupted => Ok(false),
        }
    }

    /// A server that refuses less than the window we count with has a smaller one, or counts more than we do.
    fn believe(
        &mut self,
        used: Option<u64>,
        limit: Option<u64>,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        let (budget, ours) = (self.config.budget, self.tokens_used());
        // A number that no window has is a slip, or about something else.
        let limit = limit.filter(|limit| *limit >= u64::from(MIN_WINDOW));
        let told = in_our_tokens(ours.min(u64::from(budget.window)), used, limit);
        let told = u32::try_from(told).unwrap_or(u32::MAX);
        let Ok(window) = ContextWindow::new(told) else { return };
        if told >= budget.window {
            return;
        }
        self.config.budget = Budget::for_window(window, budget.max_output);
        // What was done for another window is no sign that it goes on for ever.
        self.breaker.reset_loop();
        let says = if limit.is_some() { "takes at most" } else { "seems to take less than" };
        sink(EngineEvent::Notice(format!(
            "the server {says} {told} tokens, where {} were expected; from now on that counts (DORMOUSE_CONTEXT_WINDOW sets it)",
            budget.window
        )));
    }

    fn take_out_media(
        &mut self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        let (messages, gone) = without_media(self.history.messages());
        if gone.is_empty() {
            return Ok(false);
        }
        for (new, old) in messages.iter().zip(self.history.messages()) {
            let changed: Vec<Block> = new
                .blocks
                .iter()
                .zip(&old.blocks)
                .filter(|(new, old)| new.raw() != old.raw())
                .filter(|(new, _)| matches!(new.kind(), BlockKind::ToolResult { .. }))
                .map(|(new, _)| new.clone())
                .collect();
            if !changed.is_empty() {
                self.transcript.record_stored(new.id, &changed)?;
            }
        }
        sink(EngineEvent::Notice(format!(
            "the server takes no request of this size, so these are left out from now on: {}",
            gone.join(", ")
        )));
        self.replace(messages, "pictures were taken out")?;
        Ok(true)
    }

    fn drop_thinking(&mut self, pending_too: bool) -> Result<bool, EngineError> {
        let messages = self.history.messages();
        let pending = messages.last().is_some_and(|last| last.tool_results().next().is_some());
        let asking = if pending && !pending_too { messages.len().checked_sub(2) } else { None };
        let mut unthought = Vec::new();
        let messages: Vec<Message> = messages
            .iter()
            .enumerate()
            .map(|(place, message): (usize, &Arc<Message>)| match without_thinking(message) {
                Some(bare) if Some(place) != asking => {
                    unthought.push(message.id);
                    bare
                }
                _ => (**message).clone(),
            })
            .collect();
        if unthought.is_empty() {
            return Ok(false);
        }
        self.transcript.record_thinking_dropped(&unthought)?;
        self.replace(messages, "thinking that the server refused was dropped")?;
        Ok(true)
    }

    fn replace(&mut self, messages: Vec<Message>, why: &str) -> Result<(), EngineError> {
        self.history = MessageHistory::from_messages(messages)?;
        self.rebuild_body(why);
        Ok(())
    }
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

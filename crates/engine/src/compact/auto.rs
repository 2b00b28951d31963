//! Before a request (C-14, L-8): compacts the conversation where that is due.

use std::num::NonZeroUsize;

use dormouse_model::ModelError;

use super::policy::WindowPolicy;
use super::report::CompactionOutcome;
use super::request::CompactionRequest;
use super::window_share::{largest, window_shares};
use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event_sink::TurnContext;
use crate::layers::Layers;
use crate::notice::EngineNotice;

/// Whether a request can be sent.
#[derive(Debug)]
pub(crate) enum RoomCheck {
    /// There is room, or the server may decide.
    Enough,
    /// There is none, and none can be made.
    None(ModelError),
    /// The user interrupted.
    Interrupted,
}

impl Engine {
    /// Leaves out the oldest rounds now: `/snip`. The freed tokens; none if nothing can go.
    pub fn snip(&mut self) -> Result<Option<u64>, EngineError> {
        Layers::new(&self.config, &mut self.conversation, &self.figures).snip()
    }

    /// Unfolds a fold by its number, the oldest being 1, or the newest one: `/expand`. The number of restored messages; none if
    /// there is no such fold.
    pub fn expand(&mut self, number: Option<NonZeroUsize>) -> Result<Option<usize>, EngineError> {
        self.compaction.collapse.expand(&mut self.conversation, &self.config.model.name, number)
    }

    /// Runs the layers that are due, in their order. A request is not sent into a full window: a server may refuse it,
    /// or silently truncate it.
    pub(crate) async fn make_room(
        &mut self,
        turn: &mut TurnContext<'_>,
    ) -> Result<RoomCheck, EngineError> {
        let compacts_at = WindowPolicy::of(&self.config).compacts_at();
        Layers::new(&self.config, &mut self.conversation, &self.figures).run(
            self.spending.pricing(),
            compacts_at,
            turn.sink(),
        )?;
        if self.config.window.compaction.collapse {
            self.collapse(turn)?;
        }
        let is_stopped = self.compaction.breaker.is_stopped();
        let state = WindowPolicy::of(&self.config).state(self.conversation.tokens_used());
        let is_due = state.auto_compact && !is_stopped;
        if !is_due && !state.blocking {
            return Ok(RoomCheck::Enough);
        }
        if !is_stopped {
            match Box::pin(self.compact(CompactionRequest::auto(), turn)).await? {
                CompactionOutcome::Interrupted => return Ok(RoomCheck::Interrupted),
                CompactionOutcome::Blocked(why) => {
                    turn.notice(EngineNotice::CompactionRefused { why });
                }
                CompactionOutcome::Done(_)
                | CompactionOutcome::Nothing
                | CompactionOutcome::NotSmaller => {}
            }
        }
        if WindowPolicy::of(&self.config).state(self.conversation.tokens_used()).blocking {
            let is_stopped = self.compaction.breaker.is_stopped();
            let error = window_full(&self.config, &self.conversation, is_stopped);
            return Ok(RoomCheck::None(error));
        }
        Ok(RoomCheck::Enough)
    }

    fn collapse(&mut self, turn: &mut TurnContext<'_>) -> Result<(), EngineError> {
        let mut layers = Layers::new(&self.config, &mut self.conversation, &self.figures);
        let found = self.compaction.collapse.run(&mut layers, &self.jobs, turn.sink())?;
        if !found.is_empty() {
            let source = self.fork_source();
            let room = self.config.model.budget.compaction.summary_tokens / 4;
            self.compaction.collapse.stage(found, source, room, &self.jobs);
        }
        // A fold removes earlier cache edits.
        Layers::new(&self.config, &mut self.conversation, &self.figures).edit_cache_if_due()
    }
}

fn window_full(config: &EngineConfig, conversation: &Conversation, is_stopped: bool) -> ModelError {
    let why = if is_stopped {
        "the context window is full and is not compacted by itself any more"
    } else {
        "the context window is full and compacting it did not make enough room"
    };
    ModelError::TooLong {
        used: Some(conversation.tokens_used()),
        limit: Some(u64::from(config.model.budget.window)),
        message: format!(
            "{why}, so the request was not sent; it is filled by {}; /compact tries again, and so does another run",
            largest(window_shares(conversation.prefix(), conversation.messages()))
        ),
    }
}

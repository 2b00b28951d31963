//! Before a request (C-14, L-8): is it time, and if so, compact.

use dormouse_conversation::{Budget, ContextWindow, WindowState};
use dormouse_model::ModelError;
use tokio_util::sync::CancellationToken;

use super::window_share::most;
use super::{CompactionOutcome, CompactionRequest};
use crate::{Engine, EngineError, EngineEvent};

/// Whether the request can go out.
#[derive(Debug)]
pub(crate) enum Room {
    /// There is room, or the server may decide.
    Enough,
    /// There is none, and none can be made.
    None(ModelError),
    /// The person stopped it.
    Interrupted,
}

impl Engine {
    /// Makes room where that is due.
    pub(crate) async fn make_room(
        &mut self,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<Room, EngineError> {
        self.run_cheap_layers(sink)?;
        let state = self.window_state();
        let due = state.auto_compact && !self.breaker.is_stopped();
        if !due && !state.blocking {
            return Ok(Room::Enough);
        }
        if !self.breaker.is_stopped() {
            match Box::pin(self.compact(CompactionRequest::auto(), interrupt, sink)).await? {
                CompactionOutcome::Interrupted => return Ok(Room::Interrupted),
                CompactionOutcome::Blocked(why) => {
                    sink(EngineEvent::Notice(format!("a hook refused the compaction: {why}")));
                }
                CompactionOutcome::Done(_)
                | CompactionOutcome::Nothing
                | CompactionOutcome::Vain => {}
            }
        }
        if self.window_state().blocking {
            return Ok(Room::None(self.full()));
        }
        Ok(Room::Enough)
    }

    fn compacts_ahead(&self) -> bool {
        let rules = self.config.compaction;
        rules.auto && !rules.reactive_only && !rules.collapse
    }

    /// How full the window is, as it counts for compacting.
    pub fn window_state(&self) -> WindowState {
        let used = self.tokens_used();
        let ahead = Budget { auto_compact: self.compacts_at(), ..self.budget_ahead() };
        let blocking = WindowState::at(used, &self.config.budget).blocking;
        WindowState { blocking, ..WindowState::at(used, &ahead) }
    }

    /// How many tokens make a compaction due by itself: where it does not happen ahead, a full window does.
    pub fn compacts_at(&self) -> u32 {
        if self.compacts_ahead() {
            self.budget_ahead().auto_compact
        } else {
            self.config.budget.blocking
        }
    }

    /// The numbers that count for compacting ahead: a person may want it sooner.
    pub(super) fn budget_ahead(&self) -> Budget {
        let budget = self.config.budget;
        let wanted = self.config.compaction.auto_window.unwrap_or(budget.window);
        match ContextWindow::new(wanted.min(budget.window)) {
            Ok(window) => Budget::for_window(window, budget.max_output),
            Err(_) => budget,
        }
    }

    /// What is said when nothing could be done.
    fn full(&self) -> ModelError {
        let why = if self.breaker.is_stopped() {
            "the window is full and is not compacted by itself any more"
        } else {
            "the window is full and compacting it did not make enough room"
        };
        ModelError::TooLong {
            used: Some(self.tokens_used()),
            limit: Some(u64::from(self.config.budget.window)),
            message: format!(
                "{why}, so the request was not sent; it is filled by {}; /compact tries again, and so does another run",
                most(self.fillings())
            ),
        }
    }
}

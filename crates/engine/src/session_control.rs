//! What changes a conversation as a whole: a new session in its place, another model.

use std::sync::Arc;

use dormouse_conversation::{Budget, PrefixOrigin, RequestOptions};
use dormouse_hooks::SessionEndReason;
use dormouse_model::{Dialect, Model, RebuildReason};

use crate::{Engine, EngineError, EngineEvent, SessionFolder, Surroundings};

/// Another model to go on with.
pub struct ModelSetup {
    /// Who answers.
    pub model: Arc<Model>,
    /// What it is called.
    pub model_name: String,
    /// What it was asked for as, and where.
    pub origin: PrefixOrigin,
    /// How its server speaks.
    pub dialect: Dialect,
    /// The numbers of its window.
    pub budget: Budget,
}

impl Engine {
    /// Leaves this session as it is and begins another: `/clear`. The prefix is built anew.
    pub async fn start_over(
        &mut self,
        folder: &SessionFolder,
        surroundings: &Surroundings,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<(), EngineError> {
        let fresh = Self::begin(self.config.clone(), folder, surroundings)?;
        self.end(SessionEndReason::Clear, sink).await;
        // What has come and was not told yet is told in the new one.
        let arrivals = std::mem::take(&mut self.arrivals);
        *self = fresh;
        self.arrivals = arrivals;
        self.begun_by_clear();
        Ok(())
    }

    /// Goes on with another model. It has nothing of this in its cache: what is sent is built anew,
    /// from the same prefix and messages.
    pub fn switch_model(&mut self, other: ModelSetup) -> Result<(), EngineError> {
        self.transcript.record_prefix(&self.prefix, &other.origin)?;
        let max_tokens = other.origin.max_tokens.unwrap_or(other.budget.max_output);
        let options = RequestOptions::new(&other.model_name, max_tokens);
        self.body.rebuild(
            RebuildReason::new("another model was chosen"),
            &mut self.detector,
            other.dialect.clone(),
            &self.prefix,
            &options,
            self.history.messages().iter().map(AsRef::as_ref),
        );
        self.last_breakpoint = None;
        self.config.model = other.model;
        self.config.model_name = other.model_name;
        self.config.origin = other.origin;
        self.config.dialect = other.dialect;
        self.config.budget = other.budget;
        self.connect_hook_model();
        Ok(())
    }
}

//! A session as a whole: its account, a new one in its place, another model.

use dormouse_hooks::SessionEndReason;
use futures_util::future::BoxFuture;

use crate::compact::WindowStatus;
use crate::config::model_setup::ModelSetup;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::event_sink::EventSink;
use crate::session::SessionFolder;
use crate::session_account::SessionAccount;
use crate::surroundings::Surroundings;

impl Engine {
    /// What the session has used so far.
    pub fn account(&self) -> SessionAccount {
        let model = &self.config.model;
        let window_used = self.conversation.tokens_used();
        SessionAccount {
            model: model.name.clone(),
            usage: self.spending.usage(),
            last_usage: self.spending.last_usage(),
            spent: self.spending.spent(),
            background: self.spending.background(),
            is_share_spent: !self.spending.background_has_room(),
            is_priced: self.spending.is_priced(),
            window_used,
            window: model.budget.window,
            status: WindowStatus::of(&self.config, window_used),
        }
    }

    /// Leaves this session as it is and begins another: `/clear`. The prefix is built again.
    pub fn start_over<'a>(
        &'a mut self,
        folder: &'a SessionFolder,
        surroundings: &'a Surroundings,
        sink: &'a mut EventSink<'_>,
    ) -> BoxFuture<'a, Result<(), EngineError>> {
        Box::pin(async move {
            let fresh = Self::begin(self.config.clone(), folder, surroundings)?;
            self.end(SessionEndReason::Clear, sink).await;
            // Messages that were not delivered yet are delivered in the new session.
            let messages = std::mem::take(&mut self.messages);
            *self = fresh;
            self.messages = messages;
            self.hooks.begin_after_clear();
            Ok(())
        })
    }

    /// Continues with another model. Its server has nothing of this conversation in its cache: all bytes are built
    /// again, from the same prefix and messages.
    pub fn switch_model(&mut self, model: ModelSetup) -> Result<(), EngineError> {
        let prefix = self.conversation.prefix().clone();
        self.conversation.transcript.record_prefix(&prefix, &model.origin)?;
        self.spending.set_model(&model);
        self.config.model = model;
        let options = self.config.request_options();
        self.conversation.change_server(self.config.model.dialect.clone(), options);
        self.connect_hook_model();
        Ok(())
    }
}

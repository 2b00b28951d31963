//! Clearing of old results (C-7, C-31): at the beginning of a turn, where that costs less than keeping them.

use dormouse_context::layers::{ClearingCase, begins_turn, requests_ahead};
use dormouse_conversation::Message;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_model::binds_thinking;

use super::apply::Layers;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::fork::cached;
use crate::notice::EngineNotice;
use crate::spending::Pricing;

impl Layers<'_> {
    /// Clears old results, where the prices of the session and what the server has in its cache say that it is cheaper.
    pub(super) fn clear_if_cheaper(
        &mut self,
        pricing: &Pricing,
        compacts_at: u32,
        sink: &mut EventSink<'_>,
    ) -> Result<(), EngineError> {
        let rules = &self.config.window.layers;
        // Where thinking is bound to the messages before it, only if the user says so.
        let binds = binds_thinking(&self.config.model.name);
        let messages = self.conversation.messages();
        if !rules.time_clearing.unwrap_or(!binds) || !begins_turn(messages) {
            return Ok(());
        }
        let used = self.conversation.tokens_used();
        let server_caches = messages.iter().any(|message| shows_cache(message));
        let case = ClearingCase {
            messages,
            used,
            costs: pricing.token_costs(self.config.model.dialect.wire, server_caches),
            is_cached: cached(self.config, self.conversation).is_cached,
            requests_ahead: requests_ahead(messages, used, u64::from(compacts_at)),
        };
        let idle = self.conversation.idle_time();
        let ttl = self.conversation.cache_ttl();
        let Some(plan) = case.plan(&rules.clear_rule, idle, ttl) else { return Ok(()) };
        let changed = plan.report.changed;
        let freed = plan.report.freed_tokens;
        self.apply(&plan, CompactionTrigger::Auto)?;
        let notice = EngineNotice::ResultsCleared { count: changed, tokens: freed };
        sink(EngineEvent::Notice(notice));
        Ok(())
    }
}

/// Whether a response shows that the server has a cache.
fn shows_cache(message: &Message) -> bool {
    message.response.as_ref().is_some_and(|response| {
        let usage = response.usage;
        usage.cache_read_input_tokens > 0 || usage.cache_creation_input_tokens > 0
    })
}

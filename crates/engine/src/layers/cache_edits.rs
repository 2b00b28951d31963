//! Clearing by the server: deletions in its cache (C-8), where the results stay in the messages and a message after the
//! newest names those to leave out; and what a server that manages the window has cleared by itself (C-9).

use dormouse_base::MessageId;
use dormouse_context::layers::{
    CacheEdits, HistoryEdit, LayerPlan, LayerReport, cache_edits_block,
};
use dormouse_conversation::Role;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_model::{ClearedContext, WireFormat};

use super::apply::{Layers, remove_cache_edits};
use crate::error::EngineError;

impl Layers<'_> {
    /// Has old results deleted where there are many; where the switch is off, removes earlier deletions.
    pub(crate) fn edit_cache_if_due(&mut self) -> Result<(), EngineError> {
        let can_edit = self.config.model.dialect.wire == WireFormat::Anthropic;
        if !self.config.window.layers.cache_edits || !can_edit {
            return self.remove_cache_edits();
        }
        if self.conversation.history().last_role() != Some(Role::User) {
            return Ok(());
        }
        let messages = self.conversation.messages();
        let mut edits = CacheEdits::in_messages(messages);
        let rule = self.config.window.layers.cache_edit_rule;
        let Some(report) = edits.plan(messages, &rule) else { return Ok(()) };
        let newest = edits.sent().last().map(|sent| sent.deletions.as_slice());
        let Some(block) = cache_edits_block(newest.unwrap_or_default()) else { return Ok(()) };
        self.conversation.append_context(vec![block])?;
        // The server reads less from its cache because less is in it: that is not a cache break.
        self.conversation.announce_cache_change(report.layer);
        self.conversation.add_freed_tokens(report.freed_tokens);
        self.record_figures(&report);
        Ok(())
    }

    fn remove_cache_edits(&mut self) -> Result<(), EngineError> {
        let edits: Vec<HistoryEdit> =
            remove_cache_edits(self.conversation.messages()).into_iter().collect();
        if edits.is_empty() {
            return Ok(());
        }
        let report =
            LayerReport { layer: "cache_edits", prefix_changed: true, ..Default::default() };
        self.apply(&LayerPlan { edits, report }, CompactionTrigger::Auto)
    }

    /// The server has cleared something by itself (C-9): its cache differs from there on.
    pub(crate) fn record_cleared(
        &mut self,
        answer: MessageId,
        cleared: ClearedContext,
    ) -> Result<(), EngineError> {
        let layer = "server_clearing";
        self.conversation.transcript.record_server_clearing(answer, cleared.tokens)?;
        self.conversation.announce_cache_change(layer);
        self.record_figures(&LayerReport {
            layer,
            freed_tokens: cleared.tokens,
            messages: u64::try_from(self.conversation.messages().len()).unwrap_or(u64::MAX),
            changed: cleared.tool_uses.saturating_add(cleared.thinking_turns),
            prefix_changed: true,
        });
        Ok(())
    }
}

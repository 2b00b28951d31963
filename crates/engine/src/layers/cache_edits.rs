//! What servers clear themselves. Deletions in their cache (C-8), for servers that can: the results stay in the
//! messages, and a message behind the newest names those that the server is to leave out. And what a server
//! that manages the window says it has cleared (C-9).

use dormouse_context::layers::{
    CacheEdits, HistoryEdit, LayerPlan, LayerReport, cache_edits_block, is_cache_edit,
};
use dormouse_conversation::metrics::{LayerMetric, Metric};
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{MessageFlags, Role};
use dormouse_model::{ClearedContext, RebuildReason, WireFormat};

use crate::{Engine, EngineError};

impl Engine {
    /// Has old results deleted where there are many; where the switch is off, takes back what was sent when it
    /// was on.
    pub(super) fn edit_cache_if_due(&mut self) -> Result<(), EngineError> {
        let can = self.config.dialect.wire == WireFormat::Anthropic;
        if !self.config.layers.cache_edits || !can {
            return self.take_cache_edits_back();
        }
        if self.history.last_role() != Some(Role::User) {
            return Ok(());
        }
        let mut edits = CacheEdits::in_messages(self.history.messages());
        let rule = self.config.layers.cache_edit_rule;
        let Some(report) = edits.plan(self.history.messages(), &rule) else { return Ok(()) };
        let newest = edits.sent().last().map(|sent| sent.deletions.as_slice());
        let Some(block) = cache_edits_block(newest.unwrap_or_default()) else { return Ok(()) };
        self.add_user(vec![block], MessageFlags { meta: true, ..MessageFlags::default() })?;
        // The server reads less from its cache because less is in it: no break that anybody need look for.
        self.detector.announce(RebuildReason::new(report.layer));
        self.note_freed(report.freed_tokens);
        self.tell_figures(&report);
        Ok(())
    }

    fn take_cache_edits_back(&mut self) -> Result<(), EngineError> {
        let Some(edit) = self.without_cache_edits() else { return Ok(()) };
        let report =
            LayerReport { layer: "cache_edits", prefix_changed: true, ..Default::default() };
        self.carry_out(&LayerPlan { edits: vec![edit], report }, CompactionTrigger::Auto)
    }

    /// What takes all deletions out: where earlier messages change, they start anew.
    pub(super) fn without_cache_edits(&self) -> Option<HistoryEdit> {
        let edits = self.history.messages().iter().filter(|message| is_cache_edit(message));
        let messages: Vec<_> = edits.map(|message| message.id).collect();
        (!messages.is_empty()).then_some(HistoryEdit::Drop { messages })
    }

    /// The server has cleared something by itself (C-9): its cache is another from there on.
    pub(crate) fn server_has_cleared(&mut self, cleared: ClearedContext) {
        let layer = "server_clearing";
        self.detector.announce(RebuildReason::new(layer));
        self.tell_figures(&LayerReport {
            layer,
            freed_tokens: cleared.tokens,
            messages: u64::try_from(self.history.messages().len()).unwrap_or(u64::MAX),
            changed: cleared.tool_uses.saturating_add(cleared.thinking_turns),
            prefix_changed: true,
        });
    }

    /// An estimate of what is left knows already what is gone; a server's count does not.
    pub(super) fn note_freed(&mut self, tokens: u64) {
        let counted = self.history.messages().iter().any(|message| {
            message.response.as_ref().is_some_and(|response| response.usage.total() > 0)
        });
        if counted {
            self.freed_tokens += tokens;
        }
    }

    pub(super) fn tell_figures(&self, report: &LayerReport) {
        self.figures.record(&Metric::Layer(LayerMetric {
            name: report.layer.to_owned(),
            freed_tokens: report.freed_tokens,
            messages: report.messages,
            changed: report.changed,
            summaries: 0,
            prefix_changed: report.prefix_changed,
        }));
    }
}

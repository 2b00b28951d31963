//! Applies the plans of layers, and decides when snipping is due.

use std::collections::HashSet;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::{DropThinking, drop_thinking};
use dormouse_context::layers::{
    HistoryEdit, LayerPlan, LayerReport, apply_edits, is_cache_edit, plan_snip,
};
use dormouse_conversation::metrics::{LayerMetric, Metric, SessionMetrics};
use dormouse_conversation::transcript::{CompactionBoundary, CompactionTrigger, RemovedSpan};
use dormouse_conversation::{Block, BlockKind, Message, MessageFlags, MessageHistory};
use dormouse_model::keeps_thinking;

use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::error::EngineError;
use crate::event::EngineEvent;
use crate::event_sink::EventSink;
use crate::notice::EngineNotice;
use crate::spending::Pricing;

/// The cheap layers of a conversation.
pub(crate) struct Layers<'a> {
    pub(crate) config: &'a EngineConfig,
    pub(crate) conversation: &'a mut Conversation,
    pub(crate) figures: &'a SessionMetrics,
}

impl<'a> Layers<'a> {
    pub(crate) fn new(
        config: &'a EngineConfig,
        conversation: &'a mut Conversation,
        figures: &'a SessionMetrics,
    ) -> Self {
        Self { config, conversation, figures }
    }
}

impl Layers<'_> {
    /// Runs the layers that change the conversation by themselves, in their order, before a request.
    pub(crate) fn run(
        &mut self,
        pricing: &Pricing,
        compacts_at: u32,
        sink: &mut EventSink<'_>,
    ) -> Result<(), EngineError> {
        if self.config.window.layers.snip {
            self.snip_if_due(sink)?;
        }
        self.clear_if_cheaper(pricing, compacts_at, sink)?;
        self.edit_cache_if_due()
    }

    /// Leaves out the oldest rounds now: `/snip`. The freed tokens; none if nothing can go.
    pub(crate) fn snip(&mut self) -> Result<Option<u64>, EngineError> {
        let Some(plan) = self.plan_snip(true) else { return Ok(None) };
        let freed = plan.report.freed_tokens;
        self.apply(&plan, CompactionTrigger::Manual)?;
        Ok(Some(freed))
    }

    fn plan_snip(&self, now: bool) -> Option<LayerPlan> {
        let used = self.conversation.tokens_used();
        let rule = self.config.window.layers.snip_rule;
        plan_snip(self.conversation.messages(), used, &self.config.model.budget, &rule, now)
    }

    fn snip_if_due(&mut self, sink: &mut EventSink<'_>) -> Result<(), EngineError> {
        let Some(plan) = self.plan_snip(false) else { return Ok(()) };
        let changed = plan.report.changed;
        let freed = plan.report.freed_tokens;
        self.apply(&plan, CompactionTrigger::Auto)?;
        let notice = EngineNotice::MessagesDropped { count: changed, tokens: freed };
        sink(EngineEvent::Notice(notice));
        Ok(())
    }

    /// Applies a plan to the transcript, the messages, the bytes and the figures.
    pub(super) fn apply(
        &mut self,
        plan: &LayerPlan,
        trigger: CompactionTrigger,
    ) -> Result<(), EngineError> {
        self.conversation.write_pending()?;
        let before = self.conversation.tokens_used();
        let mut plan = plan.clone();
        // Cache edits refer to the bytes as they were: a change removes them (C-10).
        if plan.report.prefix_changed {
            plan.edits.splice(..0, remove_cache_edits(self.conversation.messages()));
        }
        let mut inserted = Vec::new();
        let messages = apply_edits(self.conversation.messages(), &plan.edits, |text| {
            let flags = MessageFlags { meta: true, ..MessageFlags::default() };
            let message = self.conversation.new_user_message(vec![Block::text(&text)], flags);
            inserted.push(message.clone());
            message
        });
        // Where thinking is bound to the messages before it, a change makes it invalid (C-25); where it is only kept, the cache is
        // broken now, and leaving it out costs nothing.
        let is_dropped = keeps_thinking(&self.config.model.name) && plan.report.prefix_changed;
        let (messages, thinking_dropped) = if is_dropped {
            drop_thinking(&messages, DropThinking::KeepPending)
        } else {
            (messages.iter().map(|message| (**message).clone()).collect(), Vec::new())
        };
        let history = MessageHistory::from_messages(messages)?;
        self.record(&plan, &history, &inserted, before, trigger)?;
        if !thinking_dropped.is_empty() {
            self.conversation.transcript.record_thinking_dropped(&thinking_dropped)?;
        }
        self.conversation.replace_history(history, plan.report.layer);
        self.conversation.add_freed_tokens(plan.report.freed_tokens);
        self.record_figures(&plan.report);
        Ok(())
    }

    /// Records a plan in the transcript, so that a resume sends the same.
    fn record(
        &mut self,
        plan: &LayerPlan,
        history: &MessageHistory,
        inserted: &[Message],
        before: u64,
        trigger: CompactionTrigger,
    ) -> Result<(), EngineError> {
        let mut left_out = None;
        let mut removed = Vec::new();
        for edit in &plan.edits {
            match edit {
                HistoryEdit::Replace { message, blocks } => {
                    let result =
                        |block: &&Block| matches!(block.kind(), BlockKind::ToolResult { .. });
                    let results: Vec<Block> = blocks.iter().filter(result).cloned().collect();
                    self.conversation.transcript.record_stored(*message, &results)?;
                }
                HistoryEdit::Drop { messages } => {
                    left_out = messages.last().copied();
                    removed.push(self.removed_span(messages));
                }
                HistoryEdit::Insert { .. } => {}
            }
        }
        let Some(last) = left_out else { return Ok(()) };
        let boundary = CompactionBoundary {
            trigger,
            pre_tokens: before,
            post_tokens: before.saturating_sub(plan.report.freed_tokens),
            method: plan.report.layer.to_owned(),
            last_message: Some(last),
            view: history.messages().iter().map(|message| message.id).collect(),
            removed,
            tools: Vec::new(),
            fidelity: None,
        };
        Ok(self.conversation.transcript.record_snip(&boundary, inserted)?)
    }

    /// Messages that are about to be left out, with their tokens.
    fn removed_span(&self, ids: &[MessageId]) -> RemovedSpan {
        let ids_set: HashSet<&MessageId> = ids.iter().collect();
        let messages = self.conversation.messages().iter();
        let tokens = messages.filter(|message| ids_set.contains(&message.id));
        RemovedSpan { messages: ids.to_vec(), tokens: tokens.map(|message| message.tokens()).sum() }
    }

    pub(super) fn record_figures(&self, report: &LayerReport) {
        self.figures.record(&Metric::Layer(LayerMetric {
            name: report.layer.to_owned(),
            freed_tokens: report.freed_tokens,
            messages: report.messages,
            changed: report.changed,
            summaries: 0,
            prefix_changed: report.prefix_changed,
            kept: None,
        }));
    }

    /// The messages as they are now.
    pub(super) fn snapshot(&self) -> Vec<Arc<Message>> {
        self.conversation.messages().to_vec()
    }
}

/// The edit that removes all deletions, if there are any.
pub(super) fn remove_cache_edits(messages: &[Arc<Message>]) -> Option<HistoryEdit> {
    let edits = messages.iter().filter(|message| is_cache_edit(message));
    let messages: Vec<_> = edits.map(|message| message.id).collect();
    (!messages.is_empty()).then_some(HistoryEdit::Drop { messages })
}

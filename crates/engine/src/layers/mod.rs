//! The cheap layers, carried out (C-1, C-6, C-7, C-10 to C-13): what a plan of `dormouse_context::layers` says is made
//! of the messages that are sent, of the transcript and of the figures.
//!
//! Invariants: what the person sees is never touched; a change to what was sent is announced; what was
//! cleared or left out stays so, in every later request, in forks and after a resume, because the transcript
//! says it; thinking that a change makes invalid goes with it.

mod cache_edits;
mod collapse;
mod rules;

use std::sync::Arc;
use std::time::Duration;

use dormouse_base::MessageId;
use dormouse_context::compact::without_thinking;
use dormouse_context::layers::{HistoryEdit, LayerPlan, apply_edits, plan_clear, plan_snip};
use dormouse_conversation::transcript::{CompactionBoundary, CompactionTrigger};
use dormouse_conversation::{Block, BlockKind, Message, MessageFlags, MessageHistory};
use dormouse_model::binds_thinking;

pub(crate) use collapse::CollapseState;
pub use rules::LayerRules;

use crate::{Engine, EngineError, EngineEvent};

impl Engine {
    /// The cheap layers, in their order, before a request.
    pub(crate) fn run_cheap_layers(
        &mut self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<(), EngineError> {
        if self.config.layers.snip {
            self.snip_if_due(sink)?;
        }
        self.clear_if_idle(sink)?;
        self.edit_cache_if_due()?;
        if self.config.compaction.collapse {
            self.collapse_if_due(sink)?;
            // A fold changes what stands in front of them: they have started anew.
            self.edit_cache_if_due()?;
        }
        Ok(())
    }

    /// Leaves out the oldest rounds now: `/snip`. The tokens that this frees; none if nothing can go.
    pub fn snip(&mut self) -> Result<Option<u64>, EngineError> {
        let (messages, used) = (self.history.messages(), self.tokens_used());
        let rule = self.config.layers.snip_rule;
        let plan = plan_snip(messages, used, &self.config.budget, &rule, true);
        let Some(plan) = plan else { return Ok(None) };
        let freed = plan.report.freed_tokens;
        self.carry_out(&plan, CompactionTrigger::Manual)?;
        Ok(Some(freed))
    }

    fn snip_if_due(
        &mut self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<(), EngineError> {
        let (messages, used) = (self.history.messages(), self.tokens_used());
        let rule = self.config.layers.snip_rule;
        let Some(plan) = plan_snip(messages, used, &self.config.budget, &rule, false) else {
            return Ok(());
        };
        let (changed, freed) = (plan.report.changed, plan.report.freed_tokens);
        self.carry_out(&plan, CompactionTrigger::Auto)?;
        sink(EngineEvent::Notice(format!(
            "the window fills up: the oldest {changed} messages are left out from now on (about {freed} tokens); they are in the transcript"
        )));
        Ok(())
    }

    /// After a long pause the server's cache is cold, and old results cost their full price again: they are
    /// cleared first.
    fn clear_if_idle(
        &mut self,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<(), EngineError> {
        if !self.clears_by_time() {
            return Ok(());
        }
        let mut rule = self.config.layers.clear_rule;
        // Within the time to live the cache is warm, and clearing would break it.
        rule.idle = rule.idle.max(self.cache_ttl());
        let Some(plan) = plan_clear(self.history.messages(), self.idle(), &rule) else {
            return Ok(());
        };
        let (changed, freed) = (plan.report.changed, plan.report.freed_tokens);
        self.carry_out(&plan, CompactionTrigger::Auto)?;
        sink(EngineEvent::Notice(format!(
            "after the pause {changed} old tool results are left out from now on (about {freed} tokens); the newest stay"
        )));
        Ok(())
    }

    /// Where thinking is bound to what stands before it, only if the person says so.
    fn clears_by_time(&self) -> bool {
        let binds = binds_thinking(&self.config.model_name);
        self.config.layers.time_clearing.unwrap_or(!binds)
    }

    /// The time since the last answer.
    fn idle(&self) -> Duration {
        let answered =
            |message: &&Arc<Message>| message.response.is_some() && !message.is_synthetic();
        let last = self.history.messages().iter().rev().find(answered);
        let Some(last) = last else { return Duration::ZERO };
        let since = self.config.clock.now().duration_since(last.timestamp);
        Duration::try_from(since).unwrap_or_default()
    }

    /// Makes the edits of a plan: in the transcript, the messages, the bytes and the figures.
    fn carry_out(
        &mut self,
        plan: &LayerPlan,
        trigger: CompactionTrigger,
    ) -> Result<(), EngineError> {
        self.write_what_is_due()?;
        let before = self.tokens_used();
        let mut made = Vec::new();
        let plan = &self.starting_cache_edits_anew(plan);
        let messages = apply_edits(self.history.messages(), &plan.edits, |text| {
            let message = self.marker(&text);
            made.push(message.clone());
            message
        });
        let messages: Vec<Message> = messages.iter().map(|message| (**message).clone()).collect();
        let (messages, unthought) = self.without_bound_thinking(messages, plan);
        let history = MessageHistory::from_messages(messages)?;
        self.record(plan, &history, &made, before, trigger)?;
        if !unthought.is_empty() {
            self.transcript.record_thinking_dropped(&unthought)?;
        }
        self.history = history;
        self.note_freed(plan.report.freed_tokens);
        self.rebuild_body(plan.report.layer);
        self.tell_figures(&plan.report);
        Ok(())
    }

    /// Deletions in the server's cache are of the bytes as they were: with a change they go (C-10).
    fn starting_cache_edits_anew(&self, plan: &LayerPlan) -> LayerPlan {
        let mut plan = plan.clone();
        if let Some(edit) = self.without_cache_edits().filter(|_| plan.report.prefix_changed) {
            plan.edits.insert(0, edit);
        }
        plan
    }

    fn marker(&self, text: &str) -> Message {
        let flags = MessageFlags { meta: true, ..MessageFlags::default() };
        Message::user(self.new_id(), self.config.clock.now(), vec![Block::text(text)], flags)
    }

    /// Writes down what was decided, so that a resume sends the same.
    fn record(
        &mut self,
        plan: &LayerPlan,
        history: &MessageHistory,
        made: &[Message],
        before: u64,
        trigger: CompactionTrigger,
    ) -> Result<(), EngineError> {
        let mut left_out = None;
        for edit in &plan.edits {
            match edit {
                HistoryEdit::Replace { message, blocks } => {
                    let result =
                        |block: &&Block| matches!(block.kind(), BlockKind::ToolResult { .. });
                    let results: Vec<Block> = blocks.iter().filter(result).cloned().collect();
                    self.transcript.record_stored(*message, &results)?;
                }
                HistoryEdit::Drop { messages } => left_out = messages.last().copied(),
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
            tools: Vec::new(),
            fidelity: None,
        };
        Ok(self.transcript.record_snip(&boundary, made)?)
    }

    /// Of a model whose thinking is bound to what stands before it, the thinking behind the first change goes,
    /// but for that of a call whose results are about to be sent (C-25).
    fn without_bound_thinking(
        &self,
        messages: Vec<Message>,
        plan: &LayerPlan,
    ) -> (Vec<Message>, Vec<MessageId>) {
        if !binds_thinking(&self.config.model_name) || !plan.report.prefix_changed {
            return (messages, Vec::new());
        }
        let pending = messages.last().is_some_and(|last| last.tool_results().next().is_some());
        let asking = if pending { messages.len().checked_sub(2) } else { None };
        let mut unthought = Vec::new();
        let bare = |(place, message): (usize, Message)| match without_thinking(&message) {
            Some(bare) if Some(place) != asking => {
                unthought.push(message.id);
                bare
            }
            _ => message,
        };
        let messages = messages.into_iter().enumerate().map(bare).collect();
        (messages, unthought)
    }
}

//! The messages as a layer would have them sent, kept up as the session continues.

use std::collections::HashSet;
use std::sync::Arc;

use dormouse_base::{IdSource, ManualClock, MessageId, SeededIds};
use dormouse_conversation::{Block, Message, MessageFlags};
use jiff::Timestamp;

use super::counters::without;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use crate::layers::{HistoryEdit, LayerPlan, apply_edits};

/// A view, and what it leaves out.
pub(super) struct SimulatedView {
    view: Vec<Arc<Message>>,
    freed: u64,
    ids: SeededIds,
}

impl Default for SimulatedView {
    fn default() -> Self {
        // Ids of 1970 are nobody else's.
        let clock = Arc::new(ManualClock::new(Timestamp::UNIX_EPOCH));
        Self { view: Vec::new(), freed: 0, ids: SeededIds::new(clock, 1) }
    }
}

impl SimulatedView {
    pub(super) fn view(&self) -> &[Arc<Message>] {
        &self.view
    }

    pub(super) fn said(&mut self, message: &Arc<Message>) {
        self.view.push(Arc::clone(message));
    }

    /// What stays after a compaction is as the session had it.
    pub(super) fn begin_anew(&mut self, view: &[Arc<Message>]) {
        self.view = view.to_vec();
        self.freed = 0;
    }

    /// How large the request would be, as the layer finds it.
    pub(super) fn used(&self, moment: &SimulatedRequest<'_>) -> u64 {
        moment.used().saturating_sub(self.freed)
    }

    /// Carries a plan out, if there is one.
    pub(super) fn effect(
        &mut self,
        plan: Option<LayerPlan>,
        moment: &SimulatedRequest<'_>,
    ) -> SimulatedOutcome {
        let Some(plan) = plan else { return self.effect_of(0, false, None, moment) };
        let valid = moment.overhead.saturating_add(self.tokens_before(&plan.edits));
        self.view = apply_edits(&self.view, &plan.edits, |text| made(&self.ids, &text));
        let valid = plan.report.prefix_changed.then_some(valid);
        self.effect_of(plan.report.freed_tokens, true, valid, moment)
    }

    /// The request with what is left out so far and `freed` more.
    pub(super) fn effect_of(
        &mut self,
        freed: u64,
        ran: bool,
        valid: Option<u64>,
        moment: &SimulatedRequest<'_>,
    ) -> SimulatedOutcome {
        self.freed = self.freed.saturating_add(freed);
        SimulatedOutcome {
            usage: without(moment.usage, self.freed, valid),
            kept_out: self.freed.min(moment.used()),
            runs: u64::from(ran),
            freed,
            prefix_changed: valid.is_some(),
            ..SimulatedOutcome::default()
        }
    }

    /// What stands in front of the first message that is changed.
    fn tokens_before(&self, edits: &[HistoryEdit]) -> u64 {
        let changed: HashSet<MessageId> = edits.iter().flat_map(changed_by).collect();
        let same = self.view.iter().take_while(|message| !changed.contains(&message.id));
        same.map(|message| message.tokens()).sum()
    }
}

fn changed_by(edit: &HistoryEdit) -> Vec<MessageId> {
    match edit {
        HistoryEdit::Replace { message, .. } => vec![*message],
        HistoryEdit::Drop { messages } => messages.clone(),
        HistoryEdit::Insert { before, .. } => before.iter().copied().collect(),
    }
}

fn made(ids: &dyn IdSource, text: &str) -> Message {
    let flags = MessageFlags { meta: true, ..MessageFlags::default() };
    Message::user(MessageId::generate(ids), Timestamp::UNIX_EPOCH, vec![Block::text(text)], flags)
}

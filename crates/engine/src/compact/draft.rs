//! The text that takes the place of messages: from notes, from the model, or folded by the program, each with
//! the person's words and an index of names, and cut until it fits.

use std::collections::HashSet;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::notes::{self, NotesSkipReason};
use dormouse_context::compact::{
    CompactionMethod, CompactionSummary, Fidelity, FoldInput, INDEX_CHARS, TailRule,
    compose_summary, fold_messages, identifier_index, keep_user_texts, lost_user_texts,
    measure_fidelity, plan_tail,
};
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Budget, Message, Prefix, estimate_text};
use dormouse_tools::ToolSet;

use super::range::CompactionRange;
use super::{CompactionRequest, CompactionScope};
use crate::startup_context::StartupContext;
use crate::{Engine, EngineEvent};

/// How often the room of a summary is halved before what there is must do.
const MOST_HALVINGS: u32 = 5;

/// What is said when the model has failed too often.
const NOT_ASKED: &str = "the model gave no summary three times in a row, so it is not asked for one any more in this session: the conversation is folded without it (/compact asks it again)";

/// What the conversation will stand on: the prefix, built anew where it may be.
pub(super) struct CompactionBase {
    pub(super) prefix: Arc<Prefix>,
    /// The tools in its list.
    pub(super) tools: Arc<ToolSet>,
    /// What was looked up for it; none where the prefix stays.
    pub(super) known: Option<StartupContext>,
    /// Whether the person chose a part of the conversation: what is around it stays, however large.
    pub(super) part: bool,
}

/// A compaction that is worked out, but not done yet.
pub(super) struct CompactionDraft {
    pub(super) way: CompactionMethod,
    /// The summary alone.
    pub(super) text: String,
    /// The whole message in the place of what goes.
    pub(super) message: String,
    pub(super) dropped: Vec<Arc<Message>>,
    /// What stays in front of it, and behind it.
    pub(super) front: Vec<Arc<Message>>,
    pub(super) kept: Vec<Arc<Message>>,
    pub(super) fidelity: Fidelity,
    /// Why the model did not write it, where it should have.
    pub(super) trouble: Option<String>,
}

/// What the parts of a summary message may take.
#[derive(Debug, Clone, Copy)]
struct Room {
    text_tokens: u64,
    words_tokens: u64,
    index_chars: usize,
}

impl Room {
    fn of(budget: &Budget, halved: u32) -> Self {
        let window = usize::try_from(budget.window).unwrap_or(usize::MAX);
        let part = |number: u64| number >> halved;
        Self {
            text_tokens: part(u64::from(budget.compaction.summary_tokens)),
            words_tokens: part(u64::from(budget.compaction.user_words_tokens)),
            index_chars: INDEX_CHARS.min(window / 4) >> halved,
        }
    }
}

impl CompactionDraft {
    /// The tokens of the conversation that it leaves, before anything is put back.
    pub(super) fn tokens(&self, ground: &CompactionBase) -> u64 {
        let messages = self.front.iter().chain(&self.kept).map(|message| message.tokens());
        ground.prefix.tokens() + u64::from(estimate_text(&self.message)) + messages.sum::<u64>()
    }

    /// Whether the message is smaller than what it replaces.
    fn saves(&self) -> bool {
        let dropped: u64 = self.dropped.iter().map(|message| message.tokens()).sum();
        u64::from(estimate_text(&self.message)) < dropped
    }
}

impl Engine {
    /// From the session's notes, without a call (C-15); or why not, none where it was not even tried.
    pub(super) fn draft_from_notes(
        &self,
        order: &CompactionRequest,
        ground: &CompactionBase,
    ) -> Result<CompactionDraft, Option<NotesSkipReason>> {
        // A person who says what to look at, or where, wants a summary of that.
        if order.instructions.is_some() || order.span != CompactionScope::Whole {
            return Err(None);
        }
        if !self.config.compaction.notes {
            return Err(Some(NotesSkipReason::Disabled));
        }
        let kept = self.kept_notes().ok_or(NotesSkipReason::NoNotes)?;
        if kept.template.says_nothing(&kept.text) {
            return Err(Some(NotesSkipReason::OnlyTemplate));
        }
        let reach = kept.reach.ok_or(NotesSkipReason::NoNotes)?;
        let messages = self.history.messages();
        let place = messages.iter().position(|message| message.id == reach);
        let covered = place.ok_or(NotesSkipReason::CoverageLost)? + 1;
        let budget = &self.budget_ahead();
        let tail = plan_tail(messages, covered, &TailRule::of(budget));
        // What the notes do not cover and there is no room for would be lost: a summary covers it.
        if tail.from == 0 || tail.lost_uncovered {
            return Err(Some(NotesSkipReason::StillTooLarge));
        }
        let text = notes::truncate_notes(&kept.text, budget, &kept.path.display().to_string());
        let cut = CompactionRange { from: 0, to: tail.from };
        let room = Room::of(budget, 0);
        let draft = self.compose(CompactionMethod::Notes, text, cut, room);
        if !self.fits(&draft, ground) || !draft.saves() {
            return Err(Some(NotesSkipReason::StillTooLarge));
        }
        Ok(draft)
    }

    /// Written by the model, else folded by the program; none if neither would be smaller than what it replaces.
    pub(super) async fn draft_anew(
        &mut self,
        order: &CompactionRequest,
        cut: CompactionRange,
        ground: &CompactionBase,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Option<CompactionDraft> {
        if order.trigger == CompactionTrigger::Auto && !self.breaker.asks_the_model() {
            return self.folded(cut, ground);
        }
        let written = match self.summarise(order, cut).await {
            Ok(text) => self.draft_of_model(&text, cut, ground).ok_or_else(|| {
                "its summary was not smaller than what it was to replace".to_owned()
            }),
            Err(why) => Err(why),
        };
        match written {
            Ok(draft) => {
                if self.breaker.succeeded() {
                    self.record_breaker(false);
                }
                Some(draft)
            }
            Err(why) => {
                if self.breaker.failed() {
                    self.record_breaker(true);
                    sink(EngineEvent::Notice(NOT_ASKED.to_owned()));
                }
                self.folded(cut, ground)
                    .map(|draft| CompactionDraft { trouble: Some(why), ..draft })
            }
        }
    }

    /// The model's summary, if it helps.
    fn draft_of_model(
        &self,
        text: &str,
        cut: CompactionRange,
        ground: &CompactionBase,
    ) -> Option<CompactionDraft> {
        let goes = self.history.messages().get(cut.from..cut.to).unwrap_or_default();
        let source: u64 = goes.iter().map(|message| message.tokens()).sum();
        if u64::from(estimate_text(text)) >= source {
            return None;
        }
        self.best(
            (0..=MOST_HALVINGS).map(|halved| {
                let room = Room::of(&self.budget_ahead(), halved);
                self.compose(CompactionMethod::Model, within(text, room.text_tokens), cut, room)
            }),
            ground,
        )
    }

    /// Without a model (C-19). The newest messages stay where there is room for them.
    fn folded(&self, cut: CompactionRange, ground: &CompactionBase) -> Option<CompactionDraft> {
        let (messages, budget) = (self.history.messages(), self.budget_ahead());
        let with_tail = cut.keeping_tail(messages, &budget);
        let tries = std::iter::once((with_tail, 0)).chain((0..=MOST_HALVINGS).map(|n| (cut, n)));
        self.best(tries.map(|(cut, halved)| self.fold(cut, Room::of(&budget, halved))), ground)
    }

    /// The first that leaves room; where none does, what fills the window is something else, and the last
    /// that is smaller than what it replaces must do.
    fn best(
        &self,
        drafts: impl Iterator<Item = CompactionDraft>,
        ground: &CompactionBase,
    ) -> Option<CompactionDraft> {
        let mut last = None;
        for draft in drafts.filter(CompactionDraft::saves) {
            if self.fits(&draft, ground) {
                return Some(draft);
            }
            last = Some(draft);
        }
        last
    }

    fn fold(&self, cut: CompactionRange, room: Room) -> CompactionDraft {
        let dropped = self.history.messages().get(cut.from..cut.to).unwrap_or_default();
        let earlier = dropped.iter().rev().find(|message| message.flags.compact_summary);
        let earlier = earlier.map(|message| self.last_summary.clone().unwrap_or(message.text()));
        let notes = self.kept_notes().filter(|notes| !notes.template.says_nothing(&notes.text));
        let text = fold_messages(&FoldInput {
            dropped,
            earlier_summary: earlier.as_deref(),
            notes: notes.as_ref().map(|notes| notes.text.as_str()),
            open_tasks: &self.open_tasks(),
            transcript: &self.transcript.path().display().to_string(),
            budget_tokens: room.text_tokens,
        });
        self.compose(CompactionMethod::Fold, text, cut, room)
    }

    /// Puts the message together. Where too much would be lost, more of the person's words go with it.
    fn compose(
        &self,
        way: CompactionMethod,
        text: String,
        cut: CompactionRange,
        room: Room,
    ) -> CompactionDraft {
        let messages = self.history.messages();
        let (rest, kept) = messages.split_at(cut.to.min(messages.len()));
        let (front, dropped) = rest.split_at(cut.from.min(rest.len()));
        let stays: HashSet<MessageId> =
            front.iter().chain(kept).map(|message| message.id).collect();
        let said = self.said.beside(&stays, self.transcript.session_folder());
        let path = self.transcript.path().display().to_string();
        let words = keep_user_texts(&said, room.words_tokens);
        let write = |lost: &str| {
            let index = identifier_index(dropped, &format!("{text}\n{words}"), room.index_chars);
            let message = compose_summary(&CompactionSummary {
                method: way,
                text: &text,
                user_words: &words,
                index: &index,
                transcript: &path,
                lost_words: lost,
                lost_uncovered: false,
            });
            let fidelity = measure_fidelity(dropped, &self.open_tasks(), &message);
            (message, fidelity)
        };
        let (mut message, mut fidelity) = write("");
        if fidelity.below_floor() {
            let lost = lost_user_texts(&said, &message, room.words_tokens);
            (message, fidelity) = write(&lost);
        }
        CompactionDraft {
            way,
            message,
            dropped: dropped.to_vec(),
            front: front.to_vec(),
            kept: kept.to_vec(),
            fidelity,
            trouble: None,
            text,
        }
    }

    /// Whether the window would not be due again at once. What a person wants to stay is theirs to judge.
    fn fits(&self, draft: &CompactionDraft, ground: &CompactionBase) -> bool {
        ground.part || draft.tokens(ground) < u64::from(self.budget_ahead().auto_compact)
    }
}

/// A text, cut where it takes more tokens than this.
fn within(text: &str, tokens: u64) -> String {
    if u64::from(estimate_text(text)) <= tokens {
        return text.to_owned();
    }
    let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let kept = end.and_then(|end| text.get(..end)).unwrap_or_default();
    format!("{kept}\n[the summary was cut here for want of room]")
}

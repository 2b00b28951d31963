//! The text that replaces messages: from notes, from the model, or folded by the program, each with the user's messages
//! and an index of names, and shortened until it fits.

use std::collections::HashSet;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_context::compact::notes::{self, NotesSkipReason};
use dormouse_context::compact::{
    CompactionMethod, CompactionSummary, Fidelity, FoldInput, INDEX_CHARS, TailRule,
    compose_summary, fold_messages, identifier_index, keep_user_texts, lost_user_texts,
    measure_fidelity, plan_tail,
};
use dormouse_conversation::{Block, Budget, Message, estimate_text};

use super::policy::WindowPolicy;
use super::range::CompactionRange;
use super::rebuilt_prefix::CompactionBase;
use super::request::{CompactionRequest, CompactionScope};
use super::server_summary::ServerSummary;
use super::state::CompactionState;
use crate::background_task::SavedNotes;
use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::tool_state::ToolState;

/// How often the room of a summary is halved at most.
const MOST_HALVINGS: u32 = 5;

/// A compaction that is not applied yet.
pub(super) struct CompactionDraft {
    pub(super) way: CompactionMethod,
    /// The summary alone.
    pub(super) text: String,
    /// The whole message that replaces the removed ones.
    pub(super) message: String,
    pub(super) dropped: Vec<Arc<Message>>,
    /// The messages that stay before it.
    pub(super) front: Vec<Arc<Message>>,
    /// The messages that stay after it.
    pub(super) kept: Vec<Arc<Message>>,
    pub(super) fidelity: Fidelity,
    /// Why the model did not write the summary, if it should have.
    pub(super) trouble: Option<String>,
    /// The summary as the server wrote and signed it, if it did.
    pub(super) server_block: Option<Block>,
}

/// The room of the parts of a summary message.
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
    /// The tokens of the compacted conversation, before anything is restored.
    pub(super) fn tokens(&self, base: &CompactionBase) -> u64 {
        let messages = self.front.iter().chain(&self.kept).map(|message| message.tokens());
        let block = self.server_block.as_ref().map_or(0, |block| u64::from(block.tokens()));
        base.prefix.tokens()
            + u64::from(estimate_text(&self.message))
            + block
            + messages.sum::<u64>()
    }

    /// Whether the message is smaller than what it replaces.
    fn saves(&self) -> bool {
        let dropped: u64 = self.dropped.iter().map(|message| message.tokens()).sum();
        let block = self.server_block.as_ref().map_or(0, |block| u64::from(block.tokens()));
        u64::from(estimate_text(&self.message)) + block < dropped
    }
}

/// Writes the text that replaces a range of messages.
pub(super) struct DraftWriter<'a> {
    pub(super) conversation: &'a Conversation,
    pub(super) state: &'a CompactionState,
    pub(super) policy: WindowPolicy,
    /// The saved session notes.
    pub(super) notes: Option<SavedNotes>,
    /// Steps of the task that are not completed.
    pub(super) open_tasks: Vec<String>,
    pub(super) base: &'a CompactionBase,
}

impl<'a> DraftWriter<'a> {
    pub(super) fn new(
        base: &'a CompactionBase,
        config: &EngineConfig,
        conversation: &'a Conversation,
        state: &'a CompactionState,
        tool_state: &ToolState,
    ) -> Self {
        let session = conversation.transcript.session_folder();
        Self {
            conversation,
            state,
            policy: WindowPolicy::of(config),
            notes: config.extensions.saved_notes(session),
            open_tasks: tool_state.open_tasks(),
            base,
        }
    }
}

impl DraftWriter<'_> {
    /// From the session notes, without a request (C-15). The error says why not; none where it was not tried.
    pub(super) fn draft_from_notes(
        &self,
        request: &CompactionRequest,
    ) -> Result<CompactionDraft, Option<NotesSkipReason>> {
        // Instructions or a scope ask for a summary of their own.
        if request.instructions.is_some() || request.scope != CompactionScope::Whole {
            return Err(None);
        }
        if !self.policy.rules.notes {
            return Err(Some(NotesSkipReason::Disabled));
        }
        let kept = self.notes.as_ref().ok_or(NotesSkipReason::NoNotes)?;
        if kept.template.says_nothing(&kept.text) {
            return Err(Some(NotesSkipReason::OnlyTemplate));
        }
        let reach = kept.reach.ok_or(NotesSkipReason::NoNotes)?;
        let messages = self.conversation.messages();
        let place = messages.iter().position(|message| message.id == reach);
        let covered = place.ok_or(NotesSkipReason::CoverageLost)? + 1;
        let budget = &self.policy.budget_ahead();
        let tail = plan_tail(messages, covered, &TailRule::of(budget));
        // Messages that the notes do not cover and that have no room would be lost: a summary covers them.
        if tail.from == 0 || tail.lost_uncovered {
            return Err(Some(NotesSkipReason::StillTooLarge));
        }
        let text = notes::truncate_notes(&kept.text, budget, &kept.path.display().to_string());
        let range = CompactionRange { from: 0, to: tail.from };
        let room = Room::of(budget, 0);
        let draft = self.compose(CompactionMethod::Notes, text, range, room);
        if !self.fits(&draft) || !draft.saves() {
            return Err(Some(NotesSkipReason::StillTooLarge));
        }
        Ok(draft)
    }

    /// With a summary by the model, if it is smaller.
    pub(super) fn with_summary(
        &self,
        text: &str,
        range: CompactionRange,
    ) -> Option<CompactionDraft> {
        let goes = self.conversation.messages().get(range.from..range.to).unwrap_or_default();
        let source: u64 = goes.iter().map(|message| message.tokens()).sum();
        if u64::from(estimate_text(text)) >= source {
            return None;
        }
        self.best((0..=MOST_HALVINGS).map(|halved| {
            let room = Room::of(&self.policy.budget_ahead(), halved);
            self.compose(CompactionMethod::Model, within(text, room.text_tokens), range, room)
        }))
    }

    /// With a summary by the server. Its text stands in its block, in front of the message; the user's words and the index are the
    /// program's to keep.
    pub(super) fn with_server_summary(
        &self,
        summary: ServerSummary,
        range: CompactionRange,
    ) -> Option<CompactionDraft> {
        let room = Room::of(&self.policy.budget_ahead(), 0);
        let ServerSummary { block, text } = summary;
        let draft = self.compose(CompactionMethod::Server, text, range, room);
        let draft = CompactionDraft { server_block: Some(block), ..draft };
        (draft.saves() && self.fits(&draft)).then_some(draft)
    }

    /// Without a model (C-19). The newest messages stay where there is room.
    pub(super) fn folded(&self, range: CompactionRange) -> Option<CompactionDraft> {
        let (messages, budget) = (self.conversation.messages(), self.policy.budget_ahead());
        let with_tail = range.keeping_tail(messages, &budget);
        let tries = std::iter::once((with_tail, 0)).chain((0..=MOST_HALVINGS).map(|n| (range, n)));
        self.best(tries.map(|(range, halved)| self.fold(range, Room::of(&budget, halved))))
    }

    /// The first that leaves room; where none does, the last that is smaller than what it replaces.
    fn best(&self, drafts: impl Iterator<Item = CompactionDraft>) -> Option<CompactionDraft> {
        let mut last = None;
        for draft in drafts.filter(CompactionDraft::saves) {
            if self.fits(&draft) {
                return Some(draft);
            }
            last = Some(draft);
        }
        last
    }

    fn fold(&self, range: CompactionRange, room: Room) -> CompactionDraft {
        let dropped = self.conversation.messages().get(range.from..range.to).unwrap_or_default();
        let earlier = dropped.iter().rev().find(|message| message.flags.compact_summary);
        let earlier =
            earlier.map(|message| self.state.last_summary.clone().unwrap_or(message.text()));
        let notes = self.notes.as_ref().filter(|notes| !notes.template.says_nothing(&notes.text));
        let text = fold_messages(&FoldInput {
            dropped,
            earlier_summary: earlier.as_deref(),
            notes: notes.map(|notes| notes.text.as_str()),
            open_tasks: &self.open_tasks,
            transcript: &self.conversation.transcript.path().display().to_string(),
            budget_tokens: room.text_tokens,
        });
        self.compose(CompactionMethod::Fold, text, range, room)
    }

    /// Composes the message. Where too much would be lost, it gets more of the user's messages.
    fn compose(
        &self,
        way: CompactionMethod,
        text: String,
        range: CompactionRange,
        room: Room,
    ) -> CompactionDraft {
        let messages = self.conversation.messages();
        let (rest, kept) = messages.split_at(range.to.min(messages.len()));
        let (front, dropped) = rest.split_at(range.from.min(rest.len()));
        let stays: HashSet<MessageId> =
            front.iter().chain(kept).map(|message| message.id).collect();
        let said =
            self.state.user_messages.except(&stays, self.conversation.transcript.session_folder());
        let path = self.conversation.transcript.path().display().to_string();
        let words = keep_user_texts(&said, room.words_tokens);
        let write = |lost: &str| {
            let index = identifier_index(dropped, &format!("{text}\n{words}"), room.index_chars);
            // The server's own summary stands in front of the message already.
            let summary = if way == CompactionMethod::Server { "" } else { text.as_str() };
            let message = compose_summary(&CompactionSummary {
                method: way,
                text: summary,
                user_words: &words,
                index: &index,
                transcript: &path,
                lost_words: lost,
                lost_uncovered: false,
            });
            let seen =
                if summary.is_empty() { format!("{text}\n{message}") } else { message.clone() };
            let fidelity = measure_fidelity(dropped, &self.open_tasks, &seen);
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
            server_block: None,
            text,
        }
    }

    /// Whether another compaction would not be due at once. A part that the user chose always fits.
    fn fits(&self, draft: &CompactionDraft) -> bool {
        self.base.is_part
            || draft.tokens(self.base) < u64::from(self.policy.budget_ahead().auto_compact)
    }
}

/// A text, truncated to this many tokens.
fn within(text: &str, tokens: u64) -> String {
    if u64::from(estimate_text(text)) <= tokens {
        return text.to_owned();
    }
    let most = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4);
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    let kept = end.and_then(|end| text.get(..end)).unwrap_or_default();
    format!("{kept}\n[the summary was cut here for want of room]")
}

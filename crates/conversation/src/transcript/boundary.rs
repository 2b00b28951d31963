//! Where a compaction stands in a transcript: what the conversation consists of from there on.
//!
//! A boundary is one line, followed by the messages that are new with it. It counts only when all of them
//! are there: a crash in between leaves the conversation as it was before.

use std::collections::HashSet;
use std::sync::Arc;

use dormouse_base::MessageId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::read::{LoadedTranscript, TranscriptWarning};
use crate::{Message, Prefix, PrefixOrigin, Usage};

/// The subtype of its line, as other agents name it too.
pub(super) const BOUNDARY: &str = "compact_boundary";
/// That of a line which says that the oldest messages are left out.
pub(super) const SNIP: &str = "snip_boundary";
/// What a viewer shows in its place.
pub(super) const BOUNDARY_TEXT: &str = "Conversation compacted";

/// What started a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionTrigger {
    /// The window was filling up.
    Auto,
    /// The person asked for it.
    Manual,
}

/// What a boundary says. The names of the first three are those of other agents.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactionBoundary {
    /// What started it.
    pub trigger: CompactionTrigger,
    /// Tokens before it.
    #[serde(default)]
    pub pre_tokens: u64,
    /// Tokens after it, estimated.
    #[serde(default)]
    pub post_tokens: u64,
    /// How the summary was made, such as `notes` or `model`.
    #[serde(default, rename = "way")]
    pub method: String,
    /// The last message that it put away.
    #[serde(default)]
    pub last_message: Option<MessageId>,
    /// The messages that the conversation consists of from here on, in order. Those that are not known yet
    /// follow.
    #[serde(default)]
    pub view: Vec<MessageId>,
    /// Tools that the session knew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// How much of what was put away the summary still holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Box<RawValue>>,
}

/// A boundary of which not all messages have been read yet.
#[derive(Debug)]
pub(super) struct Pending {
    boundary: CompactionBoundary,
    prefix: Option<(Arc<Prefix>, Option<PrefixOrigin>)>,
    missing: HashSet<MessageId>,
    /// How many messages there were in front of it.
    before: usize,
    line: usize,
}

impl Pending {
    pub(super) fn new(
        boundary: CompactionBoundary,
        prefix: Option<(Arc<Prefix>, Option<PrefixOrigin>)>,
        loaded: &LoadedTranscript,
        line: usize,
    ) -> Self {
        // What was put away can come back.
        let known: HashSet<MessageId> = loaded.all_messages().map(|message| message.id).collect();
        let missing = boundary.view.iter().copied().filter(|id| !known.contains(id)).collect();
        Self { boundary, prefix, missing, before: loaded.messages.len(), line }
    }

    /// A message has been read: whether it is one that was missing.
    pub(super) fn takes(&mut self, message: MessageId) -> bool {
        self.missing.remove(&message)
    }

    pub(super) fn is_whole(&self) -> bool {
        self.missing.is_empty()
    }

    /// The conversation is what the boundary says; the rest is what was before.
    pub(super) fn apply(self, loaded: &mut LoadedTranscript) {
        let mut all: Vec<Option<Message>> =
            std::mem::take(&mut loaded.messages).into_iter().map(Some).collect();
        let places: std::collections::HashMap<MessageId, usize> = all
            .iter()
            .enumerate()
            .filter_map(|(place, message)| Some((message.as_ref()?.id, place)))
            .collect();
        for id in &self.boundary.view {
            let message = match places.get(id) {
                Some(place) => all.get_mut(*place).and_then(Option::take),
                None => take_back(&mut loaded.compacted, *id),
            };
            loaded.messages.extend(message.map(without_usage));
        }
        loaded.compacted.extend(all.into_iter().flatten());
        if let Some((prefix, origin)) = self.prefix {
            loaded.prefix = Some(prefix);
            loaded.origin = origin.or(loaded.origin.take());
            loaded.facts = None;
        }
        loaded.boundaries.push(self.boundary);
    }

    /// It was cut off: the messages that came with it do not count.
    pub(super) fn give_up(self, loaded: &mut LoadedTranscript) {
        let view: HashSet<MessageId> = self.boundary.view.into_iter().collect();
        let mut place = 0;
        loaded.messages.retain(|message| {
            place += 1;
            place <= self.before || !view.contains(&message.id)
        });
        loaded.warnings.push(TranscriptWarning::IncompleteBoundary { line: self.line });
    }
}

/// A message that was put away, and is part of the conversation again.
fn take_back(earlier: &mut Vec<Message>, id: MessageId) -> Option<Message> {
    let place = earlier.iter().position(|message| message.id == id)?;
    Some(earlier.remove(place))
}

/// A message that outlived a compaction: what the server counted then says nothing about the window now.
#[must_use]
pub fn without_usage(mut message: Message) -> Message {
    if let Some(response) = &mut message.response {
        response.usage = Usage::default();
    }
    message
}

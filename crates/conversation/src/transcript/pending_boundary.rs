//! A compaction boundary while a transcript is read: it waits for the messages that belong to it.

use std::collections::HashSet;
use std::sync::Arc;

use dormouse_base::MessageId;

use super::boundary::{CompactionBoundary, without_usage};
use super::loaded::{LoadedTranscript, TranscriptWarning};
use crate::message::Message;
use crate::prefix::{Prefix, PrefixOrigin};

/// A boundary whose messages have not all been read yet.
#[derive(Debug)]
pub(super) struct PendingBoundary {
    boundary: CompactionBoundary,
    prefix: Option<(Arc<Prefix>, Option<PrefixOrigin>)>,
    missing: HashSet<MessageId>,
    /// The number of messages before the boundary.
    before: usize,
    line: usize,
}

impl PendingBoundary {
    pub(super) fn new(
        boundary: CompactionBoundary,
        prefix: Option<(Arc<Prefix>, Option<PrefixOrigin>)>,
        loaded: &LoadedTranscript,
        line: usize,
    ) -> Self {
        // A later boundary may bring compacted messages back.
        let known: HashSet<MessageId> = loaded.all_messages().map(|message| message.id).collect();
        let missing = boundary.view.iter().copied().filter(|id| !known.contains(id)).collect();
        Self { boundary, prefix, missing, before: loaded.messages.len(), line }
    }

    /// Takes note of a message that was read; returns whether the boundary was waiting for it.
    pub(super) fn accept(&mut self, message: MessageId) -> bool {
        self.missing.remove(&message)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.missing.is_empty()
    }

    /// Makes the listed messages the conversation; all others count as compacted.
    pub(super) fn apply(self, loaded: &mut LoadedTranscript) {
        let mut all: Vec<Option<Message>> =
            std::mem::take(&mut loaded.messages).into_iter().map(Some).collect();
        let positions: std::collections::HashMap<MessageId, usize> = all
            .iter()
            .enumerate()
            .filter_map(|(position, message)| Some((message.as_ref()?.id, position)))
            .collect();
        for id in &self.boundary.view {
            let message = match positions.get(id) {
                Some(position) => all.get_mut(*position).and_then(Option::take),
                None => take_compacted(&mut loaded.compacted, *id),
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

    /// Discards an incomplete boundary and the messages that came with it.
    pub(super) fn discard(self, loaded: &mut LoadedTranscript) {
        let view: HashSet<MessageId> = self.boundary.view.into_iter().collect();
        let mut position = 0;
        loaded.messages.retain(|message| {
            position += 1;
            position <= self.before || !view.contains(&message.id)
        });
        loaded.warnings.push(TranscriptWarning::IncompleteBoundary { line: self.line });
    }
}

/// Takes a message out of the compacted ones.
fn take_compacted(compacted: &mut Vec<Message>, id: MessageId) -> Option<Message> {
    let position = compacted.iter().position(|message| message.id == id)?;
    Some(compacted.remove(position))
}

//! What a layer wants changed in what is sent, and the one function that changes it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, Message};

/// One change to what is sent. The messages themselves stay.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryEdit {
    /// A message gets other blocks.
    Replace {
        /// Which.
        message: MessageId,
        /// All its blocks.
        blocks: Vec<Block>,
    },
    /// Messages are left out.
    Drop {
        /// Which.
        messages: Vec<MessageId>,
    },
    /// A message of the program is put in.
    Insert {
        /// In front of this one, which may be one that is left out; none: at the end.
        before: Option<MessageId>,
        /// What it says.
        text: String,
    },
}

/// What a layer did, in metrics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LayerReport {
    /// Its name, as in the settings.
    pub layer: &'static str,
    /// What is saved with every request from now on, estimated.
    pub freed_tokens: u64,
    /// How many messages it looked at.
    pub messages: u64,
    /// How many of them it changed or left out.
    pub changed: u64,
    /// Whether bytes that were sent before are sent otherwise now: the server's cache is lost from there
    /// on, and thinking behind it may be bound to what stood there.
    pub prefix_changed: bool,
}

/// Edits with their report.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerPlan {
    /// What is to be changed.
    pub edits: Vec<HistoryEdit>,
    /// What that does.
    pub report: LayerReport,
}

/// The messages with the edits made. `make` gives the message for a text that is put in. What no edit
/// names stays the same allocation; an edit of a message that does not exist does nothing.
pub fn apply_edits(
    messages: &[Arc<Message>],
    edits: &[HistoryEdit],
    mut make: impl FnMut(String) -> Message,
) -> Vec<Arc<Message>> {
    let changes = Changes::of(edits);
    let mut view = Vec::with_capacity(messages.len() + edits.len());
    for message in messages {
        for text in changes.inserted.get(&Some(message.id)).into_iter().flatten() {
            view.push(Arc::new(make((*text).to_owned())));
        }
        if changes.dropped.contains(&message.id) {
            continue;
        }
        view.push(match changes.replaced.get(&message.id) {
            Some(blocks) => {
                Arc::new(Message { blocks: (*blocks).clone(), ..Message::clone(message) })
            }
            None => Arc::clone(message),
        });
    }
    for text in changes.inserted.get(&None).into_iter().flatten() {
        view.push(Arc::new(make((*text).to_owned())));
    }
    view
}

/// The edits by the message they name.
#[derive(Default)]
struct Changes<'a> {
    replaced: HashMap<MessageId, &'a Vec<Block>>,
    dropped: HashSet<MessageId>,
    inserted: HashMap<Option<MessageId>, Vec<&'a str>>,
}

impl<'a> Changes<'a> {
    fn of(edits: &'a [HistoryEdit]) -> Self {
        let mut changes = Self::default();
        for edit in edits {
            match edit {
                HistoryEdit::Replace { message, blocks } => {
                    changes.replaced.insert(*message, blocks);
                }
                HistoryEdit::Drop { messages } => changes.dropped.extend(messages),
                HistoryEdit::Insert { before, text } => {
                    changes.inserted.entry(*before).or_default().push(text);
                }
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Maker;
    use super::*;

    #[test]
    fn what_no_edit_names_stays_the_same_allocation() {
        let maker = Maker::new(1);
        let messages = ["a", "b", "c"].map(|text| maker.user(text));
        let edits = [
            HistoryEdit::Insert { before: Some(messages[1].id), text: "in place of b".into() },
            HistoryEdit::Drop { messages: vec![messages[1].id] },
            HistoryEdit::Replace { message: messages[2].id, blocks: vec![Block::text("C")] },
            HistoryEdit::Insert { before: None, text: "end".into() },
        ];
        let view = apply_edits(&messages, &edits, |text| maker.meta(&text));
        let texts: Vec<String> = view.iter().map(|message| message.text()).collect();
        assert_eq!(texts, ["a", "in place of b", "C", "end"]);
        assert!(Arc::ptr_eq(&view[0], &messages[0]));
        assert_eq!(view[2].id, messages[2].id);
        let nowhere = [HistoryEdit::Drop { messages: vec![maker.user("x").id] }];
        assert_eq!(apply_edits(&messages, &nowhere, |text| maker.meta(&text)), messages);
    }
}

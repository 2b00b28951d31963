//! How often the names of a conversation are used, by whom, and when last.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_conversation::{Message, Role};

use super::scan::{IdentifierKind, each_identifier};
use crate::compact::texts::{Speaker, each_text};

/// The names of a conversation, counted message by message.
#[derive(Debug, Clone, Default)]
pub struct IdentifierCensus {
    names: BTreeMap<IdentifierKind, BTreeMap<String, IdentifierUses>>,
    messages: usize,
}

/// How a name was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdentifierUses {
    /// Messages that hold it: a log that says it a thousand times says it once.
    pub messages: u32,
    /// Those of them in which the model or the user used it, and no tool merely printed it.
    pub spoken: u32,
    /// The last message that holds it, counted from 0.
    pub last: usize,
}

impl IdentifierCensus {
    /// Counts the names of messages.
    pub fn of(messages: &[Arc<Message>]) -> Self {
        let mut census = Self::default();
        for message in messages {
            census.add(message);
        }
        census
    }

    /// Counts the names of the next message.
    pub fn add(&mut self, message: &Message) {
        let number = self.messages;
        self.messages += 1;
        let by_program = message.role == Role::User && message.flags.meta;
        each_text(message, &mut |speaker, text| {
            let spoken = speaker == Speaker::Author && !by_program;
            each_identifier(text, &mut |name| {
                self.count(name.kind, name.text, number, spoken);
            });
        });
    }

    fn count(&mut self, kind: IdentifierKind, name: &str, number: usize, spoken: bool) {
        let names = self.names.entry(kind).or_default();
        let uses = match names.get_mut(name) {
            Some(uses) => uses,
            None => names.entry(name.to_owned()).or_default(),
        };
        uses.note(number, spoken);
    }

    /// The names of a kind, in a fixed order.
    pub fn names(&self, kind: IdentifierKind) -> impl Iterator<Item = (&str, IdentifierUses)> {
        self.names.get(&kind).into_iter().flatten().map(|(name, uses)| (name.as_str(), *uses))
    }

    /// Whether a name was counted.
    pub fn knows(&self, kind: IdentifierKind, name: &str) -> bool {
        self.names.get(&kind).is_some_and(|names| names.contains_key(name))
    }

    /// How many messages were counted.
    pub fn messages(&self) -> usize {
        self.messages
    }
}

impl IdentifierUses {
    /// Both together, as of one name.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            messages: self.messages.saturating_add(other.messages),
            spoken: self.spoken.saturating_add(other.spoken),
            last: self.last.max(other.last),
        }
    }

    fn note(&mut self, number: usize, spoken: bool) {
        if self.messages == 0 || self.last != number {
            self.messages = self.messages.saturating_add(1);
            self.spoken = self.spoken.saturating_add(u32::from(spoken));
            self.last = number;
        }
    }
}

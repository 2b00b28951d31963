//! Sentences as items: each with its ids, its weight, and whether it is negated.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::glossary::Thing;
use super::tuning;

/// Identifies a glossary entry, the same for all its words, or a word that is not in the glossary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(u64);

impl Id {
    pub(super) fn of_thing(thing: Thing) -> Self {
        Self(u64::from(thing.0))
    }

    pub(super) fn of_word(kind: &str, word: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (kind, word).hash(&mut hasher);
        // Glossary entries have the small numbers.
        Self(hasher.finish() | 1 << 63)
    }
}

/// The kind of an item, as far as the comparison depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    /// A function word.
    Weak,
    /// Any other word.
    Plain,
    /// The opposite of others in its group.
    Opposite(u32),
    /// A value in the glossary: a weekday, a language.
    Value,
    /// A number.
    Number,
    /// A date or a time.
    Moment,
    /// The year of a date: a different year is a different date, a missing one is not.
    Year,
    /// A name, a path, an identifier.
    Name,
}

impl ItemKind {
    /// Whether a text without the item makes a different claim.
    pub(super) fn is_needed(self) -> bool {
        matches!(self, Self::Value | Self::Number | Self::Moment | Self::Name)
    }
}

/// The language that a word belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// None: a name or a number.
    Free,
    /// None: the glossary has it in both.
    Table,
    /// English.
    English,
    /// Chinese.
    Chinese,
}

/// One meaningful part of a sentence.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) weight: f32,
    pub(super) bound: Bound,
    /// Ids that mean the same.
    pub(super) asks: Vec<Id>,
    /// Ids that mean nearly the same.
    pub(super) near: Vec<Id>,
    /// Ids that it implies: the parts of a path, the month of a date.
    pub(super) besides: Vec<Id>,
    /// Number of the part of the sentence that contains it.
    pub(super) part: u16,
    pub(super) is_denied: bool,
}

impl Item {
    pub(super) fn new(kind: ItemKind, weight: f32, asks: Vec<Id>) -> Self {
        let (near, besides) = (Vec::new(), Vec::new());
        Self { kind, weight, bound: Bound::Free, asks, near, besides, part: 0, is_denied: false }
    }

    fn ids(&self) -> impl Iterator<Item = Id> {
        self.asks.iter().chain(&self.besides).copied()
    }
}

/// The position of an id in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IdPosition {
    pub(super) id: Id,
    /// Index of the item.
    pub(super) item: u16,
}

/// A sentence, prepared for comparison.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub(super) items: Vec<Item>,
    /// Its ids with their positions, sorted.
    pub(super) positions: Vec<IdPosition>,
    /// Whether it has words of this language.
    pub(super) has_english: bool,
    pub(super) has_chinese: bool,
}

impl Sentence {
    /// Whether it has more than function words.
    pub(super) fn has_content(&self) -> bool {
        self.items.iter().any(|item| item.kind != ItemKind::Weak)
    }

    /// All its ids.
    pub(super) fn ids(&self) -> impl Iterator<Item = Id> {
        self.positions.iter().map(|position| position.id)
    }

    /// The items that have one of these ids.
    pub(super) fn saying(&self, ids: &[Id]) -> impl Iterator<Item = &Item> {
        ids.iter().flat_map(|id| {
            let start = self.positions.partition_point(|position| position.id < *id);
            let positions =
                self.positions.iter().skip(start).take_while(move |position| position.id == *id);
            positions.filter_map(|position| self.items.get(usize::from(position.item)))
        })
    }

    pub(super) fn finish(&mut self) {
        // In a Chinese sentence, an English word that is not in the glossary is taken for a name.
        let unknown = |item: &&mut Item| item.bound == Bound::English;
        for item in self.items.iter_mut().filter(unknown).filter(|_| self.has_chinese) {
            (item.kind, item.weight, item.bound) = (ItemKind::Name, tuning::VALUE, Bound::Free);
        }
        for (at, item) in (0_u16..).zip(&self.items) {
            self.positions.extend(item.ids().map(|id| IdPosition { id, item: at }));
        }
        self.positions.sort_unstable();
        self.positions.dedup();
    }
}

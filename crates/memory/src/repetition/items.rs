//! Sentences as things: each with the numbers by which it is known, how much it counts, and whether it is denied.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::glossary::Thing;
use super::tuning;

/// The number of a thing, the same for all its words; of a word that no table knows, its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Id(u64);

impl Id {
    pub(super) fn of_thing(thing: Thing) -> Self {
        Self(u64::from(thing.0))
    }

    pub(super) fn of_word(kind: &str, word: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (kind, word).hash(&mut hasher);
        // Things of the table have the small numbers.
        Self(hasher.finish() | 1 << 63)
    }
}

/// What a thing is, as far as it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It holds the sentence together.
    Weak,
    /// Anything.
    Plain,
    /// The opposite of others of its group.
    Opposite(u32),
    /// A value of the table: a weekday, a language.
    Value,
    /// A number.
    Number,
    /// A date or a time.
    Moment,
    /// The year of a date: another one is another date, none is none.
    Year,
    /// A name, a path, an identifier.
    Name,
}

impl Kind {
    /// Whether a text that does not have it says something else.
    pub(super) fn is_needed(self) -> bool {
        matches!(self, Self::Value | Self::Number | Self::Moment | Self::Name)
    }
}

/// The language to which a word is bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// None: a name or a number.
    Free,
    /// None: the table has it in both.
    Table,
    /// English.
    English,
    /// Chinese.
    Chinese,
}

/// One thing that a sentence speaks of.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: Kind,
    pub(super) weight: f32,
    pub(super) bound: Bound,
    /// Any of these says it.
    pub(super) asks: Vec<Id>,
    /// Any of these says nearly it.
    pub(super) near: Vec<Id>,
    /// What it says besides: of a path its parts, of a date its month.
    pub(super) besides: Vec<Id>,
    /// The part of the sentence in which it stands.
    pub(super) part: u16,
    pub(super) is_denied: bool,
}

impl Item {
    pub(super) fn new(kind: Kind, weight: f32, asks: Vec<Id>) -> Self {
        let (near, besides) = (Vec::new(), Vec::new());
        Self { kind, weight, bound: Bound::Free, asks, near, besides, part: 0, is_denied: false }
    }

    fn ids(&self) -> impl Iterator<Item = Id> {
        self.asks.iter().chain(&self.besides).copied()
    }
}

/// Where an id stands in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) id: Id,
    /// The item that says it.
    pub(super) item: u16,
}

/// A sentence, ready to be compared.
#[derive(Debug, Clone, Default)]
pub(super) struct Sentence {
    pub(super) items: Vec<Item>,
    /// What it says, sorted by id.
    pub(super) places: Vec<Place>,
    /// Whether it has words of this language.
    pub(super) has_english: bool,
    pub(super) has_chinese: bool,
}

impl Sentence {
    /// Whether it speaks of anything at all.
    pub(super) fn has_content(&self) -> bool {
        self.items.iter().any(|item| item.kind != Kind::Weak)
    }

    /// All that it says.
    pub(super) fn ids(&self) -> impl Iterator<Item = Id> {
        self.places.iter().map(|place| place.id)
    }

    /// The items that say one of these.
    pub(super) fn saying(&self, ids: &[Id]) -> impl Iterator<Item = &Item> {
        ids.iter().flat_map(|id| {
            let start = self.places.partition_point(|place| place.id < *id);
            let places = self.places.iter().skip(start).take_while(move |place| place.id == *id);
            places.filter_map(|place| self.items.get(usize::from(place.item)))
        })
    }

    pub(super) fn finish(&mut self) {
        // Among Chinese, a foreign word that the table does not know is the name of something.
        let unknown = |item: &&mut Item| item.bound == Bound::English;
        for item in self.items.iter_mut().filter(unknown).filter(|_| self.has_chinese) {
            (item.kind, item.weight, item.bound) = (Kind::Name, tuning::VALUE, Bound::Free);
        }
        for (at, item) in (0_u16..).zip(&self.items) {
            self.places.extend(item.ids().map(|id| Place { id, item: at }));
        }
        self.places.sort_unstable();
        self.places.dedup();
    }
}

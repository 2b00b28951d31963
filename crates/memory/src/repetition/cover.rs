//! Whether a known text contains a proposed sentence.

use super::claims::Claims;
use super::items::{Bound, Id, Item, ItemKind, Sentence};
use super::tuning;

/// Whether a text contains a sentence: one of its sentences has every required item, and most of the others.
pub(super) fn contains(known: &Claims, proposed: &Sentence) -> bool {
    pairs(known, proposed).any(|pair| pair.has_same_content() && pair.denies_alike())
}

/// Whether a text denies what a sentence affirms, or the reverse: one of its sentences has the same content, and only one of
/// the two is negated.
pub(super) fn contradicts(known: &Claims, proposed: &Sentence) -> bool {
    pairs(known, proposed).any(|pair| pair.has_same_content() && !pair.denies_alike())
}

/// The sentence with each sentence of a text that may say the same.
fn pairs<'a>(known: &'a Claims, proposed: &'a Sentence) -> impl Iterator<Item = Pair<'a>> {
    let mut needed = proposed.items.iter().filter(|item| item.kind.is_needed());
    let may_say = needed.all(|item| has(&known.all, &item.asks));
    let sentences = known.sentences.iter().filter(move |_| may_say);
    sentences.map(move |sentence| Pair { proposed, sentence, all: &known.all })
}

fn has(sorted: &[Id], ids: &[Id]) -> bool {
    ids.iter().any(|id| sorted.binary_search(id).is_ok())
}

/// A proposed sentence and a known one.
struct Pair<'a> {
    proposed: &'a Sentence,
    sentence: &'a Sentence,
    /// All ids of the known text.
    all: &'a [Id],
}

/// Total weight, and the part of it that the other sentence has.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    whole: f32,
    said: f32,
}

impl Share {
    fn add(&mut self, weight: f32, part: f32) {
        self.whole += weight;
        self.said += weight * part;
    }

    fn reaches(self, least: f32) -> bool {
        self.said >= self.whole * least
    }
}

impl Pair<'_> {
    /// Whether both are about the same and say as much of it, negations not regarded.
    fn has_same_content(&self) -> bool {
        (self.is_said() && !self.is_exchanged() || self.is_translated())
            && self.goes_together()
            && self.speaks_back()
    }

    /// Whether the known sentence has all required items, nothing that contradicts them, and enough of the others.
    fn is_said(&self) -> bool {
        let (mut whole, mut part, mut number) = (Share::default(), Share::default(), 0);
        let least = if self.is_abroad() { tuning::SAID_ABROAD } else { tuning::SAID };
        for item in &self.proposed.items {
            let Some(said) = self.part_said(item) else { return false };
            if item.part != number {
                if !enough(part) {
                    return false;
                }
                (part, number) = (Share::default(), item.part);
            }
            let weight = self.weight(item, said);
            whole.add(weight, said);
            part.add(weight, said);
        }
        whole.reaches(least) && enough(part)
    }

    /// Which share of an item the known sentence has; `None` if it has a contradicting one.
    fn part_said(&self, item: &Item) -> Option<f32> {
        if self.sentence.saying(&item.asks).next().is_some() {
            return Some(1.0);
        }
        let others = |kind: ItemKind| self.sentence.items.iter().any(|known| known.kind == kind);
        let excluded = match item.kind {
            ItemKind::Opposite(_) | ItemKind::Year => others(item.kind),
            ItemKind::Weak | ItemKind::Plain => false,
            ItemKind::Value | ItemKind::Number | ItemKind::Moment | ItemKind::Name => true,
        };
        if excluded {
            return None;
        }
        if self.sentence.saying(&item.near).next().is_some() {
            return Some(tuning::NEAR);
        }
        let is_elsewhere = has(self.all, &item.asks) && !self.speaks_of_another();
        Some(if is_elsewhere { tuning::ELSEWHERE } else { 0.0 })
    }

    /// Whether the known sentence has a subject that the proposed one does not have. Items of other sentences of the
    /// known text then do not count.
    fn speaks_of_another(&self) -> bool {
        self.sentence.items.iter().any(|item| {
            item.weight >= tuning::PLAIN && self.proposed.saying(&item.asks).next().is_none()
        })
    }

    /// Whether an item was replaced by another: one glossary item by another, or any item by a name, number or date.
    fn is_exchanged(&self) -> bool {
        let missing: Vec<&Item> = lacking(self.proposed, self.sentence).collect();
        let mut unmatched = lacking(self.sentence, self.proposed);
        let is_thing = |item: &Item| item.bound == Bound::Table && item.kind == ItemKind::Plain;
        let is_missing_thing = missing.iter().any(|item| is_thing(item));
        !missing.is_empty()
            && unmatched.any(|item| item.kind.is_needed() || is_missing_thing && is_thing(item))
    }

    /// Whether the sentences are in different languages, differ only in words that are not in the glossary, and have
    /// enough else in common: the differing words are then taken for translations of each other.
    fn is_translated(&self) -> bool {
        let is_unknown = |item: &Item| matches!(item.bound, Bound::English | Bound::Chinese);
        let shared = self.proposed.items.iter().filter(|item| {
            item.bound != Bound::Chinese && self.sentence.saying(&item.asks).next().is_some()
        });
        let shared: f32 = shared.map(|item| item.weight).sum();
        let mut unmatched = lacking(self.sentence, self.proposed).peekable();
        self.is_abroad()
            && shared >= tuning::COMMON_GROUND
            && unmatched.peek().is_some()
            && unmatched.chain(lacking(self.proposed, self.sentence)).all(is_unknown)
    }

    /// Whether the two are in different languages.
    fn is_abroad(&self) -> bool {
        self.proposed.has_chinese != self.sentence.has_chinese
    }

    /// The weight of an item. A missing one counts less if the other sentence's language cannot have it.
    fn weight(&self, item: &Item, said: f32) -> f32 {
        let is_foreign = match item.bound {
            _ if said > 0.0 => false,
            Bound::Free | Bound::Table => false,
            Bound::English => !self.sentence.has_english || self.sentence.has_chinese,
            Bound::Chinese => !self.sentence.has_chinese,
        };
        if is_foreign { item.weight * tuning::FOREIGN } else { item.weight }
    }

    /// Whether both sentences negate the same items.
    fn denies_alike(&self) -> bool {
        let (mut proposed, mut known, mut both) = (false, false, false);
        for item in self.proposed.items.iter().filter(|item| item.kind != ItemKind::Weak) {
            let mut matches = self.sentence.saying(&item.asks).map(|known| known.is_denied);
            let Some(first) = matches.next() else { continue };
            let agrees = first == item.is_denied || matches.any(|denied| denied == item.is_denied);
            if !agrees && item.kind.is_needed() {
                return false;
            }
            proposed |= item.is_denied;
            known |= if agrees { item.is_denied } else { !item.is_denied };
            both |= agrees && item.is_denied;
        }
        both || !proposed && !known
    }

    /// Whether values belong to the same items in both: `a is 1, b is 2` is not `a is 2, b is 1`.
    fn goes_together(&self) -> bool {
        let values = |items: &'_ [Item]| items.iter().filter(|item| item.kind.is_needed()).count();
        if values(&self.proposed.items) == 0 || values(&self.sentence.items) < 2 {
            return true;
        }
        let needed = self.proposed.items.iter().filter(|item| item.kind.is_needed());
        needed.into_iter().all(|value| !self.is_moved(value))
    }

    /// Whether an item beside the value stands, in the known sentence, only beside another value of the same kind.
    fn is_moved(&self, value: &Item) -> bool {
        let Some(home) = self.sentence.saying(&value.asks).next().map(|item| item.part) else {
            return false;
        };
        let companions = self.proposed.items.iter().filter(|item| {
            item.part == value.part && matches!(item.kind, ItemKind::Plain | ItemKind::Opposite(_))
        });
        companions.into_iter().any(|companion| {
            let mut places = self.sentence.saying(&companion.asks).map(|item| item.part).peekable();
            places.peek().is_some()
                && places.all(|part| part != home && self.has_other(part, value))
        })
    }

    fn has_other(&self, part: u16, value: &Item) -> bool {
        self.sentence.items.iter().any(|item| {
            item.part == part && item.kind == value.kind && item.asks.first() != value.asks.first()
        })
    }

    /// Whether the proposed sentence has a fair part of the known one.
    fn speaks_back(&self) -> bool {
        let mut share = Share::default();
        for item in &self.sentence.items {
            let is_said = self.proposed.saying(&item.asks).next().is_some();
            share.add(item.weight, if is_said { 1.0 } else { 0.0 });
        }
        share.reaches(tuning::BACK)
    }
}

/// Whether enough of one part of a sentence is known. Parts of a few function words are ignored.
fn enough(part: Share) -> bool {
    part.whole < tuning::PLAIN || part.reaches(tuning::PART_SAID)
}

/// The items of a sentence that another lacks, without function words.
fn lacking<'a>(of: &'a Sentence, from: &'a Sentence) -> impl Iterator<Item = &'a Item> {
    of.items.iter().filter(move |item| {
        let is_thing = item.kind != ItemKind::Year && item.weight >= tuning::PLAIN;
        is_thing && from.saying(&item.asks).chain(from.saying(&item.near)).next().is_none()
    })
}

//! The numbers of the comparison. Chosen on one half of `pairs.txt` and measured on the other (`bench same`).

/// Weight of a function word: its absence means nothing.
pub(super) const WEAK: f32 = 0.0;
/// Weight of a word that adds little to its object.
pub(super) const LIGHT: f32 = 0.4;
/// Weight of a word in the glossary.
pub(super) const PLAIN: f32 = 1.0;
/// Weight of a word that is not in the glossary: it has no known synonyms, so its absence means more.
pub(super) const UNKNOWN: f32 = 1.2;
/// Weight of an unknown word that may be a name, or is capitalized only because it begins a sentence.
pub(super) const PERHAPS_NAME: f32 = 1.6;
/// Weight of a single Chinese character: half a word, or the rest of one.
pub(super) const CHARACTER: f32 = 0.5;
/// Weight of a name, number or date, which is also required.
pub(super) const VALUE: f32 = 1.5;

/// Share of an item that a related word covers.
pub(super) const NEAR: f32 = 0.5;
/// Share of an item that another sentence of the same text covers.
pub(super) const ELSEWHERE: f32 = 0.6;
/// Factor for an unknown word of one language compared with a text in the other, which cannot have it.
pub(super) const FOREIGN: f32 = 0.5;

/// Share of a sentence that must be covered.
pub(super) const SAID: f32 = 0.78;
/// Share between languages: the glossary knows fewer synonyms than people do.
pub(super) const SAID_ABROAD: f32 = 0.7;
/// Share of each part of a sentence that must be covered.
pub(super) const PART_SAID: f32 = 0.5;
/// Common weight of two texts in different languages from which unknown words are taken for translations of each other.
pub(super) const COMMON_GROUND: f32 = 2.0;
/// Share of the known sentence that the proposed one must have: a few words of a long sentence are another statement.
pub(super) const BACK: f32 = 0.25;

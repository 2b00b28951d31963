//! The numbers of the comparison. Chosen on one half of `pairs.txt` and measured on the other (`bench same`).

/// How much a word counts that holds a statement together: where it is missing, nothing is.
pub(super) const WEAK: f32 = 0.0;
/// How much a word counts that says little beside what it is done to.
pub(super) const LIGHT: f32 = 0.4;
/// How much a thing counts that the glossary knows.
pub(super) const PLAIN: f32 = 1.0;
/// How much a word counts that no table knows: it has no other words, so its absence means more.
pub(super) const UNKNOWN: f32 = 1.2;
/// The same for a word that may be a name, being capital, though that may be because it begins a sentence.
pub(super) const PERHAPS_NAME: f32 = 1.6;
/// How much a single Chinese character counts: half a word, or what is left of one.
pub(super) const CHARACTER: f32 = 0.5;
/// How much a name, a number, a date counts, beside that it has to be there.
pub(super) const VALUE: f32 = 1.5;

/// How much of a thing a related word says.
pub(super) const NEAR: f32 = 0.5;
/// How much of a thing is said by another sentence of the same text.
pub(super) const ELSEWHERE: f32 = 0.6;
/// How much an unknown word of one language counts beside a text of the other, which can not have it.
pub(super) const FOREIGN: f32 = 0.5;

/// How much of a sentence has to be said.
pub(super) const SAID: f32 = 0.78;
/// The same between the languages: a table of words knows fewer ways to say a thing than people do.
pub(super) const SAID_ABROAD: f32 = 0.7;
/// How much of each part of a sentence has to be said.
pub(super) const PART_SAID: f32 = 0.5;
/// How much two texts in different languages have to share before words that no table knows are taken for
/// translations of each other.
pub(super) const COMMON_GROUND: f32 = 2.0;
/// How much of what is known has to be in what is proposed: a few words out of a long sentence say something else.
pub(super) const BACK: f32 = 0.25;

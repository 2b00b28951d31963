//! Of two memories about the same, the newer one counts: a message that brings the older one brings it instead.
//!
//! A memory that replaces another one usually says so, and the other is removed. Not so if the contradiction was not noticed,
//! or if the newer one was written by hand or by another agent. Memories without a description are left as they are: as single facts,
//! they are worded alike without being about the same. And what comes from a less trusted source displaces nothing.

use std::mem::swap;

use dormouse_search::{MatchKind, RecallTier, TermMatch, TextSubject};
use jiff::{SignedDuration, Timestamp};

use super::choice::MAX_SURE;
use super::hit::{MemoryHit, PlaceExchange};

/// From this similarity two memories are about the same. Chosen on `bench/practice/projects.json`, where the mean reciprocal
/// rank of what helps rises from 61.0 to 62.6 % in English and from 65.6 to 66.8 % in Chinese.
const ABOUT_THE_SAME: f64 = 0.16;

/// Files that were copied or checked out together differ by less, and it says nothing about them.
const APART: SignedDuration = SignedDuration::from_mins(1);

/// A memory that was found, with its whole text.
pub(super) struct FoundText {
    pub(super) hit: MemoryHit,
    pub(super) text: String,
}

/// What a memory is about.
struct MemorySubject {
    whole: TextSubject,
    /// Its name and description.
    heading: TextSubject,
    written: Timestamp,
}

/// Lets newer memories take the places of older ones about the same, among the first of a ranking.
pub(super) fn prefer_newer(
    found: &mut [FoundText],
    now: Timestamp,
    subject: impl Fn(&str) -> TextSubject,
) {
    let first = found.len().min(MAX_SURE);
    let Some(found) = found.get_mut(..first) else { return };
    let read = |FoundText { hit, text }: &FoundText| {
        let description = hit.memory.header.description.as_deref().unwrap_or_default();
        let heading = subject(&[hit.memory.name(), description].join("\n"));
        MemorySubject { whole: subject(text), heading, written: written(hit, now) }
    };
    let mut subjects: Vec<MemorySubject> = found.iter().map(read).collect();
    for place in 0..first {
        if let Some(newer) = newest_about_the_same(found, &subjects, place) {
            subjects.swap(place, newer);
            exchange(found, place, newer);
        }
    }
}

/// The newest of the memories further down that are about the same as the one at this place and newer than it.
fn newest_about_the_same(
    found: &[FoundText],
    subjects: &[MemorySubject],
    place: usize,
) -> Option<usize> {
    let (older, subject) = (&found.get(place)?.hit, subjects.get(place)?);
    let header = &older.memory.header;
    if older.tier == RecallTier::Unlikely || header.pinned || header.description.is_none() {
        return None;
    }
    let is_newer = |(_, (one, its_subject)): &(usize, (&FoundText, &MemorySubject))| {
        let newer = &one.hit;
        newer.store_index == older.store_index
            && newer.memory.header.kind == header.kind
            && newer.memory.header.description.is_some()
            && newer.memory.header.effective_trust() >= header.effective_trust()
            && !newer.memory.header.quarantined
            && newer.stale.is_none()
            && its_subject.written.duration_since(subject.written) >= APART
            && subject.whole.alike(&its_subject.whole) >= ABOUT_THE_SAME
            && has_what_is_asked_for(newer, older, &subject.heading)
    };
    let further_down = found.iter().zip(subjects).enumerate().skip(place + 1);
    let newest = further_down.filter(is_newer).max_by_key(|(_, (_, subject))| subject.written);
    newest.map(|(at, _)| at)
}

/// Whether the newer memory has every word of the message that names what the older one is about: of "order database" and
/// "product database", only one was asked for.
fn has_what_is_asked_for(newer: &MemoryHit, older: &MemoryHit, heading: &TextSubject) -> bool {
    let asked = older.matches.iter().filter(|found| is_word(found) && heading.has(&found.term));
    asked
        .map(|found| &found.word)
        .all(|word| newer.matches.iter().any(|own| is_word(own) && own.word == *word))
}

fn is_word(found: &TermMatch) -> bool {
    !matches!(found.kind, MatchKind::Work | MatchKind::File | MatchKind::Company)
}

/// When a memory was last written, as it says itself, or else its file. A time to come is a mistake.
fn written(hit: &MemoryHit, now: Timestamp) -> Timestamp {
    let header = &hit.memory.header;
    let said = header.modified.or(header.created).filter(|time| *time <= now);
    said.unwrap_or(hit.memory.modified)
}

/// Two memories exchange their places, with all that speaks for them.
fn exchange(found: &mut [FoundText], place: usize, newer: usize) {
    found.swap(place, newer);
    let (before, after) = found.split_at_mut(newer);
    let (Some(newer), Some(older)) = (before.get_mut(place), after.first_mut()) else { return };
    let (newer, older) = (&mut newer.hit, &mut older.hit);
    // What is bound to the place goes back to it.
    swap(&mut newer.score, &mut older.score);
    swap(&mut newer.confidence, &mut older.confidence);
    swap(&mut newer.tier, &mut older.tier);
    swap(&mut newer.evidence, &mut older.evidence);
    swap(&mut newer.fused_rank, &mut older.fused_rank);
    swap(&mut newer.matches, &mut older.matches);
    newer.exchanged = Some(PlaceExchange::NewerThan(older.memory.file.clone()));
    older.exchanged = Some(PlaceExchange::OlderThan(newer.memory.file.clone()));
}

//! Of two memories about the same, the newer one counts: a message that brings the older one brings it instead.
//!
//! A memory that replaces another one usually says so, and the other is removed. Not so if the contradiction was not noticed,
//! or if the newer one was written by hand or by another agent. Memories without a description are left as they are: as single facts,
//! they are worded alike without being about the same. And what comes from a less trusted source displaces nothing.

use std::mem::swap;

use dormouse_search::{RecallTier, TextSubject};
use jiff::Timestamp;

use super::choice::MAX_SURE;
use super::hit::MemoryHit;

/// From this similarity two memories are about the same. Chosen on `bench/practice/projects.json`, where the mean reciprocal
/// rank of what helps rises from 61.0 to 62.8 % in English and from 65.6 to 67.0 % in Chinese.
const ABOUT_THE_SAME: f64 = 0.16;

/// A memory that was found, with its whole text.
pub(super) struct FoundText {
    pub(super) hit: MemoryHit,
    pub(super) text: String,
}

/// Lets newer memories take the places of older ones about the same, among the first of a ranking.
pub(super) fn prefer_newer(found: &mut [FoundText], subject: impl Fn(&str) -> TextSubject) {
    let first = found.len().min(MAX_SURE);
    let Some(found) = found.get_mut(..first) else { return };
    let mut subjects: Vec<TextSubject> = found.iter().map(|one| subject(&one.text)).collect();
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
    subjects: &[TextSubject],
    place: usize,
) -> Option<usize> {
    let (older, subject) = (&found.get(place)?.hit, subjects.get(place)?);
    let header = &older.memory.header;
    if older.tier == RecallTier::Unlikely || header.pinned || header.description.is_none() {
        return None;
    }
    let is_newer = |(_, (one, its_subject)): &(usize, (&FoundText, &TextSubject))| {
        let newer = &one.hit;
        newer.store_index == older.store_index
            && newer.memory.header.kind == header.kind
            && newer.memory.header.description.is_some()
            && newer.memory.header.effective_trust() >= header.effective_trust()
            && !newer.memory.header.quarantined
            && newer.stale.is_none()
            && written(newer) > written(older)
            && subject.alike(its_subject) >= ABOUT_THE_SAME
    };
    let further_down = found.iter().zip(subjects).enumerate().skip(place + 1);
    further_down.filter(is_newer).max_by_key(|(_, (one, _))| written(&one.hit)).map(|(at, _)| at)
}

/// When a memory was last written, as it says itself, or else its file.
fn written(hit: &MemoryHit) -> Timestamp {
    let header = &hit.memory.header;
    header.modified.or(header.created).unwrap_or(hit.memory.modified)
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
    newer.instead_of = Some(older.memory.file.clone());
}

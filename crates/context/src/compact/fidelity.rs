//! What of the dropped part is still there after a compaction (C-23).

use std::sync::Arc;

use dormouse_conversation::Message;
use serde::{Deserialize, Serialize};

use super::identifiers::{HeldIdentifiers, IdentifierCensus, IdentifierKind, IdentifierUses};
use super::texts::{head, tail};
use super::user_texts::{UserText, keep_user_texts, user_text_in};

/// Below this share of identifiers the user's lost words are appended too.
pub const IDENTIFIERS_FLOOR: f64 = 0.8;
/// The user's last request is there, or it is not.
pub const LAST_REQUEST_FLOOR: f64 = 1.0;

/// Of more texts than this only the newest are measured: looking for a text costs more than for a name.
const MOST_TEXTS: usize = 2_000;
/// Of what the user has ever said, so much is searched for: a session of thousands of turns takes no longer.
const MOST_SAID: usize = 400;
/// From this many bytes on a message is shown by its beginning and its end.
const LONG_REQUEST: usize = 4_000;

/// Shares from 0 to 1; 1 where there was nothing to keep.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fidelity {
    /// Messages of the user.
    pub user_messages: f64,
    /// Paths.
    pub paths: f64,
    /// Identifiers, URLs and hashes.
    pub identifiers: f64,
    /// Numbers.
    pub numbers: f64,
    /// Error texts.
    pub errors: f64,
    /// Open tasks.
    pub open_tasks: f64,
    /// The user's last request.
    pub last_request: f64,
}

impl Fidelity {
    /// Whether the user's lost words are to be appended.
    pub fn below_floor(&self) -> bool {
        self.identifiers < IDENTIFIERS_FLOOR
            || self.paths < IDENTIFIERS_FLOOR
            || self.last_request < LAST_REQUEST_FLOOR
    }
}

/// What of the dropped messages and of the open tasks `after` still holds: all that the model sees now.
///
/// Names weigh by how many messages hold them, so that what a log said once does not decide. A last
/// request of more than a few thousand characters counts as held if its beginning and its end are.
pub fn measure_fidelity(dropped: &[Arc<Message>], open_tasks: &[String], after: &str) -> Fidelity {
    let census = IdentifierCensus::of(dropped);
    let held = HeldIdentifiers::in_text(after);
    let said = newest_said(dropped);
    let names = |kinds: &[IdentifierKind]| weighted(&census, &held, kinds);
    Fidelity {
        user_messages: part(said.iter().filter(|text| holds_said(&held, text)).count(), said.len()),
        paths: names(&[IdentifierKind::Path]),
        identifiers: names(&[
            IdentifierKind::Identifier,
            IdentifierKind::Url,
            IdentifierKind::Hash,
        ]),
        numbers: names(&[IdentifierKind::Number]),
        errors: errors(&census, &held),
        open_tasks: part(
            open_tasks.iter().filter(|task| held.text(task)).count(),
            open_tasks.len(),
        ),
        last_request: said.first().map_or(1.0, |last| f64::from(u8::from(holds_said(&held, last)))),
    }
}

/// The user's words that `after` does not hold, for a compaction below the floor; empty if it holds all.
pub fn lost_user_texts(said: &[UserText], after: &str, budget_tokens: u64) -> String {
    let held = HeldIdentifiers::in_text(after);
    let (older, newest) = said.split_at(said.len().saturating_sub(MOST_SAID));
    let lost = newest.iter().filter(|words| !holds_said(&held, &words.text));
    // The oldest are not searched for, and count as lost: how many there are is told.
    let lost: Vec<UserText> = older.iter().chain(lost).cloned().collect();
    keep_user_texts(&lost, budget_tokens)
}

/// What the user said, the newest first.
fn newest_said(dropped: &[Arc<Message>]) -> Vec<String> {
    dropped.iter().rev().filter_map(|message| user_text_in(message)).take(MOST_TEXTS).collect()
}

fn holds_said(held: &HeldIdentifiers, text: &str) -> bool {
    let text = text.trim();
    held.text(text)
        || (text.len() > LONG_REQUEST
            && held.text(head(text, LONG_REQUEST / 10))
            && held.text(tail(text, LONG_REQUEST / 10)))
}

/// Error texts weigh like names; only the latest are searched for, for each is a search of the whole text.
fn errors(census: &IdentifierCensus, held: &HeldIdentifiers) -> f64 {
    let mut errors: Vec<(&str, IdentifierUses)> = census.names(IdentifierKind::Error).collect();
    errors.sort_by_key(|(_, uses)| std::cmp::Reverse(uses.last));
    errors.truncate(MOST_TEXTS);
    share(errors.into_iter().map(|(error, uses)| (uses, held.text(error))))
}

fn weighted(census: &IdentifierCensus, held: &HeldIdentifiers, kinds: &[IdentifierKind]) -> f64 {
    share(
        kinds.iter().flat_map(|kind| {
            census.names(*kind).map(|(name, uses)| (uses, held.name(*kind, name)))
        }),
    )
}

/// The share that is held, each weighed by the messages that use it.
fn share(names: impl Iterator<Item = (IdentifierUses, bool)>) -> f64 {
    let (mut kept, mut all) = (0.0, 0.0);
    for (uses, is_held) in names {
        let weight = f64::from(uses.messages);
        all += weight;
        kept += if is_held { weight } else { 0.0 };
    }
    if all > 0.0 { kept / all } else { 1.0 }
}

#[expect(clippy::cast_precision_loss, reason = "counts of messages are small")]
fn part(held: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { held as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, now, results, user};

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    fn dropped() -> Vec<Arc<Message>> {
        vec![
            user("Mend src/main.rs please"),
            assistant(
                &["I look at src/main.rs, at read_file and at src/lib.rs, on port 8080."],
                &["1"],
            ),
            results(&[("1", "error: it broke\nline_one")]),
            user("Now use tabs"),
        ]
    }

    #[test]
    fn all_of_it() {
        let all: String = dropped().iter().map(|message| message.text() + "\n").collect();
        let fidelity = measure_fidelity(
            &dropped(),
            &["test it".into()],
            &(all + "error: it broke line_one test it"),
        );
        let whole = Fidelity {
            user_messages: 1.0,
            paths: 1.0,
            identifiers: 1.0,
            numbers: 1.0,
            errors: 1.0,
            open_tasks: 1.0,
            last_request: 1.0,
        };
        assert_eq!(fidelity, whole);
        assert!(!fidelity.below_floor());
    }

    #[test]
    fn a_part_of_it() {
        let tasks = ["test it".to_owned(), "ship it".to_owned()];
        let fidelity = measure_fidelity(
            &dropped(),
            &tasks,
            "In src/{main.rs} use read_file, then test it. Mend src/main.rs please",
        );
        // Two messages speak of one path, one of the other.
        assert!(near(fidelity.paths, 2.0 / 3.0), "{fidelity:?}");
        assert!(
            near(fidelity.identifiers, 0.5)
                && near(fidelity.numbers, 0.0)
                && near(fidelity.errors, 0.0)
        );
        assert!(near(fidelity.user_messages, 0.5) && near(fidelity.open_tasks, 0.5));
        assert!(near(fidelity.last_request, 0.0) && fidelity.below_floor());
    }

    #[test]
    fn lost_words_are_found() {
        let said = |text: &str| UserText {
            message: user("x").id,
            at: now(),
            text: text.to_owned(),
            location: "line 1".into(),
        };
        let words = [said("Use tabs."), said("Never push to main.")];
        let lost = lost_user_texts(&words, "The user said: Use tabs. They push often.", 1_000);
        assert_eq!(lost, "\n[2026-11-15 08:00, line 1]\nNever push to main.\n");
        assert_eq!(lost_user_texts(&words, "Use tabs. Never push to main.", 1_000), "");
        // Those that are too old to be searched for are counted.
        let many: Vec<UserText> =
            (0..MOST_SAID + 50).map(|n| said(&format!("number {n}."))).collect();
        let lost = lost_user_texts(&many, "", 1_000);
        let shown = lost.matches("number ").count();
        let told = format!("- {} older messages are not listed here", many.len() - shown);
        assert!(lost.contains(&told), "{told} in {lost}");
    }

    #[test]
    fn nothing_to_keep_is_all_kept() {
        assert!(!measure_fidelity(&[], &[], "").below_floor());
        let long = "a request ".repeat(1_000);
        let shown = super::super::texts::head_and_tail(&long, 3_000);
        assert!(near(measure_fidelity(&[user(&long)], &[], &shown).last_request, 1.0));
        assert!(near(measure_fidelity(&[user(&long)], &[], "a request").last_request, 0.0));
    }
}

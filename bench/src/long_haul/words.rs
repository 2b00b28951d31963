//! After a compaction: are the user's words still there (C-17)?
//!
//! The newest stand word for word, up to the budget; every other one is either word for word, or in a line with
//! its place, or among the oldest, whose number is told. Places are looked up: they hold the words they are
//! said to hold.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::Value;

use super::coder::texts;
use super::errand::{prompt, turn_of};

/// What the program writes in front of a message that it shows word for word, at most.
const HEADING: usize = 130;

/// How the message begins that stands for what was compacted.
const COMPACTED: &str = "The window was full, and the earlier part";

/// What stands above words that are said again because a summary lost them.
const SAID_AGAIN: &str = "## What the user also said";

/// What is found of what was said.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    /// Word for word.
    whole: BTreeSet<usize>,
    /// In a line, or cut.
    listed: BTreeSet<usize>,
    /// So many more, not listed.
    more: usize,
    /// Where each is said to be.
    places: Vec<(usize, String)>,
}

/// Whether messages stand on a compaction.
pub(super) fn are_compacted(messages: &[Value]) -> bool {
    messages.iter().any(|message| texts(message).iter().any(|text| text.starts_with(COMPACTED)))
}

/// Checks the messages of a request: all prompts up to `turn` were said; `room` is the budget in bytes.
pub(super) fn check(
    messages: &[Value],
    turn: usize,
    room: usize,
    at_place: impl Fn(&str) -> Option<String>,
) -> Result<()> {
    let found = find(messages);
    let mut left = room;
    for newest in (0..=turn).rev() {
        left = left.saturating_sub(prompt(newest).len() + HEADING);
        if left == 0 {
            break;
        }
        if !found.whole.contains(&newest) {
            bail!("the prompt of turn {newest} is not there verbatim");
        }
    }
    let missing: Vec<usize> = (0..=turn)
        .filter(|turn| !found.whole.contains(turn) && !found.listed.contains(turn))
        .collect();
    let oldest: Vec<usize> = (0..found.more).collect();
    if missing != oldest {
        let first: Vec<_> = missing.iter().filter(|turn| **turn >= found.more).take(3).collect();
        bail!(
            "{} prompts are neither shown nor listed, and {} are said to be; such as {first:?}",
            missing.len(),
            found.more
        );
    }
    for (turn, place) in &found.places {
        let there = at_place(place).unwrap_or_default();
        if !there.contains(&format!("#{turn} ")) {
            bail!("turn {turn} is not at {place}");
        }
    }
    Ok(())
}

fn find(messages: &[Value]) -> Found {
    let mut found = Found::default();
    for text in messages.iter().flat_map(texts) {
        if text.starts_with(COMPACTED) {
            found.read_summary(text);
        } else if let Some(turn) = turn_of(text).filter(|turn| text.trim() == prompt(*turn).trim())
        {
            found.whole.insert(turn);
        }
    }
    found
}

impl Found {
    fn read_summary(&mut self, text: &str) {
        // What is said again further down is not needed to find everything.
        let text = text.split_once(SAID_AGAIN).map_or(text, |(first, _)| first);
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("]\n#") {
            let place = before.rsplit_once('[').and_then(|(_, at)| Some(at.split_once(", ")?.1));
            let shown = format!("#{}", behind.get(..8).unwrap_or(behind));
            if let (Some(place), Some(turn)) = (place, turn_of(&shown)) {
                self.places.push((turn, place.to_owned()));
                let words = prompt(turn);
                let whole = words.strip_prefix('#').is_some_and(|words| behind.starts_with(words));
                (if whole { &mut self.whole } else { &mut self.listed }).insert(turn);
            }
            rest = behind;
        }
        for line in text.lines().filter_map(|line| line.strip_prefix("- ")) {
            if let Some((more, _)) = line.split_once(" older messages are not listed here") {
                self.more = more.parse().unwrap_or(0);
            } else if let Some((head, words)) = line.split_once(": #")
                && let Some(turn) = turn_of(&format!("#{words}"))
                && let Some((_, place)) = head.split_once(", ")
            {
                self.listed.insert(turn);
                self.places.push((turn, place.to_owned()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A compacted conversation: turns 0 to 3 untold, 4 in a line, 5 and 6 word for word, 7 as a message.
    fn messages(more: usize) -> Vec<Value> {
        let text = format!(
            "{COMPACTED} …\n\n- {more} older messages are not listed here; Grep\n- 2026-11-15 08:00, line 4 of the transcript: #4 Please\n\n[2026-11-15 08:00, line 5 of the transcript]\n{}\n\n[2026-11-15 08:01, line 6 of the transcript]\n{}\n",
            prompt(5),
            prompt(6)
        );
        vec![
            json!({"role": "user", "content": [{"type": "text", "text": text}]}),
            json!({"role": "user", "content": [{"type": "text", "text": prompt(7)}]}),
        ]
    }

    fn place(place: &str) -> Option<String> {
        let number: usize = place.strip_prefix("line ")?.split(' ').next()?.parse().ok()?;
        Some(prompt(number))
    }

    #[test]
    fn all_is_there() {
        let room = prompt(7).len() + prompt(6).len() + 3 * HEADING;
        check(&messages(4), 7, room, place).unwrap();
    }

    #[test]
    fn what_is_lost_is_seen() {
        assert!(check(&messages(3), 7, 500, place).is_err(), "one more is missing than told");
        assert!(check(&messages(4), 8, 500, place).is_err(), "the newest is gone");
        assert!(check(&messages(4), 7, 100_000, place).is_err(), "there was room for more");
        assert!(check(&messages(4), 7, 500, |_| Some("#9 ".into())).is_err(), "wrong places");
        let mut cut = messages(4);
        cut.pop();
        assert!(check(&cut, 7, 500, place).is_err(), "the message is gone");
    }
}

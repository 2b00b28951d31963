//! Passages of past sessions that have the words of a query: an error text, a path, a function.
//!
//! Searched is what was said and what tools answered; not what the program put in, which repeats what stands
//! elsewhere.

use std::io::{BufRead, BufReader};

use dormouse_base::{Dir, FileAction, FileError, SessionId};
use jiff::Timestamp;

use super::format::LineIn;
use super::sessions::{session_file, session_files};
use crate::block::{Block, BlockKind, ResultContent};
use crate::message::Role;
use crate::reminder_tags::is_reminder;

/// A passage around what was found, in characters on either side.
const AROUND: usize = 160;

/// A passage that has words of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Passage {
    /// The session.
    pub session: SessionId,
    /// When it was said; none where the line does not tell.
    pub time: Option<Timestamp>,
    /// By whom.
    pub role: Role,
    /// Whether it is what a tool answered.
    pub is_result: bool,
    /// The words around the first of those found, on one line.
    pub text: String,
    /// The share of the query's words that it has; above 1 where it has them as they were asked for.
    pub score: f64,
}

/// The best passages of a project's sessions, the newest first among equals.
pub fn search_sessions(dir: &Dir, query: &str, most: usize) -> Result<Vec<Passage>, FileError> {
    let wanted = Wanted::of(query);
    let mut found = Vec::new();
    for (session, _) in session_files(dir)? {
        let path = session_file(session);
        // A file that went away between the listing and here is no longer a session.
        let Ok(file) = dir.open_file(&path) else { continue };
        for line in BufReader::new(file).split(b'\n') {
            let line = line.map_err(|error| {
                FileError::new(FileAction::Read, dir.path().join(path.as_path()), error)
            })?;
            found.extend(wanted.passages(session, &line));
        }
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.time.cmp(&a.time)));
    found.truncate(most);
    Ok(found)
}

/// A query, taken apart.
struct Wanted {
    whole: String,
    words: Vec<String>,
}

impl Wanted {
    fn of(query: &str) -> Self {
        let whole = query.trim().to_lowercase();
        let mut words: Vec<String> = whole.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words.dedup();
        Self { whole, words }
    }

    fn passages(&self, session: SessionId, line: &[u8]) -> Vec<Passage> {
        // What cannot be read is nobody's passage; loading the session says so.
        let Ok(line) = serde_json::from_slice::<LineIn<'_>>(line) else { return Vec::new() };
        let Some(message) = line.message.filter(|_| !line.is_meta) else { return Vec::new() };
        let time = line.timestamp.and_then(|time| time.parse().ok());
        let passage = |block: &Block| {
            let (text, is_result) = text_of(block)?;
            let (score, text) = self.score(&text)?;
            Some(Passage { session, time, role: message.role, is_result, text, score })
        };
        message.content.0.iter().filter_map(passage).collect()
    }

    /// How well a text fits, and the words around; none if it has none of them.
    fn score(&self, text: &str) -> Option<(f64, String)> {
        let lower = text.to_lowercase();
        let places: Vec<usize> = self.words.iter().filter_map(|word| lower.find(word)).collect();
        let whole = lower.find(&self.whole);
        let first = whole.or(places.iter().min().copied()).filter(|_| !self.words.is_empty())?;
        #[expect(clippy::cast_precision_loss, reason = "a query has few words")]
        let share = places.len() as f64 / self.words.len() as f64;
        let bonus = if whole.is_some() && self.words.len() > 1 { 0.5 } else { 0.0 };
        Some((share + bonus, around(&lower, text, first)))
    }
}

/// What was said in a block, or answered by a tool.
fn text_of(block: &Block) -> Option<(String, bool)> {
    if let Some(text) = block.as_text() {
        return (!is_reminder(&text)).then_some((text, false));
    }
    match (block.kind(), block.result_content()?) {
        (BlockKind::ToolResult { .. }, ResultContent::Text(text)) => Some((text, true)),
        _ => None,
    }
}

/// A piece of the text around a place in its lower-case form, whose letters may have other lengths.
fn around(lower: &str, text: &str, place: usize) -> String {
    let before = lower.get(..place).unwrap_or_default().chars().count();
    let skipped = before.saturating_sub(AROUND);
    let piece: String = text.chars().skip(skipped).take(2 * AROUND).collect();
    let piece: Vec<&str> = piece.split_whitespace().collect();
    piece.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_together_count_more_than_apart() {
        let wanted = Wanted::of("Broken  pipe");
        let score = |text: &str| wanted.score(text).map(|(score, _)| score);
        assert_eq!(score("a pipe that was broken"), Some(1.0));
        assert_eq!(score("it is broken"), Some(0.5));
        assert_eq!(score("nothing of it"), None);
        assert_eq!(
            Wanted::of("broken pipe").score("BROKEN PIPE!").unwrap(),
            (1.5, "BROKEN PIPE!".to_owned())
        );
        let long = format!("{}İ the quay is broken {}", "x ".repeat(400), "y ".repeat(400));
        let (_, text) = wanted.score(&long).unwrap();
        assert!(text.contains("the quay is broken") && text.len() < 500, "{text}");
    }
}

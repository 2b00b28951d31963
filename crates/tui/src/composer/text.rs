//! A text with a cursor: movements, changes, undo.

use unicode_segmentation::UnicodeSegmentation;

/// How many states are kept for undo.
const MOST_STATES: usize = 200;

/// Where a movement or a deletion goes, seen from the cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
}

/// The kind of the last change: letters typed one after the other are undone together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastChange {
    Typed,
    Other,
}

/// A text that is being edited. The cursor is always between two characters as a person sees them.
#[derive(Debug, Clone)]
pub(super) struct EditedText {
    text: String,
    /// In bytes.
    cursor: usize,
    undo: Vec<(String, usize)>,
    last: LastChange,
}

impl Default for EditedText {
    fn default() -> Self {
        Self { text: String::new(), cursor: 0, undo: Vec::new(), last: LastChange::Other }
    }
}

impl EditedText {
    /// The whole text.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// The text after the cursor.
    pub(super) fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    /// Replaces all of it; the cursor is at the end.
    pub(super) fn set(&mut self, text: &str) {
        self.remember(LastChange::Other);
        text.clone_into(&mut self.text);
        self.cursor = self.text.len();
    }

    /// Takes the text out; undo brings it back.
    pub(super) fn take(&mut self) -> String {
        self.remember(LastChange::Other);
        self.cursor = 0;
        std::mem::take(&mut self.text)
    }

    /// Puts text in before the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        let is_letter = text.graphemes(true).nth(1).is_none() && !text.trim().is_empty();
        self.remember(if is_letter { LastChange::Typed } else { LastChange::Other });
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// Moves the cursor.
    pub(super) fn move_by(&mut self, motion: Motion) {
        self.cursor = self.target(motion);
        self.last = LastChange::Other;
    }

    /// Deletes from the cursor to where the motion leads; returns what was there.
    pub(super) fn delete(&mut self, motion: Motion) -> String {
        let target = self.target(motion);
        let (start, end) = (target.min(self.cursor), target.max(self.cursor));
        self.delete_range(start, end)
    }

    /// Deletes the last bytes before the cursor.
    pub(super) fn delete_before(&mut self, bytes: usize) -> String {
        self.delete_range(self.cursor.saturating_sub(bytes), self.cursor)
    }

    fn delete_range(&mut self, start: usize, end: usize) -> String {
        if start >= end || self.text.get(start..end).is_none() {
            return String::new();
        }
        self.remember(LastChange::Other);
        self.cursor = start;
        self.text.drain(start..end).collect()
    }

    /// Moves the cursor to the line above or below, at about the same column; says whether there is one.
    pub(super) fn move_line(&mut self, is_up: bool) -> bool {
        let start = self.target(Motion::LineStart);
        let column = self.text.get(start..self.cursor).unwrap_or_default().graphemes(true).count();
        let other_start = if is_up {
            let Some(end) = start.checked_sub(1) else { return false };
            self.text.get(..end).unwrap_or_default().rfind('\n').map_or(0, |at| at + 1)
        } else {
            let end = self.target(Motion::LineEnd);
            if end == self.text.len() {
                return false;
            }
            end + 1
        };
        let line = self.text.get(other_start..).unwrap_or_default().split('\n').next();
        let kept: usize = line.unwrap_or_default().graphemes(true).take(column).map(str::len).sum();
        self.cursor = other_start + kept;
        self.last = LastChange::Other;
        true
    }

    /// Takes the last change back.
    pub(super) fn undo(&mut self) {
        if let Some((text, cursor)) = self.undo.pop() {
            (self.text, self.cursor) = (text, cursor);
        }
        self.last = LastChange::Other;
    }

    fn remember(&mut self, change: LastChange) {
        if !(change == LastChange::Typed && self.last == LastChange::Typed) {
            self.undo.push((self.text.clone(), self.cursor));
            if self.undo.len() > MOST_STATES {
                self.undo.remove(0);
            }
        }
        self.last = change;
    }

    fn target(&self, motion: Motion) -> usize {
        let (before, after) = (self.before(), self.after());
        match motion {
            Motion::Left => self.cursor - before.graphemes(true).next_back().map_or(0, str::len),
            Motion::Right => self.cursor + after.graphemes(true).next().map_or(0, str::len),
            Motion::WordLeft => {
                let words = before.unicode_word_indices().next_back();
                words.map_or(0, |(at, _)| at)
            }
            Motion::WordRight => {
                let word = after.unicode_word_indices().next();
                self.cursor + word.map_or(after.len(), |(at, word)| at + word.len())
            }
            Motion::LineStart => before.rfind('\n').map_or(0, |at| at + 1),
            Motion::LineEnd => self.cursor + after.find('\n').unwrap_or(after.len()),
            Motion::TextStart => 0,
            Motion::TextEnd => self.text.len(),
        }
    }
}

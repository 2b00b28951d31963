//! The composer: the message that is being typed, with the keys that people know from shells and editors.
//!
//! Nothing typed is lost: a cleared or sent text is in the history and comes back with Up or undo.

mod history;
mod layout;
mod paste;
mod text;

use crate::keys::{KeyCode, KeyEvent, KeyModifiers};

use history::EarlierPrompts;
pub use layout::ComposerRows;
use paste::FoldedPastes;
use text::{EditedText, Motion};

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComposerResult {
    /// The key means nothing here.
    Ignored,
    /// Text or cursor changed.
    Changed,
    /// Enter: the message, with pastes in full. The composer is empty.
    Submitted(String),
}

/// The message that is being typed.
#[derive(Debug, Clone, Default)]
pub struct Composer {
    edited: EditedText,
    killed: String,
    history: EarlierPrompts,
    pastes: FoldedPastes,
}

impl Composer {
    /// With earlier prompts, oldest first.
    pub fn new(entries: Vec<String>) -> Self {
        Self { history: EarlierPrompts::new(entries), ..Self::default() }
    }

    /// The text as it is shown.
    pub fn text(&self) -> &str {
        self.edited.as_str()
    }

    /// The text before the cursor.
    pub fn before_cursor(&self) -> &str {
        self.edited.before()
    }

    /// Whether nothing is typed.
    pub fn is_empty(&self) -> bool {
        self.text().is_empty()
    }

    /// Earlier prompts, oldest first.
    pub fn earlier(&self) -> &[String] {
        self.history.entries()
    }

    /// Replaces the text; the cursor is at the end.
    pub fn set(&mut self, text: &str) {
        self.edited.set(text);
        self.history.leave();
    }

    /// Replaces the word before the cursor, as a completion does.
    pub fn replace_before_cursor(&mut self, bytes: usize, text: &str) {
        self.edited.delete_before(bytes);
        self.edited.insert(text);
    }

    /// Clears the text; Up brings it back.
    pub fn clear(&mut self) {
        self.submit();
    }

    /// Takes the message out, with pastes in full, and remembers it.
    pub fn submit(&mut self) -> String {
        let text = self.pastes.unfold(&self.edited.take());
        self.pastes.clear();
        self.history.add(&text);
        text
    }

    /// Takes pasted text.
    pub fn paste(&mut self, pasted: &str) {
        let text = self.pastes.fold(pasted);
        self.edited.insert(&text);
        self.history.leave();
    }

    /// The message as it would be sent.
    pub fn unfolded(&self) -> String {
        self.pastes.unfold(self.text())
    }

    /// The rows to draw.
    pub fn rows(&self, columns: usize, most: usize) -> ComposerRows {
        layout::rows(self.edited.before(), self.edited.after(), columns, most)
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> ComposerResult {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        match key.code {
            KeyCode::Enter if alt || shift || control => self.insert("\n"),
            KeyCode::Enter => return self.enter(),
            KeyCode::Char(letter) if control => return self.control(letter),
            KeyCode::Char(letter) if alt => return self.alt(letter),
            KeyCode::Char(letter) => self.insert(letter.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if alt || control => self.kill(Motion::WordLeft),
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete => drop(self.edited.delete(Motion::Right)),
            KeyCode::Left if alt || control => self.edited.move_by(Motion::WordLeft),
            KeyCode::Right if alt || control => self.edited.move_by(Motion::WordRight),
            KeyCode::Left => self.edited.move_by(Motion::Left),
            KeyCode::Right => self.edited.move_by(Motion::Right),
            KeyCode::Home if control => self.edited.move_by(Motion::TextStart),
            KeyCode::End if control => self.edited.move_by(Motion::TextEnd),
            KeyCode::Home => self.edited.move_by(Motion::LineStart),
            KeyCode::End => self.edited.move_by(Motion::LineEnd),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            _ => return ComposerResult::Ignored,
        }
        ComposerResult::Changed
    }

    fn control(&mut self, letter: char) -> ComposerResult {
        match letter.to_ascii_lowercase() {
            'a' => self.edited.move_by(Motion::LineStart),
            'e' => self.edited.move_by(Motion::LineEnd),
            'b' => self.edited.move_by(Motion::Left),
            'f' => self.edited.move_by(Motion::Right),
            'd' => drop(self.edited.delete(Motion::Right)),
            'h' => self.backspace(),
            'j' => self.insert("\n"),
            'k' => self.kill(Motion::LineEnd),
            'u' => self.kill(Motion::LineStart),
            'w' => self.kill(Motion::WordLeft),
            'y' => {
                let killed = std::mem::take(&mut self.killed);
                self.insert(&killed);
                self.killed = killed;
            }
            'p' => self.up(),
            'n' => self.down(),
            // Ctrl-_ arrives as one or the other.
            '_' | '7' | '/' => self.edited.undo(),
            _ => return ComposerResult::Ignored,
        }
        ComposerResult::Changed
    }

    fn alt(&mut self, letter: char) -> ComposerResult {
        match letter {
            'b' => self.edited.move_by(Motion::WordLeft),
            'f' => self.edited.move_by(Motion::WordRight),
            'd' => self.kill(Motion::WordRight),
            '<' => self.edited.move_by(Motion::TextStart),
            '>' => self.edited.move_by(Motion::TextEnd),
            _ => return ComposerResult::Ignored,
        }
        ComposerResult::Changed
    }

    fn insert(&mut self, text: &str) {
        self.edited.insert(text);
        self.history.leave();
    }

    /// A backslash at the end of the text continues the line.
    fn enter(&mut self) -> ComposerResult {
        if self.edited.after().is_empty() && self.edited.before().ends_with('\\') {
            self.edited.delete(Motion::Left);
            self.insert("\n");
            return ComposerResult::Changed;
        }
        ComposerResult::Submitted(self.submit())
    }

    fn backspace(&mut self) {
        match self.pastes.mark_at_end(self.edited.before()).map(str::len) {
            Some(bytes) => self.edited.delete_before(bytes),
            None => self.edited.delete(Motion::Left),
        };
        self.history.leave();
    }

    fn kill(&mut self, motion: Motion) {
        let killed = self.edited.delete(motion);
        if !killed.is_empty() {
            self.killed = killed;
        }
    }

    fn up(&mut self) {
        if !self.edited.move_line(true)
            && let Some(entry) = self.history.older(self.edited.as_str())
        {
            self.edited.set(entry);
        }
    }

    fn down(&mut self) {
        if !self.edited.move_line(false)
            && let Some(entry) = self.history.newer()
        {
            self.edited.set(&entry);
        }
    }
}

#[cfg(test)]
#[path = "composer_tests.rs"]
mod tests;

//! Writing to the terminal: finished rows, and a one-row status after them.
//!
//! Invariant: only the status is ever overwritten, and only within its row.

use crate::terminal::color::ColorMode;
use crate::terminal::tty;
use crate::wiring::print;
use dormouse_tui::style::{Piece, Style};
use dormouse_tui::width;

/// How the status is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusMode {
    /// Overwritten in its row.
    InPlace,
    /// Each update is a new line, for screen readers, logs and terminals without control sequences.
    Appended,
}

#[derive(Debug)]
pub(crate) struct Screen {
    color: ColorMode,
    status: StatusMode,
    /// The column of the next character, the status not counted.
    column: usize,
    /// The status on the screen.
    shown: Option<String>,
}

impl Screen {
    pub(crate) fn new(color: ColorMode, status: StatusMode) -> Self {
        Self { color, status, column: 0, shown: None }
    }

    pub(crate) fn status_mode(&self) -> StatusMode {
        self.status
    }

    /// Whether the cursor is inside a row.
    pub(crate) fn is_mid_row(&self) -> bool {
        self.column > 0
    }

    /// Appends pieces. Their text must be printable.
    pub(crate) fn put(&mut self, pieces: &[Piece]) {
        if pieces.is_empty() {
            return;
        }
        let mut out = self.without_status();
        for piece in pieces {
            match piece {
                Piece::Newline => {
                    out.push('\n');
                    self.column = 0;
                }
                Piece::Text(text, style) => {
                    out.push_str(&self.styled(text, *style));
                    self.column += width::of(text);
                }
            }
        }
        print::rendered(&out);
    }

    /// Replaces the status. It is left out where the cursor is inside a row without space for it.
    pub(crate) fn set_status(&mut self, text: &str) {
        if self.status == StatusMode::Appended {
            self.put(&[Piece::text(text, Style::DIM), Piece::Newline]);
            return;
        }
        let room = tty::columns().saturating_sub(self.column + 1);
        let text = if self.is_mid_row() { format!(" [{text}]") } else { width::fitted(text, room) };
        if width::of(&text) > room || self.shown.as_ref() == Some(&text) {
            return;
        }
        let out = self.without_status() + &self.styled(&text, Style::DIM);
        print::rendered(&out);
        self.shown = Some(text);
    }

    pub(crate) fn clear_status(&mut self) {
        let out = self.without_status();
        print::rendered(&out);
    }

    /// The cursor is at the start of a row because another writer used the terminal.
    pub(crate) fn row_ended(&mut self) {
        self.column = 0;
        self.shown = None;
    }

    /// The control sequence that removes the status.
    fn without_status(&mut self) -> String {
        match self.shown.take() {
            Some(_) => format!("\x1b[{}G\x1b[K", self.column + 1),
            None => String::new(),
        }
    }

    fn styled(&self, text: &str, style: Style) -> String {
        let on = if self.color == ColorMode::Colored { style.sequence() } else { String::new() };
        if on.is_empty() { text.to_owned() } else { format!("{on}{text}\x1b[0m") }
    }
}

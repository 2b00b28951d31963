//! What is written to the terminal: rows that are finished, and one short status behind them.
//!
//! Invariant: nothing but the status is ever taken back, and that only within its own row.

use crate::terminal::markdown::{Piece, Style};
use crate::terminal::width;
use crate::wiring::print;

use crate::terminal::tty;

/// Whether text is marked by colours, bold and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    Styled,
    Bare,
}

/// Whether the status may be written over itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// In its row.
    Rewritten,
    /// Never: each is a line of its own, for screen readers, logs and terminals that can not.
    Appended,
}

/// The terminal, as far as this program writes to it.
#[derive(Debug)]
pub(crate) struct Screen {
    looks: Looks,
    status: Status,
    /// Where the next letter goes, the status aside.
    column: usize,
    /// The status that stands there.
    shown: Option<String>,
}

impl Screen {
    pub(crate) fn new(looks: Looks, status: Status) -> Self {
        Self { looks, status, column: 0, shown: None }
    }

    pub(crate) fn status_kind(&self) -> Status {
        self.status
    }

    /// Whether a row is open.
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

    /// Puts the status behind what is there, in place of the one before. It is left out where a row is
    /// open and has no room for it.
    pub(crate) fn set_status(&mut self, text: &str) {
        if self.status == Status::Appended {
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

    /// The cursor stands at the beginning of a row: somebody else has written.
    pub(crate) fn row_ended(&mut self) {
        self.column = 0;
        self.shown = None;
    }

    /// What takes the status away.
    fn without_status(&mut self) -> String {
        match self.shown.take() {
            Some(_) => format!("\x1b[{}G\x1b[K", self.column + 1),
            None => String::new(),
        }
    }

    fn styled(&self, text: &str, style: Style) -> String {
        let on = if self.looks == Looks::Styled { style.sequence() } else { String::new() };
        if on.is_empty() { text.to_owned() } else { format!("{on}{text}\x1b[0m") }
    }
}

//! Writing to the terminal: finished rows, and below them what is going on.
//!
//! Two ways: rows that are only ever appended, for screen readers, logs and terminals without control sequences, or a live part
//! below the finished rows ([`LiveScreen`]).

use dormouse_tui::style::Piece;
use dormouse_tui::width;

use crate::terminal::tty;
use crate::wiring::print;

use super::live_screen::LiveScreen;

/// Where output goes.
#[derive(Debug)]
pub(crate) enum Screen {
    Lines(LineScreen),
    Live(Box<LiveScreen>),
}

impl Screen {
    /// Columns that a row may take.
    pub(crate) fn columns(&self) -> usize {
        match self {
            Self::Lines(_) => tty::columns(),
            Self::Live(screen) => screen.columns(),
        }
    }

    /// Whether the cursor is inside a row.
    pub(crate) fn is_mid_row(&self) -> bool {
        match self {
            Self::Lines(screen) => screen.column > 0,
            Self::Live(screen) => screen.is_mid_row(),
        }
    }

    /// Appends pieces. Their text must be printable.
    pub(crate) fn put(&mut self, pieces: &[Piece]) {
        match self {
            Self::Lines(screen) => screen.put(pieces),
            Self::Live(screen) => screen.put(pieces),
        }
    }

    /// The cursor is at the start of a row because another writer used the terminal.
    pub(crate) fn row_ended(&mut self) {
        if let Self::Lines(screen) = self {
            screen.column = 0;
        }
    }

    /// The live part, where there is one.
    pub(crate) fn live(&mut self) -> Option<&mut LiveScreen> {
        match self {
            Self::Lines(_) => None,
            Self::Live(screen) => Some(screen),
        }
    }
}

/// Rows without styles, one after the other.
#[derive(Debug, Default)]
pub(crate) struct LineScreen {
    /// The column of the next character.
    column: usize,
}

impl LineScreen {
    fn put(&mut self, pieces: &[Piece]) {
        let mut out = String::new();
        for piece in pieces {
            match piece {
                Piece::Newline => {
                    out.push('\n');
                    self.column = 0;
                }
                Piece::Text(text, _) => {
                    out.push_str(text);
                    self.column += width::of(text);
                }
            }
        }
        print::rendered(&out);
    }
}

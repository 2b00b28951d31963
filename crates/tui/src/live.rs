//! What is drawn below the finished content: rows of styled text, and the place of the cursor.

use crate::style::Style;
use crate::width;

/// A row of styled text.
pub type LiveRow = Vec<(String, Style)>;

/// The live part of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveView {
    /// From top to bottom. They are cut at the width of the terminal.
    pub rows: Vec<LiveRow>,
    /// Where the cursor is shown.
    pub cursor: CursorPlace,
}

/// A place in the live part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CursorPlace {
    /// The row, from the top.
    pub row: u16,
    /// The column, from the left.
    pub column: u16,
}

impl LiveView {
    /// The rows without styles, for tests and screen readers.
    pub fn text(&self) -> Vec<String> {
        let text = |row: &LiveRow| row.iter().map(|(text, _)| text.as_str()).collect();
        self.rows.iter().map(text).collect()
    }
}

/// A row of one style, shortened to a width.
pub fn fitted_row(text: &str, style: Style, columns: usize) -> LiveRow {
    vec![(width::fitted(text, columns), style)]
}

//! What is drawn below the finished content: rows of styled text, and the place of the cursor.

use crate::markdown::Flow;
use crate::style::{Piece, Style};
use crate::width;

/// The mark before what is selected in a list: seen without colors too.
pub(crate) const SELECTED: &str = "❯ ";
pub(crate) const NOT_SELECTED: &str = "  ";

/// At most so many to-dos are shown at once.
const TODO_ROWS: usize = 5;

/// A few of the to-dos: from the last one that is done, which is dim, on.
pub(crate) fn todo_rows(
    todos: &[(String, Style)],
    columns: usize,
) -> impl Iterator<Item = LiveRow> + '_ {
    let next = todos.iter().position(|(_, style)| *style != Style::DIM).unwrap_or(0);
    let first = next.saturating_sub(1).min(todos.len().saturating_sub(TODO_ROWS));
    let shown = todos.iter().skip(first).take(TODO_ROWS);
    shown.map(move |(todo, style)| fitted_row(todo, *style, columns))
}

/// The parts of the status line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusParts {
    /// From left to right.
    pub parts: Vec<(String, Style)>,
    /// Before which of them the permission mode stands, if it is shown.
    pub mode_at: Option<usize>,
}

/// Between two parts of a status line.
const MARK: &str = " · ";

/// The parts of a status line that fit, with marks between them. What does not fit is left out whole.
pub(crate) fn fitting_parts(parts: &[(String, Style)], columns: usize) -> LiveRow {
    let mut row = LiveRow::new();
    let mut used = 0;
    for (text, style) in parts {
        let mark = if row.is_empty() { "" } else { MARK };
        // The first part is cut if it must be.
        let text = if row.is_empty() { width::fitted(text, columns) } else { text.clone() };
        let needed = width::of(mark) + width::of(&text);
        if used + needed <= columns {
            used += needed;
            row.extend([(mark.to_owned(), Style::DIM), (text, *style)]);
        }
    }
    row
}

/// The rows that a row needs in so many columns, with its styles; at least one.
pub fn rewrapped(row: &LiveRow, columns: usize) -> Vec<LiveRow> {
    let mut flow = Flow::new(columns);
    for (text, style) in row {
        text.chars().for_each(|letter| flow.put(letter, *style));
    }
    flow.end_row();
    let mut rows = vec![LiveRow::new()];
    for piece in flow.take() {
        match (piece, rows.last_mut()) {
            (Piece::Text(text, style), Some(last)) => last.push((text, style)),
            (Piece::Text(..), None) => {}
            (Piece::Newline, _) => rows.push(LiveRow::new()),
        }
    }
    // The last row is ended as well.
    rows.pop();
    if rows.is_empty() { vec![LiveRow::new()] } else { rows }
}

/// A row of styled text.
pub type LiveRow = Vec<(String, Style)>;

/// The live part of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveView {
    /// From top to bottom. They are cut at the width of the terminal.
    pub rows: Vec<LiveRow>,
    /// Whether the first row is one of the finished content that is still being written.
    pub has_tail: bool,
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

/// Rows of one style, wrapped at words; those after the first are indented by so many columns.
pub fn wrapped_rows(text: &str, style: Style, columns: usize, indent: usize) -> Vec<LiveRow> {
    let mut flow = Flow::new(columns);
    flow.begin(Vec::new(), vec![(" ".repeat(indent), style)]);
    text.chars().for_each(|letter| flow.put(letter, style));
    flow.end_row();
    let mut rows = vec![LiveRow::new()];
    for piece in flow.take() {
        match (piece, rows.last_mut()) {
            (Piece::Text(text, style), Some(row)) => row.push((text, style)),
            (Piece::Newline, _) => rows.push(LiveRow::new()),
            (Piece::Text(..), None) => {}
        }
    }
    rows.pop_if(|row| row.is_empty());
    rows
}

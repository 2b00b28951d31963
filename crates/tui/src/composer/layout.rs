//! The rows of the composer: text wrapped at the width of the terminal, and the rows around the cursor where there are many.

use unicode_segmentation::UnicodeSegmentation;

use crate::width;

/// Columns of a tab in the composer.
const TAB: &str = "    ";

/// The visible rows of the composer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComposerRows {
    /// From top to bottom; at least one.
    pub rows: Vec<String>,
    /// The row of the cursor, from the first visible one.
    pub cursor_row: usize,
    /// The column of the cursor.
    pub cursor_column: usize,
    /// How many rows are hidden above.
    pub hidden_above: usize,
    /// How many rows are hidden below.
    pub hidden_below: usize,
}

/// Wraps the text before and after the cursor; shows at most so many rows, the cursor's among them.
pub(super) fn rows(before: &str, after: &str, columns: usize, most: usize) -> ComposerRows {
    let (columns, most) = (columns.max(2), most.max(1));
    let mut wrapped = Wrapped { rows: vec![String::new()], column: 0, columns };
    wrapped.add(before);
    // The cursor needs a column of its own.
    if wrapped.column >= columns {
        wrapped.break_row();
    }
    let (cursor_row, cursor_column) = (wrapped.rows.len() - 1, wrapped.column);
    wrapped.add(after);
    let all = wrapped.rows.len();
    let first = (cursor_row + 1).saturating_sub(most).min(all.saturating_sub(most));
    let visible: Vec<String> = wrapped.rows.into_iter().skip(first).take(most).collect();
    let hidden_below = all - first - visible.len();
    ComposerRows {
        rows: visible,
        cursor_row: cursor_row - first,
        cursor_column,
        hidden_above: first,
        hidden_below,
    }
}

struct Wrapped {
    rows: Vec<String>,
    column: usize,
    columns: usize,
}

impl Wrapped {
    fn add(&mut self, text: &str) {
        for grapheme in text.graphemes(true) {
            match grapheme {
                "\n" | "\r\n" => self.break_row(),
                "\t" => self.put(TAB),
                grapheme => self.put(&dormouse_base::printable(grapheme)),
            }
        }
    }

    fn put(&mut self, shown: &str) {
        let columns = width::of(shown);
        if self.column + columns > self.columns {
            self.break_row();
        }
        if let Some(row) = self.rows.last_mut() {
            row.push_str(shown);
        }
        self.column += columns;
    }

    fn break_row(&mut self) {
        self.rows.push(String::new());
        self.column = 0;
    }
}

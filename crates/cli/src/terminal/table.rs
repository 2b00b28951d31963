//! A table for a terminal of 80 columns: names on the left, numbers on the right of their columns.

use dormouse_base::group_digits;
pub(crate) use dormouse_base::{
    format_bytes as size, format_dollars as dollars, format_percent as percent,
};

use dormouse_tui::width::{self, fitted};

/// The widest that a table gets.
const COLUMNS: usize = 80;
const GAP: &str = "  ";

pub(crate) struct NumberTable {
    rows: Vec<Vec<String>>,
}

impl NumberTable {
    pub(crate) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![head.into_iter().map(Into::into).collect()] }
    }

    pub(crate) fn row(&mut self, name: &str, cells: impl IntoIterator<Item = String>) {
        let mut row = vec![name.to_owned()];
        row.extend(cells);
        self.rows.push(row);
    }

    pub(crate) fn render(&self) -> String {
        let widths = self.widths();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let cell = if place == 0 { fitted(cell, *width) } else { cell.clone() };
                let padding = " ".repeat(width.saturating_sub(width::of(&cell)));
                if place == 0 {
                    line.push_str(&format!("{cell}{padding}"));
                } else {
                    line.push_str(&format!("{GAP}{padding}{cell}"));
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// As wide as the widest cell; the names get what the numbers leave.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.first().map_or(0, Vec::len);
        let mut widths: Vec<usize> = (0..columns)
            .map(|place| {
                let cells = self.rows.iter().filter_map(|row| row.get(place));
                cells.map(|cell| width::of(cell)).max().unwrap_or(0)
            })
            .collect();
        let numbers: usize = widths.iter().skip(1).map(|width| width + GAP.len()).sum();
        if let Some(names) = widths.first_mut() {
            *names = (*names).min(COLUMNS.saturating_sub(numbers));
        }
        widths
    }
}

/// Tokens: all digits as long as they fit, then millions.
pub(crate) fn tokens(count: u64) -> String {
    if count < 1_000_000_000 {
        group_digits(count)
    } else {
        format!("{} M", group_digits(count / 1_000_000))
    }
}

/// Milliseconds as a person says them.
pub(crate) fn time(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..=9 => format!("{}.{} s", seconds, milliseconds % 1_000 / 100),
        10..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_on_the_right_and_long_names_are_cut() {
        let mut table = NumberTable::new(["what", "n", "cost"]);
        table.row("a", ["1".to_owned(), "$0.25".to_owned()]);
        table.row(&"long".repeat(30), ["1,000".to_owned(), "-".to_owned()]);
        let text = table.render();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() == 80), "{text}");
        assert!(lines[0].ends_with("      n   cost"), "{text}");
        assert!(lines[1].ends_with("      1  $0.25"), "{text}");
        assert!(lines[2].ends_with("…  1,000      -"), "{text}");
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(group_digits),
            ["0", "999", "1,000", "1,234,567"]
        );
        let times = [40, 9_950, 61_000, 600_000, 7_200_000].map(time);
        assert_eq!(times, ["0.0 s", "9.9 s", "61 s", "10 min", "2 h"]);
        assert_eq!([0, 1_500, 25_000, 12_345_678].map(size), ["0", "1500 B", "25 kB", "12 MB"]);
        assert_eq!([999_999_999, 13_915_986_823].map(tokens), ["999,999,999", "13,915 M"]);
        assert_eq!([0.0123, 85_974.67].map(dollars), ["$0.0123", "$85974.67"]);
        assert_eq!((percent(Some(0.934)), percent(None)), ("93.4 %".to_owned(), "-".to_owned()));
    }
}

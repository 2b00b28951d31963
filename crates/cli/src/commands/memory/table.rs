//! A table of texts: on a terminal with a header and fitted to its width, or one block per row if it is too
//! narrow; in a pipe one line per row, separated by tabs and not truncated.

use std::io;

use dormouse_base::{Environment, printable};
use dormouse_tui::style::{Color, Style};
use dormouse_tui::width;
use rustix::termios::tcgetwinsize;
use unicode_segmentation::UnicodeSegmentation;

use crate::terminal::color::ColorMode;
use crate::wiring::print;

/// Maximum width of a table.
const MAX_COLUMNS: usize = 120;
/// Width of a terminal that does not report it.
const DEFAULT_COLUMNS: usize = 80;
/// If the last column would be narrower, rows are printed as blocks.
const MIN_LAST_COLUMN: usize = 24;
/// What the last column does not need goes to the first, whose cells are what commands take.
const COMFORTABLE_LAST_COLUMN: usize = 48;
/// Maximum width of a column other than the last, if there is no room to spare.
const MAX_COLUMN: usize = 26;
const GAP: usize = 2;

pub(super) struct TextTable {
    head: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(super) fn new(head: &'static [&'static str]) -> Self {
        Self { head, rows: Vec::new() }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    pub(super) fn print(&self, environment: &Environment) {
        if self.rows.is_empty() {
            return;
        }
        if print::is_terminal() {
            print::rendered(&self.for_terminal(columns(), ColorMode::for_stdout(environment)));
        } else {
            let lines = self.rows.iter().map(|row| row.join("\t") + "\n");
            print::data(&lines.collect::<String>());
        }
    }

    fn for_terminal(&self, columns: usize, colors: ColorMode) -> String {
        let mut widths = self.widths();
        let before: usize = widths.iter().rev().skip(1).map(|width| width + GAP).sum();
        let mut room = columns.saturating_sub(before);
        if room < MIN_LAST_COLUMN {
            return self.rows.iter().map(|row| block(self.head, row, columns, colors)).collect();
        }
        if let Some(first) = widths.first_mut() {
            let wanted = self.widest(0).saturating_sub(*first);
            let more = wanted.min(room.saturating_sub(COMFORTABLE_LAST_COLUMN));
            *first += more;
            room -= more;
        }
        let head: Vec<String> = self.head.iter().map(ToString::to_string).collect();
        let mut text = line(&head, &widths, room, colors, Style::BOLD);
        for row in &self.rows {
            text.push_str(&line(row, &widths, room, colors, first_style()));
        }
        text
    }

    /// The width of each column.
    fn widths(&self) -> Vec<usize> {
        let widths = self
            .head
            .iter()
            .enumerate()
            .map(|(place, title)| self.widest(place).max(width::of(title)).min(MAX_COLUMN));
        widths.collect()
    }

    /// Columns of the widest cell in a place.
    fn widest(&self, place: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(place));
        cells.map(|cell| width::of(cell)).max().unwrap_or(0)
    }
}

fn first_style() -> Style {
    Style::PLAIN.color(Color::Cyan)
}

/// One row; its first cell has the style. The last cell is wrapped.
fn line(row: &[String], widths: &[usize], room: usize, colors: ColorMode, style: Style) -> String {
    let Some((last, cells)) = row.split_last() else { return String::new() };
    let mut text = String::new();
    for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let cell = width::fitted(cell, *width);
        let style = if place == 0 || style == Style::BOLD { style } else { Style::PLAIN };
        text.push_str(&colors.paint(&cell, style));
        text.push_str(&" ".repeat(width.saturating_sub(width::of(&cell)) + GAP));
    }
    let before: usize = widths.iter().rev().skip(1).map(|width| width + GAP).sum();
    let style = if style == Style::BOLD { style } else { Style::PLAIN };
    for (at, part) in wrap(last, room).iter().enumerate() {
        let start = if at == 0 { String::new() } else { " ".repeat(before) };
        text.push_str(&(start + &colors.paint(part, style) + "\n"));
    }
    text
}

/// A row on a narrow terminal: its first cell, and below it the others, with their titles but for the last.
fn block(head: &[&str], row: &[String], columns: usize, colors: ColorMode) -> String {
    let Some((first, rest)) = row.split_first() else { return String::new() };
    let mut text = colors.paint(&width::fitted(first, columns), first_style()) + "\n";
    let (middle, last) = rest.split_at(rest.len().saturating_sub(1));
    let titles = head.iter().skip(1);
    let titled = titles.zip(middle).filter(|(_, cell)| !matches!(cell.as_str(), "" | "-"));
    let titled: Vec<String> = titled.map(|(title, cell)| format!("{title} {cell}")).collect();
    let below = [titled.join(&" ".repeat(GAP)), last.concat()];
    for cell in below.iter().filter(|cell| !cell.is_empty()) {
        for part in wrap(cell, columns.saturating_sub(GAP)) {
            text.push_str(&(" ".repeat(GAP) + &colors.paint(&part, Style::PLAIN) + "\n"));
        }
    }
    text
}

/// Wraps a text between words; a word that is too long is split.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used + width::of(word.trim_end()) > columns && used > 0 {
            lines.push(String::new());
            used = 0;
        }
        for letter in word.graphemes(true) {
            if used + width::of_grapheme(letter) > columns && letter != " " {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut().filter(|line| !(line.is_empty() && letter == " "))
            {
                line.push_str(letter);
                used += width::of_grapheme(letter);
            }
        }
    }
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

fn columns() -> usize {
    let size = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if size == 0 { DEFAULT_COLUMNS } else { size.min(MAX_COLUMNS) }
}

/// A cell is one line: all white space becomes single spaces.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    printable(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_and_wide_letters_count_twice() {
        let mut table = TextTable::new(&["name", "age", "description"]);
        table.row(["数据库迁移".into(), "today".into(), "很慢".repeat(40)]);
        table.row([
            "a name that goes on and on and on".into(),
            "47 days ago".into(),
            "x\ty".into(),
        ]);
        let text = table.for_terminal(70, ColorMode::Plain);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| width::of(line) <= 70), "{text}");
        assert!(lines[1].starts_with("数据库迁移                  today        很慢"), "{text}");
        assert!(lines[2].trim_start().starts_with("很慢"), "{text}");
        assert_eq!(text.matches("很慢").count(), 40, "{text}");
        assert!(text.contains("\na name that goes on and o…  47 days ago  x y\n"), "{text}");
        let wide = table.for_terminal(110, ColorMode::Plain);
        assert!(wide.contains("\na name that goes on and on and on  47 days ago  x y\n"), "{wide}");
        let coloured = table.for_terminal(70, ColorMode::Colored);
        assert!(coloured.starts_with("\x1b[1mname\x1b[0m"), "{coloured:?}");
        for columns in [1, 2, 10, 40] {
            let narrow = table.for_terminal(columns, ColorMode::Plain);
            let most = columns.max(4);
            assert!(narrow.lines().all(|line| width::of(line) <= most), "{columns}\n{narrow}");
        }
        let narrow = table.for_terminal(40, ColorMode::Plain);
        assert!(narrow.ends_with("a name that goes on and on and on\n  age 47 days ago\n  x y\n"));
    }
}

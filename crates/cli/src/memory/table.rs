//! Rows for a person: on a terminal a table with a head that fits its width, in a pipe a line a row with tabs
//! and nothing cut.

use std::io;

use dormouse_base::{Environment, names, printable};
use rustix::termios::tcgetwinsize;

use crate::markdown::width;
use crate::markdown::{Colour, Style};
use crate::show;

/// The widest that a table gets.
const COLUMNS: usize = 80;
/// The widest that a column gets, but for the last.
const WIDEST: usize = 26;
const GAP: usize = 2;

pub(super) struct Table {
    head: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
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
        if show::is_terminal() {
            show::terminal(&self.for_terminal(columns(), Looks::of(environment)));
        } else {
            let lines = self.rows.iter().map(|row| row.join("\t") + "\n");
            show::data(&lines.collect::<String>());
        }
    }

    fn for_terminal(&self, columns: usize, looks: Looks) -> String {
        let head: Vec<String> = self.head.iter().map(ToString::to_string).collect();
        let widths = self.widths(columns);
        let line = |row: &Vec<String>, style| line(row, &widths, looks, style);
        let mut text = line(&head, Style::BOLD);
        for row in &self.rows {
            text.push_str(&line(row, Style::PLAIN.colour(Colour::Cyan)));
        }
        text
    }

    /// As wide as the widest cell; the last column gets what the others leave.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let last = self.head.len().saturating_sub(1);
        let mut left = columns;
        let widths = self.head.iter().enumerate().map(|(place, title)| {
            let cells = self.rows.iter().filter_map(|row| row.get(place));
            let widest = cells.map(|cell| width::of(cell)).max().unwrap_or(0).max(width::of(title));
            let width = if place == last { left } else { widest.min(WIDEST).min(left) };
            left = left.saturating_sub(width + GAP);
            width
        });
        widths.collect()
    }
}

/// One row; its first cell has the style.
fn line(row: &[String], widths: &[usize], looks: Looks, style: Style) -> String {
    let mut text = String::new();
    let mut owed = 0;
    for (place, (cell, width)) in row.iter().zip(widths).enumerate() {
        let cell = width::fitted(cell, *width);
        text.push_str(&" ".repeat(owed));
        owed = width.saturating_sub(width::of(&cell)) + GAP;
        let style = if place == 0 || style == Style::BOLD { style } else { Style::PLAIN };
        text.push_str(&looks.painted(&cell, style));
    }
    text + "\n"
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    Plain,
    Coloured,
}

impl Looks {
    /// What a person at this terminal wants; in a pipe there are never any.
    pub(super) fn of(environment: &Environment) -> Self {
        let dumb = environment.get(names::TERM).is_none_or(|term| term == "dumb");
        let plain = dumb || environment.get(names::NO_COLOR).is_some() || !show::is_terminal();
        if plain { Self::Plain } else { Self::Coloured }
    }

    /// The text, made printable, in a style.
    pub(super) fn painted(self, text: &str, style: Style) -> String {
        let (text, sequence) = (printable(text), style.sequence());
        if self == Self::Plain || sequence.is_empty() {
            return text.into_owned();
        }
        format!("{sequence}{text}\x1b[0m")
    }
}

fn columns() -> usize {
    let size = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if size == 0 { COLUMNS } else { size.min(COLUMNS) }
}

/// White space of any kind is one space: a cell is a line.
fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    printable(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_fit_and_wide_letters_count_twice() {
        let mut table = Table::new(&["name", "age", "description"]);
        table.row(["数据库迁移".into(), "today".into(), "很慢".repeat(40)]);
        table.row([
            "a name that goes on and on and on".into(),
            "47 days ago".into(),
            "x\ty".into(),
        ]);
        let text = table.for_terminal(60, Looks::Plain);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| width::of(line) <= 60), "{text}");
        assert!(lines[1].starts_with("数据库迁移                  today        很慢"), "{text}");
        assert!(lines[2].starts_with("a name that goes on and o…  47 days ago  x y"), "{text}");
        let coloured = table.for_terminal(60, Looks::Coloured);
        assert!(coloured.starts_with("\x1b[1mname\x1b[0m"), "{coloured:?}");
    }
}

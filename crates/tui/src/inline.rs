//! Drawing in a terminal's own scrollback: finished rows are appended above a live part, which is drawn by cell differences.
//!
//! Only relative movements are written, so that the terminal is never asked where the cursor is, and nothing depends on the
//! number of its rows: finished rows get room by line feeds below the live part and inserted lines above it, which is the same
//! whether the live part stands at the end of the screen or not.
//!
//! A finished row that was in the live part while it was being written stays where it is: only its new cells are written.
//!
//! *Invariants:* finished rows are written once; a row of the live part that did not change is not written; the live part ends one
//! column before the edge, so that no terminal wraps it.

use std::io::{self, Write};

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style as cells;

use crate::live::{CursorPlace, LiveRow, LiveView};
use crate::style::{Attribute, Color, Style};

/// How many finished rows are appended at once, at most: a terminal with fewer rows than it says is not confused by them.
const CHUNK: u16 = 8;
const ERASE_TO_END_OF_ROW: &str = "\x1b[K";
/// From the start of a row. The first row is erased by itself: at the first cell of the screen tmux takes `ESC [ J` for a clear
/// screen, and keeps all that was there in its history.
const ERASE_BELOW: &str = "\x1b[K\x1b[C\x1b[J\r";
const RESET: &str = "\x1b[0m";

/// Whether the live part has styles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiveStyles {
    /// Attributes and colors.
    All,
    /// None at all, as `NO_COLOR` asks for.
    None,
}

/// What a terminal does when it gets narrower, besides wrapping the rows that no longer fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrapScroll {
    /// It uses the empty rows at its end first.
    WhenFull,
    /// It scrolls by a row for each that is added, as tmux does. A live part that stands near the top would leave the screen, and
    /// could not be erased any more.
    Always,
}

/// A terminal with finished content above and a live part below.
#[derive(Debug)]
pub struct InlineTerminal<W> {
    out: W,
    styles: LiveStyles,
    columns: u16,
    rows: u16,
    /// The cells of the live part as they are on the screen.
    shown: Buffer,
    /// Whether its first row is finished content that is still being written.
    has_tail: bool,
    /// Where the terminal's cursor is within them.
    at: CursorPlace,
    wrap_scroll: WrapScroll,
    /// Empty rows between the finished content and the live part, which finished rows fill first: so many rows the terminal has
    /// scrolled by wrapping. They keep the live part from reaching the top of the screen, resize by resize.
    gap: u16,
}

impl<W: Write> InlineTerminal<W> {
    /// The cursor must be at the start of an empty row.
    pub fn new(out: W, (columns, rows): (u16, u16), styles: LiveStyles) -> Self {
        let shown = empty(columns, 1);
        let (columns, at) = (columns.max(2), CursorPlace::default());
        let wrap_scroll = WrapScroll::WhenFull;
        Self { out, styles, columns, rows, shown, has_tail: false, at, wrap_scroll, gap: 0 }
    }

    /// What the terminal does when it gets narrower.
    #[must_use]
    pub fn with_wrap_scroll(self, wrap_scroll: WrapScroll) -> Self {
        Self { wrap_scroll, ..self }
    }

    /// Whether it draws styles.
    pub fn styles(&self) -> LiveStyles {
        self.styles
    }

    /// Sends a sequence that draws nothing.
    pub fn send(&mut self, sequence: &str) -> io::Result<()> {
        self.out.write_all(sequence.as_bytes())?;
        self.out.flush()
    }

    /// Appends finished rows and draws the live part, in one write.
    pub fn draw(&mut self, finished: &[LiveRow], view: &LiveView) -> io::Result<()> {
        self.gap = self.gap.saturating_sub(u16::try_from(finished.len()).unwrap_or(u16::MAX));
        let view = &self.clipped(&self.with_gap(view));
        let mut out = String::new();
        let mut finished = finished;
        if self.has_tail
            && let Some((first, others)) = finished.split_first()
        {
            self.finish_tail(first, &mut out);
            finished = others;
        }
        let height = height_of(view);
        if height < self.shown.area.height {
            self.set_height(height, &mut out);
        }
        let room = self.rows.saturating_sub(self.shown.area.height).clamp(1, CHUNK);
        for rows in finished.chunks(usize::from(room)) {
            self.append(rows, &mut out);
        }
        if view.has_tail && !self.has_tail && height > self.shown.area.height {
            self.insert_tail(&mut out);
        }
        self.has_tail = view.has_tail;
        self.draw_live(view, &mut out);
        self.write(&out)
    }

    /// The terminal has another size. It has wrapped the rows of the live part that no longer fit, and a lower one has dropped what
    /// stood below the cursor: what is left is erased, and drawn again by the next [`Self::draw`].
    pub fn resize(&mut self, (columns, rows): (u16, u16)) -> io::Result<()> {
        let columns = columns.max(2);
        if (columns, rows) == (self.columns, self.rows) {
            return Ok(());
        }
        self.rows = rows;
        let wrapped = |row| used(&self.shown, row).div_ceil(columns).max(1);
        let above: u16 = (0..self.at.row).map(wrapped).sum();
        let height = self.shown.area.height;
        let added = (0..height).map(wrapped).sum::<u16>() - height;
        let mut out = String::new();
        up(above + self.at.column / columns, &mut out);
        out.push('\r');
        out.push_str(ERASE_BELOW);
        self.columns = columns;
        let gap = match self.wrap_scroll {
            WrapScroll::WhenFull => 0,
            WrapScroll::Always => (self.gap + added).min(rows / 2),
        };
        self.forget();
        self.gap = gap;
        self.write(&out)
    }

    /// Erases the live part: the cursor is at the start of the row after the finished content.
    pub fn clear(&mut self) -> io::Result<()> {
        let mut out = String::new();
        self.move_to(CursorPlace::default(), &mut out);
        out.push_str(ERASE_BELOW);
        self.forget();
        self.write(&out)
    }

    /// Another program has used the terminal and left the cursor at the start of an empty row.
    pub fn forget(&mut self) {
        self.shown = empty(self.columns, 1);
        self.has_tail = false;
        self.at = CursorPlace::default();
        self.gap = 0;
    }

    /// The view with the gap above it. A row that is being written is in the first row of the gap.
    fn with_gap(&self, view: &LiveView) -> LiveView {
        let tail = usize::from(view.has_tail);
        let gap = usize::from(self.gap).saturating_sub(tail);
        let mut view = view.clone();
        let at = tail.min(view.rows.len());
        view.rows.splice(at..at, vec![LiveRow::new(); gap]);
        view.cursor.row += u16::try_from(gap).unwrap_or(0);
        view
    }

    /// As much of a view as the terminal has rows for: its end, where the composer is.
    fn clipped(&self, view: &LiveView) -> LiveView {
        let excess = view.rows.len().saturating_sub(usize::from(self.rows.max(1)));
        // The cursor stays in sight.
        let excess = excess.min(usize::from(view.cursor.row));
        let cut = u16::try_from(excess).unwrap_or(u16::MAX);
        LiveView {
            rows: view
                .rows
                .iter()
                .skip(excess)
                .take(usize::from(self.rows.max(1)))
                .cloned()
                .collect(),
            has_tail: view.has_tail && excess == 0,
            cursor: CursorPlace { row: view.cursor.row - cut, ..view.cursor },
        }
    }

    fn write(&mut self, out: &str) -> io::Result<()> {
        if out.is_empty() {
            return Ok(());
        }
        self.out.write_all(out.as_bytes())?;
        self.out.flush()
    }

    /// Writes what the first row of the live part lacks, and leaves it to the finished content.
    fn finish_tail(&mut self, row: &LiveRow, out: &mut String) {
        let mut next = self.shown.clone();
        for column in 0..next.area.width {
            if let Some(cell) = next.cell_mut((column, 0)) {
                cell.reset();
            }
        }
        put_row(&mut next, row, 0);
        self.put_cells(&next, out);
        self.has_tail = false;
        if self.shown.area.height == 1 {
            out.push_str("\r\n");
            return self.forget();
        }
        self.move_to(CursorPlace { row: 1, column: 0 }, out);
        self.at.row = 0;
        self.shown.content.drain(..usize::from(self.shown.area.width));
        self.shown.area.height -= 1;
    }

    fn append(&mut self, rows: &[LiveRow], out: &mut String) {
        let bottom = self.shown.area.height.saturating_sub(1);
        if bottom == 0 && used(&self.shown, 0) == 0 {
            self.move_to(CursorPlace::default(), out);
        } else {
            self.insert_above(u16::try_from(rows.len()).unwrap_or(u16::MAX), out);
        }
        for row in rows {
            self.put_styled(row, out);
            out.push_str("\r\n");
        }
        self.at = CursorPlace::default();
    }

    /// Makes room for rows above the live part; the cursor is in the first of them.
    fn insert_above(&mut self, count: u16, out: &mut String) {
        let bottom = self.shown.area.height.saturating_sub(1);
        self.move_to(CursorPlace { row: bottom, column: 0 }, out);
        (0..count).for_each(|_| out.push_str("\r\n"));
        up(bottom + count, out);
        let number = if count == 1 { String::new() } else { count.to_string() };
        out.push_str(&format!("\x1b[{number}L"));
    }

    /// Makes the live part one row higher, at its top.
    fn insert_tail(&mut self, out: &mut String) {
        self.insert_above(1, out);
        let blank = vec![Cell::EMPTY; usize::from(self.shown.area.width)];
        self.shown.content.splice(0..0, blank);
        self.shown.area.height += 1;
        self.at = CursorPlace::default();
    }

    fn put_styled(&self, row: &LiveRow, out: &mut String) {
        for (text, style) in row {
            let text = dormouse_base::printable(text);
            let on = if self.styles == LiveStyles::All { style.sequence() } else { String::new() };
            out.push_str(&on);
            out.push_str(&text);
            if !on.is_empty() {
                out.push_str(RESET);
            }
        }
    }

    fn draw_live(&mut self, view: &LiveView, out: &mut String) {
        let height = height_of(view);
        let next = self.cells(view, height);
        self.set_height(height, out);
        self.put_cells(&next, out);
        let row = view.cursor.row.min(height - 1);
        let column = view.cursor.column.min(self.columns - 1);
        self.move_to(CursorPlace { row, column }, out);
    }

    /// Writes the cells that differ.
    fn put_cells(&mut self, next: &Buffer, out: &mut String) {
        self.erase_ends(next, out);
        let mut styled = Style::PLAIN;
        let shown = std::mem::replace(&mut self.shown, next.clone());
        for (column, row, cell) in shown.diff(next) {
            let place = CursorPlace { row, column };
            if place != self.at {
                self.move_to(place, out);
            }
            let style = if self.styles == LiveStyles::All { style_of(cell) } else { Style::PLAIN };
            if style != styled {
                out.push_str(RESET);
                out.push_str(&style.sequence());
                styled = style;
            }
            out.push_str(cell.symbol());
            self.at.column += columns_of(cell);
        }
        if styled != Style::PLAIN {
            out.push_str(RESET);
        }
    }

    /// The cells of a view.
    fn cells(&self, view: &LiveView, height: u16) -> Buffer {
        let mut cells = empty(self.columns, height);
        for (row, y) in view.rows.iter().zip(0..height) {
            put_row(&mut cells, row, y);
        }
        cells
    }

    /// Adds rows at the end of the live part, or removes them.
    fn set_height(&mut self, height: u16, out: &mut String) {
        let before = self.shown.area.height;
        if height > before {
            self.move_to(CursorPlace { row: before - 1, column: 0 }, out);
            (before..height).for_each(|_| out.push_str("\r\n"));
            self.at = CursorPlace { row: height - 1, column: 0 };
        } else if height < before {
            self.move_to(CursorPlace { row: height, column: 0 }, out);
            out.push_str(ERASE_BELOW);
        }
        self.shown.resize(Rect::new(0, 0, self.shown.area.width, height));
    }

    /// Erases the ends of rows that become shorter: one sequence instead of many blanks.
    fn erase_ends(&mut self, next: &Buffer, out: &mut String) {
        for row in 0..next.area.height {
            let (before, after) = (used(&self.shown, row), used(next, row));
            if before > after + 3 {
                self.move_to(CursorPlace { row, column: after }, out);
                out.push_str(ERASE_TO_END_OF_ROW);
                for column in after..before {
                    if let Some(cell) = self.shown.cell_mut((column, row)) {
                        cell.reset();
                    }
                }
            }
        }
    }

    fn move_to(&mut self, place: CursorPlace, out: &mut String) {
        match place.row.checked_sub(self.at.row) {
            Some(0) => {}
            Some(1) => out.push_str("\x1b[B"),
            Some(rows) => out.push_str(&format!("\x1b[{rows}B")),
            None => up(self.at.row - place.row, out),
        }
        match place.column {
            column if column == self.at.column => {}
            0 => out.push('\r'),
            column => out.push_str(&format!("\x1b[{}G", column + 1)),
        }
        self.at = place;
    }
}

fn height_of(view: &LiveView) -> u16 {
    u16::try_from(view.rows.len()).unwrap_or(u16::MAX).max(1)
}

fn up(rows: u16, out: &mut String) {
    match rows {
        0 => {}
        1 => out.push_str("\x1b[A"),
        rows => out.push_str(&format!("\x1b[{rows}A")),
    }
}

/// Blank cells; the last column stays free.
fn empty(columns: u16, height: u16) -> Buffer {
    Buffer::empty(Rect::new(0, 0, columns.max(2) - 1, height))
}

fn put_row(cells: &mut Buffer, row: &LiveRow, y: u16) {
    let mut x = 0;
    for (text, style) in row {
        let room = usize::from(cells.area.width.saturating_sub(x));
        let text = dormouse_base::printable(text);
        (x, _) = cells.set_stringn(x, y, text.as_ref(), room, cell_style(*style));
    }
}

/// How many columns of a row are in use. The second cell of a wide character is blank.
fn used(cells: &Buffer, row: u16) -> u16 {
    let end = |column: u16| {
        let cell = cells.cell((column, row)).filter(|cell| **cell != Cell::EMPTY)?;
        Some(column + columns_of(cell))
    };
    (0..cells.area.width).rev().find_map(end).unwrap_or(0)
}

fn columns_of(cell: &Cell) -> u16 {
    u16::try_from(crate::width::of(cell.symbol())).unwrap_or(1).max(1)
}

const COLORS: [(Color, cells::Color); 6] = [
    (Color::Red, cells::Color::Red),
    (Color::Green, cells::Color::Green),
    (Color::Yellow, cells::Color::Yellow),
    (Color::Blue, cells::Color::Blue),
    (Color::Magenta, cells::Color::Magenta),
    (Color::Cyan, cells::Color::Cyan),
];

const ATTRIBUTES: [(Attribute, cells::Modifier); 6] = [
    (Attribute::Bold, cells::Modifier::BOLD),
    (Attribute::Dim, cells::Modifier::DIM),
    (Attribute::Italic, cells::Modifier::ITALIC),
    (Attribute::Underlined, cells::Modifier::UNDERLINED),
    (Attribute::Reversed, cells::Modifier::REVERSED),
    (Attribute::Strikethrough, cells::Modifier::CROSSED_OUT),
];

fn cell_style(style: Style) -> cells::Style {
    let mut result = cells::Style::new();
    for (attribute, modifier) in ATTRIBUTES {
        if style.has(attribute) {
            result = result.add_modifier(modifier);
        }
    }
    let color = COLORS.iter().find(|(color, _)| style.foreground() == Some(*color));
    color.map_or(result, |(_, color)| result.fg(*color))
}

fn style_of(cell: &Cell) -> Style {
    let mut style = Style::PLAIN;
    for (attribute, modifier) in ATTRIBUTES {
        if cell.modifier.contains(modifier) {
            style = style.with(attribute);
        }
    }
    let color = COLORS.iter().find(|(_, color)| cell.fg == *color);
    color.map_or(style, |(color, _)| style.color(*color))
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;

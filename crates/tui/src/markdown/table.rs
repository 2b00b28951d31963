//! Tables, fitted to the width: the widest columns shrink first, and long cells are wrapped.

use super::flow::Flow;
use super::inline;
use crate::style::{Piece, Style};
use crate::width;

/// Separator of columns.
const GAP: &str = " │ ";
const GAP_COLUMNS: usize = 3;
/// Minimum width of a column.
const MIN_COLUMN: usize = 6;

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alignment {
    Left,
    Right,
    Center,
}

/// Renders a table; none if the lines are not a table.
pub(crate) fn render(lines: &[String], columns: usize) -> Option<Vec<Piece>> {
    let [head, marks, body @ ..] = lines else { return None };
    let alignments: Vec<Alignment> =
        cells(marks).iter().map(|cell| alignment(cell)).collect::<Option<_>>()?;
    let head = cells(head);
    let body: Vec<Vec<String>> = body.iter().map(|line| cells(line)).collect();
    match widths(&head, &body, columns) {
        Some(widths) => Some(grid(&head, &body, &alignments, &widths)),
        None => Some(as_list(&head, &body, columns)),
    }
}

/// The cells of a line, trimmed. A bar after a backslash or inside code does not separate cells.
fn cells(line: &str) -> Vec<String> {
    let inner = line.trim().strip_prefix('|').unwrap_or(line);
    let mut cells = vec![String::new()];
    let (mut escaped, mut code) = (false, false);
    for c in inner.chars() {
        code ^= c == '`' && !escaped;
        match cells.last_mut() {
            _ if c == '|' && !escaped && !code => cells.push(String::new()),
            Some(cell) => {
                if c == '|' && escaped {
                    cell.pop();
                }
                cell.push(c);
            }
            None => {}
        }
        escaped = c == '\\' && !escaped;
    }
    if cells.last().is_some_and(|cell| cell.trim().is_empty()) {
        cells.pop();
    }
    cells.into_iter().map(|cell| cell.trim().to_owned()).collect()
}

/// The alignment that a cell of the second line sets.
fn alignment(mark: &str) -> Option<Alignment> {
    let dashes = mark.trim_start_matches(':').trim_end_matches(':');
    if dashes.is_empty() || !dashes.chars().all(|c| c == '-') {
        return None;
    }
    Some(match (mark.starts_with(':'), mark.ends_with(':')) {
        (true, true) => Alignment::Center,
        (false, true) => Alignment::Right,
        (_, false) => Alignment::Left,
    })
}

/// The width of each column; none if they do not fit.
fn widths(head: &[String], body: &[Vec<String>], columns: usize) -> Option<Vec<usize>> {
    let count = head.len().max(1);
    let room = columns.checked_sub(GAP_COLUMNS * (count - 1))?;
    let mut widths: Vec<usize> = (0..count)
        .map(|at| {
            let all = std::iter::once(head).chain(body.iter().map(Vec::as_slice));
            all.filter_map(|row| row.get(at)).map(|cell| cell_width(cell)).max().unwrap_or(1).max(1)
        })
        .collect();
    // The widest column shrinks first.
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        if *widest <= MIN_COLUMN {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

/// The width of a rendered cell.
fn cell_width(cell: &str) -> usize {
    let mut text = String::new();
    inline::render(cell, Style::PLAIN, &mut |c, _| text.push(c));
    width::of(&text)
}

fn grid(
    head: &[String],
    body: &[Vec<String>],
    alignments: &[Alignment],
    widths: &[usize],
) -> Vec<Piece> {
    let mut out = row(head, alignments, widths, Style::BOLD);
    let rule: Vec<String> = widths.iter().map(|columns| "─".repeat(*columns)).collect();
    out.push(Piece::text(rule.join("─┼─"), Style::DIM));
    out.push(Piece::Newline);
    for cells in body {
        out.extend(row(cells, alignments, widths, Style::PLAIN));
    }
    out
}

/// A row, with as many lines as its longest cell needs.
fn row(cells: &[String], alignments: &[Alignment], widths: &[usize], style: Style) -> Vec<Piece> {
    let empty = String::new();
    let columns: Vec<Vec<Vec<Piece>>> = widths
        .iter()
        .enumerate()
        .map(|(at, width)| wrapped(cells.get(at).unwrap_or(&empty), *width, style))
        .collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = Vec::new();
    for line in 0..height {
        for (at, (column, width)) in columns.iter().zip(widths).enumerate() {
            if at > 0 {
                out.push(Piece::text(GAP, Style::DIM));
            }
            let pieces = column.get(line).cloned().unwrap_or_default();
            let alignment = alignments.get(at).copied().unwrap_or(Alignment::Left);
            let last = at + 1 == widths.len();
            out.extend(padded(pieces, *width, alignment, last));
        }
        out.push(Piece::Newline);
    }
    out
}

/// The lines of a cell.
fn wrapped(cell: &str, width: usize, style: Style) -> Vec<Vec<Piece>> {
    let mut flow = Flow::narrow(width);
    inline::render(cell, style, &mut |c, style| flow.put(c, style));
    flow.end_row();
    let pieces = flow.take();
    let mut lines: Vec<Vec<Piece>> =
        pieces.split(|piece| *piece == Piece::Newline).map(<[Piece]>::to_vec).collect();
    lines.pop();
    lines
}

/// Pads a line of a cell with spaces; none after the last cell.
fn padded(pieces: Vec<Piece>, width: usize, alignment: Alignment, last: bool) -> Vec<Piece> {
    let used: usize = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text, _) => width::of(text),
            Piece::Newline => 0,
        })
        .sum();
    let free = width.saturating_sub(used);
    let before = match alignment {
        Alignment::Left => 0,
        Alignment::Right => free,
        Alignment::Center => free / 2,
    };
    let after = if last { 0 } else { free - before };
    let spaces = |count: usize| (count > 0).then(|| Piece::text(" ".repeat(count), Style::PLAIN));
    spaces(before).into_iter().chain(pieces).chain(spaces(after)).collect()
}

/// A table whose columns do not fit: each row as a list of headings and cells.
fn as_list(head: &[String], body: &[Vec<String>], columns: usize) -> Vec<Piece> {
    let mut flow = Flow::new(columns);
    for (index, cells) in body.iter().enumerate() {
        if index > 0 {
            flow.end_row();
        }
        for (name, cell) in head.iter().zip(cells) {
            flow.begin(Vec::new(), vec![("  ".to_owned(), Style::PLAIN)]);
            inline::render(name, Style::BOLD, &mut |c, style| flow.put(c, style));
            ": ".chars().for_each(|c| flow.put(c, Style::PLAIN));
            inline::render(cell, Style::PLAIN, &mut |c, style| flow.put(c, style));
            flow.end_row();
        }
    }
    flow.take()
}

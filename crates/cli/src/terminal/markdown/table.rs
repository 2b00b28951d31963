//! Tables, fitted to the width: columns share what there is, and long cells go on below.

use super::flow::Flow;
use super::inline;
use super::style::{Piece, Style};
use crate::terminal::width;

/// Between two columns.
const GAP: &str = " │ ";
const GAP_COLUMNS: usize = 3;
/// Narrower than this a column can not be read.
const NARROWEST: usize = 6;

/// Where a cell's text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
    Middle,
}

/// The rows of a table, put out; nothing, if the lines are no table.
pub(crate) fn render(lines: &[String], columns: usize) -> Option<Vec<Piece>> {
    let [head, marks, body @ ..] = lines else { return None };
    let sides: Vec<Side> = cells(marks).iter().map(|cell| side(cell)).collect::<Option<_>>()?;
    let head = cells(head);
    let body: Vec<Vec<String>> = body.iter().map(|line| cells(line)).collect();
    match widths(&head, &body, columns) {
        Some(widths) => Some(grid(&head, &body, &sides, &widths)),
        None => Some(listed(&head, &body, columns)),
    }
}

/// The cells of a line, trimmed. A bar behind a backslash or inside code parts nothing.
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

/// What a cell of the second line says of its column.
fn side(mark: &str) -> Option<Side> {
    let dashes = mark.trim_start_matches(':').trim_end_matches(':');
    if dashes.is_empty() || !dashes.chars().all(|c| c == '-') {
        return None;
    }
    Some(match (mark.starts_with(':'), mark.ends_with(':')) {
        (true, true) => Side::Middle,
        (false, true) => Side::Right,
        (_, false) => Side::Left,
    })
}

/// The width of each column; nothing, if there is no room for all of them.
fn widths(head: &[String], body: &[Vec<String>], columns: usize) -> Option<Vec<usize>> {
    let count = head.len().max(1);
    let room = columns.checked_sub(GAP_COLUMNS * (count - 1))?;
    let mut widths: Vec<usize> = (0..count)
        .map(|at| {
            let all = std::iter::once(head).chain(body.iter().map(Vec::as_slice));
            all.filter_map(|row| row.get(at)).map(|cell| shown(cell)).max().unwrap_or(1).max(1)
        })
        .collect();
    // The widest gives first.
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max()?;
        if *widest <= NARROWEST {
            return None;
        }
        *widest -= 1;
    }
    Some(widths)
}

/// The columns of a cell as it will be shown.
fn shown(cell: &str) -> usize {
    let mut text = String::new();
    inline::render(cell, Style::PLAIN, &mut |c, _| text.push(c));
    width::of(&text)
}

fn grid(head: &[String], body: &[Vec<String>], sides: &[Side], widths: &[usize]) -> Vec<Piece> {
    let mut out = row(head, sides, widths, Style::BOLD);
    let rule: Vec<String> = widths.iter().map(|columns| "─".repeat(*columns)).collect();
    out.push(Piece::text(rule.join("─┼─"), Style::DIM));
    out.push(Piece::Newline);
    for cells in body {
        out.extend(row(cells, sides, widths, Style::PLAIN));
    }
    out
}

/// A row: as many lines as its longest cell needs.
fn row(cells: &[String], sides: &[Side], widths: &[usize], style: Style) -> Vec<Piece> {
    let blank = String::new();
    let columns: Vec<Vec<Vec<Piece>>> = widths
        .iter()
        .enumerate()
        .map(|(at, width)| wrapped(cells.get(at).unwrap_or(&blank), *width, style))
        .collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = Vec::new();
    for line in 0..height {
        for (at, (column, width)) in columns.iter().zip(widths).enumerate() {
            if at > 0 {
                out.push(Piece::text(GAP, Style::DIM));
            }
            let pieces = column.get(line).cloned().unwrap_or_default();
            let side = sides.get(at).copied().unwrap_or(Side::Left);
            let last = at + 1 == widths.len();
            out.extend(placed(pieces, *width, side, last));
        }
        out.push(Piece::Newline);
    }
    out
}

/// A cell's lines.
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

/// A line of a cell with blanks around it; none behind the last cell.
fn placed(pieces: Vec<Piece>, width: usize, side: Side, last: bool) -> Vec<Piece> {
    let used: usize = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text, _) => width::of(text),
            Piece::Newline => 0,
        })
        .sum();
    let free = width.saturating_sub(used);
    let before = match side {
        Side::Left => 0,
        Side::Right => free,
        Side::Middle => free / 2,
    };
    let after = if last { 0 } else { free - before };
    let blank = |count: usize| (count > 0).then(|| Piece::text(" ".repeat(count), Style::PLAIN));
    blank(before).into_iter().chain(pieces).chain(blank(after)).collect()
}

/// Where columns do not fit: each row as a list of what its cells are and say.
fn listed(head: &[String], body: &[Vec<String>], columns: usize) -> Vec<Piece> {
    let mut flow = Flow::new(columns);
    for (at, cells) in body.iter().enumerate() {
        if at > 0 {
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

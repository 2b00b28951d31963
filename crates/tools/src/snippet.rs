//! Pieces of a file for the model to read: numbered lines around a change, and differences.
//!
//! Invariant: bounded in lines and in characters of a line, and what is cut is said.

use std::fmt::Write as _;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};
use similar::TextDiff;

/// Lines shown before and after a change.
const CONTEXT: usize = 3;
/// The most lines shown around changes.
const MAX_LINES: usize = 60;
/// The most lines of a difference.
const MAX_DIFF_LINES: usize = 50;
/// Of more changed lines than this no difference is made: it takes time by their square.
const MAX_CHANGED: usize = 4_000;
/// The most line numbers listed.
const MAX_NUMBERS: usize = 20;
/// The most characters shown of a line.
pub(crate) const LINE_CHARS: usize = 500;

/// The lines around these pieces of a file, which are in order, with their numbers as Read shows them.
pub(crate) fn around(bytes: &[u8], pieces: &[Range<usize>]) -> String {
    let mut text = String::new();
    let (mut lines, mut number, mut counted) = (0, 1, 0);
    for window in windows(bytes, pieces) {
        number += newlines(bytes, counted..window.start);
        counted = window.start;
        if !text.is_empty() {
            text.push_str("   ...\n");
        }
        let shown = bytes.get(window).unwrap_or_default();
        for (offset, line) in shown.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if lines == MAX_LINES {
                text.push_str("[what follows is not shown]\n");
                return text;
            }
            lines += 1;
            let _ = writeln!(text, "{:>6}\t{}", number + offset, shown_line(line));
        }
    }
    text
}

/// Whole lines around each piece; those that touch become one.
fn windows(bytes: &[u8], pieces: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut windows: Vec<Range<usize>> = Vec::new();
    for piece in pieces.iter().take(MAX_LINES) {
        let window = window(bytes, piece);
        match windows.last_mut() {
            Some(last) if window.start <= last.end => last.end = last.end.max(window.end),
            _ => windows.push(window),
        }
    }
    windows
}

fn window(bytes: &[u8], piece: &Range<usize>) -> Range<usize> {
    let mut start = line_start(bytes, piece.start);
    let mut end = line_end(bytes, piece.end.saturating_sub(1).max(piece.start));
    for _ in 0..CONTEXT {
        start = line_start(bytes, start.saturating_sub(1));
        end = line_end(bytes, end);
    }
    start..end
}

fn line_start(bytes: &[u8], position: usize) -> usize {
    bytes.get(..position).and_then(|before| memrchr(b'\n', before)).map_or(0, |newline| newline + 1)
}

fn line_end(bytes: &[u8], position: usize) -> usize {
    let after = bytes.get(position..).unwrap_or_default();
    memchr(b'\n', after).map_or(bytes.len(), |newline| position + newline + 1)
}

fn newlines(bytes: &[u8], range: Range<usize>) -> usize {
    memchr_iter(b'\n', bytes.get(range).unwrap_or_default()).count()
}

/// The numbers of the lines in which these positions are, which are in order.
pub(crate) fn line_numbers(bytes: &[u8], positions: &[usize]) -> String {
    let (mut number, mut counted) = (1, 0);
    let mut numbers = Vec::new();
    for position in positions.iter().take(MAX_NUMBERS) {
        number += newlines(bytes, counted..*position);
        counted = *position;
        numbers.push(number.to_string());
    }
    let more = positions.len().saturating_sub(MAX_NUMBERS);
    let word = if positions.len() == 1 { "line" } else { "lines" };
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{word} {}{rest}", numbers.join(", "))
}

/// How one text became another.
pub(crate) fn difference(old: &[u8], new: &[u8]) -> String {
    if changed_lines(old, new) > MAX_CHANGED {
        return "[too many lines changed to show them]".to_owned();
    }
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let difference = TextDiff::from_lines(old.as_ref(), new.as_ref());
    let text = difference.unified_diff().context_radius(CONTEXT).to_string();
    let total = text.lines().count();
    let mut lines: Vec<String> =
        text.lines().take(MAX_DIFF_LINES).map(|line| cut(line, LINE_CHARS)).collect();
    if total > MAX_DIFF_LINES {
        lines.push(format!("[{} more lines of the difference]", total - MAX_DIFF_LINES));
    }
    lines.join("\n")
}

/// Lines that are not in a common beginning or end.
fn changed_lines(old: &[u8], new: &[u8]) -> usize {
    let lines = |bytes| <[u8]>::split_inclusive(bytes, |byte: &u8| *byte == b'\n');
    let same = |(old, new): &(&[u8], &[u8])| old == new;
    let first = lines(old).zip(lines(new)).take_while(same).count();
    let last = lines(old).rev().zip(lines(new).rev()).take_while(same).count();
    let (old, new) = (lines(old).count(), lines(new).count());
    old.max(new).saturating_sub(first + last)
}

/// A line as it is shown: without its end, repaired, cut.
pub(crate) fn shown_line(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // A character has at most four bytes, so what is behind these is not shown anyway.
    let beginning = line.get(..LINE_CHARS * 4 + 4).unwrap_or(line);
    let text = String::from_utf8_lossy(beginning);
    if beginning.len() == line.len() {
        return cut(&text, LINE_CHARS);
    }
    let shown: String = text.chars().take(LINE_CHARS).collect();
    format!("{shown} [line cut: it has {} bytes]", line.len())
}

/// At most so many characters of a text.
pub(crate) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => {
            let shown = text.get(..end).unwrap_or(text);
            format!("{shown} [line cut: it has {} characters]", text.chars().count())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> String {
        (1..=count).fold(String::new(), |text, number| text + &format!("l{number}\n"))
    }

    #[test]
    fn lines_around_changes() {
        let text = numbered(20);
        let at = |what: &str| {
            let start = text.find(what).unwrap();
            start..start + what.len()
        };
        let shown = around(text.as_bytes(), &[at("l2\n"), at("l15\n")]);
        let expected = "     1\tl1\n     2\tl2\n     3\tl3\n     4\tl4\n     5\tl5\n   ...\n    12\tl12\n    \
                        13\tl13\n    14\tl14\n    15\tl15\n    16\tl16\n    17\tl17\n    18\tl18\n";
        assert_eq!(shown, expected);
        let near = around(text.as_bytes(), &[at("l2\n"), at("l7\n")]);
        assert_eq!(near.lines().count(), 10, "{near}");
        assert_eq!(
            line_numbers(text.as_bytes(), &[at("l2\n").start, at("l15").start]),
            "lines 2, 15"
        );
    }

    #[test]
    fn the_edges_of_a_file() {
        let nothing = 0..0;
        assert_eq!(around(b"", std::slice::from_ref(&nothing)), "");
        let line = 0..1;
        assert_eq!(around(b"a", std::slice::from_ref(&line)), "     1\ta\n");
        let end = 2..2;
        assert_eq!(around(b"a\n", std::slice::from_ref(&end)), "     1\ta\n");
    }

    #[test]
    fn everything_is_bounded() {
        let text = numbered(1_000);
        let whole = 0..text.len();
        let shown = around(text.as_bytes(), std::slice::from_ref(&whole));
        assert_eq!(shown.lines().count(), MAX_LINES + 1);
        let all = difference(b"", text.as_bytes());
        assert_eq!(all.lines().count(), MAX_DIFF_LINES + 1);
        assert!(all.ends_with("[951 more lines of the difference]"), "{all}");
        let many = numbered(MAX_CHANGED + 1);
        assert_eq!(difference(b"", many.as_bytes()), "[too many lines changed to show them]");
        let one = many.replace("l7\n", "seven\n");
        assert!(difference(many.as_bytes(), one.as_bytes()).contains("-l7\n+seven\n"));
        let long = "x".repeat(600);
        assert!(shown_line(long.as_bytes()).ends_with("x [line cut: it has 600 characters]"));
        let longer = "é".repeat(6_000);
        assert!(shown_line(longer.as_bytes()).ends_with("é [line cut: it has 12000 bytes]"));
    }
}

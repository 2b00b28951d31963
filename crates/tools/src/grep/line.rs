//! A line as Grep shows it: of a long one, the piece around the match.

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;

use crate::snippet::{LINE_CHARS, shown_line};

/// Of what is shown, this much lies before the match.
const BEFORE: usize = 100;
/// What is shown of a line longer than this may not be its beginning.
const SHORT: usize = LINE_CHARS;

/// The text of a matching line.
pub(super) fn matching(line: &[u8], matcher: &RegexMatcher) -> String {
    if line.len() <= SHORT {
        return shown_line(line);
    }
    // An error of the matcher or no match within this line alone: then its beginning is as good.
    let found = matcher.find(line).ok().flatten();
    let Some(found) = found.filter(|found| found.end() > SHORT) else { return shown_line(line) };
    let start = char_start(line, found.start().saturating_sub(BEFORE));
    let shown = shown_line(line.get(start..).unwrap_or(line));
    if start == 0 { shown } else { format!("[from byte {start} of the line] {shown}") }
}

/// The start of the character at this byte, if it is UTF-8.
fn char_start(line: &[u8], position: usize) -> usize {
    let is_inside = |position: &usize| line.get(*position).is_some_and(|byte| byte & 0xc0 == 0x80);
    (position.saturating_sub(3)..=position)
        .rev()
        .find(|start| !is_inside(start))
        .unwrap_or(position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_piece_around_the_match() {
        let matcher = RegexMatcher::new("needle").unwrap();
        let line = format!("{}needle{}\n", "é".repeat(1_000), "y".repeat(1_000));
        let shown = matching(line.as_bytes(), &matcher);
        assert!(shown.starts_with("[from byte 1900 of the line] éé"), "{shown}");
        assert!(shown.contains("éneedleyyy") && shown.contains("[line cut: it has "), "{shown}");
        assert_eq!(matching(b"a needle\r\n", &matcher), "a needle");
        let early = format!("needle{}\n", "y".repeat(1_000));
        assert!(matching(early.as_bytes(), &matcher).starts_with("needleyy"));
    }
}

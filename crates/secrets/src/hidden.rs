//! Secrets that are interrupted: by characters that nobody sees, or by the end of a line.

use std::ops::Range;

/// A text without what interrupts a secret, and where each of its bytes was.
pub(crate) struct JoinedText {
    pub(crate) text: String,
    /// Position in the original of each byte, and of the end.
    positions: Vec<usize>,
}

/// What is taken out of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// Characters without width.
    Invisible,
    /// Line ends in the middle of something that looks like a key.
    LineEnd,
}

/// Characters of a key before the end of a line, and after it.
const LEAST_BEFORE: usize = 8;
const LEAST_AFTER: usize = 4;

impl JoinedText {
    /// The text without these interruptions; none if it has none.
    pub(crate) fn without(text: &str, interruption: Interruption) -> Option<Self> {
        let mut joined = Self { text: String::with_capacity(text.len()), positions: Vec::new() };
        let mut run = KeyRun::default();
        let mut rest = text.char_indices();
        while let Some((at, c)) = rest.next() {
            if interruption == Interruption::Invisible && is_invisible(c) {
                continue;
            }
            if interruption == Interruption::LineEnd
                && c == '\n'
                && run.may_go_on()
                && let Some(skipped) = continuation(rest.as_str())
            {
                for _ in 0..skipped {
                    rest.next();
                }
                // A backslash that continues the line, and the other half of its end.
                while joined.text.ends_with(['\\', '\r']) {
                    joined.text.pop();
                    joined.positions.pop();
                }
                continue;
            }
            run.add(c);
            joined.push(at, c);
        }
        joined.positions.push(text.len());
        (joined.text.len() < text.len()).then_some(joined)
    }

    fn push(&mut self, at: usize, c: char) {
        self.text.push(c);
        self.positions.extend(at..at + c.len_utf8());
    }

    /// Where a range was in the original; none if nothing was taken out of it.
    pub(crate) fn original(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let start = *self.positions.get(span.start)?;
        let last = *self.positions.get(span.end.checked_sub(1)?)?;
        let original = start..last + 1;
        (original.len() > span.len()).then_some(original)
    }
}

/// The characters in a row that may belong to a key.
#[derive(Default)]
struct KeyRun {
    length: usize,
    has_digit: bool,
}

impl KeyRun {
    fn add(&mut self, c: char) {
        if is_key_character(c) {
            self.length += 1;
            self.has_digit |= c.is_ascii_digit();
        } else if c != '\r' && c != '\\' {
            *self = Self::default();
        }
    }

    fn may_go_on(&self) -> bool {
        self.length >= LEAST_BEFORE && self.has_digit
    }
}

/// How many characters stand between the end of a line and a key that goes on; none if it does not.
fn continuation(rest: &str) -> Option<usize> {
    let skipped =
        rest.chars().take_while(|c| matches!(c, ' ' | '\t' | '>' | '|' | '*' | '#')).count();
    let run = rest.chars().skip(skipped).take_while(|c| is_key_character(*c)).count();
    (run >= LEAST_AFTER).then_some(skipped)
}

fn is_key_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/' | '=')
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

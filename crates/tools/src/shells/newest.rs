//! The newest lines of a command's output, in bounded memory.

use std::collections::VecDeque;

/// So many lines are kept.
const LINES: usize = 40;
/// Of a longer line, its last characters are kept.
const LINE_CHARS: usize = 400;

/// The last lines of an output; the last one may be incomplete.
#[derive(Debug, Default)]
pub(super) struct NewestLines {
    lines: VecDeque<String>,
    /// The line that is being written.
    open: String,
}

impl NewestLines {
    pub(super) fn push(&mut self, text: &str) {
        let mut parts = text.split('\n');
        // There is always a first part.
        self.open.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let line = std::mem::replace(&mut self.open, part.to_owned());
            self.lines.push_back(ended(&line));
        }
        let surplus = self.lines.len().saturating_sub(LINES);
        self.lines.drain(..surplus);
        if self.open.len() > 8 * LINE_CHARS {
            self.open = ended(&self.open);
        }
    }

    pub(super) fn text(&self) -> String {
        let open = (!self.open.is_empty()).then(|| ended(&self.open));
        self.lines.iter().cloned().chain(open).collect::<Vec<_>>().join("\n")
    }
}

/// The end of a line.
fn ended(line: &str) -> String {
    let count = line.chars().count();
    line.chars().skip(count.saturating_sub(LINE_CHARS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_with_the_one_being_written() {
        let mut newest = NewestLines::default();
        for at in 0..100 {
            newest.push(&format!("line {at}\nline"));
            newest.push(" ");
        }
        newest.push("睡鼠");
        let text = newest.text();
        assert_eq!(text.lines().count(), LINES + 1);
        assert!(text.ends_with("line line 99\nline 睡鼠"), "{text}");
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let mut newest = NewestLines::default();
        for _ in 0..1000 {
            newest.push(&"睡".repeat(100));
        }
        assert!(newest.open.len() <= 8 * LINE_CHARS + 300);
        assert_eq!(newest.text().chars().count(), LINE_CHARS);
    }
}

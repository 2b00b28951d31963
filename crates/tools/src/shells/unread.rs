//! Output that was not read yet, in bounded memory: the newest part is kept, the rest is counted.

/// The most that is kept of output that was not read yet.
const UNREAD_BYTES: usize = 1024 * 1024;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UnreadOutput {
    pub(crate) text: String,
    /// How many bytes before it were dropped.
    pub(crate) dropped: usize,
}

impl UnreadOutput {
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        // In large steps, since each one moves the whole text.
        if self.text.len() > 2 * UNREAD_BYTES {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let mut surplus = self.text.len().saturating_sub(UNREAD_BYTES);
        while !self.text.is_char_boundary(surplus) {
            surplus += 1;
        }
        self.text.drain(..surplus);
        self.dropped += surplus;
    }

    /// All complete lines; an incomplete last one stays.
    pub(super) fn take_lines(&mut self) -> Self {
        let whole = self.text.rfind('\n').map_or(0, |at| at + 1);
        let rest = self.text.split_off(whole);
        let text = std::mem::replace(&mut self.text, rest);
        Self { text, dropped: std::mem::take(&mut self.dropped) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stays_and_the_rest_is_counted() {
        let mut unread = UnreadOutput::default();
        for _ in 0..5 {
            unread.push(&"睡".repeat(UNREAD_BYTES / 6));
        }
        unread.push("end");
        assert!(unread.text.ends_with("睡end") && unread.text.len() <= 2 * UNREAD_BYTES);
        assert_eq!(unread.text.len() + unread.dropped, UNREAD_BYTES / 6 * 3 * 5 + 3);
        assert!(unread.dropped > 0);
    }

    #[test]
    fn an_unfinished_line_waits() {
        let mut unread = UnreadOutput { text: "one\ntw".into(), dropped: 7 };
        assert_eq!(unread.take_lines(), UnreadOutput { text: "one\n".into(), dropped: 7 });
        unread.push("o\n");
        assert_eq!(unread.take_lines(), UnreadOutput { text: "two\n".into(), dropped: 0 });
    }
}

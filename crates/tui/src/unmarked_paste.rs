//! Pastes on terminals that do not mark them: several lines arrive at once, faster than anybody types.
//!
//! *Invariants:* nothing that was read is dropped, but half a character. Once a terminal has marked a paste, nothing else counts as one.

/// Recognizes pasted lines among what is read.
#[derive(Debug, Default)]
pub(crate) struct UnmarkedPaste {
    /// Whether the last read was pasted and no pause has followed.
    goes_on: bool,
    /// The terminal marks what is pasted.
    is_off: bool,
    /// The beginning of a character that the last read has cut off.
    cut: Vec<u8>,
}

impl UnmarkedPaste {
    /// The text of one read, if it was pasted.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<String> {
        if self.is_off {
            return None;
        }
        // One line feed after a paste is the key.
        let is_next_part = self.goes_on && bytes.len() > 1;
        self.goes_on = bytes.iter().copied().all(is_text) && (is_next_part || has_lines(bytes));
        if !self.goes_on {
            self.cut.clear();
            return None;
        }
        self.cut.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.cut) {
            // Cut off at the end, not wrong in the middle.
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.cut.len(),
        };
        let rest = self.cut.split_off(whole);
        let text = String::from_utf8_lossy(&self.cut).into_owned();
        self.cut = rest;
        Some(text)
    }

    /// Whether more of a paste may follow.
    pub(crate) fn goes_on(&self) -> bool {
        self.goes_on
    }

    /// A pause: what follows is not part of it.
    pub(crate) fn end(&mut self) {
        self.goes_on = false;
        self.cut.clear();
    }

    /// The terminal marks what is pasted: several lines at once were typed before they could be read.
    pub(crate) fn turn_off(&mut self) {
        self.end();
        self.is_off = true;
    }
}

/// Not a part of a sequence, nor a control key.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\r' | b'\n' | 0x20..=0x7e | 0x80..)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

/// Whether there is text both before and after a line end. A line with its Enter may have been typed.
fn has_lines(bytes: &[u8]) -> bool {
    bytes.split(|byte| is_line_end(*byte)).filter(|line| !line.is_empty()).count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_arrive_at_once_are_pasted() {
        let pasted = |read: &str| UnmarkedPaste::default().take(read.as_bytes());
        for read in ["one\rtwo", "one\rtwo\r", "\tone\n\n睡鼠\r"] {
            assert_eq!(pasted(read).as_deref(), Some(read));
        }
        for read in ["", "a", "\r", "\r\r", "one", "one\r", "\rone", "a\x1b\rb", "a\rb\x03"] {
            assert_eq!(pasted(read), None, "{read:?}");
        }
    }

    #[test]
    fn a_paste_in_several_reads_is_pasted_to_its_end() {
        let mut paste = UnmarkedPaste::default();
        assert_eq!(paste.take("a\rb 睡".as_bytes()).as_deref(), Some("a\rb 睡"));
        let (first, second) = "c鼠\r".as_bytes().split_at(2);
        assert_eq!(paste.take(first).as_deref(), Some("c"));
        assert_eq!(paste.take(second).as_deref(), Some("鼠\r"));
        assert_eq!(paste.take(b"\r"), None, "the key");
        assert_eq!(paste.take(b"typed\r"), None);
        paste.take(b"a\rb").unwrap();
        paste.end();
        assert_eq!(paste.take(b"typed\r"), None);
        paste.turn_off();
        assert_eq!(paste.take(b"typed\rahead\r"), None);
    }
}

//! The beginning and the end of a stream of any length, in bounded memory.
//!
//! Invariant: of what is left out, the number of characters is known and said.

use std::collections::VecDeque;

/// A character takes at most this many bytes, so this many times the characters are kept.
const BYTES_PER_CHAR: usize = 4;

/// What a stream began and ended with.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Characters of the beginning, and as many of the end.
    half: usize,
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: usize,
    chars: usize,
}

/// A captured stream as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Captured {
    /// All of it, or beginning and end with a note between.
    pub(crate) text: String,
    /// Characters left out.
    pub(crate) left_out: usize,
}

impl Capture {
    /// Keeps at most this many characters.
    pub(crate) fn new(chars: usize) -> Self {
        Self { half: chars / 2, head: Vec::new(), tail: VecDeque::new(), bytes: 0, chars: 0 }
    }

    /// Takes in the next piece.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        let room = self.half * BYTES_PER_CHAR;
        self.bytes += piece.len();
        self.chars += count_chars(piece);
        let to_head = room.saturating_sub(self.head.len()).min(piece.len());
        let (first, rest) = piece.split_at(to_head);
        self.head.extend_from_slice(first);
        let (_, last) = rest.split_at(rest.len().saturating_sub(room));
        let surplus = (self.tail.len() + last.len()).saturating_sub(room);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend(last);
    }

    /// The text of it. What is not UTF-8 shows as replacement characters.
    pub(crate) fn finish(self) -> Captured {
        let tail = Vec::from(self.tail);
        let (beginning, end) = if self.bytes == self.head.len() + tail.len() {
            let whole = lossy(&[self.head.as_slice(), &tail].concat());
            if whole.chars().count() <= self.half * 2 {
                return Captured { text: whole, left_out: 0 };
            }
            (whole.clone(), whole)
        } else {
            let cut_char = tail.iter().take_while(|byte| is_continuation(**byte)).count();
            (lossy(&self.head), lossy(tail.get(cut_char..).unwrap_or_default()))
        };
        let head: String = beginning.chars().take(self.half).collect();
        let tail: String =
            end.chars().skip(end.chars().count().saturating_sub(self.half)).collect();
        let left_out = self.chars.saturating_sub(head.chars().count() + tail.chars().count());
        let text = format!("{head}\n[{left_out} characters left out]\n{tail}");
        Captured { text, left_out }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Characters in a piece of UTF-8, even one that begins or ends within a character.
pub(crate) fn count_chars(piece: &[u8]) -> usize {
    piece.iter().filter(|byte| !is_continuation(**byte)).count()
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capture(limit: usize, pieces: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
        }
        assert!(capture.head.len() + capture.tail.len() <= limit * BYTES_PER_CHAR);
        capture.finish()
    }

    #[test]
    fn beginning_and_end_stay() {
        let text: String = ('a'..='z').collect();
        assert_eq!(capture(26, &[text.as_bytes()]), Captured { text: text.clone(), left_out: 0 });
        let cut = Captured { text: "abc\n[20 characters left out]\nxyz".into(), left_out: 20 };
        assert_eq!(capture(6, &[text.as_bytes()]), cut);
        let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(capture(6, &single), cut);
    }

    #[test]
    fn what_is_not_text_does_not_break_it() {
        assert_eq!(capture(10, &[b"a\xffb"]).text, "a\u{fffd}b");
        let garbage = vec![0x80_u8; 1_000];
        assert!(capture(10, &[&garbage]).text.chars().count() < 100);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same(text in "[aé睡🐭]{0,200}", at in 0_usize..200, limit in 1_usize..40) {
            let limit = limit * 2;
            let bytes = text.as_bytes();
            let (left, right) = bytes.split_at(at.min(bytes.len()));
            let captured = capture(limit, &[left, right]);
            let count = text.chars().count();
            if count <= limit {
                prop_assert_eq!(captured, Captured { text, left_out: 0 });
            } else {
                let head: String = text.chars().take(limit / 2).collect();
                let tail: String = text.chars().skip(count - limit / 2).collect();
                let left_out = count - limit;
                let text = format!("{head}\n[{left_out} characters left out]\n{tail}");
                prop_assert_eq!(captured, Captured { text, left_out });
            }
        }
    }
}

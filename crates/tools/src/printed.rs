//! What a process prints, as text: decoded and without secrets, piece by piece as it comes.
//!
//! Invariant: however the bytes are cut into pieces, the text is the same, and no secret is in it.

use dormouse_base::{RedactedStream, Redactor};

/// Turns bytes into text that may be shown and kept.
#[derive(Debug)]
pub(crate) struct Printed {
    /// The beginning of a character whose rest is still to come.
    cut_char: Vec<u8>,
    clean: RedactedStream,
}

impl Printed {
    pub(crate) fn new(redactor: &Redactor) -> Self {
        Self { cut_char: Vec::new(), clean: redactor.stream() }
    }

    /// Takes in the next bytes and gives what can be shown.
    pub(crate) fn push(&mut self, piece: &[u8]) -> String {
        let text = if self.cut_char.is_empty() {
            self.decode(piece)
        } else {
            let whole = [std::mem::take(&mut self.cut_char).as_slice(), piece].concat();
            self.decode(&whole)
        };
        self.clean.push(&text)
    }

    /// The rest.
    pub(crate) fn finish(mut self) -> String {
        let last = String::from_utf8_lossy(&std::mem::take(&mut self.cut_char)).into_owned();
        let mut rest = self.clean.push(&last);
        rest.push_str(&self.clean.finish());
        rest
    }

    /// What is not UTF-8 shows as replacement characters.
    fn decode(&mut self, bytes: &[u8]) -> String {
        let whole = bytes.len() - cut_at_end(bytes);
        let (now, later) = bytes.split_at(whole);
        later.clone_into(&mut self.cut_char);
        String::from_utf8_lossy(now).into_owned()
    }
}

/// The bytes at the end that begin a character and do not finish it.
fn cut_at_end(bytes: &[u8]) -> usize {
    let is_cut = |length: usize| {
        let tail = bytes.split_at_checked(bytes.len().saturating_sub(length)).map(|(_, tail)| tail);
        // `None` as the length of the fault means: it only lacks its end.
        tail.is_some_and(|tail| {
            tail.len() == length
                && str::from_utf8(tail)
                    .is_err_and(|e| e.error_len().is_none() && e.valid_up_to() == 0)
        })
    };
    (1..=3).find(|length| is_cut(*length)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_base::Secret;
    use proptest::prelude::*;

    #[test]
    fn a_secret_in_two_pieces_is_found() {
        let redactor = Redactor::new([Secret::new("sk-1234567890")]);
        let mut printed = Printed::new(&redactor);
        let mut text = printed.push(b"key sk-12345");
        assert_eq!(text, "key ");
        text += &printed.push(b"67890 end");
        assert_eq!(text + &printed.finish(), "key [secret] end");
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same(bytes in prop::collection::vec(any::<u8>(), 0..40), text in "[a睡🐭é]{0,20}", at in 0_usize..80) {
            let all = [text.as_bytes(), &bytes, text.as_bytes()].concat();
            let (left, right) = all.split_at(at.min(all.len()));
            let mut printed = Printed::new(&Redactor::default());
            let shown = printed.push(left) + &printed.push(right) + &printed.finish();
            prop_assert_eq!(shown, String::from_utf8_lossy(&all));
        }
    }
}

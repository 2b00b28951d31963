//! Ends an answer early: one that is longer than it may be, or one that only repeats itself, as small models do. Dropping the
//! stream tells the server to stop, so its time is free for the user.

use dormouse_conversation::estimate_text;

/// Why an answer was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerCut {
    /// It is as long as it may be.
    TooLong,
    /// Its end is the same text over and over.
    Repeats,
}

/// So many bytes of nothing but repetition are a loop: no table or list of a useful answer has them.
const LOOP_BYTES: usize = 480;
/// A text is a loop from so many repetitions on.
const LOOP_TIMES: usize = 4;
/// The longest text whose repetition is looked for.
const LONGEST_UNIT: usize = 400;
/// How many bytes come in before the end is looked at again.
const LOOK_EVERY: usize = 120;

/// Looks at an answer while it streams.
#[derive(Debug, Clone, Default)]
pub struct AnswerWatch {
    most_tokens: Option<u32>,
    text: String,
    looked_at: usize,
}

impl AnswerWatch {
    /// A watch for answers of at most so many tokens, estimated; none: of any length.
    pub fn new(most_tokens: Option<u32>) -> Self {
        Self { most_tokens, ..Self::default() }
    }

    /// Takes in the next piece. Why the answer should end here, if it should.
    pub(crate) fn add(&mut self, piece: &str) -> Option<AnswerCut> {
        self.text.push_str(piece);
        if self.text.len() < self.looked_at + LOOK_EVERY {
            return None;
        }
        self.looked_at = self.text.len();
        if ends_in_loop(self.text.as_bytes()) {
            return Some(AnswerCut::Repeats);
        }
        let is_full = self.most_tokens.is_some_and(|most| estimate_text(&self.text) >= most);
        is_full.then_some(AnswerCut::TooLong)
    }

    /// What came so far.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Whether a text ends with the same piece over and over.
fn ends_in_loop(text: &[u8]) -> bool {
    (1..=LONGEST_UNIT).any(|unit| {
        let length = LOOP_BYTES.max(unit * LOOP_TIMES);
        let Some(start) = text.len().checked_sub(length) else { return false };
        let end = text.get(start..).unwrap_or_default();
        // A text is periodic if it equals itself, moved by the period.
        end.get(unit..) == end.get(..end.len() - unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(text: &str, most: Option<u32>) -> Option<AnswerCut> {
        let mut watch = AnswerWatch::new(most);
        text.split_inclusive(' ').find_map(|piece| watch.add(piece))
    }

    #[test]
    fn a_loop_ends_in_both_languages() {
        let useful = "The user asked for a parser; it reads lines, and two tests fail. ";
        let english = format!("{useful}{}", "I will now read the file again. ".repeat(40));
        let chinese = format!("{useful}{}", "我现在再读一遍这个文件。 ".repeat(40));
        for text in [english, chinese, format!("{useful}{}", "no ".repeat(300))] {
            assert_eq!(watch(&text, None), Some(AnswerCut::Repeats), "{text}");
        }
    }

    #[test]
    fn what_only_looks_alike_goes_on() {
        let list: Vec<String> = (0..80).map(|n| format!("- file {n} is fine\n ")).collect();
        let list = list.concat();
        let table = "| --- | --- | --- |\n ".repeat(3);
        let rule = "-".repeat(100);
        for text in [list, table, rule] {
            assert_eq!(watch(&text, None), None, "{text}");
        }
    }

    #[test]
    fn an_answer_ends_at_its_limit() {
        let long: Vec<String> = (0..500).map(|n| format!("word{n} ")).collect();
        let long = long.concat();
        assert_eq!(watch(&long, Some(200)), Some(AnswerCut::TooLong));
        assert_eq!(watch(&long, Some(20_000)), None);
    }
}

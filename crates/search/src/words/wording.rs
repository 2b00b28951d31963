//! What the words of a message tell about whether any memory helps with it. A request for a commit or a rename and a question
//! of general knowledge are worded differently from work in which one has to know the project. The weights of the words were learned
//! from messages about invented projects and persons (`dormouse-bench recall bench/practice/*.json --learn-wording`).

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::form::LONGEST_HEAD;
use super::{TextPiece, Tokenizer, split_text};

/// Added to the number of words: a few of them tell little.
const FEW_WORDS: f64 = 10.0;

static SHIPPED: LazyLock<MessageWording> =
    LazyLock::new(|| MessageWording::parse(include_str!("wording.txt")));

/// Weights of words: above 0 if no memory helps with most messages that have the word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MessageWording {
    weights: HashMap<String, f64>,
}

impl MessageWording {
    /// The list that is part of the program.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// A list with these words and weights.
    pub fn new(weights: impl IntoIterator<Item = (String, f64)>) -> Self {
        Self { weights: weights.into_iter().collect() }
    }

    /// Reads lines with a word and its weight. Lines that begin with `#` are comments.
    fn parse(text: &str) -> Self {
        let entries = text.lines().filter(|line| !line.starts_with('#'));
        Self::new(entries.filter_map(|line| {
            let (word, weight) = line.split_once(' ')?;
            Some((word.to_owned(), weight.parse().ok()?))
        }))
    }

    /// The stems of the words in the beginning of a message, each once: in scripts without spaces, its characters.
    pub fn words(tokenizer: &Tokenizer, message: &str) -> BTreeSet<String> {
        let head: String = message.trim().chars().take(LONGEST_HEAD).collect();
        let mut words = BTreeSet::new();
        split_text(&head, |piece| match piece {
            TextPiece::Word { text, .. } => drop(words.insert(tokenizer.stem(text).into_owned())),
            TextPiece::Part { .. } => {}
            TextPiece::Run { text } => words.extend(text.chars().map(String::from)),
        });
        words
    }

    /// The mean weight of the words of a message, lowered where there are few: above 0 if no memory helps with most messages that are worded like it.
    pub fn figure(&self, tokenizer: &Tokenizer, message: &str) -> f64 {
        let words = Self::words(tokenizer, message);
        let known = words.iter().filter_map(|word| self.weights.get(word));
        let count = u32::try_from(words.len()).unwrap_or(u32::MAX);
        known.fold(0.0, |sum, weight| sum + weight) / (FEW_WORDS + f64::from(count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_beginning_each_once() {
        let message = format!("Renamed it, rename 变量! {}", "x ".repeat(500));
        let words = MessageWording::words(&Tokenizer::new(), &message);
        assert_eq!(Vec::from_iter(words), ["it", "renam", "x", "变", "量"]);
    }

    #[test]
    fn every_line_of_the_list_is_a_word_of_its_own_and_a_weight() {
        let lines = include_str!("wording.txt").lines().filter(|line| !line.starts_with('#'));
        assert_eq!(MessageWording::shipped().weights.len(), lines.count());
    }

    #[test]
    fn the_figure_is_a_mean_that_few_words_hardly_move() {
        let wording = MessageWording::parse("# words\nrenam 2.0\nwe -1.0\n");
        let tokenizer = Tokenizer::new();
        let figure = |message| format!("{:.2}", wording.figure(&tokenizer, message));
        assert_eq!(figure("rename"), "0.18");
        assert_eq!(figure("we rename"), "0.08");
        assert_eq!(figure("something else"), "0.00");
        assert_eq!(figure(""), "0.00");
    }

    #[test]
    fn messages_that_no_memory_helps_with_are_worded_in_another_way() {
        let tokenizer = Tokenizer::new();
        let figure = |message| MessageWording::shipped().figure(&tokenizer, message);
        assert!(figure("rename the variable x to count in this function") > 0.0);
        assert!(figure("can we put the new build on staging before the demo?") < 0.0);
        assert!(
            figure("这个函数里的变量名改成 count") > figure("周五上线前帮我给客户那边也跑一遍")
        );
    }
}

//! Syntax colors for code: keywords, names of types and functions, texts, numbers and comments, line by line.
//!
//! A scanner over tables of languages (`language`), not a parser: it is right about what a reader looks for, takes microseconds a
//! line, and no line can make it slow. A grammar engine was measured beside it: see DEPENDENCIES.md.
//!
//! *Invariants:* each line is looked at once, from left to right; the tokens of a line are the whole line.

mod language;
mod token;

pub use token::CodeToken;

use language::{CodeLanguage, Delimiter, WordKinds, language};

/// Longer lines are not code that somebody reads.
const LONGEST_LINE: usize = 4_000;

/// Finds the tokens of consecutive lines in one language.
#[derive(Debug, Clone)]
pub struct Highlighter {
    language: &'static CodeLanguage,
    /// What was opened and not closed.
    open: Option<&'static Delimiter>,
}

impl Highlighter {
    /// For a language by its name, or the ending of a file; none if it is not known.
    pub fn new(name: &str) -> Option<Self> {
        Some(Self { language: language(name)?, open: None })
    }

    /// The tokens of the next line, from left to right.
    pub fn line<'t>(&mut self, line: &'t str) -> Vec<(&'t str, CodeToken)> {
        if line.len() > LONGEST_LINE {
            return vec![(line, CodeToken::Plain)];
        }
        let mut lengths: Vec<(usize, CodeToken)> = Vec::new();
        let (mut rest, mut before) = (line, None);
        while !rest.is_empty() {
            let (length, token) = self.next(rest, before, rest.len() == line.len());
            let (text, after) = rest.split_at(length);
            before = text.chars().next_back();
            rest = after;
            match lengths.last_mut() {
                Some((total, last)) if *last == token => *total += length,
                _ => lengths.push((length, token)),
            }
        }
        self.open = self.open.filter(|open| open.spans_lines);
        split(line, &lengths)
    }

    /// The length and the kind of what the text begins with.
    fn next(&mut self, rest: &str, before: Option<char>, at_start: bool) -> (usize, CodeToken) {
        if let Some(open) = self.open {
            let (length, is_closed) = open.length_in(rest);
            self.open = Some(open).filter(|_| !is_closed);
            return (length, open.token);
        }
        let after_blank = before.is_none_or(char::is_whitespace);
        let starts_comment = |start: &&&str| {
            rest.starts_with(**start) && (after_blank || !self.language.comment_after_blank)
        };
        if self.language.line_comments.iter().find(starts_comment).is_some() {
            return (rest.len(), CodeToken::Comment);
        }
        if let Some(open) = self.language.delimiters.iter().find(|open| open.opens(rest)) {
            self.open = Some(open);
            return (open.open.len(), open.token);
        }
        let first = rest.chars().next().unwrap_or_default();
        if first.is_ascii_digit() {
            return (number_length(rest), CodeToken::Number);
        }
        if !is_word(first) {
            return (first.len_utf8(), CodeToken::Plain);
        }
        let word_end = rest.find(|c| !is_word(c) && !self.language.word_marks.contains(&c));
        let (word, after) = rest.split_at(word_end.unwrap_or(rest.len()));
        (word.len(), self.word(word, after, at_start || after_blank))
    }

    fn word(&self, word: &str, after: &str, starts_word: bool) -> CodeToken {
        let language = self.language;
        let is_keyword = language.keywords.split(' ').any(|keyword| {
            keyword == word || language.any_case && keyword.eq_ignore_ascii_case(word)
        });
        let is_capital = word.starts_with(char::is_uppercase) && word.contains(char::is_lowercase);
        let is_key = starts_word && after.trim_start().starts_with([':', '=']);
        match language.words {
            _ if is_keyword => CodeToken::Keyword,
            WordKinds::Keys if is_key => CodeToken::Name,
            WordKinds::TypesAndFunctions if is_capital => CodeToken::Type,
            WordKinds::TypesAndFunctions | WordKinds::Functions if after.starts_with('(') => {
                CodeToken::Name
            }
            _ => CodeToken::Plain,
        }
    }
}

/// The parts of a line with these lengths.
fn split<'t>(line: &'t str, lengths: &[(usize, CodeToken)]) -> Vec<(&'t str, CodeToken)> {
    let mut rest = line;
    lengths
        .iter()
        .map(|(length, token)| {
            let (text, after) = rest.split_at(*length);
            rest = after;
            (text, *token)
        })
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a number: digits, letters for its base and type, and a fraction, but not two points.
fn number_length(text: &str) -> usize {
    let mut length = 0;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let follows_digit = letters.peek().is_some_and(char::is_ascii_digit);
        if !(is_word(letter) || letter == '.' && follows_digit) {
            break;
        }
        length += letter.len_utf8();
    }
    length
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

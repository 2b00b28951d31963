//! Wraps text into rows, word by word.
//!
//! Invariants: output is only appended. A word is written once it is complete, and never moved; no row is wider than
//! the given width.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use crate::style::{Piece, Style};
use crate::width;

/// Minimum width of a terminal: a wide character and some indentation must fit.
const MIN_WIDTH: usize = 8;

/// Punctuation that must not start a row, in text without spaces.
const CLOSING: &str = "，。、；：？！）】》」』”’…·";
/// Punctuation that must not end a row.
const OPENING: &str = "（【《「『“‘";

/// Text at the start of a row, in several styles.
pub(crate) type Margin = Vec<(String, Style)>;

/// Rows that are being filled.
#[derive(Debug)]
pub struct Flow {
    width: usize,
    out: Vec<Piece>,
    column: usize,
    /// The margin of the rows after the first.
    margin: Margin,
    word: Vec<(char, Style)>,
    /// Spaces that are written only if a word follows in the same row.
    spaces: Option<(usize, Style)>,
}

impl Flow {
    /// For rows of this width.
    pub fn new(width: usize) -> Self {
        Self::narrow(width.max(MIN_WIDTH))
    }

    /// A flow of exactly this width, for a table cell. Characters that are wider are left out.
    pub(crate) fn narrow(width: usize) -> Self {
        Self {
            width,
            out: Vec::new(),
            column: 0,
            margin: Margin::new(),
            word: Vec::new(),
            spaces: None,
        }
    }

    /// Sets the width of further rows.
    pub fn set_width(&mut self, width: usize) {
        self.width = width.max(MIN_WIDTH);
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The pieces that can be printed now.
    pub fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.out)
    }

    /// Starts a row: `first` is its margin, `rest` the margin of its continuation rows.
    pub fn begin(&mut self, first: Margin, rest: Margin) {
        let first = fit(first, self.width);
        self.write_margin(first);
        self.margin = fit(rest, self.width);
    }

    /// Adds a character of text that may be wrapped.
    pub fn put(&mut self, c: char, style: Style) {
        if c == ' ' || c == '\t' {
            self.end_word();
            let before = self.spaces.map_or(0, |(count, _)| count);
            self.spaces = Some((before + 1, style));
            return;
        }
        if self.word.last().is_some_and(|(last, _)| may_break(*last, c)) {
            self.end_word();
        }
        self.word.push((c, style));
    }

    /// Adds text unchanged, wrapped only where the row is full.
    pub fn put_verbatim(&mut self, text: &str, style: Style) {
        self.end_word();
        for grapheme in text.graphemes(true) {
            self.put_grapheme(grapheme, style);
        }
    }

    /// Ends the row.
    pub fn end_row(&mut self) {
        self.end_word();
        self.spaces = None;
        self.newline();
        self.margin.clear();
    }

    /// Adds finished rows that fit the width.
    pub(crate) fn append_rows(&mut self, pieces: Vec<Piece>) {
        self.out.extend(pieces);
    }

    fn newline(&mut self) {
        self.out.push(Piece::Newline);
        self.column = 0;
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = runs(&std::mem::take(&mut self.word));
        let columns: usize = word.iter().map(|(text, _)| width::of(text)).sum();
        if let Some((count, style)) = self.spaces.take() {
            if self.column + count + columns <= self.width {
                self.write(&" ".repeat(count), style);
            } else if self.column > columns_of(&self.margin) {
                self.next_row();
            }
        } else if self.column + columns > self.width && self.column > columns_of(&self.margin) {
            self.next_row();
        }
        for (text, style) in word {
            if self.column + width::of(&text) <= self.width {
                self.write(&text, style);
            } else {
                text.graphemes(true).for_each(|grapheme| self.put_grapheme(grapheme, style));
            }
        }
    }

    fn put_grapheme(&mut self, grapheme: &str, style: Style) {
        let columns = width::of_grapheme(grapheme);
        if columns > self.width {
            // A cluster that is wider than a row cannot be shown.
            return;
        }
        if self.column + columns > self.width {
            self.next_row();
        }
        self.write(grapheme, style);
    }

    fn next_row(&mut self) {
        self.newline();
        self.write_margin(self.margin.clone());
    }

    fn write_margin(&mut self, margin: Margin) {
        for (text, style) in margin {
            self.write(&text, style);
        }
    }

    fn write(&mut self, text: &str, style: Style) {
        if text.is_empty() {
            return;
        }
        self.column += width::of(text);
        match self.out.last_mut() {
            Some(Piece::Text(last, like)) if *like == style => last.push_str(text),
            _ => self.out.push(Piece::text(text, style)),
        }
    }
}

/// Limits a margin to half of the width.
fn fit(margin: Margin, width: usize) -> Margin {
    let mut room = width / 2;
    let mut kept = Margin::new();
    for (text, style) in margin {
        let cut: String = text
            .graphemes(true)
            .take_while(|grapheme| {
                let columns = width::of_grapheme(grapheme);
                let fits = columns <= room;
                room = if fits { room - columns } else { 0 };
                fits
            })
            .collect();
        kept.push((cut, style));
    }
    kept
}

fn columns_of(margin: &Margin) -> usize {
    margin.iter().map(|(text, _)| width::of(text)).sum()
}

/// Groups characters of one style.
fn runs(word: &[(char, Style)]) -> Vec<(String, Style)> {
    let mut runs: Vec<(String, Style)> = Vec::new();
    for (c, style) in word {
        match runs.last_mut() {
            Some((text, last)) if last == style => text.push(*c),
            _ => runs.push((c.to_string(), *style)),
        }
    }
    runs
}

/// Whether a row may end between two characters without a space: if one of them is wide, unless they belong together.
fn may_break(before: char, after: char) -> bool {
    let wide = |c: char| c.width() == Some(2);
    let joined = after.width().unwrap_or(0) == 0 || before == '\u{200d}';
    (wide(before) || wide(after))
        && !joined
        && !CLOSING.contains(after)
        && !OPENING.contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(width: usize, text: &str) -> Vec<String> {
        let mut flow = Flow::new(width);
        flow.begin(vec![("- ".to_owned(), Style::PLAIN)], vec![("  ".to_owned(), Style::PLAIN)]);
        text.chars().for_each(|c| flow.put(c, Style::PLAIN));
        flow.end_row();
        let mut rows = vec![String::new()];
        for piece in flow.take() {
            match piece {
                Piece::Text(text, _) => rows.last_mut().unwrap().push_str(&text),
                Piece::Newline => rows.push(String::new()),
            }
        }
        rows.pop();
        rows
    }

    #[test]
    fn words_are_wrapped() {
        assert_eq!(rows(10, "one two three"), ["- one two", "  three"]);
        assert_eq!(rows(10, "abcdefghijklm"), ["- abcdefgh", "  ijklm"]);
        assert_eq!(rows(10, "a abcdefghijklm"), ["- a", "  abcdefgh", "  ijklm"]);
    }

    #[test]
    fn text_without_spaces_breaks_anywhere_but_before_a_comma() {
        assert_eq!(rows(10, "睡鼠在冬天睡觉"), ["- 睡鼠在冬", "  天睡觉"]);
        assert_eq!(rows(10, "睡鼠在冬，天"), ["- 睡鼠在", "  冬，天"]);
    }

    #[test]
    fn a_word_appears_once_it_is_complete() {
        let mut flow = Flow::new(20);
        "one tw".chars().for_each(|c| flow.put(c, Style::PLAIN));
        assert_eq!(flow.take(), [Piece::text("one", Style::PLAIN)]);
        flow.put('o', Style::PLAIN);
        flow.end_row();
        assert_eq!(flow.take(), [Piece::text(" two", Style::PLAIN), Piece::Newline]);
    }
}

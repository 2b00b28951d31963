//! Text put into rows of a width, word by word.
//!
//! Invariant: it only appends. A word is put out once it is known to be whole, and never moved again;
//! no row is wider than the width.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthChar;

use super::style::{Piece, Style};
use crate::terminal::width;

/// Narrower than this no terminal is taken to be: a wide letter and some indentation must fit.
const NARROWEST: usize = 8;

/// What may not begin a row, and what may not end one, in text without spaces.
const CLOSING: &str = "，。、；：？！）】》」』”’…·";
const OPENING: &str = "（【《「『“‘";

/// What stands in front of a row.
pub(crate) type Margin = Vec<(String, Style)>;

/// Rows that fill up.
#[derive(Debug)]
pub(crate) struct Flow {
    width: usize,
    out: Vec<Piece>,
    column: usize,
    /// Goes in front of the rows after the first.
    margin: Margin,
    word: Vec<(char, Style)>,
    /// Blanks that are put out only if a word follows in the same row.
    spaces: Option<(usize, Style)>,
}

impl Flow {
    pub(crate) fn new(width: usize) -> Self {
        Self::narrow(width.max(NARROWEST))
    }

    /// A flow of just this width: for a cell of a table. Letters that are wider are left out.
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

    /// From the next row on, rows have this width.
    pub(crate) fn set_width(&mut self, width: usize) {
        self.width = width.max(NARROWEST);
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// What has become fit to print.
    pub(crate) fn take(&mut self) -> Vec<Piece> {
        std::mem::take(&mut self.out)
    }

    /// Begins a row: `first` stands in front of it, `rest` in front of those it is continued in.
    pub(crate) fn begin(&mut self, first: Margin, rest: Margin) {
        let first = fit(first, self.width);
        self.write_margin(first);
        self.margin = fit(rest, self.width);
    }

    /// Adds a letter of running text.
    pub(crate) fn put(&mut self, c: char, style: Style) {
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

    /// Adds text as it is, broken only where the row is full.
    pub(crate) fn put_verbatim(&mut self, text: &str, style: Style) {
        self.end_word();
        for letter in text.graphemes(true) {
            self.put_letter(letter, style);
        }
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) {
        self.end_word();
        self.spaces = None;
        self.newline();
        self.margin.clear();
    }

    /// Adds rows that are finished and fit.
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
                text.graphemes(true).for_each(|letter| self.put_letter(letter, style));
            }
        }
    }

    fn put_letter(&mut self, letter: &str, style: Style) {
        let columns = width::of_letter(letter);
        if columns > self.width {
            // Nothing so wide can be shown: a heap of letters that no terminal draws as one.
            return;
        }
        if self.column + columns > self.width {
            self.next_row();
        }
        self.write(letter, style);
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

/// A margin takes half of the width at most; deeper ones are cut.
fn fit(margin: Margin, width: usize) -> Margin {
    let mut room = width / 2;
    let mut kept = Margin::new();
    for (text, style) in margin {
        let cut: String = text
            .graphemes(true)
            .take_while(|letter| {
                let columns = width::of_letter(letter);
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

/// Letters of one style, together.
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

/// Whether a row may end between two letters that no blank parts: where one of them is wide, unless it
/// is a mark that clings to its neighbour.
fn may_break(before: char, after: char) -> bool {
    let wide = |c: char| c.width() == Some(2);
    let clings = after.width().unwrap_or(0) == 0 || before == '\u{200d}';
    (wide(before) || wide(after))
        && !clings
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
    fn words_go_into_rows() {
        assert_eq!(rows(10, "one two three"), ["- one two", "  three"]);
        assert_eq!(rows(10, "abcdefghijklm"), ["- abcdefgh", "  ijklm"]);
        assert_eq!(rows(10, "a abcdefghijklm"), ["- a", "  abcdefgh", "  ijklm"]);
    }

    #[test]
    fn text_without_blanks_breaks_between_letters_but_not_before_a_comma() {
        assert_eq!(rows(10, "睡鼠在冬天睡觉"), ["- 睡鼠在冬", "  天睡觉"]);
        assert_eq!(rows(10, "睡鼠在冬，天"), ["- 睡鼠在", "  冬，天"]);
    }

    #[test]
    fn a_word_appears_once_it_is_whole() {
        let mut flow = Flow::new(20);
        "one tw".chars().for_each(|c| flow.put(c, Style::PLAIN));
        assert_eq!(flow.take(), [Piece::text("one", Style::PLAIN)]);
        flow.put('o', Style::PLAIN);
        flow.end_row();
        assert_eq!(flow.take(), [Piece::text(" two", Style::PLAIN), Piece::Newline]);
    }
}

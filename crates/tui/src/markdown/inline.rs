//! Inline markup: emphasis, code, links.
//!
//! Invariant: the result depends on the text alone, not on how it was split. An opening mark whose closing mark may
//! still arrive delays the text after it, by at most [`MAX_SPAN`] characters.

use crate::style::{Attribute, Color, Style};

/// Maximum distance of an opening and a closing mark; without a closing mark in reach, a mark is plain text.
const MAX_SPAN: usize = 1_000;
/// Maximum nesting; deeper marks are plain text.
const MAX_DEPTH: usize = 6;

/// Receives characters with their style.
type Put<'a> = dyn FnMut(char, Style) + 'a;

/// Whether more of the line may arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    Partial,
    Complete,
}

/// The text of a line that is being received.
#[derive(Debug)]
pub(crate) struct Inline {
    style: Style,
    pending: Vec<char>,
    /// The character before the pending text.
    before: Option<char>,
}

impl Inline {
    /// A line whose plain text has this style.
    pub(crate) fn new(style: Style) -> Self {
        Self { style, pending: Vec::new(), before: None }
    }

    pub(crate) fn add(&mut self, c: char) {
        self.pending.push(c);
    }

    /// Passes on the text whose style is certain.
    pub(crate) fn advance(&mut self, put: &mut Put<'_>) {
        let used = scan(&self.pending, self.before, self.style, Input::Partial, 0, put);
        self.before =
            used.checked_sub(1).and_then(|at| self.pending.get(at)).copied().or(self.before);
        self.pending.drain(..used);
    }

    /// Passes on the rest, at the end of the line.
    pub(crate) fn finish(self, put: &mut Put<'_>) {
        scan(&self.pending, self.before, self.style, Input::Complete, 0, put);
    }
}

/// Renders a complete text.
pub(crate) fn render(text: &str, style: Style, put: &mut Put<'_>) {
    let chars: Vec<char> = text.chars().collect();
    scan(&chars, None, style, Input::Complete, 0, put);
}

/// The markup at the start of a text, and its length in characters.
#[derive(Debug)]
enum Markup<'a> {
    /// Not certain yet.
    Undecided,
    /// This number of plain characters.
    Plain(usize),
    /// A character after a backslash.
    Escaped(char),
    Code(&'a [char], usize),
    /// Emphasis: the text inside, and the style that it adds.
    Marked(&'a [char], fn(Style) -> Style, usize),
    /// A link: its text and target.
    Link(&'a [char], &'a [char], usize),
}

/// Passes on text as far as its style is certain; returns the number of characters used.
fn scan(
    text: &[char],
    before: Option<char>,
    style: Style,
    input: Input,
    depth: usize,
    put: &mut Put<'_>,
) -> usize {
    let mut at = 0;
    let mut last = before;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let found = find(rest, last, input, depth);
        let used = match found {
            Markup::Undecided | Markup::Plain(0) => return at,
            Markup::Plain(count) => {
                put_all(rest.get(..count).unwrap_or_default(), style, put);
                count
            }
            Markup::Escaped(c) => {
                put(c, style);
                2
            }
            Markup::Code(code, used) => {
                put_all(code, style.color(Color::Cyan), put);
                used
            }
            Markup::Marked(inner, mark, used) => {
                scan(inner, None, mark(style), Input::Complete, depth + 1, put);
                used
            }
            Markup::Link(label, target, used) => {
                link(label, target, style, depth, put);
                used
            }
        };
        at += used;
        last = text.get(at.saturating_sub(1)).copied();
    }
}

fn link(label: &[char], target: &[char], style: Style, depth: usize, put: &mut Put<'_>) {
    scan(label, None, style.with(Attribute::Underlined), Input::Complete, depth + 1, put);
    if target.is_empty() || label == target {
        return;
    }
    let target_style = style.with(Attribute::Dim);
    put_all(&[' ', '('], target_style, put);
    put_all(target, target_style, put);
    put(')', target_style);
}

fn put_all(text: &[char], style: Style, put: &mut Put<'_>) {
    for c in text {
        put(*c, style);
    }
}

fn find(rest: &[char], before: Option<char>, input: Input, depth: usize) -> Markup<'_> {
    let Some(first) = rest.first() else { return Markup::Plain(0) };
    if depth >= MAX_DEPTH {
        return Markup::Plain(1);
    }
    match first {
        // Part of a run of marks that is plain text.
        '`' | '*' | '_' | '~' if before == Some(*first) => Markup::Plain(1),
        '\\' => escaped(rest, input),
        '`' => code(rest, input),
        '*' | '_' | '~' => marked(rest, *first, before, input),
        '[' => linked(rest, 0, input),
        '!' => match rest.get(1) {
            Some('[') => linked(rest, 1, input),
            None if input == Input::Partial => Markup::Undecided,
            _ => Markup::Plain(1),
        },
        _ => Markup::Plain(1),
    }
}

fn escaped(rest: &[char], input: Input) -> Markup<'_> {
    match rest.get(1) {
        Some(c) if c.is_ascii_punctuation() => Markup::Escaped(*c),
        None if input == Input::Partial => Markup::Undecided,
        _ => Markup::Plain(1),
    }
}

/// Number of repetitions of a character at a position.
fn run(text: &[char], at: usize, letter: char) -> usize {
    text.iter().skip(at).take_while(|c| **c == letter).count()
}

/// The result of a search for a closing mark.
enum Search {
    At(usize),
    NotFound,
    Undecided,
}

/// No closing mark so far; none is expected after [`MAX_SPAN`] characters.
fn not_found(rest: &[char], input: Input) -> Search {
    if input == Input::Partial && rest.len() < MAX_SPAN {
        Search::Undecided
    } else {
        Search::NotFound
    }
}

/// Finds the run of backticks of exactly this length that ends the code starting at `from`.
fn code_end(rest: &[char], from: usize, length: usize, input: Input) -> Search {
    let mut at = from;
    while at < rest.len().min(MAX_SPAN) {
        let found = run(rest, at, '`');
        if found > 0 && at + found == rest.len() && input == Input::Partial {
            return Search::Undecided;
        }
        if found == length {
            return Search::At(at);
        }
        at += found.max(1);
    }
    not_found(rest, input)
}

fn code(rest: &[char], input: Input) -> Markup<'_> {
    let length = run(rest, 0, '`');
    match code_end(rest, length, length, input) {
        Search::At(end) => {
            let inner = rest.get(length..end).unwrap_or_default();
            Markup::Code(trimmed(inner), end + length)
        }
        Search::NotFound => Markup::Plain(length),
        Search::Undecided => Markup::Undecided,
    }
}

/// Removes one space on both sides, which separates the code from backticks.
fn trimmed(code: &[char]) -> &[char] {
    match code {
        [' ', inner @ .., ' '] if inner.iter().any(|c| *c != ' ') => inner,
        _ => code,
    }
}

fn marked(rest: &[char], letter: char, before: Option<char>, input: Input) -> Markup<'_> {
    let length = run(rest, 0, letter);
    let Some(next) = rest.get(length) else {
        return if input == Input::Partial { Markup::Undecided } else { Markup::Plain(length) };
    };
    let inside_a_word = letter == '_' && before.is_some_and(char::is_alphanumeric);
    let Some(mark) = mark_of(letter, length).filter(|_| !next.is_whitespace() && !inside_a_word)
    else {
        return Markup::Plain(length);
    };
    match marked_end(rest, letter, length, input) {
        Search::At(end) => {
            let inner = rest.get(length..end).unwrap_or_default();
            Markup::Marked(inner, mark, end + length)
        }
        Search::NotFound => Markup::Plain(length),
        Search::Undecided => Markup::Undecided,
    }
}

fn mark_of(letter: char, length: usize) -> Option<fn(Style) -> Style> {
    match (letter, length) {
        ('*' | '_', 1) => Some(|style| style.with(Attribute::Italic)),
        ('*' | '_', 2) => Some(|style| style.with(Attribute::Bold)),
        ('*' | '_', 3) => Some(|style| style.with(Attribute::Bold).with(Attribute::Italic)),
        ('~', 2) => Some(|style| style.with(Attribute::Strikethrough)),
        _ => None,
    }
}

/// Finds the closing marks of emphasis that was opened by `length` marks.
fn marked_end(rest: &[char], letter: char, length: usize, input: Input) -> Search {
    let mut at = length;
    while at < rest.len().min(MAX_SPAN) {
        match rest.get(at) {
            Some('\\') => at += 2,
            Some('`') => {
                let ticks = run(rest, at, '`');
                match code_end(rest, at + ticks, ticks, input) {
                    Search::At(end) => at = end + ticks,
                    Search::NotFound => at += ticks,
                    Search::Undecided => return Search::Undecided,
                }
            }
            Some(c) if *c == letter => {
                let found = run(rest, at, letter);
                let after = rest.get(at + found);
                if after.is_none() && input == Input::Partial {
                    return Search::Undecided;
                }
                if closes(rest, at, letter, after)
                    && (found == length || found == 3)
                    && found >= length
                {
                    return Search::At(at + found - length);
                }
                at += found;
            }
            _ => at += 1,
        }
    }
    not_found(rest, input)
}

/// Whether marks at a position can close: not after a space, and underscores not inside a word.
fn closes(rest: &[char], at: usize, letter: char, after: Option<&char>) -> bool {
    let before = at.checked_sub(1).and_then(|at| rest.get(at));
    let inside_a_word = letter == '_' && after.is_some_and(|c| c.is_alphanumeric());
    before.is_some_and(|c| !c.is_whitespace()) && !inside_a_word
}

/// A link whose opening bracket is at `open`.
fn linked(rest: &[char], open: usize, input: Input) -> Markup<'_> {
    let otherwise = || match not_found(rest, input) {
        Search::Undecided => Markup::Undecided,
        Search::At(_) | Search::NotFound => Markup::Plain(open + 1),
    };
    let Some(close) = position(rest, open + 1, ']') else { return otherwise() };
    match rest.get(close + 1) {
        Some('(') => {}
        None if input == Input::Partial => return Markup::Undecided,
        _ => return Markup::Plain(open + 1),
    }
    let Some(end) = position(rest, close + 2, ')') else { return otherwise() };
    let label = rest.get(open + 1..close).unwrap_or_default();
    let target = rest.get(close + 2..end).unwrap_or_default();
    if label.is_empty() {
        return Markup::Link(target, target, end + 1);
    }
    Markup::Link(label, target, end + 1)
}

fn position(text: &[char], from: usize, letter: char) -> Option<usize> {
    let within = text.iter().take(MAX_SPAN).skip(from).position(|c| *c == letter)?;
    Some(from + within)
}

//! What stands inside a line: emphasis, code, links.
//!
//! Invariant: what is decided depends on the text alone, never on the pieces it came in. A mark whose
//! partner may still come holds back what follows it, but for no more than [`REACH`] letters.

use super::style::{Color, Style};

/// A mark and its partner are at most this far apart; one without a partner there is a plain letter.
const REACH: usize = 1_000;
/// Marks inside marks beyond this are plain letters.
const DEEPEST: usize = 6;

/// Takes letters, each with its look.
type Put<'a> = dyn FnMut(char, Style) + 'a;

/// Whether more of the line may come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum More {
    MayCome,
    No,
}

/// A line that is being read.
#[derive(Debug)]
pub(crate) struct Inline {
    style: Style,
    held: Vec<char>,
    /// The letter before what is held.
    before: Option<char>,
}

impl Inline {
    /// A line whose plain text looks like this.
    pub(crate) fn new(style: Style) -> Self {
        Self { style, held: Vec::new(), before: None }
    }

    pub(crate) fn add(&mut self, c: char) {
        self.held.push(c);
    }

    /// Puts out what is decided.
    pub(crate) fn advance(&mut self, put: &mut Put<'_>) {
        let used = scan(&self.held, self.before, self.style, More::MayCome, 0, put);
        self.before = used.checked_sub(1).and_then(|at| self.held.get(at)).copied().or(self.before);
        self.held.drain(..used);
    }

    /// Puts out the rest: the line has ended.
    pub(crate) fn finish(self, put: &mut Put<'_>) {
        scan(&self.held, self.before, self.style, More::No, 0, put);
    }
}

/// A whole text.
pub(crate) fn render(text: &str, style: Style, put: &mut Put<'_>) {
    let chars: Vec<char> = text.chars().collect();
    scan(&chars, None, style, More::No, 0, put);
}

/// What stands at the beginning of a text, and how many letters it takes.
#[derive(Debug)]
enum Found<'a> {
    /// It can not be told yet.
    Undecided,
    /// So many letters as they are.
    Plain(usize),
    /// A letter behind a backslash.
    Escaped(char),
    /// Code.
    Code(&'a [char], usize),
    /// Emphasis: what is inside, and what it adds.
    Marked(&'a [char], fn(Style) -> Style, usize),
    /// A link: its text and where it leads.
    Link(&'a [char], &'a [char], usize),
}

/// Puts out text as far as it is decided; gives the number of letters used.
fn scan(
    text: &[char],
    before: Option<char>,
    style: Style,
    more: More,
    depth: usize,
    put: &mut Put<'_>,
) -> usize {
    let mut at = 0;
    let mut last = before;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let found = find(rest, last, more, depth);
        let used = match found {
            Found::Undecided | Found::Plain(0) => return at,
            Found::Plain(count) => {
                put_all(rest.get(..count).unwrap_or_default(), style, put);
                count
            }
            Found::Escaped(c) => {
                put(c, style);
                2
            }
            Found::Code(code, used) => {
                let look = style.color(Color::Cyan);
                put_all(code, look, put);
                used
            }
            Found::Marked(inner, mark, used) => {
                scan(inner, None, mark(style), More::No, depth + 1, put);
                used
            }
            Found::Link(label, target, used) => {
                link(label, target, style, depth, put);
                used
            }
        };
        at += used;
        last = text.get(at.saturating_sub(1)).copied();
    }
}

fn link(label: &[char], target: &[char], style: Style, depth: usize, put: &mut Put<'_>) {
    scan(label, None, style.underlined(), More::No, depth + 1, put);
    if target.is_empty() || label == target {
        return;
    }
    let beside = style.dim();
    put_all(&[' ', '('], beside, put);
    put_all(target, beside, put);
    put(')', beside);
}

fn put_all(letters: &[char], style: Style, put: &mut Put<'_>) {
    for c in letters {
        put(*c, style);
    }
}

fn find(rest: &[char], before: Option<char>, more: More, depth: usize) -> Found<'_> {
    let Some(first) = rest.first() else { return Found::Plain(0) };
    if depth >= DEEPEST {
        return Found::Plain(1);
    }
    match first {
        // It belongs to a row of marks that was found to be plain.
        '`' | '*' | '_' | '~' if before == Some(*first) => Found::Plain(1),
        '\\' => escaped(rest, more),
        '`' => code(rest, more),
        '*' | '_' | '~' => marked(rest, *first, before, more),
        '[' => linked(rest, 0, more),
        '!' => match rest.get(1) {
            Some('[') => linked(rest, 1, more),
            None if more == More::MayCome => Found::Undecided,
            _ => Found::Plain(1),
        },
        _ => Found::Plain(1),
    }
}

fn escaped(rest: &[char], more: More) -> Found<'_> {
    match rest.get(1) {
        Some(c) if c.is_ascii_punctuation() => Found::Escaped(*c),
        None if more == More::MayCome => Found::Undecided,
        _ => Found::Plain(1),
    }
}

/// How many letters at `at` are this one.
fn run(text: &[char], at: usize, letter: char) -> usize {
    text.iter().skip(at).take_while(|c| **c == letter).count()
}

/// Where a search ended.
enum Search {
    At(usize),
    Nowhere,
    Undecided,
}

/// Past its reach a mark waits for nothing.
fn not_found(rest: &[char], more: More) -> Search {
    if more == More::MayCome && rest.len() < REACH { Search::Undecided } else { Search::Nowhere }
}

/// The run of backticks of just this length that ends code which begins at `from`.
fn code_end(rest: &[char], from: usize, length: usize, more: More) -> Search {
    let mut at = from;
    while at < rest.len().min(REACH) {
        let found = run(rest, at, '`');
        if found > 0 && at + found == rest.len() && more == More::MayCome {
            return Search::Undecided;
        }
        if found == length {
            return Search::At(at);
        }
        at += found.max(1);
    }
    not_found(rest, more)
}

fn code(rest: &[char], more: More) -> Found<'_> {
    let length = run(rest, 0, '`');
    match code_end(rest, length, length, more) {
        Search::At(end) => {
            let inner = rest.get(length..end).unwrap_or_default();
            Found::Code(trimmed(inner), end + length)
        }
        Search::Nowhere => Found::Plain(length),
        Search::Undecided => Found::Undecided,
    }
}

/// One blank on either side is there to keep backticks apart.
fn trimmed(code: &[char]) -> &[char] {
    match code {
        [' ', inner @ .., ' '] if inner.iter().any(|c| *c != ' ') => inner,
        _ => code,
    }
}

fn marked(rest: &[char], letter: char, before: Option<char>, more: More) -> Found<'_> {
    let length = run(rest, 0, letter);
    let Some(next) = rest.get(length) else {
        return if more == More::MayCome { Found::Undecided } else { Found::Plain(length) };
    };
    let inside_a_word = letter == '_' && before.is_some_and(char::is_alphanumeric);
    let Some(mark) = mark_of(letter, length).filter(|_| !next.is_whitespace() && !inside_a_word)
    else {
        return Found::Plain(length);
    };
    match marked_end(rest, letter, length, more) {
        Search::At(end) => {
            let inner = rest.get(length..end).unwrap_or_default();
            Found::Marked(inner, mark, end + length)
        }
        Search::Nowhere => Found::Plain(length),
        Search::Undecided => Found::Undecided,
    }
}

fn mark_of(letter: char, length: usize) -> Option<fn(Style) -> Style> {
    match (letter, length) {
        ('*' | '_', 1) => Some(Style::italic),
        ('*' | '_', 2) => Some(Style::bold),
        ('*' | '_', 3) => Some(|style| style.bold().italic()),
        ('~', 2) => Some(Style::struck),
        _ => None,
    }
}

/// Where emphasis that was opened by `length` letters ends: the first of the letters that close it.
fn marked_end(rest: &[char], letter: char, length: usize, more: More) -> Search {
    let mut at = length;
    while at < rest.len().min(REACH) {
        match rest.get(at) {
            Some('\\') => at += 2,
            Some('`') => {
                let ticks = run(rest, at, '`');
                match code_end(rest, at + ticks, ticks, more) {
                    Search::At(end) => at = end + ticks,
                    Search::Nowhere => at += ticks,
                    Search::Undecided => return Search::Undecided,
                }
            }
            Some(c) if *c == letter => {
                let found = run(rest, at, letter);
                let after = rest.get(at + found);
                if after.is_none() && more == More::MayCome {
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
    not_found(rest, more)
}

/// Whether marks at `at` can close: not after a blank, and underscores not inside a word.
fn closes(rest: &[char], at: usize, letter: char, after: Option<&char>) -> bool {
    let before = at.checked_sub(1).and_then(|at| rest.get(at));
    let inside_a_word = letter == '_' && after.is_some_and(|c| c.is_alphanumeric());
    before.is_some_and(|c| !c.is_whitespace()) && !inside_a_word
}

/// A link whose bracket opens at `open`.
fn linked(rest: &[char], open: usize, more: More) -> Found<'_> {
    let otherwise = || match not_found(rest, more) {
        Search::Undecided => Found::Undecided,
        Search::At(_) | Search::Nowhere => Found::Plain(open + 1),
    };
    let Some(close) = position(rest, open + 1, ']') else { return otherwise() };
    match rest.get(close + 1) {
        Some('(') => {}
        None if more == More::MayCome => return Found::Undecided,
        _ => return Found::Plain(open + 1),
    }
    let Some(end) = position(rest, close + 2, ')') else { return otherwise() };
    let label = rest.get(open + 1..close).unwrap_or_default();
    let target = rest.get(close + 2..end).unwrap_or_default();
    if label.is_empty() {
        return Found::Link(target, target, end + 1);
    }
    Found::Link(label, target, end + 1)
}

fn position(text: &[char], from: usize, letter: char) -> Option<usize> {
    let within = text.iter().take(REACH).skip(from).position(|c| *c == letter)?;
    Some(from + within)
}

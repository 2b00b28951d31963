//! How a line begins, and so what it is.
//!
//! Invariant: the answer depends on the line alone. As long as more of it could change the answer,
//! there is none.

/// A line's beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opening {
    /// How many `>` stand in front.
    pub(crate) quotes: usize,
    /// By how many columns the rest is indented.
    pub(crate) indent: usize,
    pub(crate) kind: Kind,
    /// The text behind the marker, as far as it has come.
    pub(crate) text: String,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Blank,
    Text,
    /// Its level, from 1.
    Heading(usize),
    Bullet,
    /// Its number and what follows it, as in `12.`
    Numbered(String),
    /// The row of letters that opened it.
    Fence(Fence),
    /// A row of a table.
    Row,
    Rule,
}

/// What a block of code is fenced by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    letter: char,
    length: usize,
    /// By how far it is indented: its lines are, too.
    pub(crate) indent: usize,
    pub(crate) quotes: usize,
    /// The first word behind it.
    pub(crate) language: String,
}

impl Fence {
    /// Whether this line ends the block.
    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.chars().count() >= self.length && line.chars().all(|c| c == self.letter)
    }

    /// A line of the block, without the quotes and the indentation of the whole.
    pub(crate) fn strip<'a>(&self, line: &'a str) -> &'a str {
        let mut line = line;
        for _ in 0..self.quotes {
            line = quoted(line).unwrap_or(line);
        }
        for _ in 0..self.indent {
            line = line.strip_prefix(' ').unwrap_or(line);
        }
        line
    }
}

/// Whether a line has come whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Whole,
    Begun,
}

/// What a line is; nothing, if that can not be told yet.
pub(crate) fn opening(line: &str, come: Line) -> Option<Opening> {
    let mut quotes = 0;
    let mut rest = line;
    while let Some(inner) = quoted(rest) {
        // The blank behind the mark belongs to it: one that may still come is waited for.
        if inner.is_empty() && come == Line::Begun {
            return None;
        }
        quotes += 1;
        rest = inner;
    }
    let text = rest.trim_start_matches([' ', '\t']);
    let blanks = rest.strip_suffix(text).unwrap_or_default();
    let indent = blanks.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let (kind, text) = kind(text, come, indent, quotes)?;
    Some(Opening { quotes, indent, kind, text: text.to_owned() })
}

fn quoted(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches(' ').strip_prefix('>')?;
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

/// The kind, and the text behind its marker.
fn kind(text: &str, come: Line, indent: usize, quotes: usize) -> Option<(Kind, &str)> {
    let Some(first) = text.chars().next() else {
        return (come == Line::Whole).then_some((Kind::Blank, ""));
    };
    match first {
        '#' => heading(text, come),
        '-' | '*' | '+' | '_' => bullet_or_rule(text, first, come),
        '0'..='9' => numbered(text, come),
        '`' | '~' => fence(text, first, come, indent, quotes),
        '|' => (come == Line::Whole).then_some((Kind::Row, text)),
        _ => Some((Kind::Text, text)),
    }
}

fn heading(text: &str, come: Line) -> Option<(Kind, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    match rest.chars().next() {
        Some(' ') if level <= 6 => (come == Line::Whole)
            .then(|| (Kind::Heading(level), rest.trim().trim_end_matches('#').trim_end())),
        None if come == Line::Begun => None,
        _ => Some((Kind::Text, text)),
    }
}

fn bullet_or_rule(text: &str, letter: char, come: Line) -> Option<(Kind, &str)> {
    if text.chars().all(|c| c == letter || c == ' ') {
        if come == Line::Begun {
            return None;
        }
        let marks = text.chars().filter(|c| *c == letter).count();
        if marks >= 3 && letter != '+' {
            return Some((Kind::Rule, ""));
        }
    }
    let behind = text.strip_prefix(letter).unwrap_or(text);
    match behind.strip_prefix(' ') {
        Some(item) if letter != '_' => Some((Kind::Bullet, item.trim_start())),
        None if behind.is_empty() && letter != '_' => Some((Kind::Bullet, "")),
        _ => Some((Kind::Text, text)),
    }
}

fn numbered(text: &str, come: Line) -> Option<(Kind, &str)> {
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(behind).unwrap_or_default();
    if digits.len() > 9 {
        return Some((Kind::Text, text));
    }
    let mut letters = behind.chars();
    match (letters.next(), letters.next()) {
        (None, _) | (Some('.' | ')'), None) if come == Line::Begun => None,
        (Some(mark @ ('.' | ')')), Some(' ')) => {
            // Further blanks, if any, may still come: the text must not depend on that.
            let item = letters.as_str().trim_start();
            if item.is_empty() && come == Line::Begun {
                return None;
            }
            Some((Kind::Numbered(format!("{digits}{mark}")), item))
        }
        _ => Some((Kind::Text, text)),
    }
}

fn fence(
    text: &str,
    letter: char,
    come: Line,
    indent: usize,
    quotes: usize,
) -> Option<(Kind, &str)> {
    let info = text.trim_start_matches(letter);
    let length = text.len() - info.len();
    if length < 3 {
        return if info.is_empty() && come == Line::Begun {
            None
        } else {
            Some((Kind::Text, text))
        };
    }
    if come == Line::Begun {
        return None;
    }
    // Code in a line may begin with three backticks as well.
    if letter == '`' && info.contains('`') {
        return Some((Kind::Text, text));
    }
    let language = info.split_whitespace().next().unwrap_or_default().to_owned();
    Some((Kind::Fence(Fence { letter, length, indent, quotes, language }), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(line: &str) -> (Kind, String) {
        let opening = opening(line, Line::Whole).unwrap();
        (opening.kind, opening.text)
    }

    #[test]
    fn lines_by_their_beginning() {
        assert_eq!(kind_of("## A title ##"), (Kind::Heading(2), "A title".to_owned()));
        assert_eq!(kind_of("#hash"), (Kind::Text, "#hash".to_owned()));
        assert_eq!(kind_of("- item"), (Kind::Bullet, "item".to_owned()));
        assert_eq!(kind_of("**bold** text"), (Kind::Text, "**bold** text".to_owned()));
        assert_eq!(kind_of("* * *").0, Kind::Rule);
        assert_eq!(kind_of("12) item"), (Kind::Numbered("12)".to_owned()), "item".to_owned()));
        assert_eq!(kind_of("12.5 is a number").0, Kind::Text);
        assert_eq!(kind_of("| a | b |").0, Kind::Row);
        assert_eq!(kind_of("  \t").0, Kind::Blank);
        let quote = opening("> > - deep", Line::Whole).unwrap();
        assert_eq!((quote.quotes, quote.kind), (2, Kind::Bullet));
    }

    #[test]
    fn nothing_is_said_too_early() {
        for begun in
            ["", "#", "##", "# t", "-", "- ", "*", "**", "1", "1.", "1. ", "`", "```r", "|", ">"]
        {
            assert_eq!(opening(begun, Line::Begun), None, "{begun}");
        }
        for begun in ["a", "- a", "**b", "1. a", "`a", "> a", "#a"] {
            assert!(opening(begun, Line::Begun).is_some(), "{begun}");
        }
    }
}

//! The start of a markdown line, which decides the kind of the line.
//!
//! Invariant: the result depends on the line alone. As long as more of the line could change it, there is none.

/// The parsed start of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LineStart {
    /// Number of `>` at the start.
    pub(crate) quotes: usize,
    /// Indentation after the quote marks, in columns.
    pub(crate) indent: usize,
    pub(crate) kind: MarkdownLine,
    /// The text after the marker, as far as it has been received.
    pub(crate) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MarkdownLine {
    Blank,
    Text,
    /// Its level, from 1.
    Heading(usize),
    Bullet,
    /// The number with its punctuation, such as `12.`
    Numbered(String),
    Fence(Fence),
    TableRow,
    Rule,
}

/// The fence of a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    character: char,
    length: usize,
    /// Its indentation, which is removed from the lines of the block.
    pub(crate) indent: usize,
    pub(crate) quotes: usize,
    /// The first word after it.
    pub(crate) language: String,
}

impl Fence {
    /// Whether a line ends the block.
    pub(crate) fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.chars().count() >= self.length && line.chars().all(|c| c == self.character)
    }

    /// A line of the block without quote marks and the indentation of the fence.
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

/// Whether all of a line has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineState {
    Complete,
    Partial,
}

/// Parses the start of a line; none if its kind is not certain yet.
pub(crate) fn line_start(line: &str, state: LineState) -> Option<LineStart> {
    let mut quotes = 0;
    let mut rest = line;
    while let Some(inner) = quoted(rest) {
        // A space after the mark belongs to it, and may still arrive.
        if inner.is_empty() && state == LineState::Partial {
            return None;
        }
        quotes += 1;
        rest = inner;
    }
    let text = rest.trim_start_matches([' ', '\t']);
    let spaces = rest.strip_suffix(text).unwrap_or_default();
    let indent = spaces.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum();
    let (kind, text) = kind(text, state, indent, quotes)?;
    Some(LineStart { quotes, indent, kind, text: text.to_owned() })
}

fn quoted(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches(' ').strip_prefix('>')?;
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

/// The kind of a line, and the text after its marker.
fn kind(
    text: &str,
    state: LineState,
    indent: usize,
    quotes: usize,
) -> Option<(MarkdownLine, &str)> {
    let Some(first) = text.chars().next() else {
        return (state == LineState::Complete).then_some((MarkdownLine::Blank, ""));
    };
    match first {
        '#' => heading(text, state),
        '-' | '*' | '+' | '_' => bullet_or_rule(text, first, state),
        '0'..='9' => numbered(text, state),
        '`' | '~' => fence(text, first, state, indent, quotes),
        '|' => (state == LineState::Complete).then_some((MarkdownLine::TableRow, text)),
        _ => Some((MarkdownLine::Text, text)),
    }
}

fn heading(text: &str, state: LineState) -> Option<(MarkdownLine, &str)> {
    let rest = text.trim_start_matches('#');
    let level = text.len() - rest.len();
    match rest.chars().next() {
        Some(' ') if level <= 6 => (state == LineState::Complete)
            .then(|| (MarkdownLine::Heading(level), rest.trim().trim_end_matches('#').trim_end())),
        None if state == LineState::Partial => None,
        _ => Some((MarkdownLine::Text, text)),
    }
}

fn bullet_or_rule(text: &str, letter: char, state: LineState) -> Option<(MarkdownLine, &str)> {
    if text.chars().all(|c| c == letter || c == ' ') {
        if state == LineState::Partial {
            return None;
        }
        let marks = text.chars().filter(|c| *c == letter).count();
        if marks >= 3 && letter != '+' {
            return Some((MarkdownLine::Rule, ""));
        }
    }
    let rest_of_line = text.strip_prefix(letter).unwrap_or(text);
    match rest_of_line.strip_prefix(' ') {
        Some(item) if letter != '_' => Some((MarkdownLine::Bullet, item.trim_start())),
        None if rest_of_line.is_empty() && letter != '_' => Some((MarkdownLine::Bullet, "")),
        _ => Some((MarkdownLine::Text, text)),
    }
}

fn numbered(text: &str, state: LineState) -> Option<(MarkdownLine, &str)> {
    let rest_of_line = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(rest_of_line).unwrap_or_default();
    if digits.len() > 9 {
        return Some((MarkdownLine::Text, text));
    }
    let mut letters = rest_of_line.chars();
    match (letters.next(), letters.next()) {
        (None, _) | (Some('.' | ')'), None) if state == LineState::Partial => None,
        (Some(mark @ ('.' | ')')), Some(' ')) => {
            // More spaces may still arrive, and the text must not depend on that.
            let item = letters.as_str().trim_start();
            if item.is_empty() && state == LineState::Partial {
                return None;
            }
            Some((MarkdownLine::Numbered(format!("{digits}{mark}")), item))
        }
        _ => Some((MarkdownLine::Text, text)),
    }
}

fn fence(
    text: &str,
    letter: char,
    state: LineState,
    indent: usize,
    quotes: usize,
) -> Option<(MarkdownLine, &str)> {
    let info = text.trim_start_matches(letter);
    let length = text.len() - info.len();
    if length < 3 {
        return if info.is_empty() && state == LineState::Partial {
            None
        } else {
            Some((MarkdownLine::Text, text))
        };
    }
    if state == LineState::Partial {
        return None;
    }
    // Inline code may start with three backticks as well.
    if letter == '`' && info.contains('`') {
        return Some((MarkdownLine::Text, text));
    }
    let language = info.split_whitespace().next().unwrap_or_default().to_owned();
    Some((MarkdownLine::Fence(Fence { character: letter, length, indent, quotes, language }), ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(line: &str) -> (MarkdownLine, String) {
        let start = line_start(line, LineState::Complete).unwrap();
        (start.kind, start.text)
    }

    #[test]
    fn line_kinds() {
        assert_eq!(kind_of("## A title ##"), (MarkdownLine::Heading(2), "A title".to_owned()));
        assert_eq!(kind_of("#hash"), (MarkdownLine::Text, "#hash".to_owned()));
        assert_eq!(kind_of("- item"), (MarkdownLine::Bullet, "item".to_owned()));
        assert_eq!(kind_of("**bold** text"), (MarkdownLine::Text, "**bold** text".to_owned()));
        assert_eq!(kind_of("* * *").0, MarkdownLine::Rule);
        assert_eq!(
            kind_of("12) item"),
            (MarkdownLine::Numbered("12)".to_owned()), "item".to_owned())
        );
        assert_eq!(kind_of("12.5 is a number").0, MarkdownLine::Text);
        assert_eq!(kind_of("| a | b |").0, MarkdownLine::TableRow);
        assert_eq!(kind_of("  \t").0, MarkdownLine::Blank);
        let quote = line_start("> > - deep", LineState::Complete).unwrap();
        assert_eq!((quote.quotes, quote.kind), (2, MarkdownLine::Bullet));
    }

    #[test]
    fn an_uncertain_kind_is_none() {
        for partial in
            ["", "#", "##", "# t", "-", "- ", "*", "**", "1", "1.", "1. ", "`", "```r", "|", ">"]
        {
            assert_eq!(line_start(partial, LineState::Partial), None, "{partial}");
        }
        for partial in ["a", "- a", "**b", "1. a", "`a", "> a", "#a"] {
            assert!(line_start(partial, LineState::Partial).is_some(), "{partial}");
        }
    }
}

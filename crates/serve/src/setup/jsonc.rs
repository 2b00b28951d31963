//! JSON with comments and trailing commas, changed by span: what is not ours keeps its bytes.

use std::ops::Range;

use super::SetupError;

/// A value to put somewhere: below these keys, as a member of the last object or an element of its array.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The keys from the top to the container.
    pub(super) path: &'static [&'static str],
    /// The member's key; none for an element of an array.
    pub(super) key: Option<&'static str>,
    /// The value, on one line.
    pub(super) value: String,
    /// What marks an element as ours, since elements have no key.
    pub(super) mark: &'static str,
}

impl Item {
    fn text(&self) -> String {
        match self.key {
            Some(key) => format!("\"{key}\": {}", self.value),
            None => self.value.clone(),
        }
    }

    /// The item within containers for the keys that are missing.
    fn within(&self, missing: &[&str]) -> String {
        let inner = self.text();
        let (open, close) = if self.key.is_some() { ("{", "}") } else { ("[", "]") };
        let mut text = inner;
        for (depth, key) in missing.iter().rev().enumerate() {
            let (open, close) = if depth == 0 { (open, close) } else { ("{", "}") };
            text = format!("\"{key}\": {open}{text}{close}");
        }
        text
    }
}

/// Where the text of an item goes, or that it is there already.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    There,
    Insert { at: usize, text: String },
}

/// Finds the place for an item.
pub(super) fn place(text: &str, item: &Item) -> Result<Place, SetupError> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        let text = format!("{{\n  {}\n}}\n", item.within(item.path));
        return Ok(Place::Insert { at: 0, text });
    }
    let mut container = root(text)?;
    let mut missing: &[&str] = item.path;
    while let Some((key, rest)) = missing.split_first() {
        let Some(member) = container.member(key) else { break };
        container = Container::at(text, member.value.start)?;
        missing = rest;
    }
    if missing.is_empty() && container.has(text, item) {
        return Ok(Place::There);
    }
    let wanted = if missing.is_empty() && item.key.is_none() { '[' } else { '{' };
    if !text.split_at(container.open).1.starts_with(wanted) {
        return Err(SetupError::Shape(item.path.join(".")));
    }
    let inner = item.within(missing);
    Ok(Place::Insert { at: container.open + 1, text: container.fitted(text, &inner) })
}

/// The text without an item, wherever it is and whatever stands beside it. None if it is not there.
pub(super) fn without(text: &str, item: &Item) -> Result<Option<String>, SetupError> {
    let mut container = root(text)?;
    for key in item.path {
        let Some(member) = container.member(key) else { return Ok(None) };
        container = Container::at(text, member.value.start)?;
    }
    let Some(at) = container.entries.iter().position(|entry| entry.is(text, item)) else {
        return Ok(None);
    };
    let span = container.span_of(text, at);
    let (before, rest) = text.split_at(span.start);
    let (_, after) = rest.split_at(span.len());
    Ok(Some(format!("{before}{after}")))
}

/// Whether a text can be read at all.
pub(super) fn check(text: &str) -> Result<(), SetupError> {
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Ok(());
    }
    root(text).map(drop)
}

/// Whether nothing is left but an empty object.
pub(super) fn is_nothing(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect();
    bare.is_empty() || bare == "{}"
}

fn root(text: &str) -> Result<Container, SetupError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.skip();
    let container = Container::at(text, scanner.at)?;
    let mut rest = Scanner { text, at: container.close + 1 };
    rest.skip();
    if rest.at < text.len() { Err(rest.wrong()) } else { Ok(container) }
}

/// A member or an element.
#[derive(Debug)]
struct Entry {
    key: Option<String>,
    /// From its first byte (the key's, if it has one) to its last.
    whole: Range<usize>,
    value: Range<usize>,
}

impl Entry {
    fn is(&self, text: &str, item: &Item) -> bool {
        match item.key {
            Some(key) => self.key.as_deref() == Some(key),
            None => text.get(self.value.clone()).is_some_and(|value| value.contains(item.mark)),
        }
    }
}

/// An object or array.
#[derive(Debug)]
struct Container {
    open: usize,
    close: usize,
    entries: Vec<Entry>,
}

impl Container {
    fn at(text: &str, open: usize) -> Result<Self, SetupError> {
        let mut scanner = Scanner { text, at: open };
        let close = match scanner.peek() {
            Some('{') => '}',
            Some('[') => ']',
            _ => return Err(SetupError::Shape("the top of the file".to_owned())),
        };
        scanner.step();
        let mut entries = Vec::new();
        loop {
            scanner.skip();
            if scanner.peek() == Some(close) {
                return Ok(Self { open, close: scanner.at, entries });
            }
            entries.push(scanner.entry(close == '}')?);
            scanner.skip();
            match scanner.peek() {
                Some(',') => scanner.step(),
                Some(end) if end == close => {}
                _ => return Err(scanner.wrong()),
            }
        }
    }

    fn member(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key.as_deref() == Some(key))
    }

    fn has(&self, text: &str, item: &Item) -> bool {
        self.entries.iter().any(|entry| entry.is(text, item))
    }

    /// An item's text as the first of this container, in the manner of what is there.
    fn fitted(&self, text: &str, item: &str) -> String {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let own = indent_of(text, self.open);
        let Some(first) = self.entries.first() else {
            let unit = if text.contains("\n\t") { "\t" } else { "  " };
            return format!("{newline}{own}{unit}{item}{newline}{own}");
        };
        let between = text.get(self.open..first.whole.start).unwrap_or_default();
        if between.contains('\n') {
            format!("{newline}{}{item},", indent_of(text, first.whole.start))
        } else {
            format!("{item}, ")
        }
    }

    /// An entry with one comma, and with the space before it.
    fn span_of(&self, text: &str, at: usize) -> Range<usize> {
        let Some(entry) = self.entries.get(at) else { return 0..0 };
        let previous = at.checked_sub(1).and_then(|at| self.entries.get(at));
        let mut behind = Scanner { text, at: entry.whole.end };
        behind.skip();
        let comma = (behind.peek() == Some(',')).then_some(behind.at + 1);
        let start = match (previous, comma) {
            // The last one without a comma of its own takes the one before it.
            (Some(previous), None) => {
                let mut scanner = Scanner { text, at: previous.whole.end };
                scanner.skip();
                scanner.at
            }
            _ => before_gap(text, entry.whole.start),
        };
        start..comma.unwrap_or(entry.whole.end)
    }
}

/// Where the white space before a place begins.
fn before_gap(text: &str, at: usize) -> usize {
    text.get(..at).map_or(at, |head| head.trim_end_matches([' ', '\t', '\r', '\n']).len())
}

/// The white space that the line of a place begins with.
fn indent_of(text: &str, at: usize) -> &str {
    let line = text.get(..at).and_then(|head| head.rsplit('\n').next()).unwrap_or_default();
    let blank = line.len() - line.trim_start_matches([' ', '\t']).len();
    line.get(..blank).unwrap_or_default()
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn step(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn wrong(&self) -> SetupError {
        let line = self.text.get(..self.at).map_or(0, |head| head.matches('\n').count()) + 1;
        SetupError::Json { line }
    }

    /// White space and comments.
    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let blank = rest.len()
                - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}').len();
            let comment = rest.get(blank..).unwrap_or_default();
            let length = if comment.starts_with("//") {
                comment.find('\n').unwrap_or(comment.len())
            } else if comment.starts_with("/*") {
                comment.find("*/").map_or(comment.len(), |end| end + 2)
            } else {
                0
            };
            self.at += blank + length;
            if length == 0 {
                return;
            }
        }
    }

    fn entry(&mut self, with_key: bool) -> Result<Entry, SetupError> {
        let start = self.at;
        let mut key = None;
        if with_key {
            let quoted = self.string()?;
            let text = self.text.get(quoted).unwrap_or_default();
            key = Some(serde_json::from_str(text).map_err(|_| self.wrong())?);
            self.skip();
            if self.peek() != Some(':') {
                return Err(self.wrong());
            }
            self.step();
            self.skip();
        }
        let value = self.value()?;
        Ok(Entry { key, whole: start..value.end, value })
    }

    fn value(&mut self) -> Result<Range<usize>, SetupError> {
        let start = self.at;
        match self.peek() {
            Some('"') => return self.string(),
            Some('{' | '[') => self.at = Container::at(self.text, start)?.close + 1,
            _ => {
                let plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                while self.peek().is_some_and(plain) {
                    self.step();
                }
                let word = self.text.get(start..self.at).unwrap_or_default();
                serde_json::from_str::<serde_json::Value>(word).map_err(|_| self.wrong())?;
            }
        }
        Ok(start..self.at)
    }

    fn string(&mut self) -> Result<Range<usize>, SetupError> {
        let start = self.at;
        if self.peek() != Some('"') {
            return Err(self.wrong());
        }
        self.step();
        loop {
            match self.peek() {
                Some('"') => {
                    self.step();
                    return Ok(start..self.at);
                }
                Some('\\') => {
                    self.step();
                    self.step();
                }
                Some('\n') | None => return Err(self.wrong()),
                Some(_) => self.step(),
            }
        }
    }
}

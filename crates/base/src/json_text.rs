//! JSON as text, by span: where each member and element stands, so that a change can leave all other bytes as
//! they are. Comments and trailing commas are passed over, for files that have them.

use std::ops::Range;

use thiserror::Error;

/// A text that is not JSON, even with comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonTextError {
    /// It cannot be read.
    #[error("line {line} is not JSON")]
    NotJson {
        /// Where.
        line: usize,
    },
    /// A value that holds no others.
    #[error("there is no object or list in line {line}")]
    NoContainer {
        /// Where.
        line: usize,
    },
}

/// A member of an object, or an element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonEntry {
    /// The member's key; none for an element.
    pub key: Option<String>,
    /// From its first byte (the key's, if it has one) to its last.
    pub whole: Range<usize>,
    /// The value.
    pub value: Range<usize>,
}

/// An object or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonContainer {
    /// Where its bracket opens.
    pub open: usize,
    /// Where it closes.
    pub close: usize,
    /// What is in it.
    pub entries: Vec<JsonEntry>,
}

impl JsonContainer {
    /// The one that is the whole text.
    pub fn root(text: &str) -> Result<Self, JsonTextError> {
        let container = Self::at(text, skip_blank(text, 0))?;
        let rest = Scanner { text, at: skip_blank(text, container.close + 1) };
        if rest.at < text.len() { Err(rest.wrong()) } else { Ok(container) }
    }

    /// The one that opens at this place.
    pub fn at(text: &str, open: usize) -> Result<Self, JsonTextError> {
        let mut scanner = Scanner { text, at: open };
        let close = match scanner.peek() {
            Some('{') => '}',
            Some('[') => ']',
            _ => return Err(JsonTextError::NoContainer { line: scanner.line() }),
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

    /// The member of this key. Of several the last counts, as it does for who reads the file.
    pub fn member(&self, key: &str) -> Option<&JsonEntry> {
        self.entries.iter().rev().find(|entry| entry.key.as_deref() == Some(key))
    }
}

/// The line of what stands at a path of keys, or of the nearest object above it; none if the text is not JSON.
pub fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let mut container = JsonContainer::root(text).ok()?;
    let mut at = container.open;
    for key in path {
        let Some(member) = container.member(key) else { break };
        at = member.whole.start;
        match JsonContainer::at(text, member.value.start) {
            Ok(below) => container = below,
            Err(_) => break,
        }
    }
    text.get(..at).map(|head| head.matches('\n').count() + 1)
}

/// Where whitespace and comments that begin at a place have ended.
pub fn skip_blank(text: &str, at: usize) -> usize {
    let mut scanner = Scanner { text, at };
    scanner.skip();
    scanner.at
}

/// The whitespace that the line of a place begins with.
pub fn indent_of(text: &str, at: usize) -> &str {
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

    fn line(&self) -> usize {
        self.text.get(..self.at).map_or(0, |head| head.matches('\n').count()) + 1
    }

    fn wrong(&self) -> JsonTextError {
        JsonTextError::NotJson { line: self.line() }
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

    fn entry(&mut self, with_key: bool) -> Result<JsonEntry, JsonTextError> {
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
        Ok(JsonEntry { key, whole: start..value.end, value })
    }

    fn value(&mut self) -> Result<Range<usize>, JsonTextError> {
        let start = self.at;
        match self.peek() {
            Some('"') => return self.string(),
            Some('{' | '[') => self.at = JsonContainer::at(self.text, start)?.close + 1,
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

    fn string(&mut self) -> Result<Range<usize>, JsonTextError> {
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

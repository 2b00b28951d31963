//! Positions of members and elements in a JSON text, so that an edit can leave all other bytes as they are. Comments and
//! trailing commas are allowed.

use std::ops::Range;

use thiserror::Error;

/// Levels of objects and lists, as in `serde_json`: deeper nesting would overflow the stack.
const MAX_DEPTH: usize = 128;

/// Why a text could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JsonTextError {
    /// Not JSON, even with comments.
    #[error("line {line} is not JSON")]
    NotJson {
        /// Number of the line.
        line: usize,
    },
    /// More than 128 levels of objects and lists, which no reader of the file accepts.
    #[error("objects and lists are nested too deeply in line {line}")]
    TooDeep {
        /// Number of the line.
        line: usize,
    },
    /// A value that is neither object nor list.
    #[error("there is no object or list in line {line}")]
    NoContainer {
        /// Number of the line.
        line: usize,
    },
}

/// A member of an object, or an element of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonEntry {
    /// Key of a member; `None` for an element.
    pub key: Option<String>,
    /// The whole entry, with its key.
    pub whole: Range<usize>,
    /// The value.
    pub value: Range<usize>,
}

/// An object or a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonContainer {
    /// Position of the opening bracket.
    pub open: usize,
    /// Position of the closing bracket.
    pub close: usize,
    /// Members or elements, in order.
    pub entries: Vec<JsonEntry>,
}

impl JsonContainer {
    /// The container that is the whole text.
    pub fn root(text: &str) -> Result<Self, JsonTextError> {
        let container = Self::at(text, skip_blank(text, 0))?;
        let rest = Scanner { text, at: skip_blank(text, container.close + 1) };
        if rest.at < text.len() { Err(rest.wrong()) } else { Ok(container) }
    }

    /// The container that opens at this position.
    pub fn at(text: &str, open: usize) -> Result<Self, JsonTextError> {
        Self::nested(text, open, 0)
    }

    fn nested(text: &str, open: usize, depth: usize) -> Result<Self, JsonTextError> {
        let mut scanner = Scanner { text, at: open };
        if depth >= MAX_DEPTH {
            return Err(JsonTextError::TooDeep { line: scanner.line() });
        }
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
            entries.push(scanner.entry(close == '}', depth)?);
            scanner.skip();
            match scanner.peek() {
                Some(',') => scanner.step(),
                Some(end) if end == close => {}
                _ => return Err(scanner.wrong()),
            }
        }
    }

    /// The member with this key; the last of several, as in all common JSON parsers.
    pub fn member(&self, key: &str) -> Option<&JsonEntry> {
        self.entries.iter().rev().find(|entry| entry.key.as_deref() == Some(key))
    }
}

/// The line of the value at a path of keys, or of the innermost object that exists; `None` if the text is not JSON.
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

/// The position after whitespace and comments.
pub fn skip_blank(text: &str, at: usize) -> usize {
    let mut scanner = Scanner { text, at };
    scanner.skip();
    scanner.at
}

/// The indentation of the line that contains a position.
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

    /// Skips whitespace and comments.
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

    fn entry(&mut self, with_key: bool, depth: usize) -> Result<JsonEntry, JsonTextError> {
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
        let value = self.value(depth)?;
        Ok(JsonEntry { key, whole: start..value.end, value })
    }

    fn value(&mut self, depth: usize) -> Result<Range<usize>, JsonTextError> {
        let start = self.at;
        match self.peek() {
            Some('"') => return self.string(),
            Some('{' | '[') => {
                self.at = JsonContainer::nested(self.text, start, depth + 1)?.close + 1;
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(JsonContainer::root(&nested(MAX_DEPTH)).is_ok());
        let error = JsonTextError::TooDeep { line: 1 };
        assert_eq!(JsonContainer::root(&nested(MAX_DEPTH + 1)), Err(error));
        assert_eq!(JsonContainer::root(&"[".repeat(1_000_000)), Err(error));
    }
}

//! One line of the index: `- [Name](file.md) — hook`.

use std::borrow::Cow;

use crate::entry::plain_line;

/// Advised length of a line, in characters. Our lines keep to it; other lines are not changed.
pub const LONGEST_LINE: usize = 150;

/// A line of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexLink {
    /// Name of the memory.
    pub name: String,
    /// File of the memory, relative to the index.
    pub file: String,
    /// Its subject in a few words; may be empty.
    pub hook: String,
}

impl IndexLink {
    /// A link to a file; name and hook are shortened to the advised length.
    pub fn new(name: &str, file: &str, hook: &str) -> Self {
        let name = cut(&plain_line(name), LONGEST_LINE / 2);
        let used = name.chars().count() + file.chars().count() + "- []() — ".chars().count();
        let room = LONGEST_LINE.saturating_sub(used).max(LONGEST_LINE / 5);
        Self { name, file: file.to_owned(), hook: cut(&plain_line(hook), room) }
    }

    /// Parses a line with any bullet, and an em dash, a dash, a colon or nothing before the hook.
    pub(super) fn parse(raw: &str) -> Option<Self> {
        let parts = Parts::of(raw)?;
        let file = parts.file().into_owned();
        Some(Self { name: unescape(parts.name), file, hook: parts.hook.to_owned() })
    }

    /// Whether two links are equal, regardless of the spelling of the file name.
    pub(super) fn says(&self, other: &Self) -> bool {
        self.name == other.name && self.hook == other.hook
    }

    /// The line without its end.
    pub(super) fn render(&self) -> String {
        self.render_after("- ")
    }

    /// The line with the indentation, bullet and line end of another.
    pub(super) fn render_like(&self, raw: &str) -> String {
        let bullet = raw.find('[').and_then(|at| raw.get(..at)).unwrap_or("- ");
        let end = raw.get(raw.trim_end_matches(['\n', '\r']).len()..).unwrap_or_default();
        format!("{}{end}", self.render_after(bullet))
    }

    fn render_after(&self, bullet: &str) -> String {
        let name = self.name.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]");
        let odd = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '%');
        let file = if self.file.contains(odd) {
            format!("<{}>", self.file.replace('%', "%25").replace('>', "%3E"))
        } else {
            self.file.clone()
        };
        let hook = if self.hook.is_empty() { String::new() } else { format!(" — {}", self.hook) };
        format!("{bullet}[{name}]({file}){hook}")
    }
}

/// The memory that a line links to; borrowed if it is written without escapes.
pub(super) fn file_in(raw: &str) -> Option<Cow<'_, str>> {
    Parts::of(raw).map(|parts| parts.file())
}

/// A line that links to a memory, in parts as written.
struct Parts<'a> {
    name: &'a str,
    file: &'a str,
    hook: &'a str,
}

impl<'a> Parts<'a> {
    fn of(raw: &'a str) -> Option<Self> {
        let text = raw.trim_start_matches(['\u{feff}', ' ', '\t']).trim_end();
        let text = text.strip_prefix(['-', '*', '+'])?;
        let text = text.strip_prefix([' ', '\t'])?.trim_start();
        let (name, rest) = bracketed(text.strip_prefix('[')?)?;
        let rest = rest.strip_prefix('(')?;
        let (file, rest) = match rest.strip_prefix('<') {
            Some(rest) => {
                let (file, rest) = rest.split_once('>')?;
                (file, rest.strip_prefix(')')?)
            }
            None => balanced(rest)?,
        };
        let hook = rest.trim_start().trim_start_matches(['—', '–', '-', ':']).trim();
        let parts = Self { name, file: file.strip_prefix("./").unwrap_or(file), hook };
        let file = parts.file();
        let is_memory =
            crate::names::is_markdown(&file) && !file.contains("://") && !file.starts_with('/');
        is_memory.then_some(parts)
    }

    fn file(&self) -> Cow<'a, str> {
        unescape_percent(self.file)
    }
}

/// The text up to the first unescaped closing bracket, and the rest.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b']' => return Some((text.get(..at)?, text.get(at + 1..)?)),
            // An escaped character is literal; the other bytes of a longer character are no brackets.
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    None
}

/// The text without escaping backslashes.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    plain
}

/// The text up to the matching closing bracket, and the rest.
fn balanced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some((text.get(..at)?, text.get(at + 1..)?)),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Decodes `%20` and the like, if the result is text.
fn unescape_percent(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let hex = tail
            .get(..2)
            .filter(|_| first == b'%')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        bytes.push(hex.unwrap_or(first));
        rest = if hex.is_some() { tail.get(2..).unwrap_or_default() } else { tail };
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let head: String = text.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", head.trim_end())
}

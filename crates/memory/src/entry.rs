//! A memory read from its file (M-1), and the file of a new one.
//!
//! Reading never fails: any bytes give an entry, and problems with them are listed.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use thiserror::Error;

use crate::kind::{MemoryType, Scope, Trust};
use dormouse_frontmatter::{
    self as frontmatter, FrontmatterEditError, FrontmatterFields, FrontmatterProblem,
};

/// Maximum size of a memory in bytes.
pub const LONGEST_MEMORY: usize = 1024 * 1024;

/// The frontmatter of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// Name of the memory.
    pub name: Option<String>,
    /// Description in one line, for judging relevance.
    pub description: Option<String>,
    /// Type; `None` if it is missing or unknown.
    pub kind: Option<MemoryType>,
    /// Scope, if the file has one.
    pub scope: Option<Scope>,
    /// Time of creation.
    pub created: Option<Timestamp>,
    /// Time of the last change of the content.
    pub modified: Option<Timestamp>,
    /// Whether it is always in the loaded index.
    pub pinned: bool,
    /// Whether it waits for the user's confirmation; until then it is never recalled (M-17).
    pub quarantined: bool,
    /// The lowest trust of its sources; a file without it is the user's own, an unknown word counts as the lowest.
    pub trust: Option<Trust>,
    /// Source messages.
    pub sources: Vec<String>,
    /// Memories that this one replaced.
    pub supersedes: Vec<String>,
    /// Anchors, as written in the file.
    pub anchors: Vec<String>,
}

impl Header {
    /// Reads the known keys.
    pub fn from_fields(fields: &FrontmatterFields) -> Self {
        let owned = |key: &str| fields.text(key).map(str::to_owned);
        let list = |key: &str| {
            let texts = fields.get(key).map(frontmatter::Value::texts).unwrap_or_default();
            texts.into_iter().map(str::to_owned).collect()
        };
        let kind = fields.text("type").or_else(|| fields.nested_text("metadata", "type"));
        Self {
            name: owned("name"),
            description: owned("description").map(|text| one_line(&text)),
            kind: kind.and_then(MemoryType::from_word),
            scope: fields.text("scope").and_then(Scope::from_word),
            created: fields.text("created").and_then(moment),
            modified: fields.text("modified").and_then(moment),
            pinned: fields.text("pinned").is_some_and(is_true),
            quarantined: fields.text("quarantined").is_some_and(is_true),
            // A word that is not known may be one of a later version: it must not count as the highest.
            trust: fields
                .text("trust")
                .map(|word| Trust::from_word(word).unwrap_or(Trust::Outside)),
            sources: list("source"),
            supersedes: list("supersedes"),
            anchors: list("anchors"),
        }
    }

    /// The effective trust: a file without the key is the user's own.
    pub fn effective_trust(&self) -> Trust {
        self.trust.unwrap_or(Trust::Typed)
    }
}

fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

/// Parses a timestamp, or a date, which means midnight UTC.
fn moment(text: &str) -> Option<Timestamp> {
    let zoned = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp());
    text.parse::<Timestamp>()
        .ok()
        .or_else(|| text.parse::<DateTime>().ok().and_then(zoned))
        .or_else(|| {
            text.parse::<Date>()
                .ok()
                .and_then(|date| zoned(date.to_datetime(jiff::civil::Time::midnight())))
        })
}

/// A text on one line: any whitespace becomes one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text for a name or a description: on one line, without characters that control a terminal, change the writing
/// direction, or are visible only to a model.
pub(crate) fn plain_line(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && !c.is_whitespace())
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    one_line(&text.replace(hidden, ""))
}

/// Like `String::from_utf8_lossy`, but faster for valid text.
pub(crate) fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// A problem with a memory's file (M-18).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EntryProblem {
    /// Longer than [`LONGEST_MEMORY`]: only the beginning is read.
    #[error("it is {bytes} bytes long; only the first {LONGEST_MEMORY} are read: split it")]
    TooLong {
        /// Size of the file.
        bytes: u64,
    },
    /// Contains NUL bytes: not text.
    #[error("it is binary, not text; move it elsewhere")]
    Binary,
    /// Not valid UTF-8.
    #[error("it is not valid UTF-8; the odd bytes are read as �: save it as UTF-8")]
    NotUtf8,
    /// A byte-order mark at the start.
    #[error("it begins with a byte-order mark; save it without")]
    ByteOrderMark,
    /// Mixed line ends.
    #[error("its line ends are mixed; save it with one kind")]
    MixedLineEnds,
    /// The frontmatter cannot be parsed.
    #[error("{0}")]
    Frontmatter(#[from] FrontmatterProblem),
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEntry {
    /// Frontmatter.
    pub header: Header,
    /// Text below the frontmatter.
    pub body: String,
    /// Problems with the file.
    pub problems: Vec<EntryProblem>,
}

impl MemoryEntry {
    /// Reads a memory or its first part; `size` is the size of the whole file.
    pub fn read(bytes: &[u8], size: u64) -> Self {
        let mut problems = Vec::new();
        if size > LONGEST_MEMORY as u64 {
            problems.push(EntryProblem::TooLong { bytes: size });
        }
        if bytes.contains(&0) {
            problems.push(EntryProblem::Binary);
            return Self { header: Header::default(), body: String::new(), problems };
        }
        let bytes = bytes.get(..LONGEST_MEMORY.min(bytes.len())).unwrap_or(bytes);
        let text = as_text(bytes);
        problems.extend(oddities(bytes, &text, size));
        let parsed = frontmatter::parse(&text);
        problems.extend(parsed.problem.map(EntryProblem::Frontmatter));
        let header = Header::from_fields(&parsed.fields);
        Self { header, body: parsed.body.to_owned(), problems }
    }

    /// The body without the empty line after the frontmatter.
    pub fn text(&self) -> &str {
        self.body.trim_start_matches(['\n', '\r'])
    }

    /// Parses the text of a memory.
    pub fn from_text(text: &str) -> Self {
        Self::read(text.as_bytes(), text.len() as u64)
    }
}

fn oddities(bytes: &[u8], text: &str, size: u64) -> Vec<EntryProblem> {
    let mut problems = Vec::new();
    // A part may end inside a character; that is no problem of the file.
    let whole = bytes.len() as u64 == size;
    let invalid = match std::str::from_utf8(bytes) {
        Ok(_) => false,
        Err(error) => whole || error.error_len().is_some(),
    };
    if invalid {
        problems.push(EntryProblem::NotUtf8);
    }
    if text.starts_with('\u{feff}') {
        problems.push(EntryProblem::ByteOrderMark);
    }
    let with_return = text.matches("\r\n").count();
    if with_return > 0 && text.matches('\n').count() > with_return {
        problems.push(EntryProblem::MixedLineEnds);
    }
    problems
}

/// A memory to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// Name of the memory.
    pub name: String,
    /// Description in one line, for judging relevance.
    pub description: String,
    /// Type of the memory.
    pub kind: Option<MemoryType>,
    /// Text of the memory.
    pub body: String,
    /// Whether it is always in the loaded index.
    pub pinned: bool,
    /// Time of creation, if not now.
    pub created: Option<Timestamp>,
}

impl NewMemory {
    /// A memory without a type.
    pub fn new(name: &str, description: &str, body: &str) -> Self {
        Self {
            name: plain_line(name),
            description: plain_line(description),
            kind: None,
            body: body.to_owned(),
            pinned: false,
            created: None,
        }
    }

    /// Sets the type.
    #[must_use]
    pub fn with_kind(self, kind: MemoryType) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// The text of an existing memory with this name, description, type and body; the rest of its frontmatter stays.
    pub fn onto(&self, file: &[u8]) -> Result<String, FrontmatterEditError> {
        let old = String::from_utf8_lossy(file);
        let body = frontmatter::parse(&old).body;
        let (head, _) = old.split_at(old.len() - body.len());
        let mut text = format!("{}\n{}\n", head.trim_end(), self.body.trim_matches('\n'));
        if head.is_empty() {
            text = format!("{}\n", self.body.trim_matches('\n'));
        }
        text = frontmatter::set(&text, "name", &self.name)?;
        if !self.description.is_empty() {
            text = frontmatter::set(&text, "description", &self.description)?;
        }
        if let Some(kind) = self.kind {
            text = frontmatter::set(&text, "type", kind.as_str())?;
        }
        Ok(text)
    }

    /// The text of the new file.
    pub fn render(&self, now: Timestamp) -> Result<String, FrontmatterEditError> {
        let body = self.body.trim_matches(['\n', '\r']);
        // Otherwise a body that begins with a fence would be parsed as the frontmatter.
        let mut text = frontmatter::set(&format!("{body}\n"), "name", &self.name)?;
        if frontmatter::parse(body).body.len() != body.len() {
            text = frontmatter::set("", "name", &self.name)? + "\n" + body + "\n";
        }
        if !self.description.is_empty() {
            text = frontmatter::set(&text, "description", &self.description)?;
        }
        if let Some(kind) = self.kind {
            text = frontmatter::set(&text, "type", kind.as_str())?;
        }
        let created = self.created.unwrap_or(now);
        text = frontmatter::set(&text, "created", &stamp(created))?;
        if self.pinned {
            text = frontmatter::set(&text, "pinned", "true")?;
        }
        Ok(text)
    }
}

/// A timestamp as in frontmatter: whole seconds, UTC.
pub(crate) fn stamp(time: Timestamp) -> String {
    jiff::fmt::temporal::DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&time)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-15T08:00:00.5Z".parse().unwrap()
    }

    #[test]
    fn a_new_memory_is_read_as_it_was_written() {
        let memory = NewMemory::new("Test database", "where it: runs", "Port 5433.\n\n**Why:** x")
            .with_kind(MemoryType::Project);
        let text = memory.render(now()).unwrap();
        assert_eq!(
            text,
            "---\nname: Test database\ndescription: \"where it: runs\"\ntype: project\ncreated: \"2026-11-15T08:00:00Z\"\n---\n\nPort 5433.\n\n**Why:** x\n"
        );
        let entry = MemoryEntry::from_text(&text);
        assert_eq!(entry.header.kind, Some(MemoryType::Project));
        assert_eq!(entry.header.created.unwrap().as_second(), now().as_second());
        assert_eq!(entry.problems, []);
        let fenced = NewMemory::new("n", "d", "---\nname: evil\n---\nx").render(now()).unwrap();
        assert_eq!(MemoryEntry::from_text(&fenced).header.name.as_deref(), Some("n"));
        assert!(MemoryEntry::from_text(&fenced).body.contains("name: evil"));
    }

    #[test]
    fn unknown_types_and_dates_load_as_none() {
        let entry = MemoryEntry::from_text(
            "---\ntype: opinion\ncreated: soon\nmodified: 2026-11-01\npinned: yes\n---\n",
        );
        assert_eq!(entry.header.kind, None);
        assert_eq!(entry.header.created, None);
        assert_eq!(entry.header.modified.unwrap().to_string(), "2026-11-01T00:00:00Z");
        assert!(entry.header.pinned);
    }

    #[test]
    fn hostile_bytes_are_named() {
        let problems = |bytes: &[u8]| MemoryEntry::read(bytes, bytes.len() as u64).problems;
        assert_eq!(problems(b"a\0b"), [EntryProblem::Binary]);
        assert_eq!(problems(b"caf\xe9"), [EntryProblem::NotUtf8]);
        assert_eq!(problems(b"\xef\xbb\xbfa"), [EntryProblem::ByteOrderMark]);
        assert_eq!(problems(b"a\r\nb\n"), [EntryProblem::MixedLineEnds]);
        assert_eq!(MemoryEntry::read("é".as_bytes().get(..1).unwrap(), 5).problems, []);
        let long = vec![b'x'; LONGEST_MEMORY + 1];
        assert!(matches!(problems(&long).as_slice(), [EntryProblem::TooLong { .. }]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_an_entry(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            MemoryEntry::read(&bytes, bytes.len() as u64);
        }

        #[test]
        fn any_text_comes_back(name in "\\PC{1,40}", description in any::<String>(), body in any::<String>()) {
            let memory = NewMemory::new(&name, &description, &body);
            let text = memory.render(now()).unwrap();
            let entry = MemoryEntry::from_text(&text);
            if !text.contains('\0') {
                prop_assert_eq!(entry.header.name.unwrap_or_default(), memory.name);
                prop_assert_eq!(entry.header.description.unwrap_or_default(), memory.description);
                prop_assert_eq!(entry.body.trim_matches(['\n', '\r']), body.trim_matches(['\n', '\r']));
            }
        }
    }
}

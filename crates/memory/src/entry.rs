//! A memory taken from its file (M-1), and a new one made into a file.
//!
//! Reading never fails: whatever the bytes are, there is an entry, and what is odd about them is named.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use thiserror::Error;

use crate::kind::{MemoryType, Scope, Trust};
use dormouse_frontmatter::{
    self as frontmatter, FrontmatterEditError, FrontmatterFields, FrontmatterProblem,
};

/// The longest memory that is read or written, in bytes.
pub const LONGEST_MEMORY: usize = 1024 * 1024;

/// What the frontmatter says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    /// The memory's name.
    pub name: Option<String>,
    /// One line by which its relevance is judged.
    pub description: Option<String>,
    /// Its type; an unknown one is none.
    pub kind: Option<MemoryType>,
    /// Its scope, where it says one.
    pub scope: Option<Scope>,
    /// When it was first written.
    pub created: Option<Timestamp>,
    /// When its content last changed.
    pub modified: Option<Timestamp>,
    /// Whether it always has a place in the loaded index.
    pub pinned: bool,
    /// Whether it waits for the person's word, and is never recalled until then (M-17).
    pub quarantined: bool,
    /// The lowest trust among its sources; a file without the key is a person's.
    pub trust: Option<Trust>,
    /// Session and message it came from.
    pub sources: Vec<String>,
    /// The memories that it takes the place of.
    pub supersedes: Vec<String>,
    /// What it says about the project's files, as anchors are written.
    pub anchors: Vec<String>,
}

impl Header {
    /// Reads the keys we know.
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
            trust: fields.text("trust").and_then(Trust::from_word),
            sources: list("source"),
            supersedes: list("supersedes"),
            anchors: list("anchors"),
        }
    }

    /// The trust that counts: what the file says; a file that says nothing is a person's.
    pub fn effective_trust(&self) -> Trust {
        self.trust.unwrap_or(Trust::Typed)
    }
}

fn is_true(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1")
}

/// A time stamp, or a date, which begins at midnight UTC.
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

/// Text on one line: white space of any kind becomes one space.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text for a name or a description: on one line, and nothing in it that steers a terminal, turns the direction
/// of what stands beside it, or is seen by a model and by nobody else.
pub(crate) fn plain_line(text: &str) -> String {
    let hidden = |c: char| {
        (c.is_control() && !c.is_whitespace())
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
    };
    one_line(&text.replace(hidden, ""))
}

/// The same as `String::from_utf8_lossy`, which takes longer for what is text.
pub(crate) fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// What is odd about a memory's file (M-18).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EntryProblem {
    /// Longer than [`LONGEST_MEMORY`]: only the beginning is read.
    #[error("it is {bytes} bytes long; only the first {LONGEST_MEMORY} are read: split it")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// NUL bytes: not text.
    #[error("it is binary, not text; move it elsewhere")]
    Binary,
    /// Bytes that are no UTF-8.
    #[error("it is not valid UTF-8; the odd bytes are read as �: save it as UTF-8")]
    NotUtf8,
    /// A byte-order mark at the start.
    #[error("it begins with a byte-order mark; save it without")]
    ByteOrderMark,
    /// `\n` here, `\r\n` there.
    #[error("its line ends are mixed; save it with one kind")]
    MixedLineEnds,
    /// The frontmatter can not be read.
    #[error("{0}")]
    Frontmatter(#[from] FrontmatterProblem),
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryEntry {
    /// What the frontmatter says.
    pub header: Header,
    /// The text below it.
    pub body: String,
    /// What is odd about the file.
    pub problems: Vec<EntryProblem>,
}

impl MemoryEntry {
    /// Reads a memory, or its first part; `size` is the length of the whole file.
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

    /// The body without the empty line that parts it from the frontmatter.
    pub fn text(&self) -> &str {
        self.body.trim_start_matches(['\n', '\r'])
    }

    /// Reads a memory's text.
    pub fn from_text(text: &str) -> Self {
        Self::read(text.as_bytes(), text.len() as u64)
    }
}

fn oddities(bytes: &[u8], text: &str, size: u64) -> Vec<EntryProblem> {
    let mut problems = Vec::new();
    // A beginning may end inside a character; that is no oddity of the file.
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

/// A memory to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// Its name.
    pub name: String,
    /// One line by which its relevance is judged.
    pub description: String,
    /// Its type.
    pub kind: Option<MemoryType>,
    /// Its text.
    pub body: String,
    /// Whether it always has a place in the loaded index.
    pub pinned: bool,
    /// When it was first written, if that was not now.
    pub created: Option<Timestamp>,
}

impl NewMemory {
    /// A memory with these three and no type.
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

    /// The same with a type.
    #[must_use]
    pub fn with_kind(self, kind: MemoryType) -> Self {
        Self { kind: Some(kind), ..self }
    }

    /// The text of a memory's file with this head and body; what else its head says stays.
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

    /// The file's text.
    pub fn render(&self, now: Timestamp) -> Result<String, FrontmatterEditError> {
        let body = self.body.trim_matches(['\n', '\r']);
        // Without this line a body that begins with a fence would be taken for the frontmatter.
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

/// A time stamp as frontmatter has it: whole seconds, UTC.
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

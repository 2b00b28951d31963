//! The end of a long index, to which the line of a new memory is added without taking the index apart.

use serde::{Deserialize, Serialize};

use super::line::{self, IndexLink};
use crate::names::fold;

/// How lines end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LineEnd {
    Newline,
    CrLf,
}

/// A short hash of a file name in the form of [`fold`]: equal for equal names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkHash(u32);

impl LinkHash {
    pub(crate) const LENGTH: usize = size_of::<u32>();

    fn of(folded: &str) -> Self {
        let [a, b, c, d, ..] = *blake3::hash(folded.as_bytes()).as_bytes();
        Self(u32::from_le_bytes([a, b, c, d]))
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::LENGTH]) -> Self {
        Self(u32::from_le_bytes(bytes))
    }

    pub(crate) fn to_bytes(self) -> [u8; Self::LENGTH] {
        self.0.to_le_bytes()
    }
}

/// What is known of an index that takes lines at its end: its last line is a link, and it has neither code blocks nor
/// comments, in which a line would be no link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexEnd {
    pub(crate) line_end: LineEnd,
    /// One for each line that links to a memory, in order.
    pub(crate) links: Vec<LinkHash>,
}

impl IndexEnd {
    /// The end of an index; `None` if a new line cannot simply be added there.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let lines = text.split_inclusive('\n');
        let last = lines.clone().next_back()?;
        let is_open = last.ends_with('\n') && line::file_in(last).is_some() && !has_blocks(text);
        if !is_open {
            return None;
        }
        let is_windows = lines.clone().next().is_some_and(|first| first.ends_with("\r\n"));
        let line_end = if is_windows { LineEnd::CrLf } else { LineEnd::Newline };
        let links = lines.filter_map(line::file_in).map(|file| LinkHash::of(&fold(&file)));
        Some(Self { line_end, links: links.collect() })
    }

    /// Adds a link, and returns the line to write behind the end; `None` if it takes a look at every line, because one may
    /// be that of the same memory.
    pub(crate) fn add(&mut self, link: &IndexLink) -> Option<String> {
        let hash = LinkHash::of(&fold(&link.file));
        let line = link.render();
        if self.links.contains(&hash) || has_blocks(&line) {
            return None;
        }
        self.links.push(hash);
        let end = match self.line_end {
            LineEnd::Newline => "\n",
            LineEnd::CrLf => "\r\n",
        };
        Some(line + end)
    }
}

/// Whether a text may have code blocks or comments.
fn has_blocks(text: &str) -> bool {
    let is_mark = |at: usize| {
        let rest = text.as_bytes().get(at..).unwrap_or_default();
        rest.starts_with(b"```") || rest.starts_with(b"~~~") || rest.starts_with(b"<!--")
    };
    memchr::memchr3_iter(b'`', b'~', b'<', text.as_bytes()).any(is_mark)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MemoryIndex;
    use super::*;

    fn link(file: &str) -> IndexLink {
        IndexLink::new("New", file, "hook")
    }

    #[test]
    fn a_line_is_added_only_where_it_is_new_and_last() {
        let added =
            |text: &str| IndexEnd::of(text).and_then(|mut end| end.add(&link("foo.md"))).is_some();
        assert!(added("# Notes\n- [A](a.md) — 100 % `code`\n"));
        assert!(added("- [短](测试.md) — 说明\n"));
        assert!(!added(""));
        assert!(!added("- [A](a.md)"));
        assert!(!added("- [A](a.md)\n\nAnd more.\n"));
        assert!(!added("```\n- [A](a.md)\n"));
        assert!(!added("- [F](FOO.md)\n- [A](a.md)\n"));
        assert!(!added("- [F](<./%66oo.md>)\n- [A](a.md)\n"));
        assert!(!added("- [F](ｆoo.md)\n- [A](a.md)\n"));
    }

    #[test]
    fn a_line_that_may_begin_a_comment_is_not_added() {
        let mut end = IndexEnd::of("- [A](a.md)\n").unwrap();
        assert_eq!(end.add(&IndexLink::new("<!-- New", "new.md", "")), None);
        assert_eq!(end.links.len(), 1);
    }

    proptest! {
        #[test]
        fn it_is_what_reading_all_lines_gives(
            lines in prop::collection::vec("(- \\[[aB\\]`]{1,2}\\]\\(<?(\\./)?[aAbé测ｂ%]{1,2}\\.md>?\\) — x|x|```|<!--|~~~|)\r?", 0..6),
            files in prop::collection::vec("[abé测]{1,2}\\.md", 1..3),
        ) {
            let mut text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
            let mut end = IndexEnd::of(&text);
            for file in files {
                let mut index = MemoryIndex::parse(&text);
                let known = index.find(&file).is_some();
                index.put(&link(&file));
                let Some(line) = end.as_mut().and_then(|end| end.add(&link(&file))) else { break };
                prop_assert!(!known);
                let all = index.to_text();
                text.push_str(&line);
                prop_assert_eq!(&text, &all);
            }
        }
    }
}

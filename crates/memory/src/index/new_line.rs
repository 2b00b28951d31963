//! The line of a new memory, added to a long index without taking it apart: whole lines are looked at, some at a time.

use memchr::memmem;

use super::line::{self, IndexLink};
use crate::names::fold;

/// Whether an index can take the line of a new memory at its end. Its lines are shown in order, in any number at a time.
pub(crate) struct LineAtEnd<'a> {
    link: &'a IndexLink,
    folded: String,
    /// How the first line ends.
    end: Option<&'static str>,
    is_last_link: bool,
    /// Each line has to be looked at: there are code blocks or comments, or a line may be that of the memory.
    is_refused: bool,
}

impl<'a> LineAtEnd<'a> {
    pub(crate) fn new(link: &'a IndexLink) -> Self {
        let folded = fold(&link.file).into_owned();
        Self { link, folded, end: None, is_last_link: false, is_refused: false }
    }

    /// Looks at the next lines. Only the last ones may lack their end.
    pub(crate) fn see(&mut self, lines: &str) {
        if lines.is_empty() || self.is_refused {
            return;
        }
        let first = lines.split('\n').next().unwrap_or_default();
        self.end.get_or_insert(if first.ends_with('\r') { "\r\n" } else { "\n" });
        self.is_last_link = is_last_link(lines);
        self.is_refused = has_blocks(lines.as_bytes()) || has_line_for(lines, &self.folded);
    }

    /// What to write behind the end; `None` if it takes a look at every line.
    pub(crate) fn line(&self) -> Option<String> {
        let end = self.end.filter(|_| self.is_last_link && !self.is_refused)?;
        Some(format!("{}{end}", self.link.render()))
    }
}

fn is_last_link(lines: &str) -> bool {
    let Some(lines) = lines.strip_suffix('\n') else { return false };
    let last = lines.rfind('\n').map_or(0, |at| at + 1);
    lines.get(last..).is_some_and(|last| line::file_in(last).is_some())
}

/// Whether a text may have code blocks or comments.
fn has_blocks(text: &[u8]) -> bool {
    let is_mark = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.starts_with(b"```") || rest.starts_with(b"~~~") || rest.starts_with(b"<!--")
    };
    memchr::memchr3_iter(b'`', b'~', b'<', text).any(is_mark)
}

/// Whether a line of the index may link to the file with this folded name.
fn has_line_for(text: &str, folded: &str) -> bool {
    memmem::find_iter(text.as_bytes(), "](").any(|at| {
        let target = text.get(at + 2..).unwrap_or_default();
        let target = target.strip_prefix('<').unwrap_or(target);
        may_name(target.strip_prefix("./").unwrap_or(target), folded)
    })
}

/// Whether a text may begin with a spelling of this folded name. Compared up to the first difference: between two
/// characters that are always written the same way, the names are different.
fn may_name(text: &str, folded: &str) -> bool {
    for (one, other) in text.chars().zip(folded.chars()) {
        if one.to_ascii_lowercase() != other {
            return !(has_one_spelling(one) && has_one_spelling(other));
        }
    }
    true
}

/// Characters that neither upper case nor Unicode forms nor escapes write in another way.
fn has_one_spelling(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ')' | '/' | '\u{4e00}'..='\u{9fff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MemoryIndex;
    use super::*;

    fn link(file: &str) -> IndexLink {
        IndexLink::new("New", file, "hook")
    }

    /// The line, if the lines are seen so many at a time.
    fn line_at_end(text: &str, link: &IndexLink, at_a_time: usize) -> Option<String> {
        let mut search = LineAtEnd::new(link);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        lines.chunks(at_a_time).for_each(|lines| search.see(&lines.concat()));
        search.line()
    }

    #[test]
    fn a_line_is_added_only_where_it_is_new_and_last() {
        let added = |text: &str| line_at_end(text, &link("foo.md"), 1).is_some();
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

    proptest! {
        #[test]
        fn it_is_what_reading_all_lines_gives(
            lines in prop::collection::vec("(- \\[[aB\\]`]{1,2}\\]\\(<?(\\./)?[aAbé测ｂ%]{1,2}\\.md>?\\) — x|x|```|<!--|~~~|)\r?", 0..6),
            file in "[abé测]{1,2}\\.md",
            at_a_time in 1..8_usize,
        ) {
            let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
            let mut index = MemoryIndex::parse(&text);
            let known = index.find(&file).is_some();
            index.put(&link(&file));
            if let Some(line) = line_at_end(&text, &link(&file), at_a_time) {
                prop_assert!(!known);
                prop_assert_eq!(format!("{text}{line}"), index.to_text());
            }
        }
    }
}

//! The line of a new memory, added to a long index without reading all its lines.

use memchr::memmem;

use super::line::{self, IndexLink};
use crate::names::fold;

/// What to write behind the end of an index so that it has a line for a memory that it has none for. `None` if that takes
/// a look at every line: the last one is no link, there are code blocks or comments, or a line may be that of the memory.
pub(crate) fn line_at_end(text: &str, link: &IndexLink) -> Option<String> {
    let before_last = text.strip_suffix('\n')?.rfind('\n').map_or(0, |at| at + 1);
    let last = text.get(before_last..)?;
    line::file_in(last)?;
    if has_blocks(text.as_bytes()) || has_line_for(text, &link.file) {
        return None;
    }
    let end = if first_line(text).ends_with('\r') { "\r\n" } else { "\n" };
    Some(format!("{}{end}", link.render()))
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

/// Whether a text may have code blocks or comments.
fn has_blocks(text: &[u8]) -> bool {
    let is_mark = |at: usize| {
        let rest = text.get(at..).unwrap_or_default();
        rest.starts_with(b"```") || rest.starts_with(b"~~~") || rest.starts_with(b"<!--")
    };
    memchr::memchr3_iter(b'`', b'~', b'<', text).any(is_mark)
}

/// Whether a line of the index may link to this file.
fn has_line_for(text: &str, file: &str) -> bool {
    let folded = fold(file);
    memmem::find_iter(text.as_bytes(), "](").any(|at| {
        let target = text.get(at + 2..).unwrap_or_default();
        let target = target.strip_prefix('<').unwrap_or(target);
        may_name(target.strip_prefix("./").unwrap_or(target), &folded)
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

    #[test]
    fn a_line_is_added_only_where_it_is_new_and_last() {
        let added = |text: &str| line_at_end(text, &link("foo.md")).is_some();
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
        ) {
            let text = lines.iter().fold(String::new(), |text, line| text + line + "\n");
            let mut index = MemoryIndex::parse(&text);
            let known = index.find(&file).is_some();
            index.put(&link(&file));
            if let Some(line) = line_at_end(&text, &link(&file)) {
                prop_assert!(!known);
                prop_assert_eq!(format!("{text}{line}"), index.to_text());
            }
        }
    }
}

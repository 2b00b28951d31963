//! File names of memories: made from any name ([`slug`]) or validated ([`MemoryFile`]).
//!
//! Names that a file system may treat as equal (case, Unicode forms) count as equal.

mod file;

use std::borrow::Cow;

use dormouse_base::stable_hash;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub use file::{MemoryFile, MemoryFileError};

/// Maximum length of a file name with `.md`, in bytes.
pub const LONGEST_NAME: usize = 80;
/// File name of the index.
pub const INDEX: &str = "MEMORY.md";
/// The index's file name in the form of [`fold`].
const FOLDED_INDEX: &str = "memory.md";
/// Folder of the daily logs (M-20).
pub(crate) const LOGS: &str = "logs";
const EXTENSION: &str = ".md";

/// A readable, safe file name (without `.md`) for a memory's name, in any script.
pub fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.nfc().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() || (is_combining_mark(c) && !slug.is_empty() && !slug.ends_with('-'))
        {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug: String = slug.nfc().collect();
    let slug = cut(slug.trim_end_matches('-'), LONGEST_NAME - EXTENSION.len());
    if slug.is_empty() {
        // Only symbols, such as emoji: the hash makes the names different.
        return format!("memory-{:08x}", stable_hash(name.as_bytes()) & 0xffff_ffff);
    }
    if is_reserved(slug) { format!("{slug}-memory") } else { slug.to_owned() }
}

/// A free file name: the slug, or the slug with a number.
pub fn unique_file(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let mut names = possible_files(name);
    names.find(|file| !is_taken(&fold(file))).unwrap_or_default()
}

/// The file names that a memory may get, without end: the slug, then the slug with a number.
pub(crate) fn possible_files(name: &str) -> impl Iterator<Item = String> {
    let slug = slug(name);
    let plain = format!("{slug}{EXTENSION}");
    let numbered = (2_u64..).map(move |number| {
        let end = format!("-{number}{EXTENSION}");
        format!("{}{end}", cut(&slug, LONGEST_NAME - end.len()))
    });
    std::iter::once(plain).chain(numbered)
}

/// The form in which names are compared: the same for all spellings that a file system may treat as equal.
pub fn fold(name: &str) -> Cow<'_, str> {
    if name.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(name);
    }
    if name.is_ascii() {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    Cow::Owned(name.nfkc().flat_map(char::to_lowercase).nfc().collect())
}

/// Whether a name ends in `.md`, in lower case.
pub(crate) fn is_markdown(name: &str) -> bool {
    name.strip_suffix(EXTENSION).is_some_and(|stem| !stem.is_empty())
}

/// Whether a name is that of the index, in any spelling.
pub(crate) fn is_index(name: &str) -> bool {
    fold(name) == FOLDED_INDEX
}

/// The longest prefix of at most `most` bytes.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or_default().trim_end_matches('-')
}

/// Names with a special meaning: Windows devices, and the index.
fn is_reserved(stem: &str) -> bool {
    let stem = fold(stem);
    let stem = stem.split('.').next().unwrap_or_default().trim_end();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| {
            let mut rest = rest.chars();
            rest.next().is_some_and(char::is_numeric) && rest.next().is_none()
        })
    };
    matches!(stem, "con" | "prn" | "aux" | "nul" | "conin$" | "conout$" | "memory")
        || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn slugs_are_readable() {
        let check = |name: &str, expected: &str| assert_eq!(slug(name), expected, "{name}");
        check("Test database", "test-database");
        check("  Don't PANIC!! ", "don-t-panic");
        check("数据库迁移", "数据库迁移");
        check("テスト データベース", "テスト-データベース");
        check("한국어 이름", "한국어-이름");
        check("हिन्दी नाम", "हिन्दी-नाम");
        check("Cafe\u{301}", "café");
        check("../../etc/passwd", "etc-passwd");
        check("a\u{202e}b\0c", "a-b-c");
        check("CON", "con-memory");
        check("com1", "com1-memory");
        check("Memory", "memory-memory");
        assert!(slug("🐭💤").starts_with("memory-"));
        assert_ne!(slug("🐭"), slug("💤"));
    }

    #[test]
    fn the_second_of_a_name_gets_a_number() {
        let taken: BTreeSet<String> = ["a.md", "a-2.md"].map(str::to_owned).into();
        assert_eq!(unique_file("A", |name| taken.contains(name)), "a-3.md");
        let long = "长".repeat(100);
        let first = unique_file(&long, |_| false);
        let second = unique_file(&long, |name| name == first);
        assert!(first.len() <= LONGEST_NAME && second.len() <= LONGEST_NAME && first != second);
    }

    proptest! {
        #[test]
        fn any_name_gives_a_valid_file(name in any::<String>(), taken in 0..4_usize) {
            let mut names = BTreeSet::new();
            for _ in 0..=taken {
                let file = unique_file(&name, |file| names.contains(file));
                prop_assert!(file.len() <= LONGEST_NAME, "{} {}", file, file.len());
                let checked = MemoryFile::new(&file);
                prop_assert!(checked.is_ok(), "{:?} {:?}", file, checked);
                prop_assert!(names.insert(fold(&file).into_owned()));
            }
        }
    }
}

//! The scanner: every character is looked at once, or a small fixed number of times.
//!
//! Text is cut into words at everything that stands in no name; a word is then told by its shape. Letters
//! of scripts that are written without spaces end a word, so a path in the middle of Chinese is found (and
//! a path that is itself Chinese is not).

use crate::compact::texts::head;

/// What a name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdentifierKind {
    /// A file or folder.
    Path,
    /// A name in code.
    Identifier,
    /// A URL.
    Url,
    /// A hash, a commit, a UUID.
    Hash,
    /// A number with a meaning: a port, a version, an id.
    Number,
    /// A line that reports an error.
    Error,
}

/// A name in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identifier<'a> {
    /// What it is.
    pub kind: IdentifierKind,
    /// The name.
    pub text: &'a str,
}

/// Longer words are data, not names.
const LONGEST_WORD: usize = 200;
/// Bytes of a line that are looked at for an error, and kept of it.
const ERROR_LINE: usize = 200;
/// What a line that reports an error holds.
const ERROR_MARKS: [&str; 12] = [
    "error:",
    "error[",
    "Error:",
    "ERROR",
    "panicked at",
    "FAILED",
    "fatal:",
    "Exception:",
    "Traceback (",
    "failed:",
    "No such file",
    "command not found",
];
/// Endings of file names that are told from a method call by nothing else.
const ENDINGS: [&str; 64] = [
    "rs", "toml", "lock", "md", "txt", "json", "jsonl", "yaml", "yml", "py", "pyi", "ipynb", "js",
    "jsx", "ts", "tsx", "mjs", "cjs", "css", "scss", "html", "htm", "vue", "svelte", "go", "mod",
    "sum", "java", "kt", "swift", "c", "h", "cc", "cpp", "hpp", "m", "cs", "rb", "php", "sh",
    "bash", "zsh", "fish", "sql", "db", "sqlite", "csv", "tsv", "xml", "svg", "png", "jpg", "pdf",
    "env", "ini", "cfg", "conf", "log", "proto", "tf", "zip", "gz", "wasm", "exe",
];

/// The names in a text, in order, as often as they occur.
pub fn identifiers(text: &str) -> Vec<Identifier<'_>> {
    let mut found = Vec::new();
    each_identifier(text, &mut |name| found.push(name));
    found
}

/// Gives the names one by one, without a list of them.
pub(super) fn each_identifier<'a>(text: &'a str, take: &mut impl FnMut(Identifier<'a>)) {
    for line in text.lines() {
        if let Some(error) = error_in(line) {
            take(Identifier { kind: IdentifierKind::Error, text: error });
        }
        each_word(line, take);
    }
}

fn each_word<'a>(line: &'a str, take: &mut impl FnMut(Identifier<'a>)) {
    let mut rest = line;
    let mut before = ' ';
    while !rest.is_empty() {
        let length = rest.find(|c| !in_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if word.is_empty() {
            let mut chars = rest.chars();
            before = chars.next().unwrap_or(' ');
            rest = chars.as_str();
        } else if let Some(at) = word.find("://") {
            rest = take_url(rest, at, take);
        } else {
            classify(inside(word, before), take);
            rest = after;
        }
    }
}

/// The word without what belongs to the character in front of it: the slash of a closing tag, the letter
/// of an escape, the dot of a method call.
fn inside(word: &str, before: char) -> &str {
    match before {
        '<' => word.trim_start_matches('/'),
        '\\' => word.strip_prefix(['n', 't', 'r']).unwrap_or(word),
        ')' | ']' | '}' | '?' => word.trim_start_matches('.'),
        _ => word,
    }
}

/// A URL continues through characters that end other words.
fn take_url<'a>(rest: &'a str, at: usize, take: &mut impl FnMut(Identifier<'a>)) -> &'a str {
    let length = rest.find(|c| !in_word(c) && !"?&=%;,!~*()".contains(c)).unwrap_or(rest.len());
    let (url, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
    let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '*', '(']);
    if (2..20).contains(&at) && (at + 6..=LONGEST_WORD).contains(&url.len()) {
        take(Identifier { kind: IdentifierKind::Url, text: url });
    }
    after
}

/// Whether a character can stand in a name.
fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '.' | '/' | ':' | '-' | '~' | '@' | '+' | '#' | '%')
        || (!c.is_ascii() && c < '\u{2e80}' && c.is_alphanumeric())
}

fn classify<'a>(word: &'a str, take: &mut impl FnMut(Identifier<'a>)) {
    let word = word.trim_start_matches([':', '-', '+', '@', '#', '%']);
    let word = word.trim_end_matches(['.', ':', '-', '/', '+', '@', '#', '%', '~']);
    if word.len() < 3 || word.len() > LONGEST_WORD {
        return;
    }
    let word = without_line_number(word);
    if word.contains('/') {
        classify_slashed(word, take);
    } else if word.contains("::") {
        take(Identifier { kind: IdentifierKind::Identifier, text: word });
    } else if word.contains(':') {
        word.split(':').for_each(|part| classify_plain(part, take));
    } else {
        classify_plain(word, take);
    }
}

/// `main.rs:12:5` is a place in `main.rs`.
fn without_line_number(word: &str) -> &str {
    let mut base = word;
    while let Some((before, number)) = base.rsplit_once(':')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
        && before.contains(['.', '/'])
    {
        base = before;
    }
    base
}

fn classify_slashed<'a>(word: &'a str, take: &mut impl FnMut(Identifier<'a>)) {
    if is_path(word) {
        take(Identifier { kind: IdentifierKind::Path, text: word });
    } else {
        word.split('/').for_each(|part| classify_plain(part, take));
    }
}

/// Told from `and/or` and `10/20` by where it begins, how deep it is, or what its parts look like.
fn is_path(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    let parts = word.split('/').filter(|part| !part.is_empty()).count();
    let anchored = ["/", "./", "../", "~/"].iter().any(|begin| word.starts_with(begin));
    let marked = word.contains(['_', '.', '-']) || word.bytes().any(|byte| byte.is_ascii_digit());
    let longish = word.split('/').all(|part| part.len() >= 3 && is_lower(part));
    letters >= 2
        && !word.contains("//")
        && ((anchored && (parts > 1 || marked)) || parts > 2 || (parts == 2 && (marked || longish)))
}

fn is_lower(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// A word without slashes and colons.
fn classify_plain<'a>(word: &'a str, take: &mut impl FnMut(Identifier<'a>)) {
    let word = word.trim_matches(['-', '+', '@', '#', '%', '~', ':']).trim_end_matches('.');
    if word.len() < 3 {
        return;
    }
    if is_hash(word) {
        take(Identifier { kind: IdentifierKind::Hash, text: word });
    } else if is_number(word) {
        take(Identifier { kind: IdentifierKind::Number, text: word });
    } else if is_file_name(word) {
        take(Identifier { kind: IdentifierKind::Path, text: word });
    } else if word.contains('.') {
        // A method call or a field: its parts are names or not, each by itself.
        word.split('.').filter(|part| is_identifier(part)).for_each(|part| {
            take(Identifier { kind: IdentifierKind::Identifier, text: part });
        });
    } else if is_identifier(word) {
        take(Identifier { kind: IdentifierKind::Identifier, text: word });
    }
}

/// Hexadecimal with digits and letters, or the groups of a UUID.
fn is_hash(word: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let uuid = word.len() == 36 && word.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    let plain = (7..=128).contains(&word.len())
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic());
    if uuid { word.split('-').all(hex) } else { plain && hex(word) }
}

/// A version, or three digits and more.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    let dots = digits.bytes().filter(|byte| *byte == b'.').count();
    let count = digits.bytes().filter(u8::is_ascii_digit).count();
    digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'_')
        && (count >= 3 || (dots >= 1 && digits.len() < word.len()))
}

fn is_file_name(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let plain = |text: &str| !text.is_empty() && !text.contains(['@', '%', '+', '#']);
    (plain(stem) && ENDINGS.contains(&ending)) || (stem.is_empty() && ending.len() > 3)
}

/// `snake_case`, `camelCase`, `TwoWords`, letters with digits; with hyphens only if there is a digit.
fn is_identifier(word: &str) -> bool {
    let bytes = word.as_bytes();
    let letters = bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = bytes.iter().any(u8::is_ascii_digit);
    let begins = bytes.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    let plain =
        bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let humps = bytes
        .windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    let snake = word.trim_matches('_').contains('_');
    word.len() >= 3 && letters >= 1 && begins && plain && (humps || snake || digits)
}

/// The line, if it reports an error. One that has a quotation mark or a bracket in front of the mark is
/// code that would report it.
fn error_in(line: &str) -> Option<&str> {
    let line = head(line.trim(), ERROR_LINE);
    let at = ERROR_MARKS.iter().filter_map(|mark| line.find(mark)).min()?;
    let code = line.get(..at)?.contains(['"', '`', '(', '=', '→']);
    (line.len() >= 10 && !code).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &[(IdentifierKind, &str)]) {
        let found: Vec<(IdentifierKind, &str)> =
            identifiers(text).iter().map(|name| (name.kind, name.text)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn paths() {
        check("see src/main.rs:12:5.", &[(IdentifierKind::Path, "src/main.rs")]);
        check(
            "`/etc/hosts`, ~/.bashrc",
            &[(IdentifierKind::Path, "/etc/hosts"), (IdentifierKind::Path, "~/.bashrc")],
        );
        check(
            "Cargo.toml and (lib.rs)",
            &[(IdentifierKind::Path, "Cargo.toml"), (IdentifierKind::Path, "lib.rs")],
        );
        check("修改了src/main.rs文件", &[(IdentifierKind::Path, "src/main.rs")]);
        check("docs/müller.md", &[(IdentifierKind::Path, "docs/müller.md")]);
        check("crates/cli and/or I/O 10/20 e.g. i.e.", &[(IdentifierKind::Path, "crates/cli")]);
    }

    #[test]
    fn names_in_code() {
        let name = |text| (IdentifierKind::Identifier, text);
        check(
            "call read_file, readFile and ReadFile; Vec::new()",
            &[name("read_file"), name("readFile"), name("ReadFile"), name("Vec::new")],
        );
        check("self.max_tokens(x.y)", &[name("max_tokens")]);
        check("error E0308 in gpt-4o, not word-for-word", &[name("E0308"), name("gpt-4o")]);
        check("The quick brown Fox. It's done.", &[]);
    }

    #[test]
    fn urls_hashes_numbers() {
        check(
            "at https://a.example/x?y=1&z=2, (http://localhost:8080/).",
            &[
                (IdentifierKind::Url, "https://a.example/x?y=1&z=2"),
                (IdentifierKind::Url, "http://localhost:8080/"),
            ],
        );
        check("commit 3fb3c44 deadbeef", &[(IdentifierKind::Hash, "3fb3c44")]);
        check(
            "id 0c275b1b-1111-4222-8333-abcdefabcdef",
            &[(IdentifierKind::Hash, "0c275b1b-1111-4222-8333-abcdefabcdef")],
        );
        check(
            "port 8080, v1.2, 1.2.3, 12",
            &[
                (IdentifierKind::Number, "8080"),
                (IdentifierKind::Number, "v1.2"),
                (IdentifierKind::Number, "1.2.3"),
            ],
        );
    }

    #[test]
    fn error_lines() {
        let errors = |text: &'static str| -> Vec<&str> {
            identifiers(text)
                .iter()
                .filter(|n| n.kind == IdentifierKind::Error)
                .map(|n| n.text)
                .collect()
        };
        assert_eq!(
            errors(
                "fine\n  error[E0308]: mismatched types  \nthread 'main' panicked at src/a.rs:3"
            ),
            ["error[E0308]: mismatched types", "thread 'main' panicked at src/a.rs:3"]
        );
        assert_eq!(errors("there was no error here"), Vec::<&str>::new());
    }

    #[test]
    fn mean_texts() {
        for text in ["a_".repeat(5_000_000), "睡".repeat(300_000), "://".repeat(300_000)] {
            assert!(identifiers(&text).len() <= 1);
        }
        let many =
            (0..200_000).fold(String::new(), |text, n| text + "name_" + &n.to_string() + " ");
        assert_eq!(identifiers(&many).len(), 200_000);
        check(
            "a\0b_c\0 \u{202e}x_y\u{202e}",
            &[(IdentifierKind::Identifier, "b_c"), (IdentifierKind::Identifier, "x_y")],
        );
    }

    proptest! {
        #[test]
        fn names_stand_in_the_text_in_order(text in "[a-zA-Z0-9_./: \\-睡é\n@#%~?&=()\"']{0,200}") {
            let mut rest = text.as_str();
            for name in identifiers(&text).iter().filter(|name| name.kind != IdentifierKind::Error) {
                let found = rest.split_once(name.text);
                prop_assert!(found.is_some(), "{name:?} in {text:?}");
                rest = found.unwrap().1;
            }
        }
    }
}

//! Which text is replaced by which, byte for byte, and what is said when there is none.

use super::*;
use proptest::prelude::*;

fn edited(file: &[u8], old: &str, new: &str, occurrences: Occurrences) -> Result<Vec<u8>, String> {
    apply(file, &Change { old, new, occurrences }).map(|edited| edited.bytes)
}

#[track_caller]
fn check(file: &[u8], old: &str, new: &str, expected: &[u8]) {
    let bytes = edited(file, old, new, Occurrences::One).unwrap();
    assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[track_caller]
fn check_missing(file: &str, old: &str, expected: &str) {
    let reason = edited(file.as_bytes(), old, "new", Occurrences::One).unwrap_err();
    let hint = reason.split_once("so nothing was changed: ").unwrap().1;
    assert_eq!(hint, expected);
}

#[test]
fn bytes_around_stay() {
    check(b"a\r\nb\nc", "b", "B", b"a\r\nB\nc");
    check(b"\xef\xbb\xbfone\n", "one", "two", b"\xef\xbb\xbftwo\n");
    check(b"\xff\xfe caf\xe9 one \x80", "one", "two", b"\xff\xfe caf\xe9 two \x80");
    check(b"a\nb", "b", "", b"a\n");
    check("größe 数".as_bytes(), "数", "n", "größe n".as_bytes());
}

#[test]
fn a_newline_stands_for_either_line_end() {
    check(b"a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", b"x\r\ny\r\nz\r\nc\r\n");
    check(b"a\r\nb\nc\r\n", "a\nb\nc", "1\n2\n3", b"1\r\n2\n3\r\n");
    check(b"a\r\nb\nc\n", "b\nc", "b\nd\nc", b"a\r\nb\nd\nc\n");
    // Text without a line end of its own takes that of its line.
    check(b"a\r\nb\r\n", "b", "b\nc", b"a\r\nb\r\nc\r\n");
    check(b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc");
    check(b"a\nb", "b", "b\nc", b"a\nb\nc");
    // The match begins and ends with line ends.
    check(b"a\r\n\r\nb\r\n", "\n\n", "\n", b"a\r\nb\r\n");
}

#[test]
fn a_carriage_return_is_meant() {
    check(b"a\r\nb\r\n", "a\r\n", "a\n", b"a\nb\r\n");
    check(b"a\nb\n", "a\nb", "a\r\nb", b"a\r\nb\n");
    let reason = edited(b"a\nb\n", "a\r\nb", "x", Occurrences::One).unwrap_err();
    assert!(reason.starts_with("does not contain `old_string`"), "{reason}");
}

#[test]
fn once_or_everywhere() {
    let reason = edited(b"x\ny\nx x\n", "x", "z", Occurrences::One).unwrap_err();
    let expected = "contains `old_string` 3 times, at lines 1, 3, 3; take in more of the lines around \
                    the one that is meant, or set `replace_all` to replace them all";
    assert_eq!(reason, expected);
    assert_eq!(edited(b"x\ny\nx x\n", "x", "zz", Occurrences::All).unwrap(), b"zz\ny\nzz zz\n");
    // To the model both look the same, so neither is taken for the other.
    let reason = edited(b"a\nb\na\r\nb\r\n", "a\nb", "z", Occurrences::One).unwrap_err();
    assert!(reason.starts_with("contains `old_string` 2 times, at lines 1, 3"), "{reason}");
}

#[test]
fn what_was_probably_meant() {
    check_missing(
        "fn main() {\n\tcall();\n}\n",
        "fn main() {\n    call();\n}",
        "lines 1 to 3 differ from it in white space only: line 2 is \"\\tcall();\" where \
         `old_string` has \"    call();\"",
    );
    check_missing(
        "a\nlet total = sum(items);\n",
        "let totals = sum(items);",
        "the nearest is line 2: \"let total = sum(items);\"",
    );
    check_missing(
        "one\ntwo\n",
        "     1\tone\n     2\ttwo",
        "it has the line numbers in it that Read shows; leave the number and the tab out of each line",
    );
    check_missing("one\n", "zzzzzz", "nothing in it is like it; read the file again");
    check_missing("", "x", "nothing in it is like it; read the file again");
}

proptest! {
    /// A change and its inverse leave the file as it was, whatever is in it.
    #[test]
    fn there_and_back(
        before in "[ab\\n]{0,12}(\r\n[ab]{0,3}){0,3}",
        junk in proptest::collection::vec(any::<u8>(), 0..20),
        old in "[cd]{1,3}(\n[cd]{1,2}){0,2}",
        new in "[ef]{1,3}(\n[ef]{1,2}){0,4}",
        after in "(\r\n|\n)?[ab]{0,5}(\r\n|\n)?",
        crlf in any::<bool>(),
    ) {
        let old_in_file = if crlf { old.replace('\n', "\r\n") } else { old.clone() };
        let junk: Vec<u8> = junk.into_iter().filter(|byte| !b"cdef\r\n".contains(byte)).collect();
        let file = [before.as_bytes(), &junk, old_in_file.as_bytes(), after.as_bytes()].concat();
        let there = edited(&file, &old, &new, Occurrences::One).unwrap();
        prop_assert_ne!(&there, &file);
        // As many line ends come back as the text had only if the new one kept one to copy.
        prop_assume!(!old.contains('\n') || new.contains('\n'));
        prop_assert_eq!(edited(&there, &new, &old, Occurrences::One).unwrap(), file);
    }

    /// Whatever is asked of whatever file, there is an answer, and bytes outside stay.
    #[test]
    fn never_a_panic(
        file in proptest::collection::vec(prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'a'), any::<u8>()], 0..60),
        old in "[a\r\n]{1,3}",
        new in "[b\r\n]{0,4}",
    ) {
        match edited(&file, &old, &new, Occurrences::All) {
            Ok(bytes) => prop_assert!(old == new || !bytes.is_empty() || new.is_empty()),
            Err(reason) => prop_assert!(reason.starts_with("does not contain")),
        }
    }
}

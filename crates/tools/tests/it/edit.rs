//! Edit on real files: what stays, what is refused, and what the answer shows.

use std::path::Path;

use dormouse_tools::ReadExtent;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::Scene;
use crate::write::{known, names, state};

fn edit(path: impl AsRef<Path>, old: &str, new: &str) -> Value {
    json!({ "file_path": path.as_ref(), "old_string": old, "new_string": new })
}

#[track_caller]
fn holds(path: &Path, expected: &[u8]) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
}

#[tokio::test]
async fn the_changed_lines_are_shown() {
    let scene = Scene::new();
    let lines = "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\n";
    let path = known(&scene, "a", lines).await;
    let text = scene.text("Edit", &edit(&path, "line 5", "five\nand a half")).await;
    let real = path.canonicalize().unwrap();
    let expected = format!(
        "changed {} in 1 place, at line 5\n     2\tline 2\n     3\tline 3\n     4\tline 4\n     \
         5\tfive\n     6\tand a half\n     7\tline 6\n     8\tline 7\n     9\tline 8\n",
        real.display()
    );
    assert_eq!(text, expected);
}

/// The second is made on what the first left, without a read between.
#[tokio::test]
async fn two_edits_in_a_row() {
    let scene = Scene::new();
    let path = known(&scene, "a", "one\ntwo\n").await;
    scene.text("Edit", &edit(&path, "one", "eins")).await;
    scene.text("Edit", &edit(&path, "eins\ntwo", "uno\ndue")).await;
    holds(&path, b"uno\ndue\n");
    let real = path.canonicalize().unwrap();
    let seen = scene.context.read_cache.lock().unwrap().get(&real).cloned().unwrap();
    assert_eq!((seen.extent, seen.content.as_str()), (ReadExtent::Whole, "uno\ndue\n"));
    assert_eq!(names(&scene), ["a"]);
}

#[tokio::test]
async fn what_was_seen_in_part_stays_in_part() {
    let scene = Scene::new();
    let path = scene.write("a", "one\ntwo\nthree\n");
    scene.text("Read", &json!({"file_path": path, "limit": 2})).await;
    scene.text("Edit", &edit(&path, "two", "2")).await;
    scene.text("Edit", &edit(&path, "three", "3")).await;
    holds(&path, b"one\n2\n3\n");
    let real = path.canonicalize().unwrap();
    let seen = scene.context.read_cache.lock().unwrap().get(&real).cloned().unwrap();
    assert_eq!((seen.extent, seen.content.as_str()), (ReadExtent::Part, "one\n2\n"));
}

#[tokio::test]
async fn bytes_that_are_not_touched_stay() {
    let scene = Scene::new();
    for (name, before, old, new, after) in [
        ("mixed", &b"a\r\nb\nc\r\n"[..], "b", "B", &b"a\r\nB\nc\r\n"[..]),
        ("windows", b"a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", b"x\r\ny\r\nz\r\nc\r\n"),
        ("no newline at the end", b"a\nb", "b", "c", b"a\nc"),
        ("mark", b"\xef\xbb\xbfa\r\n", "a", "b", b"\xef\xbb\xbfb\r\n"),
        ("not text", b"caf\xe9\nb\n\xff\xfe", "b", "c", b"caf\xe9\nc\n\xff\xfe"),
        ("emptied", b"a\n", "a\n", "", b""),
    ] {
        let path = known(&scene, name, before).await;
        let text = scene.text("Edit", &edit(&path, old, new)).await;
        holds(&path, after);
        assert_eq!(text.contains("[the file is empty now]"), after.is_empty(), "{text}");
    }
}

#[tokio::test]
async fn a_failed_edit_leaves_the_file_untouched() {
    let scene = Scene::new();
    let path = known(&scene, "a", "one\ntwo\none\n").await;
    let before = state(&path);
    for (input, expected) in [
        (edit(&path, "one", "1"), "contains `old_string` 2 times, at lines 1, 3"),
        (edit(&path, "ONE", "1"), "does not contain `old_string`, so nothing was changed"),
        (edit(&path, "one", "one"), "`old_string` and `new_string` are the same"),
        (
            edit(&path, "", "1"),
            "exists and has content, and an empty `old_string` only makes new files; give the text to replace as `old_string`: to add",
        ),
        (edit(&path, "", "twos"), "as `old_string`: the nearest is line 2: \"two\""),
        (edit("missing", "a", "1"), "missing does not exist; use Glob to find the file, or Write"),
    ] {
        let text = scene.error("Edit", &input).await;
        assert!(text.contains(expected), "{text}");
        assert_eq!(state(&path), before);
    }
    let unread = scene.write("b", "x");
    let text = scene.error("Edit", &edit(&unread, "x", "y")).await;
    assert!(text.contains("has not been read in this conversation"), "{text}");
    let text = scene.error("Edit", &edit(&unread, "", "x")).await;
    assert!(text.ends_with("read it, then give the text to replace as `old_string`"), "{text}");
    assert_eq!(names(&scene), ["a", "b"]);
}

#[tokio::test]
async fn every_occurrence() {
    let scene = Scene::new();
    let path = known(&scene, "a", "x = x\r\ny\nx").await;
    let all = json!({
        "file_path": path, "old_string": "x", "new_string": "long", "replace_all": true});
    let text = scene.text("Edit", &all).await;
    assert!(text.contains("in 3 places, at lines 1, 1, 3\n"), "{text}");
    holds(&path, b"long = long\r\ny\nlong");
}

#[tokio::test]
async fn an_empty_text_makes_a_file() {
    let scene = Scene::new();
    let text = scene.text("Edit", &edit("new/a", "", "one\n")).await;
    assert!(text.starts_with("created ") && text.ends_with("a\n     1\tone\n"), "{text}");
    scene.text("Edit", &edit("new/a", "one", "two")).await;
    holds(&scene.path("new/a"), b"two\n");
}

#[tokio::test]
async fn up_to_fifty_megabytes_and_no_more() {
    let scene = Scene::new();
    let line = "a line of some length, such as there are in a log\n";
    let mut content = line.repeat(50 * 1024 * 1024 / line.len() - 1) + "the end\n";
    content.push_str(&"x".repeat(50 * 1024 * 1024 - content.len()));
    let path = known(&scene, "large", &content).await;
    for (old, new) in [("the end", "the END"), ("the END", "the end")] {
        let text = scene.text("Edit", &edit(&path, old, new)).await;
        assert!(text.len() < 2_000, "{text}");
    }
    assert!(std::fs::read(&path).unwrap() == content.as_bytes());
    let text = scene.error("Edit", &edit(&path, "the end", "the very end")).await;
    assert!(text.contains("would become larger than 50 MB"), "{text}");
    let file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.set_len(50 * 1024 * 1024 + 1).unwrap();
    scene.text("Read", &json!({"file_path": path})).await;
    let text = scene.error("Edit", &edit(&path, "the end", "x")).await;
    assert!(text.contains("is larger than 50 MB"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// A change and its inverse leave the file as it was, to the byte.
    #[test]
    fn there_and_back(
        before in proptest::collection::vec(1_u8..=b'`', 0..40),
        after in proptest::collection::vec(prop_oneof![1_u8..=b'`', 0x80_u8..], 0..40),
        old in "[a-f]{1,8}",
        new in "[g-m]{1,8}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let scene = Scene::new();
            let content = [before.as_slice(), old.as_bytes(), &after].concat();
            let path = known(&scene, "a", &content).await;
            scene.text("Edit", &edit(&path, &old, &new)).await;
            assert_ne!(std::fs::read(&path).unwrap(), content);
            scene.text("Edit", &edit(&path, &new, &old)).await;
            holds(&path, &content);
        });
    }
}

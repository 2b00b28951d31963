//! Grep: what it finds, how it shows it, and what it leaves out.

use dormouse_permissions::{PermissionGate, PermissionMode, PermissionRules};
use serde_json::{Value, json};

use crate::Scene;

/// Arguments for matching lines, with more.
fn content(pattern: &str, more: Value) -> Value {
    let mut input = json!({"pattern": pattern, "output_mode": "content"});
    let Value::Object(more) = more else { panic!("not an object") };
    input.as_object_mut().unwrap().extend(more);
    input
}

fn project() -> Scene {
    let scene = Scene::new();
    scene.write("b.rs", "fn one() {}\nfn two() {}\n");
    scene.write("a/deep.rs", "// none\nfn three() {}\r\n");
    scene.write("notes.md", "fn in prose\n");
    scene.write("built/out.rs", "fn built() {}\n");
    scene.write(".hidden/h.rs", "fn hidden() {}\n");
    scene.write(".gitignore", "built/\n");
    scene.write("program", b"fn before the NUL\n\0fn binary\n");
    scene
}

#[tokio::test]
async fn the_three_modes() {
    let scene = project();
    let text = scene.text("Grep", &json!({"pattern": r"^fn \w+"})).await;
    assert_eq!(text, "a/deep.rs\nb.rs\nnotes.md");
    let text = scene.text("Grep", &content(r"^fn \w+\(", json!({}))).await;
    assert_eq!(text, "a/deep.rs:2:fn three() {}\nb.rs:1:fn one() {}\nb.rs:2:fn two() {}");
    let text = scene.text("Grep", &json!({"pattern": "^fn", "output_mode": "count"})).await;
    assert_eq!(text, "a/deep.rs:1\nb.rs:2\nnotes.md:1\n[4 matches in 3 files]");
    assert_eq!(
        scene.text("Grep", &json!({"pattern": "nowhere"})).await.lines().next(),
        Some("[nothing matches]")
    );
}

/// Small models search for the name of a file, or for a question's words in it.
#[tokio::test]
async fn a_search_that_finds_nothing_names_the_file_to_read() {
    let scene = project();
    for (call, named) in [
        (json!({"pattern": "b.rs"}), Some("`b.rs`")),
        (json!({"pattern": "how many", "glob": "a/deep.rs"}), Some("`a/deep.rs`")),
        (json!({"pattern": "how many", "path": "b.rs"}), Some("the file")),
        (json!({"pattern": "deep.rs", "path": "a"}), Some("`a/deep.rs`")),
        (json!({"pattern": "../b.rs", "path": "a"}), None),
        (json!({"pattern": "how many", "glob": "*.rs"}), None),
    ] {
        let note = named.map(|name| format!("[Read shows what {name} says]"));
        let text = scene.text("Grep", &call).await;
        assert!(text.starts_with("[nothing matches]"), "{text}");
        assert_eq!(text.lines().find(|line| line.contains("Read")), note.as_deref(), "{call}");
    }
}

#[tokio::test]
async fn where_it_looks() {
    let scene = project();
    let text = scene.text("Grep", &json!({"pattern": "fn", "glob": "*.rs"})).await;
    assert_eq!(text, "a/deep.rs\nb.rs");
    let text = scene.text("Grep", &json!({"pattern": "fn", "path": "a"})).await;
    assert_eq!(text, "a/deep.rs");
    let text = scene.text("Grep", &json!({"pattern": "fn", "glob": ".hidden/*"})).await;
    assert_eq!(text, ".hidden/h.rs");
    // A file that is named is searched, ignored or not.
    let text = scene.text("Grep", &content("fn", json!({"path": "built/out.rs"}))).await;
    assert_eq!(text, "built/out.rs:1:fn built() {}");
    let text = scene.text("Grep", &json!({"pattern": "fn", "path": "program"})).await;
    assert_eq!(text, "[nothing matches]\n[1 binary files were not searched]");
    let across = json!({"pattern": "fn", "path": "program", "multiline": true});
    assert_eq!(scene.text("Grep", &across).await, text);
    let text = scene.error("Grep", &json!({"pattern": "fn", "path": "missing"})).await;
    assert!(
        text.ends_with("missing does not exist; leave `path` out to search the working directory")
    );
    let text = scene.error("Grep", &json!({"pattern": "PATH", "path": "/proc/self/environ"})).await;
    assert!(text.contains("is the environment of a process"), "{text}");
    let text = scene.error("Grep", &json!({"pattern": "x", "path": "/dev/zero"})).await;
    assert!(text.contains("is a device"), "{text}");
}

#[tokio::test]
async fn links_are_not_followed() {
    let (scene, other) = (Scene::new(), Scene::new());
    other.write("secret", "needle\n");
    std::os::unix::fs::symlink(other.folder.path(), scene.path("folder")).unwrap();
    std::os::unix::fs::symlink(other.path("secret"), scene.path("file")).unwrap();
    assert_eq!(scene.text("Grep", &json!({"pattern": "needle"})).await, "[nothing matches]");
}

#[tokio::test]
async fn lines_around() {
    let scene = Scene::new();
    scene.write("a", "1\n2\nhit\n4\n5\n6\n7\nhit\n9\n");
    let text = scene.text("Grep", &content("hit", json!({"context": 1}))).await;
    assert_eq!(text, "a-2-2\na:3:hit\na-4-4\n--\na-7-7\na:8:hit\na-9-9");
    let text = scene.text("Grep", &content("hit", json!({"before": 2, "after": 0}))).await;
    assert_eq!(text, "a-1-1\na-2-2\na:3:hit\n--\na-6-6\na-7-7\na:8:hit");
    let text = scene.text("Grep", &content("hit", json!({"context": 1, "before": 0}))).await;
    assert_eq!(text, "a:3:hit\na-4-4\n--\na:8:hit\na-9-9");
    let text = scene.error("Grep", &content("hit", json!({"after": 101}))).await;
    assert!(text.contains("are at most 100 lines"), "{text}");
}

#[tokio::test]
async fn case_line_ends_and_several_lines() {
    let scene = Scene::new();
    scene.write("a", "Begin;\r\nmiddle\r\nEND;\r\n");
    assert_eq!(scene.text("Grep", &content("end", json!({}))).await, "[nothing matches]");
    let text = scene.text("Grep", &content("end", json!({"ignore_case": true}))).await;
    assert_eq!(text, "a:3:END;");
    let text = scene.text("Grep", &content(";$", json!({}))).await;
    assert_eq!(text, "a:1:Begin;\na:3:END;");
    let text = scene.text("Grep", &content("Begin.*END", json!({"multiline": true}))).await;
    assert_eq!(text, "a:1:Begin;\na:2:middle\na:3:END;");
    let text = scene.error("Grep", &content(r"Begin\nmiddle", json!({}))).await;
    assert!(text.contains("matches a line end, which needs `multiline`"), "{text}");
}

#[tokio::test]
async fn patterns_that_do_not_work() {
    let scene = Scene::new();
    let text = scene.error("Grep", &json!({"pattern": "call(a, [b"})).await;
    assert!(text.contains("unclosed"), "{text}");
    assert!(text.ends_with(r"before each special character: call\(a, \[b"), "{text}");
    let text = scene.error("Grep", &json!({"pattern": ""})).await;
    assert_eq!(text, "invalid arguments: `pattern`: is empty");
    let text = scene.error("Grep", &json!({"pattern": r"\w{1000}{1000}{100}"})).await;
    assert!(text.contains("exceeds size limit"), "{text}");
    let text = scene.error("Grep", &json!({"pattern": "a", "glob": "/x"})).await;
    assert!(text.contains("`glob`: is absolute"), "{text}");
    let text = scene.error("Grep", &json!({"pattern": "a", "output_mode": "all"})).await;
    assert!(text.contains("`output_mode`: unknown variant `all`"), "{text}");
}

#[tokio::test]
async fn long_lines_are_cut() {
    let scene = Scene::new();
    scene.write("min.js", "x".repeat(30_000) + "needle" + &"y".repeat(30_000));
    let text = scene.text("Grep", &content("needle", json!({}))).await;
    assert!(text.starts_with("min.js:1:[from byte 29900 of the line] xxx"), "{text}");
    assert!(text.contains("xneedley") && text.chars().count() < 650, "{text}");
}

#[tokio::test]
async fn the_answer_is_bounded_and_the_same_every_time() {
    let scene = Scene::new();
    for file in 0..60 {
        scene.write(&format!("f{file:02}.txt"), "a needle in this line\n".repeat(100));
    }
    let all = content("needle", json!({}));
    let text = scene.text("Grep", &all).await;
    assert!(text.chars().count() <= 20_000, "{}", text.chars().count());
    assert!(text.chars().count() > 19_000, "{}", text.chars().count());
    let lines: Vec<&str> = text.lines().collect();
    let shown = lines.len() - 1;
    assert_eq!(
        lines[shown - 1].get(..4),
        Some(format!("f{:02}.", (shown - 1) / 100).get(..4).unwrap())
    );
    let files = 60 - shown.div_ceil(100);
    let note = format!("[{} more matches are not shown, and {files} files with", 6_000 - shown);
    assert!(lines[shown].starts_with(&note), "{} {note}", lines[shown]);
    for _ in 0..5 {
        assert_eq!(scene.text("Grep", &all).await, text);
    }
    let text = scene.text("Grep", &content("needle", json!({"head_limit": 2}))).await;
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.contains("[5998 more matches are not shown, and 59 files"), "{text}");
    let text = scene.text("Grep", &json!({"pattern": "needle", "head_limit": 3})).await;
    let expected =
        "f00.txt\nf01.txt\nf02.txt\n[57 more files match; make the search narrower to see them]";
    assert_eq!(text, expected);
    let count = json!({"pattern": "needle", "output_mode": "count", "head_limit": 1});
    let text = scene.text("Grep", &count).await;
    let expected = "f00.txt:100\n[6000 matches in 60 files; 59 of these files, with 5900 matches, are not listed]";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn odd_names_stay_one_line() {
    let scene = Scene::new();
    scene.write("two\nlines", "needle\n");
    assert_eq!(scene.text("Grep", &json!({"pattern": "needle"})).await, r#""two\nlines""#);
}

/// The match is at the very end, and a NUL after many megabytes makes all of it binary.
#[tokio::test]
async fn a_large_file() {
    let scene = Scene::new();
    let mut text = "a line without it\n".repeat(1_000_000) + "needle\n";
    scene.write("large", &text);
    let found = scene.text("Grep", &content("needle", json!({}))).await;
    assert_eq!(found, "large:1000001:needle");
    text.push('\0');
    scene.write("large", &text);
    let found = scene.text("Grep", &content("needle", json!({}))).await;
    assert_eq!(found, "[nothing matches]\n[1 binary files were not searched]");
}

#[tokio::test]
async fn a_search_can_be_stopped() {
    let scene = Scene::new();
    let large = scene
        .write("large", "abababab aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n".repeat(1_000_000));
    let slow = content(r"(a|b|ab)+ (a|aa)+c", json!({}));
    let cancel = async {
        scene.wait_until_open(&large).await;
        scene.context.cancel.cancel();
    };
    let (text, ()) = tokio::join!(scene.error("Grep", &slow), cancel);
    assert_eq!(text, "interrupted: the call was stopped before it finished");
}

#[tokio::test]
async fn files_that_rules_deny_are_left_out_and_counted() {
    let mut scene = project();
    scene.write("secret/key.rs", "fn secret() {}\n");
    let rules = PermissionRules {
        deny: vec!["Read(secret/**)".parse().unwrap(), "Read(*.md)".parse().unwrap()],
        ..PermissionRules::default()
    };
    scene.context.gate = Some(PermissionGate::new(PermissionMode::Bypass, rules));
    let text = scene.text("Grep", &json!({"pattern": "^fn"})).await;
    assert_eq!(text, "a/deep.rs\nb.rs\n[2 files were left out: rules deny reading them]");
}

/// A few bytes of pattern can take minutes: the answer comes all the same, and says why it is none.
#[tokio::test]
async fn a_pattern_that_takes_minutes_is_stopped() {
    let scene = project();
    scene.write("long.txt", "a".repeat(100_000));
    for pattern in
        ["(a{1000}){1000}b", "((a{100}){100}){100}b", r"(\w{500}){500}\d", "(a{100}){100}b"]
    {
        let input = content(pattern, json!({}));
        let said = crate::text_of(&crate::in_time(scene.call("Grep", &input)).await);
        let explained = ["can be used", "stopped", "nothing matches"];
        assert!(explained.iter().any(|words| said.contains(words)), "{pattern}: {said}");
    }
}

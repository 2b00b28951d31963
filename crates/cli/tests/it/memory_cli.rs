//! `dormouse memory`, command by command, as a person uses it: no model, no key.

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_testkit::{Output, TestHome};
use serde_json::Value;

use crate::program::dormouse;

pub(crate) fn memory(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = dormouse(home, &["memory"]);
    home.run(command.args(arguments))
}

/// What a command prints with `--json`: always JSON and nothing else, whatever the exit code.
#[track_caller]
pub(crate) fn json(home: &TestHome, arguments: &[&str], code: i32) -> Value {
    let output = memory(home, &[arguments, &["--json"]].concat());
    output.expect_code(code);
    serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}\n{}", output.stdout))
}

#[track_caller]
pub(crate) fn add(home: &TestHome, name: &str, more: &[&str]) -> PathBuf {
    let arguments = [&["add", name, "--description", "what it is about"], more].concat();
    PathBuf::from(memory(home, &arguments).success().stdout.trim_end())
}

pub(crate) fn names(list: &Value) -> Vec<String> {
    let list = list.as_array().unwrap();
    list.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

/// Every file below a folder, with its bytes.
pub(crate) fn files_below(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => {
                    found.push((entry.path(), fs::read(entry.path()).unwrap()));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// An editor that is this line of shell; the copy is `$1`.
fn editor(home: &mut TestHome, script: &str) {
    let file = home.root().join("editor.sh");
    fs::write(&file, script).unwrap();
    home.set_env("EDITOR", format!("sh {}", file.display()));
}

fn copies_left(home: &TestHome) -> Vec<(PathBuf, Vec<u8>)> {
    files_below(&home.dormouse_home().join("tmp"))
}

#[test]
fn with_no_memory_at_all_every_command_answers_and_makes_nothing() {
    let home = TestHome::new();
    for (arguments, code) in [
        (&["list"][..], 0),
        (&["search", "x"], 0),
        (&["log"], 0),
        (&["restore"], 0),
        (&["inbox"], 0),
        (&["inbox", "accept", "--all"], 0),
        (&["doctor"], 0),
        (&["doctor", "--fix"], 0),
        (&["lint"], 0),
        (&["path"], 0),
        (&["path", "--scope", "repo"], 0),
        (&["export"], 0),
        (&["export", "out"], 0),
        (&["show", "x"], 1),
        (&["edit", "x"], 1),
        (&["rm", "x"], 1),
        (&["diff"], 1),
        (&["undo"], 1),
        (&["undo", "3"], 1),
        (&["restore", "x"], 1),
        (&["inbox", "refuse", "1"], 1),
        (&["log", "x"], 1),
        (&["search", " "], 2),
        (&["lint", "nowhere"], 2),
        (&["import", "nowhere"], 2),
    ] {
        let said = memory(&home, arguments);
        said.expect_code(code);
        let answer = json(&home, arguments, code);
        assert_eq!(answer.get("error").is_some(), code > 0, "{arguments:?}: {answer}");
        assert!(code == 0 || said.stderr.starts_with("error: "), "{arguments:?}: {}", said.stderr);
        assert!(!said.stdout.is_empty() || !said.stderr.is_empty(), "{arguments:?} says nothing");
    }
    assert!(!home.dormouse_home().exists(), "{:?}", files_below(&home.user_home()));
    assert!(!home.project().join("out").exists());
    for arguments in [&["add"][..], &["list", "--scope", "mine"], &["undo", "last"], &[]] {
        memory(&home, arguments).expect_code(2);
    }
}

#[test]
fn the_help_tells_the_exit_codes() {
    let home = TestHome::new();
    let help = memory(&home, &["--help"]).success().stdout.clone();
    assert!(help.contains("Exit codes:\n  0 ") && help.contains("\n  2 "), "{help}");
    for command in [
        "list", "show", "add", "edit", "rm", "search", "log", "diff", "undo", "restore", "inbox",
        "doctor", "lint", "path", "export", "import",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}\n{help}");
        let own = memory(&home, &[command, "--help"]).success().stdout.clone();
        for part in ["--scope", "--json", "Examples:"] {
            assert!(own.contains(part), "{command}: {part}\n{own}");
        }
    }
}

#[test]
fn add_takes_any_name_and_says_where_it_is() {
    let home = TestHome::new();
    let folder = home.dormouse_home().join("memory");
    for (name, file) in [
        ("数据库迁移", "数据库迁移.md"),
        ("a/b/../../etc/passwd", "a-b-etc-passwd.md"),
        ("Same", "same.md"),
        ("Same", "same-2.md"),
        ("sAME", "same-3.md"),
        ("con", "con-memory.md"),
        ("MEMORY", "memory-memory.md"),
        ("two\nlines", "two-lines.md"),
    ] {
        let path = add(&home, name, &["--new", "--type", "user", "--body", file]);
        assert_eq!(path, folder.join(file), "{name}");
    }
    let mouse = add(&home, "🐭🐭", &["--type", "user", "--body", "mice"]);
    let lion = add(&home, "🦁", &["--type", "user", "--body", "lions"]);
    assert!(mouse != lion && mouse.parent() == Some(&folder), "{mouse:?} {lion:?}");
    assert_eq!(json(&home, &["show", "🦁"], 0)["body"], "lions\n");
    let index = home.read(folder.join("MEMORY.md"));
    assert_eq!(index.lines().count(), 10, "{index}");
    assert!(index.contains("- [🦁](memory-") && index.contains("- [two lines](two-lines.md)"));
    json(&home, &["doctor"], 0);
}

#[test]
fn add_reads_standard_input_and_refuses_what_is_empty() {
    let home = TestHome::new();
    let mut command = dormouse(&home, &["memory", "add", "Piped", "--type", "reference"]);
    let output = home.run_with_input(command.args(["--description", "d"]), "one\ntwo\n");
    assert!(home.read(output.success().stdout.trim()).ends_with("---\n\none\ntwo\n"));
    let base = ["add", "N", "--type", "user", "--description", "d"];
    // Nothing on standard input is more likely a mistake than a memory.
    assert_eq!(json(&home, &base, 2)["kind"], "usage");
    memory(&home, &[&base[..], &["--body", ""]].concat()).success();
    memory(&home, &["add", " ", "--type", "user", "--description", "d", "--body", "x"])
        .expect_code(2);
    memory(&home, &["add", "N", "--type", "user", "--description", " ", "--body", "x"])
        .expect_code(2);
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 2);
}

#[test]
fn a_memory_is_meant_by_file_name_or_path_and_never_by_guessing() {
    let home = TestHome::new();
    let one = add(&home, "Same", &["--type", "project", "--body", "one"]);
    let again = memory(&home, &["add", "Same", "--type", "project", "--body", "two"]);
    again.expect_code(2);
    assert!(again.stderr.contains("a memory named “Same” exists: same.md"), "{}", again.stderr);
    add(&home, "Same", &["--new", "--type", "project", "--body", "two"]);
    add(&home, "Same", &["--type", "user", "--scope", "user", "--body", "three"]);
    let twice = memory(&home, &["show", "Same"]);
    twice.expect_code(2);
    assert!(twice.stderr.contains("same-2.md (project)"), "{}", twice.stderr);
    memory(&home, &["rm", "same.md"]).expect_code(2);
    assert_eq!(json(&home, &["show", "SAME-2"], 0)["body"], "two\n");
    assert_eq!(json(&home, &["show", "same.md", "--scope", "user"], 0)["body"], "three\n");
    assert_eq!(json(&home, &["show", one.to_str().unwrap()], 0)["body"], "one\n");
    let near = memory(&home, &["show", "Sane"]);
    assert!(near.expect_code(1).stderr.contains("did you mean `Same`?"), "{}", near.stderr);
    // All of them are found before the first one goes.
    memory(&home, &["rm", "same-2.md", "nothing"]).expect_code(1);
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 3);
}

#[test]
fn scopes_are_apart() {
    let home = TestHome::new();
    for scope in ["user", "project", "team", "repo"] {
        add(&home, scope, &["--type", "project", "--scope", scope, "--body", scope]);
    }
    for scope in ["user", "project", "team", "repo"] {
        let list = json(&home, &["list", "--scope", scope], 0);
        assert_eq!(names(&list), [scope]);
        assert_eq!(list[0]["scope"], scope);
        assert_eq!(names(&json(&home, &["search", scope, "--scope", scope], 0)), [scope]);
        assert_eq!(json(&home, &["log", "--scope", scope], 0).as_array().unwrap().len(), 1);
        assert_eq!(json(&home, &["export", "--scope", scope], 0).as_array().unwrap().len(), 1);
        let place = memory(&home, &["path", "--scope", scope]).success().stdout.clone();
        assert!(Path::new(place.trim()).join(format!("{scope}.md")).exists(), "{place}");
    }
    assert!(home.project().join(".dormouse/memory/repo.md").exists());
    // Every store counts for itself: a number that several have is asked about.
    memory(&home, &["undo", "1"]).expect_code(2);
    memory(&home, &["undo", "1", "--scope", "team"]).success();
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 3);
    for check in [&["doctor"][..], &["lint"]] {
        assert_eq!(json(&home, check, 0)["ok"], true);
    }
}

#[test]
fn edit_changes_what_is_named_and_nothing_else() {
    let home = TestHome::new();
    let path = add(&home, "Tabs", &["--type", "user", "--body", "old"]);
    let text = "---\nname: Tabs\ndescription: d\nmetadata:\n  type: user\nmodified: 2020-01-01T00:00:00Z\nodd: [1, 2] # kept\n---\nold\n";
    fs::write(&path, text).unwrap();
    memory(&home, &["edit", "Tabs", "--type", "feedback", "--pin"]).success();
    let now = home.read(&path);
    assert!(now.contains("metadata:\n  type: feedback\n") && now.contains("odd: [1, 2] # kept\n"));
    assert!(now.contains("pinned: \"true\"\n") && now.contains("modified: \"2026-11-02"), "{now}");
    memory(&home, &["edit", "Tabs", "--pin", "false", "--body", "new text"]).success();
    assert!(
        home.read(&path).ends_with("---\n\nnew text\n") && !home.read(&path).contains("pinned")
    );
    let mut piped = dormouse(&home, &["memory", "edit", "tabs.md", "--body", "-"]);
    home.run_with_input(&mut piped, "from a pipe").success();
    assert!(home.read(&path).ends_with("---\n\nfrom a pipe\n"));
    memory(&home, &["edit", "Tabs", "--name", "Spaces"]).success();
    let index = home.read(path.with_file_name("MEMORY.md"));
    assert_eq!(index, "- [Spaces](tabs.md) — d\n");
    let before = home.read(&path);
    memory(&home, &["edit", "Spaces", "--name", " "]).expect_code(2);
    memory(&home, &["edit", "Spaces", "--body", "-"]).expect_code(2);
    let same = json(&home, &["edit", "Spaces", "--name", "Spaces"], 0);
    assert_eq!(same["change"], Value::Null);
    assert_eq!(home.read(&path), before);
}

#[test]
fn edit_in_an_editor_loses_nothing() {
    let mut home = TestHome::new();
    let path = add(&home, "Plan", &["--type", "user", "--body", "one"]);
    let before = home.read(&path);
    for (script, code, said) in [
        ("exit 0", 0, "Nothing changed"),
        ("exit 3", 1, "failed"),
        (": > \"$1\"", 1, "saved no text"),
        ("rm \"$1\"", 1, "saved no text"),
    ] {
        editor(&mut home, script);
        let output = memory(&home, &["edit", "Plan"]);
        assert!(output.expect_code(code).stderr.contains(said), "{script}: {}", output.stderr);
        assert_eq!(home.read(&path), before, "{script}");
        assert!(copies_left(&home).is_empty(), "{script}");
    }
    editor(&mut home, "sed -i s/one/two/ \"$1\"");
    memory(&home, &["edit", "Plan"]).success();
    assert_eq!(home.read(&path), before.replace("one", "two"));
    // What was typed is kept where it can not be saved: changed meanwhile, or the editor fell over at the end.
    for script in ["echo typed >> \"$1\"; echo other >> PATH", "echo typed >> \"$1\"; exit 1"] {
        editor(&mut home, &script.replace("PATH", path.to_str().unwrap()));
        let output = memory(&home, &["edit", "Plan"]);
        assert!(output.expect_code(1).stderr.contains("your text is in"), "{}", output.stderr);
        let left = copies_left(&home);
        assert!(left.len() == 1 && left[0].1.ends_with(b"typed\n"), "{left:?}");
        assert!(!home.read(&path).contains("typed"));
        fs::remove_file(&left[0].0).unwrap();
    }
}

#[test]
fn what_was_done_is_told_and_taken_back() {
    let home = TestHome::new();
    let one = add(&home, "One", &["--type", "user", "--body", "first"]);
    add(&home, "Two", &["--type", "user", "--body", "second"]);
    let index = home.read(one.with_file_name("MEMORY.md"));
    memory(&home, &["edit", "One", "--body", "changed"]).success();
    let changed = home.read(&one);
    let removed = json(&home, &["rm", "One", "two.md", "One"], 0);
    assert_eq!(removed.as_array().unwrap().len(), 2, "{removed}");
    assert_eq!(names(&json(&home, &["restore"], 0)), ["One", "Two"]);
    // Removed by its name, it is found by its name.
    for name in ["One", "one", "one.md"] {
        assert_eq!(json(&home, &["log", name], 0).as_array().unwrap().len(), 3, "{name}");
    }
    let diff = memory(&home, &["diff", "2"]).success().clone();
    assert!(diff.stderr.starts_with("change 2 (user), 2026-11-02 09:00 by user: added by hand"));
    assert!(diff.stdout.starts_with("--- /dev/null\n+++ b/two.md\n"), "{}", diff.stdout);
    let undone = memory(&home, &["undo"]);
    assert!(
        undone.success().stdout.starts_with("undid change 4 in user: removed by hand (by user)")
    );
    assert_eq!(home.read(&one), changed);
    assert_eq!(home.read(one.with_file_name("MEMORY.md")), index);
    memory(&home, &["undo", "4"]).expect_code(1);
    let first = json(&home, &["log"], 0)[0].clone();
    assert_eq!((&first["undoes"], &first["author"]), (&4.into(), &"user".into()));
    // Undoing an undo does it again.
    memory(&home, &["undo", "5"]).success();
    assert!(!one.exists());
    memory(&home, &["restore", "One"]).success();
    assert_eq!(home.read(&one), changed);
    memory(&home, &["restore", "One", "--change", "1"]).success();
    assert!(home.read(&one).contains("first"));
    let other = memory(&home, &["restore", "One", "--change", "2"]);
    assert!(other.expect_code(1).stderr.contains("change 2 contains no version of `one.md`"));
    let there = memory(&home, &["restore", "One"]);
    assert!(there.expect_code(1).stderr.contains("is not in the trash"), "{}", there.stderr);
    // A name that its file does not tell.
    add(&home, "No. 3 (of 4)", &["--type", "user", "--body", "third"]);
    memory(&home, &["rm", "No. 3 (of 4)"]).success();
    assert_eq!(json(&home, &["log", "no. 3 (OF 4)"], 0).as_array().unwrap().len(), 2);
    memory(&home, &["restore", "No. 3 (of 4)"]).success();
    // A change that others came after is not taken back over their heads.
    let later = memory(&home, &["undo", "3"]);
    assert!(later.expect_code(1).stderr.contains("was changed later"), "{}", later.stderr);
}

#[test]
fn a_change_by_another_program_is_seen() {
    let home = TestHome::new();
    let path = add(&home, "One", &["--type", "user", "--body", "first"]);
    fs::write(&path, "by hand").unwrap();
    fs::write(path.with_file_name("new.md"), "found").unwrap();
    let log = json(&home, &["log"], 0);
    assert_eq!(log[0]["author"], "external");
    assert_eq!(log[0]["files"].as_array().unwrap().len(), 2, "{log}");
    memory(&home, &["undo"]).success();
    assert!(home.read(&path).ends_with("first\n"));
    assert!(!path.with_file_name("new.md").exists());
}

#[test]
fn doctor_finds_and_fixes() {
    let home = TestHome::new();
    let path = add(&home, "One", &["--type", "user", "--body", "first"]);
    let index = path.with_file_name("MEMORY.md");
    let hand_made = format!("# Mine\n\n{}<!-- kept -->\n", home.read(&index));
    fs::write(&index, format!("{hand_made}- [Gone](gone.md) — x\n* [Again](one.md): y\n")).unwrap();
    fs::write(path.with_file_name("new.md"), "no head").unwrap();
    fs::write(path.with_file_name("same.md"), "no head\n").unwrap();
    fs::write(path.with_file_name("zero.md"), [0, 1, 2]).unwrap();
    let found = json(&home, &["doctor"], 1);
    let kinds: Vec<&str> =
        found["findings"].as_array().unwrap().iter().map(|f| f["kind"].as_str().unwrap()).collect();
    for kind in ["invalid-file", "duplicate", "not-in-index", "missing-file", "duplicate-line"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert_eq!(memory(&home, &["doctor"]).expect_code(1).stdout.lines().count(), kinds.len());
    memory(&home, &["doctor", "--fix"]).expect_code(1);
    for file in ["zero.md", "same.md"] {
        fs::remove_file(path.with_file_name(file)).unwrap();
    }
    memory(&home, &["doctor", "--fix"]).success();
    memory(&home, &["doctor"]).success();
    let fixed = hand_made.replace("<!--", "- [new](new.md)\n<!--");
    assert_eq!(home.read(&index), fixed);
}

#[test]
fn lint_checks_any_markdown() {
    let home = TestHome::new();
    let key = ["ghp_", "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo"].concat();
    home.write("docs/fine.md", "all good\n");
    memory(&home, &["lint", "docs"]).success();
    home.write("docs/deep/bad.md", format!("one\ntoken {key}\n"));
    home.write("docs/bad.txt", &key);
    let found = json(&home, &["lint", "docs"], 1);
    assert_eq!(found["findings"].as_array().unwrap().len(), 1, "{found}");
    let finding = &found["findings"][0];
    assert_eq!((&finding["kind"], &finding["line"]), (&"secret".into(), &2.into()));
    assert_eq!(finding["file"], "docs/deep/bad.md");
    assert!(finding["message"].as_str().unwrap().contains("github"), "{finding}");
    assert!(!found.to_string().contains(&key));
    let plain = memory(&home, &["lint", "docs/fine.md", "docs/bad.txt"]);
    assert!(plain.expect_code(1).stdout.starts_with("secret\tdocs/bad.txt:1\t"));
    memory(&home, &["lint", "docs/fine.md"]).success();
    assert_eq!(json(&home, &["lint", "docs/fine.md", "docs/none.md"], 2)["kind"], "usage");
    // A memory directory with the team's inside: each has its own index.
    add(&home, "Mine", &["--type", "project", "--body", "mine"]);
    add(&home, "Ours", &["--type", "project", "--scope", "team", "--body", "ours"]);
    let folder = memory(&home, &["path", "--scope", "project"]).success().stdout.clone();
    memory(&home, &["lint", folder.trim()]).success();
}

#[test]
fn what_goes_out_comes_in_again() {
    let home = TestHome::new();
    add(&home, "One", &["--type", "user", "--body", "first"]);
    add(&home, "二", &["--type", "project", "--body", "second"]);
    let printed = memory(&home, &["export"]).success().stdout.clone();
    home.write("all.json", &printed);
    let files = json(&home, &["export", "out"], 0);
    assert_eq!(files.as_array().unwrap().len(), 4, "{files}");
    // Half of it is not written over either.
    fs::remove_dir_all(home.project().join("out/user")).unwrap();
    let again = memory(&home, &["export", "out"]);
    assert!(again.expect_code(1).stderr.contains("already exists"), "{}", again.stderr);
    assert!(!home.project().join("out/user").exists());
    let other = TestHome::new();
    other.write("all.json", &printed);
    assert_eq!(json(&other, &["import", "all.json"], 0)["added"].as_array().unwrap().len(), 2);
    assert_eq!(json(&other, &["import", "all.json"], 0)["known"], 2);
    let body = |home: &TestHome| json(home, &["show", "二"], 0)["text"].clone();
    assert_eq!(body(&other), body(&home));
    memory(&other, &["undo"]).success();
    assert!(names(&json(&other, &["list"], 0)).is_empty());
}

#[test]
fn import_takes_what_others_export_once() {
    let home = TestHome::new();
    home.write("theirs/MEMORY.md", "- [Tabs](feedback_tabs.md) - tabs\n");
    home.write("theirs/feedback_tabs.md", "---\nname: Tabs\nmetadata:\n  type: feedback\nmodified: 2026-09-01T10:00:00Z\n---\nSee [[DB]].\n");
    home.write("theirs/sub/note.md", "plain");
    home.write("theirs/zero.md", [0, 0]);
    home.write("one.md", "# Alone\n");
    home.write("mem0.json", r#"{"results":[{"memory":"Likes tea","created_at":"2026-01-01T00:00:00-07:00"},{"id":"no text"},{"memory":"Likes tea"}]}"#);
    home.write("graph.json", r#"{"entities":[{"name":"Ann","entityType":"person","observations":["naps"]}],"relations":[{"from":"Ann","to":"Bo","relationType":"knows"}]}"#);
    home.write("graph.jsonl", "{\"type\":\"entity\",\"name\":\"Bo\",\"entityType\":\"person\",\"observations\":[\"naps too\"]}\n{\"type\":\"new\"}\n");
    for (path, added) in
        [("theirs", 2), ("one.md", 1), ("mem0.json", 1), ("graph.json", 1), ("graph.jsonl", 1)]
    {
        let first = json(&home, &["import", path], 0);
        assert_eq!(first["added"].as_array().unwrap().len(), added, "{path}: {first}");
        let again = json(&home, &["import", path], 0);
        assert_eq!((again["added"].as_array().unwrap().len(), &again["change"]), (0, &Value::Null));
    }
    assert_eq!(json(&home, &["import", "theirs"], 0)["skipped"][0], "zero.md: it is binary");
    let tabs = json(&home, &["show", "Tabs"], 0);
    assert_eq!((&tabs["type"], &tabs["age_days"]), (&"feedback".into(), &61.into()));
    assert_eq!(json(&home, &["show", "Ann"], 0)["body"], "- naps\n- knows [[Bo]]\n");
    json(&home, &["doctor"], 0);
    home.write(
        "half.jsonl",
        "{\"type\":\"entity\",\"name\":\"X\",\"observations\":[]}\n{\"type\":",
    );
    home.write("broken.json", "{\"results\": [");
    home.write("other.json", "{\"a\": 1}");
    home.write("latin.json", [0xff, 0xfe]);
    for (path, said) in [
        ("half.jsonl", "line 2 of the export is no valid JSON"),
        ("broken.json", "valid JSON (EOF"),
        ("other.json", "JSON of an unknown format"),
        ("latin.json", "not valid UTF-8"),
    ] {
        let error = json(&home, &["import", path], 1)["error"].to_string();
        assert!(error.contains(said), "{path}: {error}");
    }
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 6);
}

#[test]
fn a_directory_that_can_not_be_written_can_be_read() {
    let mut home = TestHome::new();
    let path = add(&home, "One", &["--type", "user", "--body", "first"]);
    let before = files_below(&home.user_home());
    home.set_env("DORMOUSE_FAULT", "erofs@base.open_write");
    for arguments in [
        &["list"][..],
        &["show", "One"],
        &["search", "first"],
        &["log"],
        &["diff", "1"],
        &["restore"],
        &["inbox"],
        &["doctor"],
        &["lint"],
        &["export"],
    ] {
        let output = memory(&home, arguments);
        let said = output.success().stdout.to_lowercase().contains("one")
            || ["The trash is empty", "No proposals", "No problems"]
                .iter()
                .any(|none| output.stderr.contains(none));
        assert!(said, "{arguments:?}\n{}\n{}", output.stdout, output.stderr);
    }
    for arguments in [
        &["add", "N", "--type", "user", "--description", "d", "--body", "x"][..],
        &["edit", "One", "--body", "x"],
        &["rm", "One"],
        &["undo"],
        &["import", path.to_str().unwrap(), "--scope", "user"],
    ] {
        let output = memory(&home, arguments);
        let said = output.expect_code(1).stderr.clone();
        assert!(said.contains("Read-only file system") && said.contains("hint: "), "{said}");
    }
    assert!(files_below(&home.user_home()) == before);
}

#[test]
fn in_a_pipe_there_is_plain_text_and_who_stops_reading_is_no_error() {
    let home = TestHome::new();
    for number in 0..30 {
        let name = format!("Memory {number}");
        add(&home, &name, &["--type", "user", "--body", &"long ".repeat(50)]);
    }
    for arguments in [&["list"][..], &["log"], &["diff"], &["doctor"], &["search", "long"]] {
        let output = memory(&home, arguments);
        assert!(!output.stdout.contains('\x1b'), "{arguments:?}\n{}", output.stdout);
    }
    let row = memory(&home, &["list"]).stdout.lines().next().unwrap().to_owned();
    assert_eq!(row.split('\t').count(), 6, "{row}");
    let binary = env!("CARGO_BIN_EXE_dormouse");
    for command in ["list", "list --json", "log --limit 99", "export"] {
        let script = format!("{{ {binary} memory {command}; echo $? >&2; }} | head -n 1");
        let output = home.run(home.command("sh").args(["-c", &script]));
        assert_eq!(output.success().stdout.lines().count(), 1, "{command}");
        assert_eq!(output.stderr.lines().last(), Some("0"), "{command}\n{}", output.stderr);
    }
}

#[test]
fn on_a_terminal_tables_fit_and_nothing_is_lost() {
    let home = TestHome::new();
    let description = "a description that is long enough to need some more lines, to its very end";
    memory(
        &home,
        &["add", "长长的名字", "--type", "project", "--description", description, "--body", "x"],
    )
    .success();
    for columns in [80, 40] {
        for command in ["list", "log", "doctor", "path", "inbox"] {
            let mut terminal =
                home.terminal(env!("CARGO_BIN_EXE_dormouse"), &["memory", command], (columns, 24));
            assert_eq!(terminal.wait(), 0);
            terminal.wait_for("some text", |screen| !screen.trim().is_empty());
        }
        let mut terminal =
            home.terminal(env!("CARGO_BIN_EXE_dormouse"), &["memory", "list"], (columns, 24));
        terminal.wait_for("the end", |screen| {
            screen.split_whitespace().collect::<Vec<_>>().join(" ").contains("its very end")
        });
        assert_eq!(terminal.wait(), 0);
        let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
        assert!(bytes.contains("\x1b[36m长长的名字.md\x1b[0m"), "{bytes:?}");
        // A line that is too long would go on in the first column of the next one.
        let folded = terminal
            .screen()
            .lines()
            .skip(1)
            .all(|line| line.is_empty() || line.starts_with("  ") || line.starts_with("长"));
        assert!(folded, "{}", terminal.screen());
    }
}

/// A sentence is enough: name, description and type are made from it and said.
#[test]
fn a_memory_from_one_sentence() {
    let home = TestHome::new();
    let added = memory(&home, &["add", "We deploy from main."]);
    assert!(added.success().stdout.trim().ends_with("we-deploy-from-main.md"), "{}", added.stdout);
    assert!(
        added.stderr.contains("saved for this project as “We deploy from main” (type `project`)"),
        "{}",
        added.stderr
    );
    let shown = json(&home, &["show", "We deploy from main"], 0);
    assert_eq!(
        (&shown["type"], &shown["body"]),
        (&"project".into(), &"We deploy from main.\n".into())
    );
    memory(&home, &["add", "不要用 npm，用 pnpm"]).success();
    assert_eq!(json(&home, &["show", "不要用 npm，用 pnpm"], 0)["type"], "feedback");
    // What somebody prefers holds in every project.
    let preferred = memory(&home, &["add", "我喜欢简短的回答"]);
    assert!(preferred.success().stderr.contains("saved for all projects"), "{}", preferred.stderr);
    assert_eq!(json(&home, &["show", "我喜欢简短的回答"], 0)["type"], "user");
    // Other words for the same commands.
    assert_eq!(memory(&home, &["ls"]).success().stdout.lines().count(), 3);
    memory(&home, &["delete", "we-deploy-from-main.md"]).success();
    home.run(&mut dormouse(&home, &["recall", "which", "package", "manager"])).success();
}

/// Without a terminal there is no use in starting `vi`; an editor that the user names may need none.
#[test]
fn no_vi_without_a_terminal() {
    let mut home = TestHome::new();
    memory(&home, &["add", "We deploy from main."]).success();
    let refused = memory(&home, &["edit", "we-deploy-from-main.md"]);
    assert!(
        refused.expect_code(2).stderr.contains("no terminal for the editor `vi`"),
        "{}",
        refused.stderr
    );
    home.set_env("EDITOR", "sed -i s/main/trunk/");
    memory(&home, &["edit", "we-deploy-from-main.md"]).success();
    let shown = json(&home, &["show", "we-deploy-from-main.md"], 0);
    assert_eq!(shown["body"], "We deploy from trunk.\n");
}

/// Wherever `--json` was given, an error is JSON too: of arguments and of every command.
#[test]
fn errors_are_json_where_json_was_asked_for() {
    let home = TestHome::new();
    for (words, code) in [
        (&["memory", "add", "Bad", "--type", "foo", "--json"][..], 2),
        (&["memory", "list", "--scope", "bad", "--json"], 2),
        (&["memory", "undo", "abc", "--json"], 2),
        (&["config", "get", "nothing", "--json"], 1),
        (&["context", "zzz", "--json"], 2),
        (&["rewind", "zzz", "--json"], 2),
        (&["permissions", "check", "Foo", "ls", "--json"], 2),
    ] {
        let run = home.run(&mut dormouse(&home, words));
        run.expect_code(code);
        let error: Value = serde_json::from_str(&run.stdout).expect(&run.stdout);
        assert!(error["error"].is_string() && error["kind"].is_string(), "{words:?} {error}");
        assert!(run.stderr.contains("error: "), "{words:?} {}", run.stderr);
    }
    let run = home
        .run(&mut dormouse(&home, &["-p", "hi", "--output-format", "json", "--max-cost", "abc"]));
    run.expect_code(2);
    let result: Value = serde_json::from_str(&run.stdout).expect(&run.stdout);
    assert_eq!((&result["is_error"], &result["error_kind"]), (&true.into(), &"usage".into()));
}

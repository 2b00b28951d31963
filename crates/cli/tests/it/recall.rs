//! `dormouse recall`: the memory that a question is about, from the real program.

use dormouse_testkit::{Output, TestHome};
use serde_json::Value;

use crate::program::dormouse;

fn run(home: &TestHome, arguments: &[&str]) -> Output {
    home.run(&mut dormouse(home, arguments))
}

fn add(home: &TestHome, name: &str, body: &str) -> String {
    let arguments =
        ["memory", "add", name, "--type", "project", "--description", "a note", "--body", body];
    run(home, &arguments).success().stdout.trim().to_owned()
}

fn recall(home: &TestHome, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["recall", "--json"];
    all.extend(arguments);
    serde_json::from_str(&run(home, &all).success().stdout).unwrap()
}

#[test]
fn the_program_finds_what_a_question_is_about() {
    let home = TestHome::new();
    assert_eq!(recall(&home, &["which port"]), Vec::<Value>::new());
    add(&home, "Test database", "It listens on port 5433.");
    add(&home, "Release day", "Every second Thursday.");
    add(&home, "数据库迁移", "迁移很慢，先备份。");
    let found = recall(&home, &["which port do the databases of the tests use"]);
    assert_eq!(found[0]["name"], "Test database", "{found:?}");
    assert_eq!(found[0]["sure"], true, "{found:?}");
    for key in ["name", "description", "type", "scope", "file", "path", "age_days", "score"] {
        assert!(found[0].get(key).is_some(), "{key}: {found:?}");
    }
    assert_eq!(recall(&home, &["迁移"])[0]["name"], "数据库迁移");
    assert_eq!(recall(&home, &["port", "--limit", "0"]), Vec::<Value>::new());
    assert_eq!(recall(&home, &["port", "--scope", "user"]), Vec::<Value>::new());
    let why = recall(&home, &["releases", "--explain"]);
    assert_eq!(why[0]["why"][0]["term"], "releas", "{why:?}");
    let explained = run(&home, &["recall", "which port has the test database", "--explain"]);
    let explained = explained.success().stdout.clone();
    assert!(explained.contains("a session adds it to the conversation"), "{explained}");
    assert!(explained.contains("port as `port`"), "{explained}");
}

#[test]
fn the_index_is_a_cache_and_the_files_are_the_truth() {
    let home = TestHome::new();
    let path = add(&home, "Test database", "It listens on port 5433.");
    assert_eq!(recall(&home, &["port"]).len(), 1);
    // An editor's change is found by a look, and ours at once.
    std::fs::write(&path, "---\nname: Test database\n---\nIt sleeps in a harbour.\n").unwrap();
    assert_eq!(recall(&home, &["harbour", "--fresh"]).len(), 1);
    run(&home, &["memory", "rm", "Test database"]).success();
    assert_eq!(recall(&home, &["harbour"]).len(), 0);
    run(&home, &["memory", "undo"]).success();
    assert_eq!(recall(&home, &["harbour"]).len(), 1);
    let cache = home.dormouse_home().join("cache");
    assert!(cache.is_dir());
    std::fs::remove_dir_all(&cache).unwrap();
    assert_eq!(recall(&home, &["harbour"]).len(), 1);
    let base = walk(&cache).into_iter().find(|path| path.ends_with("base")).unwrap();
    std::fs::write(base, b"garbage").unwrap();
    assert_eq!(recall(&home, &["harbour"]).len(), 1);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

/// The index is a cache: whatever becomes of it, and however many write it at once, nothing is lost.
#[test]
fn processes_at_once_and_a_damaged_index_lose_nothing() {
    let home = TestHome::new();
    for at in 0..30 {
        let text = format!(
            "---\nname: Berth {at}\ndescription: where ship{at} lands\n---\nAt quay{at}.\n"
        );
        home.write(home.dormouse_home().join(format!("memory/berth-{at}.md")), text);
    }
    let ask = |at: usize| {
        let mut command =
            dormouse(&home, &["recall", &format!("where does ship{at} land"), "--json"]);
        let mut running = home.spawn(&mut command);
        running.close_stdin();
        running
    };
    let all_answer = |what: &str| {
        let running: Vec<_> = (0..8).map(ask).collect();
        for (at, running) in running.into_iter().enumerate() {
            let output = running.wait();
            let found: Vec<serde_json::Value> =
                serde_json::from_str(&output.success().stdout).unwrap();
            assert_eq!(found[0]["file"], format!("berth-{at}.md"), "{what}");
        }
    };
    all_answer("eight at once, without an index");
    all_answer("eight at once, with one");
    let mut files = crate::memory_cli::files_below(&home.dormouse_home().join("cache"));
    files.retain(|(path, bytes)| path.ends_with("base") && bytes.len() > 100);
    assert_eq!(files.len(), 1, "one index has memories in it");
    let (path, bytes) = &files[0];
    let path = home.dormouse_home().join("cache").join(path);
    for damaged in [&bytes[..bytes.len() / 2], &bytes[..1], b"", &[0; 4096]] {
        std::fs::write(&path, damaged).unwrap();
        all_answer("after damage");
    }
    std::fs::remove_dir_all(home.dormouse_home().join("cache")).unwrap();
    all_answer("after it was deleted");
}

#[test]
fn what_a_session_does_not_search_for_is_said_and_a_search_finds_it() {
    let home = TestHome::new();
    let text = "---\nname: Continue button\ndescription: 继续 is the label of the button to go on\n---\nOf the form.\n";
    home.write(home.dormouse_home().join("memory/button.md"), text);
    for message in ["button", "go on", "继续"] {
        assert_eq!(recall(&home, &[message])[0]["sure"], false, "{message}");
        let explained = run(&home, &["recall", message, "--explain"]).success().stdout.clone();
        assert!(explained.contains("does not search for one word"), "{explained}");
    }
    assert_eq!(recall(&home, &["the label of the button to go on"])[0]["sure"], true);
}

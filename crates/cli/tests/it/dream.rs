//! Dreams by hand: what is merged, corrected and removed, what is shown, and that it can be taken back (B-21 to B-25).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, RecordedRequest, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{BOTH, ask, dormouse, server};

/// A call that saves a memory.
pub(crate) fn save(turn: ScriptedTurn, id: &str, input: &Value) -> ScriptedTurn {
    turn.call(id, "MemorySave", input.to_string())
}

pub(crate) fn delete(turn: ScriptedTurn, id: &str, name: &str, reason: &str) -> ScriptedTurn {
    turn.call(id, "MemoryDelete", json!({"name": name, "reason": reason}).to_string())
}

pub(crate) fn memory(name: &str, content: &str) -> Value {
    json!({"name": name, "description": format!("about {name}"), "type": "project", "content": content})
}

/// The same with more.
pub(crate) fn with(mut input: Value, key: &str, value: impl Into<Value>) -> Value {
    input.as_object_mut().unwrap().insert(key.to_owned(), value.into());
    input
}

/// A home in which the model has saved these memories for the project, and a rule of the user's for everything.
pub(crate) fn home(server: &ScriptedServer, names: &[&str]) -> TestHome {
    // Another server: a dream by hand is no fork of that session.
    let before = crate::program::server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&before);
    let mut turn = ScriptedTurn::new();
    for name in names {
        turn = save(turn, name, &memory(name, &format!("The fact about {name}.")));
    }
    let rule = json!({"name": "tabs", "description": "indents with tabs", "type": "feedback", "content": "Use tabs."});
    before.push(save(turn, "rule", &rule));
    before.push(ScriptedTurn::new().text("saved"));
    home.run(&mut ask(&home, &["remember all of this, and that I want tabs"])).success();
    before.finish();
    home.use_server(server);
    home
}

/// Sessions that somebody else had.
pub(crate) fn sessions(home: &TestHome, count: usize) {
    let folder = project_folder(home);
    for number in 0..count {
        let name = format!("0193b0a4-0000-7000-8000-{number:012}.jsonl");
        home.write(folder.join(name), "");
    }
}

pub(crate) fn project_folder(home: &TestHome) -> PathBuf {
    let mut folders = home.dormouse_home().join("projects").read_dir().unwrap();
    folders.next().unwrap().unwrap().path()
}

pub(crate) fn project_memory(home: &TestHome) -> PathBuf {
    project_folder(home).join("memory")
}

pub(crate) fn user_memory(home: &TestHome) -> PathBuf {
    home.dormouse_home().join("memory")
}

pub(crate) fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every file of both memories, with its time.
pub(crate) fn memories(home: &TestHome) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut files = BTreeMap::new();
    for folder in [project_memory(home), user_memory(home)] {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let modified = entry.metadata().unwrap().modified().unwrap();
            files.insert(entry.path(), (std::fs::read(entry.path()).unwrap(), modified));
        }
    }
    files
}

/// The same without the times: those of the index are the clock's.
pub(crate) fn bytes(home: &TestHome) -> BTreeMap<PathBuf, Vec<u8>> {
    memories(home).into_iter().map(|(path, (bytes, _))| (path, bytes)).collect()
}

/// The time of the lock of a memory; none if there is no lock file.
pub(crate) fn lock_time(home: &TestHome, of: &str) -> Option<SystemTime> {
    let states = home.dormouse_home().join("state").read_dir().unwrap();
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.contains("-projects-") == (of == "project")
    };
    let state = states.map(|entry| entry.unwrap().path()).find(is_it)?;
    Some(std::fs::metadata(state.join("consolidate.lock")).ok()?.modified().unwrap())
}

/// When programs under test think it is.
pub(crate) fn test_now() -> SystemTime {
    "2026-11-02T09:00:00Z".parse::<jiff::Timestamp>().unwrap().into()
}

pub(crate) fn run(home: &TestHome, arguments: &[&str]) -> Output {
    home.run(&mut dormouse(home, &[&["dream"], arguments].concat()))
}

/// What the fork was told about its calls.
pub(crate) fn told(request: &RecordedRequest) -> String {
    request.last_message().to_string()
}

/// A dream that merges, corrects and removes, and then is done.
pub(crate) fn good_dream(server: &ScriptedServer) {
    let merged = with(memory("a", "The fact about a, and that about b."), "file", "a.md");
    let turn = save(ScriptedTurn::new(), "1", &with(merged, "supersedes", json!(["b.md"])));
    let turn = save(turn, "2", &with(memory("c", "The better fact about c."), "file", "c.md"));
    let turn = delete(turn, "3", "d.md", "the code says otherwise");
    let rule = json!({"name": "tabs", "description": "indents with tabs", "type": "feedback", "content": "Use tabs, always.", "file": "tabs.md"});
    server.push_fork(save(turn, "4", &rule));
    server.push_fork(ScriptedTurn::new().text("merged b into a"));
}

#[test]
fn what_many_sessions_learned_is_merged_and_undone_as_one() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = home(&server, &["a", "b", "c", "d", "e"]);
        sessions(&home, 5);
        let before = memories(&home);
        good_dream(&server);
        let output = run(&home, &[]);
        let text = &output.success().stdout;
        assert!(text.ends_with("Improved 4 memories\n"), "{text}\n{}", output.stderr);
        for line in [
            "project memory: merged b.md into a.md",
            "project memory: corrected c.md",
            "project memory: removed d.md (the code says otherwise)",
            "project memory: 1 memory unchanged",
            "user memory: corrected tabs.md",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let folder = project_memory(&home);
        assert!(read(&folder, "a.md").contains("The fact about a, and that about b."));
        assert!(read(&user_memory(&home), "tabs.md").contains("always"));
        assert!(!folder.join("b.md").exists() && !folder.join("d.md").exists());
        let index = read(&folder, "MEMORY.md");
        assert!(
            index.contains("a.md") && !index.contains("b.md") && !index.contains("d.md"),
            "{index}"
        );
        // The user said so in a message, and that is still known.
        assert!(read(&user_memory(&home), "tabs.md").contains("trust: typed"));
        assert!(read(&folder, "a.md").contains("source:"));

        let fork = &server.fork_requests()[0];
        let prompt = fork.text();
        for part in [
            "Orient",
            "Gather",
            "Consolidate",
            "Prune",
            "[project/project] a.md (today)",
            "[feedback/user] tabs.md",
            "0193b0a4-0000-7000-8000-000000000004.jsonl",
            "Today is 2026-11-02",
        ] {
            assert!(prompt.contains(part), "{part}");
        }
        // Nothing of it is a session of anybody's.
        assert_eq!(home.transcripts().len(), 6);

        let undone = home.run(&mut dormouse(&home, &["memory", "undo"]));
        assert_eq!(undone.success().stdout.matches("undid change").count(), 2, "{}", undone.stdout);
        let after = memories(&home);
        assert_eq!(bytes(&home), before.iter().map(|(p, (b, _))| (p.clone(), b.clone())).collect());
        for (path, (_, modified)) in before.iter().filter(|(path, _)| !path.ends_with("MEMORY.md"))
        {
            assert_eq!(after[path].1, *modified, "{}", path.display());
        }
        server.finish();
    }
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, &["a", "b", "c", "d", "e"]);
    let before = memories(&home);
    good_dream(&server);
    let output = run(&home, &["--now", "--dry-run"]);
    let text = &output.success().stdout;
    for line in [
        "--- a/a.md",
        "+The fact about a, and that about b.",
        "+++ /dev/null",
        "-The fact about b.",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.ends_with("Would improve 4 memories\n"), "{text}");
    assert_eq!(memories(&home), before);
    assert_eq!(lock_time(&home, "project"), Some(SystemTime::UNIX_EPOCH), "nothing was dreamt");
    let log = run(&home, &["log"]);
    assert_eq!((log.success().stdout.as_str(), log.stderr.trim()), ("", "No dreams yet."));
    good_dream(&server);
    let output = run(&home, &["--now", "--dry-run", "--json"]);
    let told: Value = serde_json::from_str(&output.success().stdout).unwrap();
    assert_eq!((&told["status"], &told["improved"]), (&json!("previewed"), &json!(4)));
    assert_eq!(told["diff"].as_array().unwrap().len(), 5);
    assert_eq!(memories(&home), before);
}

/// Each gate that says when, in the words of the program; none of them asks the model.
#[test]
fn a_dream_that_is_not_due_says_why_and_when_it_will_be() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = home(&server, &["a", "b"]);
    let few = run(&home, &[]);
    assert!(
        few.success()
            .stdout
            .contains("1 other sessions were active since the last dream; 5 are needed"),
        "{}",
        few.stdout
    );
    assert!(few.stderr.contains("--now"), "{}", few.stderr);
    sessions(&home, 4);
    server.push_fork(ScriptedTurn::new().text("nothing to do"));
    let done = run(&home, &[]);
    assert!(done.success().stdout.ends_with("Improved 0 memories\n"), "{}", done.stdout);
    assert_eq!(lock_time(&home, "project"), Some(test_now()));
    assert_eq!(lock_time(&home, "user"), Some(test_now()));
    home.set_env("DORMOUSE_TEST_NOW", "2026-11-03T08:59:59Z");
    // The sessions are not even looked at.
    home.set_env("DORMOUSE_FAULT", "abort@dream.scan_sessions");
    let soon = run(&home, &["--json"]);
    let told: Value = serde_json::from_str(&soon.success().stdout).unwrap();
    assert_eq!(told["gate"], "too-soon");
    assert_eq!(told["opens"], "2026-11-03T09:00:00Z");
    home.set_env("DORMOUSE_TEST_NOW", "2026-11-03T09:00:00Z");
    assert_ne!(home.run(&mut dormouse(&home, &["dream"])).code, Some(0), "now they are");
    home.unset_env("DORMOUSE_FAULT");
    server.push_fork(ScriptedTurn::new().text("nothing to do"));
    assert!(run(&home, &[]).success().stdout.ends_with("Improved 0 memories\n"));
    // At once, whatever the gates say.
    server.push_fork(ScriptedTurn::new().text("nothing to do"));
    assert!(run(&home, &["--now"]).success().stdout.ends_with("Improved 0 memories\n"));
    let log: Value =
        serde_json::from_str(&run(&home, &["log", "--json"]).success().stdout).unwrap();
    assert_eq!(log.as_array().unwrap().len(), 3);
    home.set_env("DORMOUSE_MEMORY", "0");
    assert!(run(&home, &["--now"]).expect_code(2).stderr.contains("memory is switched off"));
    server.finish();
}

/// Without a model there is one answer, for people and for programs.
#[test]
fn a_dream_without_a_model() {
    let home = TestHome::new();
    let output = home.run(&mut crate::program::dormouse(&home, &["dream", "--now", "--json"]));
    output.expect_code(2);
    let told: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(told["error"], "no model is set up", "{told}");
    assert!(!output.stderr.contains("the session is saved"), "{}", output.stderr);
}

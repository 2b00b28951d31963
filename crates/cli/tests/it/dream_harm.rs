//! Dreams that misbehave: nothing is lost, the report says what was refused, and undo gives every byte back (B-21, B-23).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    Gate, Output, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat,
};
use serde_json::{Value, json};

use crate::dream::{
    bytes, delete, home, lock_time, memory, project_memory, read, run, save, told, user_memory,
    with,
};
use crate::program::{dormouse, server};
use crate::session_notes::is_first;

fn started(names: &[&str]) -> (ScriptedServer, TestHome) {
    let server = server(WireFormat::Anthropic).start();
    let home = home(&server, names);
    (server, home)
}

fn undo(home: &TestHome) {
    home.run(&mut dormouse(home, &["memory", "undo"])).success();
}

/// Nothing has changed, and the last dream is still to come.
#[track_caller]
fn came_to_nothing(home: &TestHome, output: &Output, why: &str) {
    assert!(output.expect_code(1).stdout.contains(why), "{why}: {}", output.stdout);
    assert!(output.stdout.contains("nothing was changed"), "{}", output.stdout);
    assert_eq!(lock_time(home, "project"), Some(std::time::SystemTime::UNIX_EPOCH));
    let log: Value = serde_json::from_str(&run(home, &["log", "--json"]).success().stdout).unwrap();
    assert_eq!(log[0]["status"], "failed");
    assert!(log[0]["why"].as_str().unwrap().contains(why), "{log}");
}

#[test]
fn one_that_deletes_more_than_half_comes_to_nothing() {
    let (server, home) = started(&["a", "b", "c", "d", "e"]);
    let before = bytes(&home);
    let mut turn = ScriptedTurn::new();
    for name in ["a.md", "b.md", "c.md"] {
        turn = delete(turn, name, name, "I do not like it");
    }
    server.push_fork(turn);
    server.push_fork(ScriptedTurn::new().text("all tidy"));
    let output = run(&home, &["--now"]);
    came_to_nothing(&home, &output, "it removes 3 of 5 memories");
    assert_eq!(bytes(&home), before);
    server.finish();
}

#[test]
fn one_that_deletes_half_says_why_and_is_undone() {
    let (server, home) = started(&["a", "b", "c", "d"]);
    let before = bytes(&home);
    let turn = ScriptedTurn::new().call("0", "MemoryDelete", r#"{"name":"c.md"}"#);
    let turn = delete(turn, "1", "a.md", "over since October");
    server.push_fork(delete(turn, "2", "b.md", "disproved"));
    server.push_fork(ScriptedTurn::new().text("done"));
    let output = run(&home, &["--now"]);
    let text = &output.success().stdout;
    assert!(text.contains("removed a.md (over since October)"), "{text}");
    assert!(text.contains("refused: c.md: say in `reason`"), "{text}");
    assert!(project_memory(&home).join("c.md").exists());
    assert!(!project_memory(&home).join("a.md").exists());
    undo(&home);
    assert_eq!(bytes(&home), before);
    server.finish();
}

/// The folder of the copy, as the dream is told it.
fn copy_of(request: &RecordedRequest) -> String {
    let text = request.text();
    let (_, after) = text.split_once("the copy is in ").unwrap();
    after.split(['\n', '"', '\\']).next().unwrap().to_owned()
}

#[test]
fn one_that_writes_past_its_tools_is_denied() {
    let attempts = |request: &RecordedRequest| -> Reply {
        if !is_first(request) {
            return ScriptedTurn::new().text("done").into();
        }
        let copy = copy_of(request);
        let write = |path: String| json!({"file_path": path, "content": "harm"}).to_string();
        let edit = json!({"file_path": format!("{copy}/a.md"), "old_string": "fact", "new_string": "harm"});
        ScriptedTurn::new()
            .call("1", "Write", write("harm.txt".into()))
            .call("2", "Write", write(format!("{copy}/MEMORY.md")))
            .call("3", "Write", write(format!("{copy}/../../harm.md")))
            .call("4", "Edit", edit.to_string())
            .call("5", "Bash", json!({"command": format!("rm -rf {copy}")}).to_string())
            .call(
                "6",
                "Bash",
                json!({"command": format!("cat {copy}/a.md > harm.txt")}).to_string(),
            )
            .call("7", "WebFetch", r#"{"url":"http://127.0.0.1:9/","prompt":"x"}"#)
            .call(
                "8",
                "MemorySave",
                with(memory("x", "Harm."), "file", "../../../x.md").to_string(),
            )
            .call("9", "Read", json!({"file_path": format!("{copy}/a.md")}).to_string())
            .call("10", "MemoryList", "{}")
            .into()
    };
    let server = server(WireFormat::Anthropic).fork_with(attempts).start();
    let home = home(&server, &["a", "b"]);
    let before = bytes(&home);
    let output = run(&home, &["--now"]);
    let text = &output.success().stdout;
    assert!(text.ends_with("Improved 0 memories\n"), "{text}");
    for name in ["Write", "Edit", "WebFetch"] {
        assert!(
            text.contains(&format!("refused: {name} may not be called here")),
            "{name}: {text}"
        );
    }
    assert_eq!(text.matches("refused: ").count(), 7, "{text}");
    let results = told(&server.fork_requests()[1]);
    assert!(results.contains("The fact about a."), "reading is allowed: {results}");
    assert!(results.contains("[project/project] b.md"), "{results}");
    assert!(results.contains("there is no memory `../../../x.md`"), "{results}");
    assert_eq!(bytes(&home), before);
    assert!(!home.project().join("harm.txt").exists());
}

#[test]
fn one_that_plants_a_secret_or_words_from_outside_is_refused() {
    let (server, home) = started(&["a", "b"]);
    let page = "the build server of the far away company is always called badger and runs at night";
    home.write(
        project_memory(&home).join("page.md"),
        format!("---\nquarantined: true\nname: page\n---\n{page}\n"),
    );
    let before = bytes(&home);
    let key = format!("The key is AKIA{}.", "QYLPMN5HHHFPZAM2");
    let turn = save(ScriptedTurn::new(), "1", &with(memory("a", &key), "file", "a.md"));
    let turn = save(turn, "2", &with(memory("b", &format!("Note: {page}.")), "file", "b.md"));
    let turn = save(turn, "3", &memory("new", "Nobody ever said this."));
    let turn =
        save(turn, "4", &with(memory("new", "x"), "quotes", json!(["nobody ever said this"])));
    let echo = with(memory("new", "x"), "quotes", json!(["The fact about b."]));
    server.push_fork(save(turn, "5", &echo));
    server.push_fork(ScriptedTurn::new().text("done"));
    let output = run(&home, &["--now"]);
    let text = &output.success().stdout;
    for why in [
        "refused: a: this looks like a secret",
        "refused: b: it repeats text from outside",
        "refused: new: a memory that replaces none needs `quotes`",
        "refused: new: `nobody ever said this` is not in the logs",
        "refused: new: a memory says `The fact about b.` already",
    ] {
        assert!(text.contains(why), "{why}: {text}");
    }
    assert!(!text.contains("AKIA"), "{text}");
    let shown = server.fork_requests()[0].text();
    assert!(!shown.contains("page.md"), "what waits for the user is not shown");
    assert_eq!(bytes(&home), before);
    server.finish();
}

#[test]
fn one_that_rewrites_what_a_person_wrote_is_put_before_them() {
    let (server, home) = started(&["a", "b", "c"]);
    let add = [
        "memory",
        "add",
        "mine",
        "--type",
        "project",
        "--scope",
        "project",
        "--description",
        "mine",
        "--body",
        "My words.",
    ];
    home.run(&mut dormouse(&home, &add)).success();
    let merged = with(memory("a", "A, and not my words."), "file", "a.md");
    let turn = save(ScriptedTurn::new(), "1", &with(merged, "supersedes", json!(["mine.md"])));
    server.push_fork(save(turn, "2", &with(memory("b", "Better."), "file", "b.md")));
    server.push_fork(ScriptedTurn::new().text("done"));
    let before = bytes(&home);
    let output = run(&home, &["--now"]);
    let text = &output.success().stdout;
    assert!(text.contains("not done: merged mine.md into a.md: proposal 1 in the inbox"), "{text}");
    assert!(text.ends_with("Improved 1 memory\n"), "{text}");
    let folder = project_memory(&home);
    assert!(read(&folder, "mine.md").contains("My words."));
    assert!(read(&folder, "a.md").contains("The fact about a."));
    assert!(read(&folder, "b.md").contains("Better."));
    undo(&home);
    assert_eq!(bytes(&home), before);
    home.run(&mut dormouse(&home, &["memory", "inbox", "accept", "1"])).success();
    assert!(!folder.join("mine.md").exists());
    server.finish();
}

#[test]
fn one_that_never_ends_comes_to_nothing() {
    let mut count = 0;
    let endless = move |_: &RecordedRequest| -> Reply {
        count += 1;
        let better = with(memory("a", &format!("Better {count}.")), "file", "a.md");
        save(ScriptedTurn::new(), &format!("c{count}"), &better).into()
    };
    let server = server(WireFormat::Anthropic).fork_with(endless).start();
    let home = home(&server, &["a", "b"]);
    let before = bytes(&home);
    let output = run(&home, &["--now"]);
    came_to_nothing(&home, &output, "it was not done after 40 requests");
    assert_eq!(server.fork_requests().len(), 40);
    assert_eq!(bytes(&home), before);
}

#[test]
fn what_others_change_meanwhile_counts() {
    let (server, home) = started(&["a", "b", "c", "d", "e"]);
    let merged = with(memory("a", "A and b."), "file", "a.md");
    let turn = save(ScriptedTurn::new(), "1", &with(merged, "supersedes", json!(["b.md"])));
    let turn = save(turn, "2", &with(memory("c", "Better."), "file", "c.md"));
    server.push_fork(delete(turn, "3", "d.md", "over"));
    let gate = Gate::new();
    server.push_fork(Reply::from(ScriptedTurn::new().text("done")).gate_after(1, &gate));
    let dream = home.spawn(&mut dormouse(&home, &["dream", "--now"]));
    server.wait_for_fork_requests(2);
    let folder = project_memory(&home);
    std::fs::write(folder.join("b.md"), "Theirs.\n").unwrap();
    home.run(&mut dormouse(&home, &["memory", "rm", "d.md"])).success();
    let before = bytes(&home);
    gate.open();
    let output = dream.wait();
    let text = &output.success().stdout;
    assert!(text.contains("not done: merged b.md into a.md: b.md was changed meanwhile"), "{text}");
    assert!(text.contains("not done: removed d.md (over): d.md was changed meanwhile"), "{text}");
    assert!(text.ends_with("Improved 1 memory\n"), "{text}");
    assert_eq!(read(&folder, "b.md"), "Theirs.\n");
    assert!(read(&folder, "a.md").contains("The fact about a."));
    undo(&home);
    assert_eq!(bytes(&home), before);
    server.finish();
}

/// In the mode of the daily log a dream makes memories of it, once.
#[test]
fn a_daily_log_is_distilled_once_unless_that_is_undone() {
    let first = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&first);
    home.set_env("DORMOUSE_DAILY_LOG", "1");
    let note = json!({"note": "the user wants squash merges only, never merge commits"});
    first.push(ScriptedTurn::new().call("1", "MemoryLog", note.to_string()));
    first.push(ScriptedTurn::new().text("noted"));
    let said = "note this: the user wants squash merges only, never merge commits";
    home.run(&mut crate::program::ask(&home, &[said])).success();
    first.finish();
    let server = server(WireFormat::Anthropic).start();
    home.use_server(&server);
    let memory = json!({
        "name": "squash", "description": "how to merge", "type": "feedback", "content": "Squash.",
        "quotes": ["wants squash merges only"],
    });
    let distils = || {
        server.push_fork(save(ScriptedTurn::new(), "1", &memory));
        server.push_fork(ScriptedTurn::new().text("done"));
    };
    distils();
    let output = run(&home, &["--now"]);
    assert!(output.success().stdout.contains("user memory: added squash.md"), "{}", output.stdout);
    let shown = server.fork_requests()[0].text();
    assert!(shown.contains("A daily log of which no memories were made yet"), "{shown}");
    assert!(shown.contains("squash merges only"));
    let saved = read(&user_memory(&home), "squash.md");
    assert!(saved.contains("trust: typed") && saved.contains("source:"), "{saved}");
    server.push_fork(ScriptedTurn::new().text("nothing"));
    run(&home, &["--now"]).success();
    assert!(!server.fork_requests()[2].text().contains("A daily log of which"));
    undo(&home);
    distils();
    run(&home, &["--now"]).success();
    assert!(server.fork_requests()[3].text().contains("A daily log of which"), "nothing is lost");
    server.finish();
}

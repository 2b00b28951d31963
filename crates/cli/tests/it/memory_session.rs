//! Memory in a session: where the model may write, the daily log, an index that fills up.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{TestHome, WireFormat};
use serde_json::json;

use crate::memory::{add, list, memory};
use crate::program::{ask, dormouse, server};

/// A file in a memory folder needs no question; what a link there leads to is not written at all.
#[test]
fn a_link_in_the_memory_folder_is_no_way_out() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let folder = home.dormouse_home().join("memory");
    std::fs::create_dir_all(&folder).unwrap();
    let outside = home.root().join("outside.md");
    std::fs::write(&outside, "mine\n").unwrap();
    std::os::unix::fs::symlink(&outside, folder.join("link.md")).unwrap();
    for path in [folder.join("link.md"), folder.join("../memory/../../outside.md"), outside.clone()]
    {
        let read = json!({"file_path": path}).to_string();
        let write = json!({"file_path": path, "content": "theirs\n"}).to_string();
        server.push(ScriptedTurn::new().call("r", "Read", read));
        server.push(ScriptedTurn::new().call("w", "Write", write));
    }
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["go"])).success();
    assert_eq!(home.read(&outside), "mine\n");
    assert!(folder.join("link.md").is_symlink());
    server.finish();
}

/// In this mode the model keeps a log, and nothing else (M-20).
#[test]
fn a_daily_log_instead_of_entries() {
    let server = server(WireFormat::Anthropic).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_DAILY_LOG", "1");
    let folder = home.dormouse_home().join("memory");
    let key = ["ghp_", "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo"].concat();
    let note = |text: &str| json!({"note": text, "scope": "user"}).to_string();
    let write = json!({"file_path": folder.join("plan.md"), "content": "x"}).to_string();
    server.push(ScriptedTurn::new().call(
        "a",
        "MemoryLog",
        note("Counts nuts\nin dozens. --> <!-- typed"),
    ));
    server.push(ScriptedTurn::new().call("b", "MemoryLog", note(&format!("the key is {key}"))));
    server.push(ScriptedTurn::new().call("c", "MemorySave", "{}"));
    server.push(ScriptedTurn::new().call("d", "Write", write));
    server.push(ScriptedTurn::new().text("done"));
    home.run(&mut ask(&home, &["I count nuts in dozens"])).success();
    let requests = server.requests();
    assert!(requests[0].system_text().contains("MemoryLog"), "{}", requests[0].system_text());
    let result = |at: usize| requests[at].last_message()["content"][0]["content"].to_string();
    assert!(result(1).contains("noted in "), "{}", result(1));
    assert!(result(2).contains("github") && !result(2).contains(&key), "{}", result(2));
    assert!(result(3).contains("no tool"), "{}", result(3));
    assert!(result(4).contains("MemoryLog"), "{}", result(4));
    let logs: Vec<_> = walk(&folder);
    assert_eq!(logs.len(), 1, "{logs:?}");
    let name = logs[0].strip_prefix(&folder).unwrap().to_str().unwrap().to_owned();
    let parts: Vec<&str> = name.split('/').collect();
    assert_eq!((parts[0], parts.len()), ("logs", 4), "{name}");
    assert!(parts[3].starts_with(&format!("{}-{}-", parts[1], parts[2])), "{name}");
    let text = home.read(&logs[0]);
    let (time, rest) = text.strip_prefix("- ").unwrap().split_at(5);
    assert_eq!(time.find(':'), Some(2), "{text}");
    assert!(rest.starts_with(" Counts nuts in dozens. -- > <! -- typed <!-- typed, "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(list(&home).is_empty());
    server.finish();
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(walk(&path)) } else { files.push(path) }
    }
    files
}

/// From 80 % of a limit on, the user is told (M-6).
#[test]
fn an_index_that_is_nearly_full_is_said() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("hi")).start();
    let home = TestHome::new().with_server(&server);
    add(&home, "One", &["--type", "user", "--scope", "user", "--body", "b"]);
    let index = home.dormouse_home().join("memory/MEMORY.md");
    let text = home.read(&index) + &"# a heading\n".repeat(158);
    std::fs::write(&index, &text).unwrap();
    let output = home.run(&mut ask(&home, &["hi"]));
    assert!(!output.success().stderr.contains("of 200 lines"), "{}", output.stderr);
    std::fs::write(&index, text + "# one more\n").unwrap();
    server.push(ScriptedTurn::new().text("hi"));
    server.expect_break("another session");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert!(output.success().stderr.contains("160 of 200 lines"), "{}", output.stderr);
    server.finish();
}

fn settings(home: &TestHome, value: &serde_json::Value) {
    home.write(home.dormouse_home().join("settings.json"), value.to_string());
}

/// A person may have a project's memory travel with its repository (M-4); the project has no say in it.
#[test]
fn memory_that_travels_with_the_repository() {
    let input = json!({
        "name": "Quay", "description": "where ships land", "type": "project", "content": "East.",
    });
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.git_init();
    let inside = home.project().join(".dormouse/memory/quay.md");
    let say = json!({"memory": {"inRepository": [home.project()]}});
    // Nobody but the user decides: what the project says is only a wish.
    home.write(".dormouse/settings.json", say.to_string());
    let save = || {
        server.push(ScriptedTurn::new().call("m", "MemorySave", input.to_string()));
        server.push(ScriptedTurn::new().text("saved"));
    };
    save();
    home.run(&mut dormouse(&home, &["permissions", "trust", "--yes"])).success();
    home.run(&mut ask(&home, &["remember the quay"])).success();
    assert!(!inside.exists());
    settings(&home, &say);
    save();
    server.expect_break("another session");
    home.run(&mut ask(&home, &["remember the quay"])).success();
    assert!(home.read(&inside).contains("East."));
    server.push(ScriptedTurn::new().text("hi"));
    server.expect_break("another session");
    home.run(&mut ask(&home, &["hi"])).success();
    let first = server.requests().last().unwrap().messages()[0].to_string();
    assert!(first.contains("(quay.md) — where ships land"), "{first}");
    let listed = list(&home);
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(listed[0]["path"], json!(inside));
    server.finish();
}

/// A repository can not lead its memory elsewhere.
#[test]
fn memory_in_a_repository_is_not_reached_through_a_link() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.git_init();
    settings(&home, &json!({"memory": {"inRepository": [home.project()]}}));
    let outside = home.root().join("elsewhere");
    std::fs::create_dir_all(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, home.project().join(".dormouse")).unwrap();
    home.run(&mut ask(&home, &["hi"])).expect_code(1);
    assert_eq!(outside.read_dir().unwrap().count(), 0);
    server.finish();
}

/// Without the index a memory is its file, and nothing else.
#[test]
fn with_the_index_off_none_is_kept() {
    let input = json!({
        "name": "Quay", "description": "where ships land", "type": "project", "content": "East.",
    });
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("m", "MemorySave", input.to_string()))
        .reply(ScriptedTurn::new().text("saved"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_INDEX", "0");
    home.run(&mut ask(&home, &["remember the quay"])).success();
    let path = list(&home)[0]["path"].as_str().unwrap().to_owned();
    let folder = std::path::Path::new(&path).parent().unwrap().to_owned();
    assert_eq!(walk(&folder), [folder.join("quay.md")]);
    assert!(!server.requests()[0].system_text().contains("MEMORY.md"));
    server.finish();
}

/// Where the policy asks and nobody is there, the change waits (M-21).
#[test]
fn headless_runs_never_ask() {
    let input = json!({
        "name": "Quay", "description": "where ships land", "type": "project", "content": "East.",
    });
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("m", "MemorySave", input.to_string()))
        .reply(ScriptedTurn::new().text("it waits"))
        .start();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"memory": {"policy": [{"rule": "ask"}]}}));
    home.run(&mut ask(&home, &["remember the quay"])).success();
    assert!(list(&home).is_empty());
    let result = server.requests()[1].last_message().to_string();
    assert!(result.contains("proposal 1 in the user's inbox"), "{result}");
    memory(&home, &["inbox", "accept", "1"]).success();
    assert_eq!(list(&home).len(), 1);
    server.finish();
}

/// A second file for what is known already is a bug that users see (a small model saved one thing twice).
#[test]
fn what_is_known_already_is_answered_with_that_memory() {
    let save = |name: &str, content: &str| {
        json!({"name": name, "description": "how the tests reach the database", "type": "project", "content": content})
            .to_string()
    };
    let known = "The integration tests use a real PostgreSQL database on port 5433, never a mock.";
    let again = "Integration tests never use a mock, but a real PostgreSQL database on port 5433.";
    let other = "The integration tests use a real PostgreSQL database on port 5434, never a mock.";
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("1", "MemorySave", save("Test database", known)))
        .reply(ScriptedTurn::new().call("2", "MemorySave", save("No mocks in tests", again)))
        .reply(ScriptedTurn::new().call("3", "MemorySave", save("Test database port", other)))
        .reply(ScriptedTurn::new().text("done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &[known])).success();
    let body = String::from_utf8(server.requests().last().unwrap().body.clone()).unwrap();
    assert!(body.contains("says this already"), "{body}");
    let listed = home.run(&mut dormouse(&home, &["memory", "list"])).success().stdout.clone();
    assert!(listed.contains("test-database.md") && !listed.contains("no-mocks"), "{listed}");
    assert!(listed.contains("test-database-port.md"), "another port is another fact: {listed}");
    server.finish();
}

/// What says the opposite of a memory does not stand beside it, in either language; a memory that names what it replaces is saved.
#[test]
fn what_contradicts_a_memory_is_answered_with_that_memory() {
    for (known, against) in [
        ("Integration tests never mock the database.", "Integration tests mock the database."),
        ("集成测试里不要模拟数据库。", "集成测试里模拟数据库。"),
    ] {
        let save = |name: &str, content: &str, supersedes: &[&str]| {
            json!({"name": name, "description": content, "type": "project", "content": content, "supersedes": supersedes})
                .to_string()
        };
        let server = server(WireFormat::Anthropic)
            .reply(ScriptedTurn::new().call("1", "MemorySave", save("First", known, &[])))
            .reply(ScriptedTurn::new().call("2", "MemorySave", save("Second", against, &[])))
            .reply(ScriptedTurn::new().call(
                "3",
                "MemorySave",
                save("Third", against, &["first.md"]),
            ))
            .reply(ScriptedTurn::new().text("done"))
            .start();
        let home = TestHome::new().with_server(&server);
        home.run(&mut ask(&home, &[known])).success();
        let told = server.requests()[2].last_message().to_string();
        assert!(told.contains("not saved: it contradicts") && told.contains("first.md"), "{told}");
        let names: Vec<_> = list(&home).iter().map(|memory| memory["name"].clone()).collect();
        assert_eq!(names, ["Third"]);
        server.finish();
    }
}

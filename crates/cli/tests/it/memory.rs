//! Memory, on the command line and in a session: what is saved in one is known in the next.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server};

pub(crate) fn memory(home: &TestHome, arguments: &[&str]) -> Output {
    let mut command = dormouse(home, &["memory"]);
    home.run(command.args(arguments))
}

pub(crate) fn list(home: &TestHome) -> Vec<Value> {
    let output = memory(home, &["list", "--json"]);
    serde_json::from_str(&output.success().stdout).unwrap()
}

pub(crate) fn add(home: &TestHome, name: &str, more: &[&str]) -> String {
    let mut arguments = vec!["add", name, "--description", "what it is about"];
    arguments.extend(more);
    memory(home, &arguments).success().stdout.trim().to_owned()
}

#[test]
fn a_person_keeps_memories_without_any_model() {
    let home = TestHome::new();
    let path = add(&home, "数据库迁移", &["--type", "project", "--body", "迁移很慢"]);
    assert!(std::path::Path::new(&path).exists(), "{path}");
    add(&home, "🐭🐭", &["--type", "user", "--scope", "user", "--body", "likes mice"]);
    add(&home, "Same name", &["--type", "project", "--body", "one"]);
    add(&home, "Same name", &["--new", "--type", "project", "--body", "two"]);
    let all = list(&home);
    assert_eq!(all.len(), 4, "{all:?}");
    for entry in &all {
        for key in ["name", "description", "type", "scope", "file", "path", "age_days"] {
            assert!(entry.get(key).is_some(), "{key}: {entry}");
        }
    }
    let found = memory(&home, &["search", "迁移", "--json"]);
    let found: Vec<Value> = serde_json::from_str(&found.success().stdout).unwrap();
    assert_eq!(found[0]["name"], "数据库迁移");
    let twice = memory(&home, &["show", "Same name"]);
    twice.expect_code(2);
    memory(&home, &["rm", "数据库迁移"]).success();
    assert_eq!(list(&home).len(), 3);
    memory(&home, &["undo"]).success();
    assert_eq!(list(&home).len(), 4);
    memory(&home, &["doctor"]).success();
    for command in ["log", "path", "inbox"] {
        memory(&home, &[command]).success();
    }
}

#[test]
fn what_one_session_saves_the_next_one_knows() {
    let input = json!({
        "name": "Tabs", "description": "indents with tabs", "type": "feedback",
        "content": "Use tabs.\n\n**Why:** their editor.\n\n**How to apply:** everywhere.",
    });
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("m", "MemorySave", input.to_string()))
        .reply(ScriptedTurn::new().text("saved"))
        .reply(ScriptedTurn::new().call("s", "MemorySearch", r#"{"query":"tabs"}"#).call(
            "l",
            "MemoryList",
            "{}",
        ))
        .reply(ScriptedTurn::new().text("known"))
        .start();
    let home = TestHome::new().with_server(&server);
    let first = home.run(&mut ask(&home, &["remember that I use tabs"]));
    assert!(
        first.success().stderr.contains("memory: saved tabs.md (user memory)"),
        "{}",
        first.stderr
    );
    let system = server.requests()[0].system_text();
    assert!(system.contains("Four kinds of memory"), "{system}");
    let entry = &list(&home)[0];
    assert_eq!(
        (&entry["name"], &entry["scope"], &entry["type"]),
        (&json!("Tabs"), &json!("user"), &json!("feedback"))
    );
    let folder = home.dormouse_home().join("memory");
    assert!(home.read(folder.join("MEMORY.md")).contains("(tabs.md)"));

    server.expect_break("another session");
    home.run(&mut ask(&home, &["hello"])).success();
    let requests = server.requests();
    let known = requests[2].messages()[0]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(known.contains("Memory of the user") && known.contains("(tabs.md)"), "{known}");
    let results = requests[3].last_message()["content"].to_string();
    assert!(
        results.contains("Use tabs.") && results.contains("[feedback/user] tabs.md (today)"),
        "{results}"
    );
    server.finish();
}

#[test]
fn what_looks_like_a_secret_is_not_saved() {
    let key = ["ghp_", "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo"].concat();
    let input = json!({"name": "Token", "description": "d", "type": "project", "content": key});
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("m", "MemorySave", input.to_string()))
        .reply(ScriptedTurn::new().text("no"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["remember it"])).success();
    let result = server.requests()[1].last_message()["content"][0]["content"].to_string();
    assert!(!result.contains(&key) && result.contains("github"), "{result}");
    assert!(list(&home).is_empty());
    server.finish();
}

#[test]
fn write_and_edit_go_through_the_same_door() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let folder = home.dormouse_home().join("memory");
    let file = folder.join("plan.md");
    let text = "---\nname: Plan\ndescription: the plan\ntype: project\n---\nforty nuts\n";
    let write = |file: &std::path::Path, content: &str| {
        ScriptedTurn::new().call(
            "w",
            "Write",
            json!({"file_path": file, "content": content}).to_string(),
        )
    };
    server.push(write(&file, text));
    server.push(write(&folder.join(".hidden.md"), "x"));
    server.push(ScriptedTurn::new().text("done"));
    // Memory has a policy of its own: nobody needs to permit these.
    home.run(&mut ask(&home, &["go"])).success();
    assert!(home.read(&file).contains("forty nuts"));
    assert!(home.read(folder.join("MEMORY.md")).contains("(plan.md)"));
    assert!(!folder.join(".hidden.md").exists());
    let log = memory(&home, &["log", "--json"]);
    assert!(log.success().stdout.contains("model"), "{}", log.stdout);
    server.finish();
}

#[test]
fn with_memory_off_there_is_none() {
    for off in
        [("DORMOUSE_DISABLE_AUTO_MEMORY", "1"), ("DORMOUSE_SIMPLE", "1"), ("DORMOUSE_MEMORY", "0")]
    {
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("hi")).start();
        let mut home = TestHome::new().with_server(&server);
        home.set_env(off.0, off.1);
        home.run(&mut ask(&home, &["hi"])).success();
        let request = server.single_request();
        assert!(
            !request.text().contains("MemorySave") && !request.system_text().contains("memory")
        );
        assert!(!home.dormouse_home().join("memory").exists());
        server.finish();
    }
}

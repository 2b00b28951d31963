//! Who may write what (M-21), what waits for the user, what agents did and how it is taken back, what is
//! forgotten (M-22), and what is never kept (M-16).

use std::fs;
use std::path::Path;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Output, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json as value};

use crate::memory_cli::{add, files_below, json, memory, names};
use crate::program::{ask, dormouse, server};

fn save(name: &str, kind: &str, content: &str) -> ScriptedTurn {
    let description = format!("about {name}");
    let input =
        value!({"name": name, "description": description, "type": kind, "content": content});
    ScriptedTurn::new().call("m", "MemorySave", input.to_string())
}

fn update(name: &str, kind: &str, content: &str) -> ScriptedTurn {
    let input =
        value!({"name": name, "description": "d", "type": kind, "content": content, "file": name});
    ScriptedTurn::new().call("m", "MemorySave", input.to_string())
}

fn delete(name: &str) -> ScriptedTurn {
    ScriptedTurn::new().call("m", "MemoryDelete", value!({"name": name}).to_string())
}

/// A run in which the model makes these calls.
fn run(home: &mut TestHome, turns: Vec<ScriptedTurn>) -> (Output, ScriptedServer) {
    let server = server(WireFormat::Anthropic).start();
    home.use_server(&server);
    for turn in turns {
        server.push(turn);
    }
    server.push(ScriptedTurn::new().text("done"));
    let output =
        home.run(&mut ask(home, &["please remember what I say about nuts, tabs and naps"]));
    output.success();
    (output, server)
}

fn settings(home: &TestHome, folder: &Path, policy: &Value) {
    fs::create_dir_all(folder).unwrap();
    let text = value!({"memory": {"policy": policy}}).to_string();
    fs::write(folder.join("settings.json"), text).unwrap();
    assert!(folder.starts_with(home.root()));
}

fn waiting(home: &TestHome) -> Vec<u64> {
    let inbox = json(home, &["inbox"], 0);
    inbox.as_array().unwrap().iter().map(|line| line["id"].as_u64().unwrap()).collect()
}

#[test]
fn rules_of_the_person_decide() {
    let mut home = TestHome::new();
    let own = home.dormouse_home();
    settings(
        &home,
        &own,
        &value!([
            {"type": "project", "writer": "model", "rule": "inbox"},
            {"type": "reference", "rule": "ask"},
            {"type": "feedback", "scope": "user", "rule": "auto"}
        ]),
    );
    let turns = vec![
        save("Nuts", "project", "forty nuts"),
        save("Naps", "reference", "where the naps are"),
        save("Tabs", "feedback", "tabs"),
        save("Me", "user", "naps"),
    ];
    let (output, server) = run(&mut home, turns);
    server.finish();
    // A run without a person never asks.
    assert_eq!(waiting(&home).len(), 2);
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 2);
    assert!(output.stderr.contains("saved me.md"), "what is to be told is: {}", output.stderr);
    assert!(!output.stderr.contains("tabs.md"), "and nothing else: {}", output.stderr);
}

#[test]
fn a_project_can_only_be_stricter_and_only_once_trusted() {
    let mut home = TestHome::new();
    let (own, theirs) = (home.dormouse_home(), home.project().join(".dormouse"));
    settings(&home, &own, &value!([{"type": "reference", "rule": "inbox"}]));
    let rules =
        value!([{"type": "reference", "rule": "auto"}, {"type": "project", "rule": "inbox"}]);
    settings(&home, &theirs, &rules);
    let turns = |nuts| vec![save("Nuts", "project", nuts), save("Naps", "reference", "naps")];
    let (output, server) = run(&mut home, turns("nuts"));
    server.finish();
    assert!(output.stderr.contains("is not trusted"), "{}", output.stderr);
    assert_eq!((waiting(&home), names(&json(&home, &["list"], 0))), (vec![1], vec!["Nuts".into()]));
    home.run(&mut dormouse(&home, &["permissions", "trust", "--yes"])).success();
    let (_, server) = run(&mut home, turns("more nuts"));
    server.finish();
    assert_eq!((waiting(&home), names(&json(&home, &["list"], 0)).len()), (vec![1, 2, 3], 1));
}

#[test]
fn the_organisations_rules_come_first() {
    let mut home = TestHome::new();
    let (own, managed) = (home.dormouse_home(), home.root().join("managed"));
    settings(&home, &own, &value!([{"rule": "auto"}]));
    settings(&home, &managed, &value!([{"type": "project", "rule": "inbox"}]));
    home.set_env("DORMOUSE_TEST_MANAGED", &managed);
    let (_, server) = run(&mut home, vec![save("Nuts", "project", "nuts")]);
    server.finish();
    assert_eq!(waiting(&home), [1]);
    settings(&home, &own, &value!([{"rule": "sometimes"}]));
    let output = memory(&home, &["list"]);
    assert!(output.expect_code(2).stderr.contains("not `sometimes`"));
}

/// A memory of the user's, and three proposals: to change it, to remove it, and a new one.
fn with_proposals() -> TestHome {
    let mut home = TestHome::new();
    add(&home, "Nuts", &["--type", "project", "--body", "forty nuts"]);
    let own = home.dormouse_home();
    settings(&home, &own, &value!([{"type": "reference", "rule": "inbox"}]));
    let turns = vec![
        update("Nuts", "project", "fifty nuts"),
        delete("Nuts"),
        save("Naps", "reference", "in the attic"),
    ];
    let (_, server) = run(&mut home, turns);
    server.finish();
    assert_eq!(waiting(&home), [1, 2, 3]);
    home
}

fn nuts(home: &TestHome) -> Value {
    json(home, &["show", "Nuts"], 0)["body"].clone()
}

#[test]
fn the_inbox_shows_what_would_change_and_takes_a_yes_or_no() {
    let home = with_proposals();
    assert_eq!(nuts(&home), "forty nuts\n");
    let shown = memory(&home, &["inbox"]).success().stdout.clone();
    assert!(shown.contains("proposal 1 (project), 2026-11-02 09:00 by model"), "{shown}");
    assert!(shown.contains("-forty nuts\n+fifty nuts\n"), "{shown}");
    assert!(shown.contains("+++ /dev/null") && shown.contains("+in the attic"), "{shown}");
    let line = &json(&home, &["inbox"], 0)[0];
    assert_eq!((&line["author"], &line["files"][0]["file"]), (&"model".into(), &"nuts.md".into()));
    assert!(line["sources"][0]["session"].is_string(), "{line}");
    memory(&home, &["inbox", "accept"]).expect_code(2);
    memory(&home, &["inbox", "accept", "9"]).expect_code(1);
    assert_eq!(json(&home, &["inbox", "refuse", "2"], 0)[0]["done"], true);
    memory(&home, &["inbox", "accept", "1", "3"]).success();
    assert_eq!(nuts(&home), "fifty nuts\n");
    assert_eq!(names(&json(&home, &["list"], 0)).len(), 2);
    assert!(waiting(&home).is_empty());
    memory(&home, &["doctor"]).success();
    // It is the model's change, made with the user's word, and is undone as any other.
    assert_eq!(json(&home, &["log", "nuts.md"], 0)[0]["author"], "model");
    memory(&home, &["undo"]).success();
    memory(&home, &["undo"]).success();
    assert_eq!(nuts(&home), "forty nuts\n");
}

#[test]
fn all_at_once_where_one_can_not_be_done() {
    let home = with_proposals();
    memory(&home, &["edit", "Nuts", "--body", "sixty nuts"]).success();
    let decided = json(&home, &["inbox", "accept", "--all"], 1);
    let done: Vec<bool> =
        decided.as_array().unwrap().iter().map(|one| one["done"].as_bool().unwrap()).collect();
    assert_eq!(done, [false, false, true], "{decided}");
    assert_eq!((nuts(&home), waiting(&home)), ("sixty nuts\n".into(), vec![1, 2]));
    memory(&home, &["inbox", "refuse", "--all"]).success();
    assert!(waiting(&home).is_empty());
}

#[test]
fn a_proposal_is_edited_first() {
    let mut home = with_proposals();
    let script = home.root().join("editor.sh");
    home.set_env("EDITOR", format!("sh {}", script.display()));
    fs::write(&script, "exit 1").unwrap();
    memory(&home, &["inbox", "edit", "1"]).expect_code(1);
    assert_eq!(waiting(&home), [1, 2, 3]);
    // What was typed is not lost where the memory has changed meanwhile.
    memory(&home, &["edit", "Nuts", "--body", "eighty nuts"]).success();
    fs::write(&script, "echo typed >> \"$1\"").unwrap();
    let output = memory(&home, &["inbox", "edit", "1"]);
    assert!(output.expect_code(1).stderr.contains("your text is in"), "{}", output.stderr);
    let left = files_below(&home.dormouse_home().join("tmp"));
    assert!(left.len() == 1 && left[0].1.ends_with(b"typed\n"), "{left:?}");
    assert_eq!((nuts(&home), waiting(&home)), ("eighty nuts\n".into(), vec![1, 2, 3]));
    memory(&home, &["undo"]).success();
    fs::remove_file(&left[0].0).unwrap();
    fs::write(&script, "sed -i s/fifty/seventy/ \"$1\"").unwrap();
    memory(&home, &["inbox", "edit", "1"]).success();
    assert_eq!((nuts(&home), waiting(&home)), ("seventy nuts\n".into(), vec![2, 3]));
    assert!(files_below(&home.dormouse_home().join("tmp")).is_empty());
}

#[test]
fn what_the_model_did_is_told_with_its_message_and_undone() {
    let mut home = TestHome::new();
    let (_, server) = run(&mut home, vec![save("Nuts", "project", "forty nuts")]);
    server.finish();
    let transcript = fs::read_to_string(&home.transcripts()[0]).unwrap();
    let change = json(&home, &["log"], 0)[0].clone();
    assert_eq!((&change["author"], &change["reason"]), (&"model".into(), &"saved".into()));
    assert_eq!(change["files"][0]["effect"], "added");
    let source = &change["sources"][0];
    for part in ["session", "message"] {
        let id = source[part].as_str().unwrap();
        assert!(transcript.contains(id), "{part} {id} is in no transcript");
    }
    assert_eq!(source["trust"], "typed");
    let from = format!(
        "by model: saved, from {}/{}",
        source["session"].as_str().unwrap(),
        source["message"].as_str().unwrap()
    );
    let number = change["change"].to_string();
    let diff = memory(&home, &["diff", &number]);
    assert!(diff.success().stderr.contains(&from), "{}", diff.stderr);
    assert!(diff.stdout.contains("+forty nuts"), "{}", diff.stdout);
    let diff = json(&home, &["diff", &number], 0);
    assert_eq!((&diff["sources"], &diff["author"]), (&change["sources"], &change["author"]));
    assert!(diff["diff"][0]["after"].as_str().unwrap().contains("forty nuts"));
    assert!(memory(&home, &["log"]).stdout.contains(from.trim_start_matches("by model: ")));
    let undone = memory(&home, &["undo"]);
    let from = from.trim_start_matches("by model: ");
    assert!(undone.success().stdout.contains(&format!("{from} (by model)")), "{}", undone.stdout);
    assert!(names(&json(&home, &["list"], 0)).is_empty());
    let undo = &json(&home, &["log"], 0)[0];
    assert_eq!((&undo["author"], &undo["undoes"]), (&"user".into(), &change["change"]));
}

fn remembers(home: &TestHome, text: &str) -> bool {
    let files = files_below(&home.dormouse_home());
    files.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(text))
}

#[test]
fn the_trash_is_emptied_when_its_time_is_up_and_the_line_stays() {
    let mut home = TestHome::new();
    let add_one = |home: &TestHome, name: &str| {
        add(home, name, &["--type", "user", "--body", &format!("text of {name}")]);
    };
    add_one(&home, "Acorn");
    memory(&home, &["rm", "Acorn"]).success();
    for (now, kept) in [("2026-12-01T12:00:00Z", true), ("2026-12-15T13:00:00Z", false)] {
        home.set_env("DORMOUSE_TEST_NOW", now);
        // Looking forgets nothing, and does not bring back what is too old.
        let listed = names(&json(&home, &["restore"], 0)).contains(&"Acorn".to_owned());
        assert_eq!(listed, kept, "{now}");
        add_one(&home, now);
        assert_eq!(remembers(&home, "text of Acorn"), kept, "{now}");
    }
    let log = json(&home, &["log", "acorn.md"], 0);
    assert_eq!(log.as_array().unwrap().len(), 2, "{log}");
    memory(&home, &["undo", "2"]).expect_code(1);
    memory(&home, &["restore", "acorn.md"]).expect_code(1);
    memory(&home, &["restore", "acorn.md", "--change", "1"]).expect_code(1);
    // The others are as they were, and can be changed.
    memory(&home, &["undo"]).success();
    memory(&home, &["doctor"]).success();
}

#[test]
fn a_secret_is_kept_nowhere() {
    let value_part = "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo";
    let key = format!("ghp_{value_part}");
    let mut home = TestHome::new();
    let traces = |home: &TestHome, what: &str| {
        for (path, bytes) in files_below(&home.user_home()) {
            let text = String::from_utf8_lossy(&bytes).to_lowercase();
            assert!(!text.contains(&value_part.to_lowercase()), "{what}: {path:?}");
            let name = path.to_string_lossy().to_lowercase();
            assert!(!name.contains(&value_part.to_lowercase()), "{what}: {path:?}");
        }
    };
    add(&home, "Nuts", &["--type", "project", "--body", "forty"]);
    home.write("in.json", value!([{"memory": format!("{key} is the key")}]).to_string());
    home.write("in/a.md", format!("key: {key}"));
    home.write("in/b.md", "fine");
    let type_and = ["--type", "project", "--description"];
    for arguments in [
        [&["add", "N"], &type_and[..], &["d", "--body", &key]].concat(),
        [&["add", &key], &type_and[..], &["d", "--body", "x"]].concat(),
        [&["add", "N"], &type_and[..], &[&key, "--body", "x"]].concat(),
        vec!["edit", "Nuts", "--body", &key],
        vec!["edit", "Nuts", "--description", &key],
        vec!["edit", "Nuts", "--name", &key],
        vec!["import", "in.json"],
        vec!["import", "in"],
    ] {
        let output = memory(&home, &arguments);
        output.expect_code(1);
        let said = format!("{}{}", output.stdout, output.stderr).to_lowercase();
        assert!(said.contains("github"), "{arguments:?}: {said}");
        assert!(!said.contains(&value_part.to_lowercase()), "{arguments:?}: {said}");
        traces(&home, &format!("{arguments:?}"));
    }
    // An agent can not, whatever the policy; neither can it propose to.
    let own = home.dormouse_home();
    for rule in ["auto", "inbox"] {
        settings(&home, &own, &value!([{ "rule": rule }]));
        let turns = vec![
            save("Key", "project", &key),
            save(&key, "project", "x"),
            update("Nuts", "project", &key),
        ];
        let (output, server) = run(&mut home, turns);
        for request in server.requests().iter().skip(1) {
            let result = request.last_message()["content"][0]["content"].to_string();
            assert!(!result.to_lowercase().contains(&value_part.to_lowercase()), "{result}");
        }
        server.finish();
        assert!(!output.stderr.contains(value_part), "{}", output.stderr);
        assert!(waiting(&home).is_empty());
        // The conversation itself stays as it was said.
        for transcript in home.transcripts() {
            fs::remove_file(transcript).unwrap();
        }
        traces(&home, rule);
    }
    // A person who wants it has it, under a name that does not tell.
    let arguments =
        [&["add", &key], &type_and[..], &["d", "--body", &key, "--allow-secret"]].concat();
    let path = memory(&home, &arguments).success().stdout.clone();
    assert!(path.trim_end().ends_with("/secret.md"), "{path}");
    assert_eq!(json(&home, &["doctor"], 1)["findings"][0]["kind"], "secret");
    assert!(!memory(&home, &["doctor"]).stdout.contains(value_part));
    memory(&home, &["rm", "secret.md"]).success();
    memory(&home, &["restore", "secret.md"]).success();
}

#[test]
fn a_person_at_a_terminal_is_asked_about_a_secret() {
    let key = ["ghp_", "R7kPq2WzX9vTn4LmB8sYc1Hd6Fj3GtUe5aQo"].concat();
    let home = TestHome::new();
    let add = ["memory", "add", "N", "--type", "user", "--description", "d", "--body", &key];
    for (answer, code, kept) in [("n", 1, 0), ("", 1, 0), ("y", 0, 1)] {
        let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &add, (80, 24));
        terminal.wait_for_text("[y/N]");
        terminal.enter(answer);
        assert_eq!(terminal.wait(), code, "{}", terminal.screen());
        assert!(!String::from_utf8_lossy(&terminal.bytes()).contains(&key));
        assert_eq!(names(&json(&home, &["list"], 0)).len(), kept);
    }
}

/// What came only from outside is seen by the model once the user has confirmed it (M-17).
#[test]
fn a_memory_from_outside_is_confirmed_by_the_person() {
    let home = TestHome::new();
    let path = add(&home, "Quay", &["--type", "project", "--body", "Ships land at the east quay."]);
    let text =
        home.read(&path).replace("---\nname", "---\nquarantined: true\ntrust: outside\nname");
    std::fs::write(&path, text).unwrap();
    let listed = || json(&home, &["list"], 0)[0].clone();
    assert_eq!(listed()["quarantined"], true);
    let recall =
        || home.run(&mut dormouse(&home, &["recall", "ships at the quay", "--json", "--fresh"]));
    assert_eq!(recall().success().stdout.trim(), "[]");
    let done = json(&home, &["confirm", "Quay"], 0);
    assert!(done["change"].is_number(), "{done}");
    assert_eq!((&listed()["quarantined"], &listed()["trust"]), (&false.into(), &"typed".into()));
    assert!(recall().success().stdout.contains("quay.md"));
    assert_eq!(json(&home, &["confirm", "Quay"], 0)["change"], serde_json::Value::Null);
    memory(&home, &["undo"]).success();
    assert_eq!(listed()["quarantined"], true);
}

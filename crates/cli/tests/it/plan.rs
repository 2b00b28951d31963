//! Plan mode: nothing but reading, one door out of it, and a plan that stays.

use std::path::PathBuf;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{BOTH, ask, server};
use crate::talk::{answer, leave, say, talk, wait_for_menu, wait_for_prompt, wait_for_prompt_in};

const PLAN: &str = "# Nuts\n\n1. Write `nuts.txt`.\n2. Count them: $ARGUMENTS, ${HOME}.";

fn exit_plan(plan: &str) -> String {
    json!({ "plan": plan }).to_string()
}

/// Every result that the model was told, in order.
fn results(server: &ScriptedServer) -> Vec<String> {
    let requests = server.requests();
    let messages = requests.last().unwrap().json()["messages"].as_array().unwrap().clone();
    let texts = messages.iter().flat_map(|message| match &message["content"] {
        Value::Array(blocks) => {
            let results = blocks.iter().filter(|block| block["type"] == "tool_result");
            results.map(|block| block["content"].clone()).collect()
        }
        text if message["role"] == "tool" => vec![text.clone()],
        _ => Vec::new(),
    });
    texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

fn plan_file(home: &TestHome) -> PathBuf {
    let transcript = home.transcripts().pop().unwrap();
    transcript.with_extension("").join("plan.md")
}

/// What is sent in front of the messages, whole.
fn definitions(request: &RecordedRequest) -> (Value, String) {
    (request.json()["tools"].clone(), request.system_text())
}

/// L-33: the model tries every tool it has to change something, and then hands in its plan.
#[test]
fn a_headless_plan_is_the_answer_and_nothing_is_changed() {
    for wire in BOTH {
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        home.write("a.txt", "one\n");
        let memory = home.dormouse_home().join("memory/door.md");
        let save = json!({"name": "n", "description": "d", "type": "user", "content": "c"});
        let own = home.dormouse_home().join("projects/plan.md");
        server.push(ScriptedTurn::new().call("r", "Read", r#"{"file_path":"a.txt"}"#));
        server.push(
            ScriptedTurn::new()
                .call("1", "Write", r#"{"file_path":"harm","content":"x"}"#)
                .call("2", "Edit", r#"{"file_path":"a.txt","old_string":"one","new_string":"two"}"#)
                .call("3", "Bash", r#"{"command":"echo x > harm"}"#)
                .call("4", "Bash", r#"{"command":"ls && touch harm"}"#)
                .call("5", "Bash", r#"{"command":"sed -i s/one/two/ a.txt"}"#)
                .call("6", "Bash", r#"{"command":"touch harm","run_in_background":true}"#)
                .call("7", "MemorySave", save.to_string())
                .call("8", "Write", json!({"file_path": memory, "content": "x"}).to_string())
                .call("9", "Write", json!({"file_path": own, "content": "x"}).to_string())
                .call("10", "MemoryDelete", r#"{"name":"n"}"#),
        );
        server.push(ScriptedTurn::new().call("e", "ExitPlan", exit_plan(" \n ")));
        server.push(ScriptedTurn::new().call("f", "ExitPlan", exit_plan(&"x".repeat(70_000))));
        // What comes behind the plan in one answer is refused as well.
        server.push(
            ScriptedTurn::new().text("Here it is.").call("g", "ExitPlan", exit_plan(PLAN)).call(
                "h",
                "Write",
                r#"{"file_path":"harm","content":"x"}"#,
            ),
        );
        let allowed = ["--allowed-tools", "Bash", "--allowed-tools", "Write"];
        let flags = ["--permission-mode", "plan", "plan the nuts"];
        let output = home.run(ask(&home, &allowed).args(flags));
        assert_eq!(output.success().stdout, format!("{PLAN}\n"));
        let go_on = "dormouse -p --continue --permission-mode acceptEdits";
        assert!(output.stderr.contains(go_on), "{}", output.stderr);
        assert_eq!(std::fs::read_to_string(plan_file(&home)).unwrap(), format!("{PLAN}\n"));
        assert!(!home.project().join("harm").exists() && !memory.exists() && !own.exists());
        assert_eq!(home.read("a.txt"), "one\n");
        assert_eq!(server.requests().len(), 5, "a plan ends the turn");
        let results = results(&server);
        for refused in &results[1..11] {
            assert!(refused.contains(". Plan mode allows no changes."), "{refused}");
        }
        assert!(results[11].contains("`plan`: is empty"), "{}", results[11]);
        assert!(results[12].contains("`plan`: has 70000 bytes"), "{}", results[12]);

        // It is told at the end, never in the system prompt.
        let requests = server.requests();
        let told = requests[0].json()["messages"].to_string();
        assert_eq!(told.matches("Plan mode is on").count(), 1, "{told}");
        assert!(!requests[0].system_text().contains("Plan mode"));

        // Going on: the same definitions, byte for byte, and the mode told once.
        server.push(ScriptedTurn::new().call(
            "w",
            "Write",
            r#"{"file_path":"nuts.txt","content":"52"}"#,
        ));
        server.push(ScriptedTurn::new().text("done"));
        let flags = ["--continue", "--permission-mode", "acceptEdits", "carry out the plan"];
        home.run(&mut ask(&home, &flags)).success();
        assert_eq!(home.read("nuts.txt"), "52");
        let last = server.requests().pop().unwrap();
        let told = last.json()["messages"].to_string();
        assert_eq!(told.matches("Plan mode is off").count(), 1, "{told}");
        assert!(told.contains("plan.md; carry it out if the user says so"), "{told}");
        assert_eq!(definitions(&requests[0]), definitions(&last));
        server.finish();
    }
}

#[test]
fn a_plan_outside_of_plan_mode_is_an_error_and_leaves_nothing() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("e", "ExitPlan", exit_plan(PLAN)))
        .reply(ScriptedTurn::new().text("then I just do it"))
        .start();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["--permission-mode", "bypass", "go"]));
    assert_eq!(output.success().stdout, "then I just do it\n");
    assert!(results(&server)[0].contains("plan mode is not on"), "{:?}", results(&server));
    assert!(!plan_file(&home).exists());
    server.finish();
}

/// A disk that will not take the plan: the model is told, and the user is not asked about nothing.
#[test]
fn a_plan_that_can_not_be_kept_is_not_handed_in() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("e", "ExitPlan", exit_plan(PLAN)))
        .reply(ScriptedTurn::new().text("no plan then"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut command = ask(&home, &["--permission-mode", "plan", "go"]);
    // The first replaced file is the project's own record.
    let output = home.run(command.env("DORMOUSE_FAULT", "enospc@base.write_temporary#2"));
    assert_eq!(output.success().stdout, "no plan then\n", "{}", output.stderr);
    assert!(results(&server)[0].contains("cannot write"), "{:?}", results(&server));
    server.finish();
}

/// The user says what to change, then accepts, and the mode is what they chose.
#[test]
fn a_person_decides_about_the_plan() {
    for (keys, mode) in [("y", ""), ("a", "accept-edits ")] {
        let server = server(WireFormat::Anthropic)
            .reply(ScriptedTurn::new().call("1", "ExitPlan", exit_plan(PLAN)))
            .reply(ScriptedTurn::new().call("2", "ExitPlan", exit_plan("# Second plan")))
            .reply(ScriptedTurn::new().call(
                "3",
                "Write",
                r#"{"file_path":"nuts.txt","content":"52"}"#,
            ))
            .reply(ScriptedTurn::new().text("all done"))
            .start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = talk(&home, &[], (80, 30));
        say(&mut terminal, "/plan", "plan: read-only");
        wait_for_prompt_in(&terminal, &["plan "]);
        say(&mut terminal, "/plan", "the model has not presented a plan yet");
        terminal.enter("plan the nuts");
        wait_for_menu(&terminal, "1 Accept");
        let screen = terminal.screen();
        assert!(screen.contains("Write nuts.txt."), "markdown, not its source: {screen}");
        terminal.type_keys("tmore acorns\r");
        terminal.wait_for_text("Second plan");
        wait_for_menu(&terminal, "1 Accept");
        let told = results(&server).pop().unwrap();
        assert!(told.contains("says: more acorns") && told.contains("still on"), "{told}");
        terminal.type_keys(keys);
        if keys == "y" {
            // The usual mode asks.
            wait_for_menu(&terminal, "again for Write(nuts.txt)");
            terminal.type_keys("y");
        }
        terminal.wait_for_text("all done");
        wait_for_prompt_in(&terminal, &[mode]);
        assert_eq!(home.read("nuts.txt"), "52");
        let told = server.requests().pop().unwrap().json()["messages"].to_string();
        assert!(told.contains("The user accepts the plan"), "{told}");
        assert_eq!(std::fs::read_to_string(plan_file(&home)).unwrap(), "# Second plan\n");
        leave(terminal);
        server.finish();
    }
}

/// Whoever goes back to plan mode right after a plan was accepted has that told again.
#[test]
fn the_mode_is_told_whenever_it_changes_and_a_plan_survives() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("1", "ExitPlan", exit_plan(PLAN)))
        .reply(ScriptedTurn::new().text("first done"))
        .reply(ScriptedTurn::new().text("second done"))
        .reply(ScriptedTurn::new().text("third done"))
        .reply(ScriptedTurn::new().text("fourth done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &["--permission-mode", "plan"], (80, 30));
    terminal.enter("plan");
    wait_for_menu(&terminal, "1 Accept");
    answer(&mut terminal, "y", "first done");
    let count = |text: &str| {
        let requests = server.requests();
        requests.last().unwrap().json()["messages"].to_string().matches(text).count()
    };
    assert_eq!((count("Plan mode is on"), count("Plan mode is off")), (1, 0));
    // Shift-Tab: accept-edits, plan.
    terminal.type_keys("\x1b[Z");
    wait_for_prompt_in(&terminal, &["accept-edits "]);
    terminal.type_keys("\x1b[Z");
    wait_for_prompt_in(&terminal, &["plan "]);
    say(&mut terminal, "again", "second done");
    assert_eq!((count("Plan mode is on"), count("Plan mode is off")), (2, 0));
    say(&mut terminal, "/plan off", "default: asks before");
    say(&mut terminal, "go on", "third done");
    assert_eq!((count("Plan mode is on"), count("Plan mode is off")), (2, 1));
    leave(terminal);

    let mut terminal = talk(&home, &["--continue", "--permission-mode", "plan"], (80, 30));
    say(&mut terminal, "/plan", "plan.md");
    assert!(terminal.screen().contains("Write nuts.txt."), "{}", terminal.screen());
    say(&mut terminal, "/plan more nuts", "fourth done");
    assert_eq!(count("Plan mode is on"), 3);
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

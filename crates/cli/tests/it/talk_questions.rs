//! Questions about calls, and what the answers do.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, Terminal, TestHome, WireFormat};

use crate::program::server;
use crate::talk::{leave, say, talk, texts, wait_for_prompt};

const EDIT: &str = r#"{"file_path":"plan.md","old_string":"12 acorns","new_string":"13 acorns"}"#;

/// A model that wants to edit the plan, and then says that it is done.
fn editing() -> (ScriptedServer, TestHome) {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("r", "Read", r#"{"file_path":"plan.md"}"#))
        .reply(ScriptedTurn::new().text("Let me edit.").call("e", "Edit", EDIT))
        .reply(ScriptedTurn::new().text("all done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("plan.md", "# Plan\n\n- 40 hazelnuts\n- 12 acorns\n");
    (server, home)
}

#[track_caller]
fn wait_for_question(terminal: &Terminal, about: &str) {
    terminal.wait_for("the question", |screen| {
        screen.contains(about) && screen.lines().rfind(|row| !row.is_empty()) == Some("allow?")
    });
}

/// The result that the model was told last.
fn told(server: &ScriptedServer) -> String {
    texts(&server.requests().last().unwrap().last_message()).pop().unwrap()
}

#[test]
fn yes_with_the_change_before_the_eyes() {
    let (server, home) = editing();
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("one more acorn");
    wait_for_question(&terminal, "Edit plan.md");
    let screen = terminal.screen();
    assert!(screen.contains("4 - - 12 acorns\n4 + - 13 acorns"), "{screen}");
    assert!(screen.contains("always allow Edit(plan.md)"), "{screen}");
    assert!(home.read("plan.md").contains("12 acorns"));
    say(&mut terminal, "y", "all done");
    assert!(home.read("plan.md").contains("13 acorns"));
    assert!(terminal.screen().contains("→ Edit plan.md"), "{}", terminal.screen());
    leave(terminal);
    server.finish();
}

#[test]
fn no_and_why() {
    for (answer, reason) in
        [("n", None), ("no, ask the squirrel first", Some("ask the squirrel first"))]
    {
        let (server, home) = editing();
        let mut terminal = talk(&home, &[], (80, 24));
        terminal.enter("one more acorn");
        wait_for_question(&terminal, "Edit plan.md");
        terminal.enter("perhaps");
        terminal.wait_for_text("Answer y, n or a");
        wait_for_question(&terminal, "Answer y, n or a");
        say(&mut terminal, answer, "all done");
        assert!(home.read("plan.md").contains("12 acorns"));
        let told = told(&server);
        assert!(told.contains("Edit was not run"), "{told}");
        assert!(reason.is_none_or(|reason| told.contains(reason)), "{told}");
        assert!(terminal.screen().contains("→ Edit plan.md · not run"), "{}", terminal.screen());
        leave(terminal);
        server.finish();
    }
}

#[test]
fn always_asks_no_more_in_this_session() {
    let command = r#"{"command":"touch nuts"}"#;
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("a", "Bash", command))
        .reply(ScriptedTurn::new().call("b", "Bash", command))
        .reply(ScriptedTurn::new().call("c", "Bash", r#"{"command":"touch other"}"#))
        .reply(ScriptedTurn::new().text("all done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("touch it twice");
    wait_for_question(&terminal, "touch nuts");
    assert!(!home.project().join("nuts").exists());
    terminal.enter("a");
    wait_for_question(&terminal, "touch other");
    assert!(home.project().join("nuts").exists());
    assert_eq!(terminal.screen().matches("allow?").count(), 2, "{}", terminal.screen());
    say(&mut terminal, "n", "all done");
    assert!(!home.project().join("other").exists());
    say(&mut terminal, "/permissions", "Bash(touch nuts)");
    leave(terminal);
    server.finish();
}

#[test]
fn ctrl_c_is_no_and_stop() {
    for key in ["\x03", "\x04"] {
        let (server, home) = editing();
        server.push(ScriptedTurn::new().text("not reached"));
        let mut terminal = talk(&home, &[], (80, 24));
        terminal.enter("one more acorn");
        wait_for_question(&terminal, "Edit plan.md");
        terminal.type_keys(key);
        terminal.wait_for_text("Interrupted. Partial output kept.");
        wait_for_prompt(&terminal);
        assert_eq!(server.requests().len(), 2, "the turn has ended");
        assert!(home.read("plan.md").contains("12 acorns"));
        say(&mut terminal, "go on", "all done");
        let last = server.requests()[2].last_message();
        assert!(last["content"][0]["type"] == "tool_result", "the call is closed: {last}");
        leave(terminal);
        drop(server);
    }
}

#[test]
fn what_was_typed_ahead_answers_no_question() {
    let gate = dormouse_testkit::Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(
            dormouse_testkit::Reply::from(ScriptedTurn::new().text("one moment please").call(
                "b",
                "Bash",
                r#"{"command":"touch harm"}"#,
            ))
            .gate_after(3, &gate),
        )
        .reply(ScriptedTurn::new().text("all done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("go");
    gate.wait_until_reached();
    terminal.wait_for_text("one");
    terminal.enter("y");
    gate.open();
    wait_for_question(&terminal, "touch harm");
    terminal.enter("n");
    // It stands in the next prompt, and is not sent by itself.
    terminal.wait_for("what was typed", |screen| {
        screen.contains("all done") && screen.lines().rfind(|row| !row.is_empty()) == Some("> y")
    });
    assert!(!home.project().join("harm").exists());
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

/// L-29: what a project would run waits for a yes.
#[test]
fn a_project_is_trusted_before_anything_is_said() {
    for (answer, ran) in [("y", true), ("n", false)] {
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("hello")).start();
        let home = TestHome::new().with_server(&server);
        let hook = r#"{"hooks":[{"type":"command","command":"touch hooked"}]}"#;
        let settings = format!(r#"{{"hooks":{{"UserPromptSubmit":[{hook}]}}}}"#);
        home.write(".dormouse/settings.json", settings);
        let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &[], (80, 24));
        terminal.wait_for_text("runs touch hooked");
        terminal.wait_for_text("[y/N]");
        terminal.enter(answer);
        wait_for_prompt(&terminal);
        say(&mut terminal, "hi", "hello");
        assert_eq!(home.project().join("hooked").exists(), ran);
        leave(terminal);
        server.finish();
    }
}

/// A tool of an MCP server asks, by whatever way it is called; "always" is for that tool.
#[test]
fn a_tool_of_an_mcp_server() {
    let by_name = r#"{"server":"mean","tool":"echo","arguments":{"word":"two"}}"#;
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("1", "mcp__mean__echo", r#"{"word":"one"}"#))
        .reply(ScriptedTurn::new().call("2", "McpCall", by_name))
        .reply(ScriptedTurn::new().call("3", "mcp__mean__fail", "{}"))
        .reply(ScriptedTurn::new().text("all done"))
        .start();
    let home = TestHome::new().with_server(&server);
    let settings = serde_json::json!({"mcpServers": {"mean": crate::mcp_mean::entry("well")}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let mut terminal = talk(&home, &[], (100, 30));
    terminal.enter("call them");
    wait_for_question(&terminal, "always allow mcp__mean__echo");
    terminal.enter("a");
    wait_for_question(&terminal, "always allow mcp__mean__fail");
    say(&mut terminal, "n", "all done");
    assert_eq!(home.read("mean-calls"), "echo\necho\n");
    assert!(told(&server).contains("mcp__mean__fail was not run"), "{}", told(&server));
    leave(terminal);
    server.finish();
}

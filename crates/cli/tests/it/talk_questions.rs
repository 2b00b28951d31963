//! Questions about calls, and what the answers do.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{ScriptedServer, TestHome, WireFormat};

use crate::program::server;
use crate::talk::{answer, leave, say, talk, texts, wait_for_menu, wait_for_prompt};

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

/// The result that the model was told last.
fn told(server: &ScriptedServer) -> String {
    texts(&server.requests().last().unwrap().last_message()).pop().unwrap()
}

#[test]
fn yes_with_the_change_before_the_eyes() {
    let (server, home) = editing();
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("one more acorn");
    wait_for_menu(&terminal, "Edit plan.md");
    let screen = terminal.screen();
    assert!(screen.contains("4 - - 12 acorns\n4 + - 13 acorns"), "{screen}");
    assert!(screen.contains("don't ask again for Edit(plan.md)"), "{screen}");
    assert!(home.read("plan.md").contains("12 acorns"));
    answer(&mut terminal, "y", "all done");
    assert!(home.read("plan.md").contains("13 acorns"));
    assert!(terminal.screen().contains("→ Edit plan.md"), "{}", terminal.screen());
    leave(terminal);
    server.finish();
}

#[test]
fn no_and_why() {
    for (keys, reason) in
        [("n", None), ("task the squirrel first\r", Some("ask the squirrel first"))]
    {
        let (server, home) = editing();
        let mut terminal = talk(&home, &[], (80, 24));
        terminal.enter("one more acorn");
        wait_for_menu(&terminal, "Edit plan.md");
        answer(&mut terminal, keys, "all done");
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
    wait_for_menu(&terminal, "touch nuts");
    assert!(!home.project().join("nuts").exists());
    terminal.type_keys("a");
    wait_for_menu(&terminal, "touch other");
    assert!(home.project().join("nuts").exists());
    let asked = terminal.screen().matches("`touch` is not known as a read-only command").count();
    assert_eq!(asked, 2, "{}", terminal.screen());
    answer(&mut terminal, "n", "all done");
    assert!(!home.project().join("other").exists());
    say(&mut terminal, "/permissions", "Bash(touch nuts)");
    leave(terminal);
    server.finish();
}

#[test]
fn esc_ctrl_c_and_ctrl_d_are_no_and_the_model_hears_that_nothing_ran() {
    for key in ["\x03", "\x04", "\x1b"] {
        let (server, home) = editing();
        let mut terminal = talk(&home, &[], (80, 24));
        terminal.enter("one more acorn");
        wait_for_menu(&terminal, "Edit plan.md");
        answer(&mut terminal, key, "all done");
        assert!(home.read("plan.md").contains("12 acorns"));
        assert!(told(&server).contains("Edit was not run"), "{}", told(&server));
        leave(terminal);
        server.finish();
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
    terminal.type_keys("y");
    gate.open();
    terminal.wait_for_text("Tab to answer the question.");
    terminal.type_keys("es\tn");
    // It stands in the composer, and is not sent by itself.
    terminal.wait_for("what was typed", |screen| {
        screen.contains("all done") && screen.lines().any(|row| row == "> yes")
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
    wait_for_menu(&terminal, "again for mcp__mean__echo");
    terminal.type_keys("a");
    wait_for_menu(&terminal, "again for mcp__mean__fail");
    answer(&mut terminal, "n", "all done");
    assert_eq!(home.read("mean-calls"), "echo\necho\n");
    assert!(told(&server).contains("mcp__mean__fail was not run"), "{}", told(&server));
    leave(terminal);
    server.finish();
}

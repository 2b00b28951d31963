//! What a message can be besides words: a command of the user's own, files that go with it; and rules that are written at a
//! permission prompt.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, HANGS, Reply, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{BOTH, ask, server};
use crate::talk::{answer, leave, say, talk, texts, wait_for_menu, wait_for_prompt};

/// `!command` runs at once, without a question; its output goes with the next message, in front of it.
#[test]
fn a_command_of_the_users_own() {
    for wire in BOTH {
        let server = server(wire).reply(ScriptedTurn::new().text("I see.")).start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = talk(&home, &[], (80, 30));
        say(&mut terminal, "!echo one; echo two >&2; exit 3", "exit code 3, 2 lines");
        say(&mut terminal, "!", "Type a command after the exclamation mark");
        assert_eq!(server.requests().len(), 0, "nothing is sent for it");
        say(&mut terminal, "what was that?", "I see.");
        let request = server.requests()[0].text();
        let ran = "$ echo one; echo two >&2; exit 3\none\ntwo\n[exit code 3]";
        let at = request.find(json!(ran).to_string().trim_matches('"')).unwrap_or(request.len());
        assert!(at < request.find("what was that?").unwrap(), "{request}");
        leave(terminal);
        server.finish();
    }
}

/// Esc ends a command of the user's own; what was typed meanwhile is sent afterwards.
#[test]
fn a_command_of_the_users_own_is_stopped() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("Fine.")).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("!echo begun; sleep 600");
    terminal.wait_for_text("begun");
    terminal.type_keys("\x1b");
    terminal.wait_for_text("interrupted");
    wait_for_prompt(&terminal);
    say(&mut terminal, "go on", "Fine.");
    leave(terminal);
    server.finish();
}

/// What `@` names is attached: the model can change the file without reading it first, and sees a picture.
#[test]
fn files_go_with_the_message() {
    let edit = json!({ "file_path": "a b.txt", "old_string": "one", "new_string": "two" });
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("e", "Edit", edit.to_string()))
        .reply(ScriptedTurn::new().text("Done."))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("a b.txt", "one\n");
    home.write("src/lib.rs", "");
    let picture = [&b"\x89PNG\r\n\x1a\n"[..], &[0; 30]].concat();
    home.write("dot.png", picture);
    let prompt = "change @\"a b.txt\", see @src/ and @dot.png，not @nothing or me@example.com";
    let run = home.run(&mut ask(&home, &["--permission-mode", "accept-edits", prompt]));
    let run = run.success();
    assert_eq!(home.read("a b.txt"), "two\n", "{}", run.stderr);
    let sent = server.requests()[0].last_message();
    let attached = texts(&sent).join("\n");
    for wanted in
        ["The user attached a b.txt to this message:\n     1\tone", "src/ to this message:\nlib.rs"]
    {
        assert!(attached.contains(wanted), "{attached}");
    }
    assert!(!attached.contains("attached nothing"), "{attached}");
    let blocks = sent["content"].as_array().unwrap();
    assert!(blocks.iter().any(|block| block["type"] == "image"), "{sent}");
    for notice in ["attached a b.txt", "attached src/", "attached dot.png"] {
        assert!(run.stderr.contains(notice), "{}", run.stderr);
    }
    server.finish();
}

/// A rule can be edited at the question and saved for the project or for all; the next session does not ask again.
#[test]
fn a_rule_is_edited_and_saved() {
    for (key, place) in [("p", "project"), ("u", "home")] {
        let call = |id: &str, command: &str| {
            ScriptedTurn::new().call(id, "Bash", json!({ "command": command }).to_string())
        };
        let server = server(WireFormat::Anthropic)
            .reply(call("a", "touch one"))
            .reply(call("b", "touch two"))
            .reply(ScriptedTurn::new().text("Both."))
            .reply(call("c", "touch three"))
            .reply(ScriptedTurn::new().text("Three."))
            .start();
        let home = TestHome::new().with_server(&server);
        home.git_init();
        let mut terminal = talk(&home, &[], (80, 30));
        terminal.enter("touch them");
        wait_for_menu(&terminal, "edit or save the rule");
        terminal.type_keys("e");
        terminal.wait_for_text("Bash(touch");
        // What is no rule is said, and asked again.
        terminal.type_keys("\x15(\r");
        terminal.wait_for_text("is not a rule");
        // What was written is still there, to be corrected.
        terminal.wait_for("the rule", |screen| screen.lines().any(|row| row.trim() == "("));
        terminal.type_keys("\x15Bash(touch:*)\r");
        terminal.wait_for_text("Allow Bash(touch:*) in this session");
        wait_for_menu(&terminal, "Allow Bash(touch:*) in this project");
        answer(&mut terminal, key, "Both.");
        assert!(terminal.screen().contains("Saved Bash(touch:*) in"), "{}", terminal.screen());
        leave(terminal);
        let file = match place {
            "project" => home.project().join(".dormouse/settings.local.json"),
            _ => home.dormouse_home().join("settings.json"),
        };
        let saved: Value = serde_json::from_str(&home.read(file)).unwrap();
        assert_eq!(saved["permissions"]["allow"], json!(["Bash(touch:*)"]));
        server.expect_break("another session");
        home.run(&mut ask(&home, &["a third one"])).success();
        assert!(home.project().join("three").exists());
        server.finish();
    }
}

/// Shift-Tab switches the permission mode during a turn too.
#[test]
fn the_mode_is_switched_during_a_turn() {
    let gate = Gate::new();
    let edit = json!({ "file_path": "new.txt", "content": "x" }).to_string();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four").call("w", "Write", edit))
                .gate_after(3, &gate),
        )
        .reply(ScriptedTurn::new().text("Written."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("write");
    terminal.wait_for_text("one");
    terminal.type_keys("\x1b[Z");
    terminal.wait_for_text("accept-edits >");
    terminal.type_keys("\x0f");
    terminal.wait_for_text("This key works when the turn has ended.");
    gate.open();
    terminal.wait_for_text("Written.");
    wait_for_prompt(&terminal);
    // Leaving plan mode goes back to that mode.
    say(&mut terminal, "/plan", "plan: read-only");
    say(&mut terminal, "/plan off", "accept-edits >");
    leave(terminal);
    server.finish();
}

/// Ctrl-V attaches the picture in the clipboard, and so does a picture that is dragged into the terminal.
#[test]
fn pictures_from_the_clipboard_and_by_dragging() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("Two dots.")).start();
    let mut home = TestHome::new().with_server(&server);
    let picture = [&b"\x89PNG\r\n\x1a\n"[..], &[0; 30]].concat();
    home.write("clipboard.png", &picture);
    home.write("dragged dot.png", &picture);
    let clipboard = home.project().join("clipboard.png");
    // The desktop's program, which prints what the clipboard holds.
    home.write(
        "bin/xclip",
        format!("#!/bin/sh\n[ \"$4\" = image/png ] && cat '{}'\n", clipboard.display()),
    );
    make_executable(&home.project().join("bin/xclip"));
    let path = std::env::var("PATH").unwrap();
    home.set_env("PATH", format!("{}:{path}", home.project().join("bin").display()));
    home.set_env("DISPLAY", ":7");
    let mut terminal = talk(&home, &[], (100, 24));
    terminal.type_keys("compare \x16");
    terminal.wait_for_text("pasted-");
    terminal.paste(&format!("'{}'", home.project().join("dragged dot.png").display()));
    terminal.wait_for_text("dragged dot.png");
    terminal.type_keys("\r");
    terminal.wait_for_text("Two dots.");
    wait_for_prompt(&terminal);
    let content = server.requests()[0].last_message()["content"].clone();
    let images =
        content.as_array().unwrap().iter().filter(|block| block["type"] == "image").count();
    assert_eq!(images, 2, "{content}");
    // A clipboard that holds text.
    home.write("clipboard.png", "words");
    terminal.type_keys("\x16");
    terminal.wait_for_text("There is no image in the clipboard.");
    leave(terminal);
    server.finish();
}

/// `@agent-` suggests the subagents.
#[test]
fn agents_are_suggested() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    home.write(
        home.dormouse_home().join("agents/reviewer.md"),
        "---\nname: reviewer\ndescription: reads every change twice\n---\nYou review.\n",
    );
    let mut terminal = talk(&home, &[], (100, 24));
    terminal.type_keys("ask @agent-re");
    terminal.wait_for_text("reads every change twice");
    terminal.type_keys("\t");
    terminal.wait_for_text("> ask @agent-reviewer");
    terminal.type_keys("\x03");
    leave(terminal);
    server.finish();
}

/// A resource of an MCP server is suggested by a part of its address, and its text goes with the message as the server's, not as
/// the user's. What is no resource is left alone.
#[test]
fn resources_of_servers_go_with_the_message() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("I see.")).start();
    let home = TestHome::new().with_server(&server);
    let own = json!({ "command": env!("CARGO_BIN_EXE_dormouse"), "args": ["mcp"] });
    let tools = json!({ "mcpStartMs": HANGS.as_secs() * 1_000 });
    let settings = json!({ "mcpServers": { "notes": own }, "tools": tools }).to_string();
    home.write(home.dormouse_home().join("settings.json"), settings);
    let mut terminal = talk(&home, &[], (100, 24));
    terminal.type_keys("look at @memory://in");
    terminal.wait_for_text("notes:memory://index");
    terminal.type_keys("\t");
    terminal.wait_for_text("> look at @notes:memory://index");
    say(&mut terminal, "and @notes:memory://nothing", "I see.");
    let screen = terminal.screen();
    assert!(screen.contains("attached notes:memory://index\n"), "{screen}");
    assert!(!screen.contains("attached notes:memory://nothing"), "{screen}");
    let message = server.single_request().last_message();
    let told = texts(&message);
    let resource = told.iter().find(|text| text.contains("not the user's words")).unwrap();
    assert!(resource.starts_with("<system-reminder>\n"), "{resource}");
    assert!(resource.contains(": notes:memory://index\n"), "{resource}");
    leave(terminal);
    server.finish();
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

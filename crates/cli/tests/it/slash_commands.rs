//! Slash commands on the conversation as text, commands in files, and what reaches a user who looks elsewhere.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, ScriptedServer, Terminal, TestHome, WireFormat};

use crate::program::{dormouse, server};
use crate::talk::{answer, leave, say, talk, texts, wait_for_menu, wait_for_prompt};

/// A terminal after one turn, which made a call.
fn after_a_turn() -> (ScriptedServer, TestHome, Terminal) {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("I look.").call("b", "Bash", r#"{"command":"echo '```'"}"#))
        .reply(ScriptedTurn::new().text("睡鼠 has 52 nuts."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (80, 30));
    say(&mut terminal, "how many?", "52 nuts.");
    (server, home, terminal)
}

#[test]
fn the_last_answer_goes_to_the_clipboard() {
    let (server, _home, mut terminal) = after_a_turn();
    say(&mut terminal, "/copy", "Sent 1 line");
    let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(bytes.contains("\x1b]52;c;552h6bygIGhhcyA1MiBudXRzLg==\x07"), "{bytes}");
    leave(terminal);
    server.finish();
}

#[test]
fn a_conversation_is_exported_and_nothing_is_overwritten() {
    let (server, home, mut terminal) = after_a_turn();
    say(&mut terminal, "/export notes.md", "Wrote ");
    let text = std::fs::read_to_string(home.project().join("notes.md")).unwrap();
    let expected = "# how many?\n\n## User\n\nhow many?\n\n## Dormouse\n\nI look.\n\n`→ Bash: echo '''''`\n\n\
        ````\n```\n````\n\n## Dormouse\n\n睡鼠 has 52 nuts.\n\n";
    assert_eq!(text, expected);
    say(&mut terminal, "/export notes.md", "error: ");
    assert_eq!(std::fs::read_to_string(home.project().join("notes.md")).unwrap(), expected);
    say(&mut terminal, "/export /", "not a file name");
    leave(terminal);
    server.finish();
}

/// The title of the session heads an export; the user's own commands are where they were run.
#[test]
fn an_export_has_the_title_and_the_users_commands() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("I see.")).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 30));
    say(&mut terminal, "!echo one; exit 3", "exit code 3");
    say(&mut terminal, "what was that?", "I see.");
    say(&mut terminal, "!echo two", "two");
    say(&mut terminal, "/rename Nuts for winter", "is called");
    say(&mut terminal, "/export notes.md", "Wrote ");
    let text = std::fs::read_to_string(home.project().join("notes.md")).unwrap();
    let expected = "# Nuts for winter\n\n```\n$ echo one; exit 3\none\n[exit code 3]\n```\n\n\
        ## User\n\nwhat was that?\n\n## Dormouse\n\nI see.\n\n```\n$ echo two\ntwo\n```\n\n";
    assert_eq!(text, expected);
    leave(terminal);
    server.finish();
}

/// A mistake in the arguments is one line, with what was meant and where help is.
#[test]
fn wrong_arguments_are_said_in_one_line() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (100, 30));
    let expected =
        "/memory: no command `lst`. Did you mean `list`? /memory --help shows its arguments.";
    say(&mut terminal, "/memory lst", expected);
    say(&mut terminal, "/memory list --scpoe user", "no option `--scpoe`. Did you mean `--scope`?");
    let screen = terminal.screen();
    assert!(!screen.contains("Usage") && !screen.contains("error:"), "{screen}");
    leave(terminal);
    server.finish();
}

#[test]
fn a_title_of_the_users_is_listed() {
    let (server, home, mut terminal) = after_a_turn();
    say(&mut terminal, "/rename", "Give a title");
    say(&mut terminal, "/rename  Nuts   for 冬天", "is called");
    leave(terminal);
    let listed = home.run(&mut dormouse(&home, &["sessions"]));
    assert!(listed.stdout.contains("Nuts for 冬天"), "{}", listed.stdout);
    server.finish();
}

#[test]
fn commands_in_files_are_the_users_words() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("fixed"))
        .reply(ScriptedTurn::new().text("committed"))
        .reply(ScriptedTurn::new().text("reviewed by hand"))
        .reply(ScriptedTurn::new().text("a file for agents"))
        .start();
    let home = TestHome::new().with_server(&server);
    let own = home.dormouse_home().join("commands");
    home.write(
        own.join("fix.md"),
        "---\ndescription: Fixes an issue.\nargument-hint: NUMBER\n---\nFix issue $ARGUMENTS now.",
    );
    home.write(own.join("git/commit.md"), "Commit it.");
    home.write(own.join("review.md"), "Review as I like it.");
    home.write(home.user_home().join(".claude/commands/fix.md"), "Another one.");
    // Not trusted yet, so not there.
    let mut terminal = talk(&home, &[], (100, 30));
    terminal.type_keys("/fi");
    terminal.wait_for_text("Fixes an issue.");
    terminal.type_keys("\x7f\x7f\x7f");
    for (line, known, sent) in [
        ("/fix 7", "fixed", "Fix issue 7 now."),
        ("/git:commit", "committed", "Commit it."),
        ("/review", "reviewed by hand", "Review as I like it."),
        ("/init", "a file for agents", "AGENTS.md"),
    ] {
        say(&mut terminal, line, known);
        let message = texts(&server.requests().last().unwrap().last_message()).join("\n");
        assert!(message.contains(sent), "{line}: {message}");
    }
    // The model is not told about them.
    assert!(!server.requests()[0].system_text().contains("Fixes an issue."));
    leave(terminal);
    server.finish();
}

#[test]
fn commands_of_a_project_wait_for_trust() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("shipped")).start();
    let home = TestHome::new().with_server(&server);
    home.write(".claude/commands/ship.md", "Ship it.");
    let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &[], (100, 30));
    terminal.wait_for_text("ship");
    terminal.enter("y");
    wait_for_prompt(&terminal);
    say(&mut terminal, "/ship", "shipped");
    assert!(texts(&server.requests()[0].last_message()).join("\n").contains("Ship it."));
    leave(terminal);
    server.finish();
}

#[test]
fn a_user_who_looks_elsewhere_is_told_of_a_question() {
    let bell = |terminal: &Terminal| {
        let bytes = terminal.bytes();
        // Without the one that ends a title.
        let text = String::from_utf8_lossy(&bytes).replace("dormouse\x07", "");
        text.matches('\x07').count()
    };
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("b", "Bash", r#"{"command":"touch a"}"#))
        .reply(ScriptedTurn::new().text("done"))
        .reply(ScriptedTurn::new().call("b", "Bash", r#"{"command":"touch b"}"#))
        .reply(ScriptedTurn::new().text("done again"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 30));
    // The terminal has the focus: nothing rings.
    terminal.type_keys("\x1b[I");
    terminal.enter("go");
    wait_for_menu(&terminal, "touch a");
    assert_eq!(bell(&terminal), 0);
    answer(&mut terminal, "y", "done");
    terminal.type_keys("\x1b[O");
    terminal.enter("go on");
    wait_for_menu(&terminal, "touch b");
    assert_eq!(bell(&terminal), 1);
    let titles = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    for title in ["\x1b]0;… project · dormouse", "\x1b]0;? project · dormouse"] {
        assert!(titles.contains(title), "{titles}");
    }
    answer(&mut terminal, "y", "done again");
    let terminal = leave(terminal);
    let bytes = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(bytes.contains("\x1b[23;0t"), "the title is restored: {bytes}");
    server.finish();
}

#[test]
fn todos_stay_in_sight_while_a_turn_runs() {
    let todos = |done: usize| {
        let status = |at: usize| match at {
            at if at < done => "completed",
            at if at == done => "in_progress",
            _ => "pending",
        };
        let todos: Vec<serde_json::Value> = (0..8)
            .map(|at| serde_json::json!({"content": format!("step {at}"), "status": status(at)}))
            .collect();
        serde_json::json!({ "todos": todos }).to_string()
    };
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("1", "TodoWrite", todos(0)))
        .reply(ScriptedTurn::new().call("2", "TodoWrite", todos(5)))
        .reply(Reply::from(ScriptedTurn::new().text("one two three four")).gate_after(3, &gate))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 30));
    terminal.enter("go");
    terminal.wait_for("the pinned list", |screen| {
        screen.contains("[>] step 5") && !screen.contains("step 0")
    });
    gate.open();
    terminal.wait_for_text("four");
    wait_for_prompt(&terminal);
    // The whole list, once, below the answer.
    let screen = terminal.screen();
    assert_eq!(screen.matches("step 0").count(), 1, "{screen}");
    assert_eq!(screen.matches("[>] step 5").count(), 1, "{screen}");
    leave(terminal);
    server.finish();
}

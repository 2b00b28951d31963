//! Talking, in a real terminal.

use std::os::unix::fs::PermissionsExt;

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, Gate, Reply, Screen, Terminal, TestHome, WireFormat};
use rustix::process::Signal;
use serde_json::Value;

use crate::program::{BOTH, server, transcript, wait_until};

/// The program in a terminal, at its first prompt.
pub(crate) fn talk(home: &TestHome, arguments: &[&str], size: (u16, u16)) -> Terminal {
    let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), arguments, size);
    wait_for_prompt(&terminal);
    // It marks what is pasted: lines that arrive at once are typed.
    if terminal.look(Screen::bracketed_paste) {
        terminal.paste("");
    }
    terminal
}

/// Waits until the cursor stands behind an empty prompt, and no turn runs.
#[track_caller]
pub(crate) fn wait_for_prompt(terminal: &Terminal) {
    wait_for_prompt_in(terminal, &["", "accept-edits ", "plan ", "bypass "]);
}

/// The same, in one of these modes.
#[track_caller]
pub(crate) fn wait_for_prompt_in(terminal: &Terminal, modes: &[&str]) {
    terminal.wait_for_prompt(modes);
}

/// Says something and waits for the next prompt. `known` is the end of what is shown for it.
#[track_caller]
pub(crate) fn say(terminal: &mut Terminal, text: &str, known: &str) {
    terminal.enter(text);
    terminal.wait_for_text(known);
    wait_for_prompt(terminal);
}

/// Waits until a menu below a question about this takes the keys.
#[track_caller]
pub(crate) fn wait_for_menu(terminal: &Terminal, about: &str) {
    terminal.wait_for("the question", |screen| screen.contains(about) && screen.contains("❯ 1"));
}

/// Answers a question by its keys and waits for the next prompt. `known` is the end of what is shown then.
#[track_caller]
pub(crate) fn answer(terminal: &mut Terminal, keys: &str, known: &str) {
    terminal.type_keys(keys);
    terminal.wait_for_text(known);
    wait_for_prompt(terminal);
}

/// Leaves by Ctrl-D.
#[track_caller]
pub(crate) fn leave(mut terminal: Terminal) -> Terminal {
    terminal.type_keys("\x04");
    assert_eq!(terminal.wait(), 0);
    assert!(terminal.is_sane(), "the terminal is left as it was");
    terminal
}

/// The texts of a message's blocks.
pub(crate) fn texts(message: &Value) -> Vec<String> {
    match &message["content"] {
        Value::String(text) => vec![text.clone()],
        blocks => blocks
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|block| block["text"].as_str().or(block["content"].as_str()))
            .map(str::to_owned)
            .collect(),
    }
}

/// What was shown below the first prompt.
pub(crate) fn below_the_first_prompt(terminal: &Terminal) -> Vec<String> {
    let rows = terminal.all_rows();
    let first = rows.iter().position(|row| row.starts_with('>')).unwrap();
    let is_status = |row: &String| row.starts_with("scripted-1 · ");
    rows.into_iter().skip(first).filter(|row| !row.is_empty() && !is_status(row)).collect()
}

#[test]
fn turn_by_turn() {
    for wire in BOTH {
        let server = server(wire)
            .reply(ScriptedTurn::new().text("I'll look.").call(
                "r",
                "Read",
                r#"{"file_path":"plan.md"}"#,
            ))
            .reply(ScriptedTurn::new().text("It asks for **52** nuts."))
            .reply(ScriptedTurn::new().text("You are welcome."))
            .start();
        let home = TestHome::new().with_server(&server);
        home.write("plan.md", "# Plan\n\n- 52 nuts\n");
        let mut terminal = talk(&home, &[], (80, 30));
        say(&mut terminal, "how many nuts?", "nuts.");
        say(&mut terminal, "thanks", "welcome.");
        let expected = [
            "> how many nuts?",
            "I'll look.",
            "→ Read plan.md · 3 lines",
            "It asks for 52 nuts.",
            "> thanks",
            "You are welcome.",
            ">",
        ];
        assert_eq!(below_the_first_prompt(&terminal), expected);
        let requests = server.requests();
        assert_eq!(texts(&requests[2].last_message()).last().unwrap(), "thanks");
        leave(terminal);
        server.finish();
    }
}

#[test]
fn the_first_message_on_the_command_line_and_the_session_goes_on() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("Good morning."))
        .reply(ScriptedTurn::new().text("Still here."))
        .start();
    let home = TestHome::new().with_server(&server);
    let terminal = talk(&home, &["good", "morning"], (80, 24));
    assert_eq!(below_the_first_prompt(&terminal), ["> good morning", "Good morning.", ">"]);
    let terminal = leave(terminal);
    terminal.wait_for_text("Continue it with: dormouse --continue");
    let mut terminal = talk(&home, &["--continue"], (80, 24));
    terminal.wait_for_text("resumed session");
    say(&mut terminal, "and now?", "Still here.");
    assert_eq!(server.requests()[1].messages().len(), 3);
    leave(terminal);
    server.finish();
}

#[test]
fn interrupted_while_the_answer_streams() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four five")).gate_after(3, &gate),
        )
        .reply(ScriptedTurn::new().text("still usable"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("count");
    gate.wait_until_reached();
    terminal.wait_for_text("one");
    terminal.type_keys("\x03");
    terminal.wait_for_text("Interrupted.");
    wait_for_prompt(&terminal);
    gate.open();
    say(&mut terminal, "go on", "still usable");
    let messages = server.requests()[1].messages();
    assert_eq!(messages.len(), 3);
    assert!(texts(&messages[1])[0].starts_with("one"), "{messages:?}");
    leave(terminal);
    server.finish();
}

#[test]
fn interrupted_while_a_command_runs() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("w", "Bash", r#"{"command":"echo $$ > pid; sleep 300"}"#))
        .reply(ScriptedTurn::new().text("still usable"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (80, 24));
    terminal.enter("wait");
    wait_until("the command to start", || {
        std::fs::read_to_string(home.project().join("pid")).is_ok_and(|text| text.ends_with('\n'))
    });
    // U-5: who waits is told for what.
    terminal.wait_for_text("Bash: echo $$ > pid; sleep 300 · ");
    terminal.type_keys("\x03");
    terminal.wait_for_text("Interrupted.");
    wait_for_prompt(&terminal);
    let pid = home.read("pid");
    assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "the command goes on");
    say(&mut terminal, "go on", "still usable");
    assert!(!terminal.screen().contains(" s ·"), "the status is gone\n{}", terminal.screen());
    leave(terminal);
    server.finish();
}

#[test]
fn many_lines_as_one_message() {
    let answers = ["pasted", "keys", "backslash"];
    let server = server(WireFormat::Anthropic)
        .replies(answers.map(|answer| ScriptedTurn::new().text(format!("got {answer}"))))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.paste("one\ntwo\n\nfour");
    terminal.wait_for_text("four");
    say(&mut terminal, "", "got pasted");
    say(&mut terminal, "a\nb\x1b\rc", "got keys");
    say(&mut terminal, "a\\\rb", "got backslash");
    let said: Vec<String> =
        server.requests().iter().map(|r| texts(&r.last_message()).pop().unwrap()).collect();
    assert_eq!(said, ["one\ntwo\n\nfour", "a\nb\nc", "a\nb"]);
    leave(terminal);
    server.finish();
}

#[test]
fn what_is_typed_during_a_turn_waits_for_the_next_prompt() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four five")).gate_after(3, &gate),
        )
        .reply(ScriptedTurn::new().text("second answer"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("first");
    gate.wait_until_reached();
    terminal.wait_for_text("one");
    terminal.enter("typed ahead");
    terminal.wait_for_text("queued: typed ahead");
    gate.open();
    terminal.wait_for_text("second answer");
    wait_for_prompt(&terminal);
    let expected = ["> first", "one two three four five", "> typed ahead", "second answer", ">"];
    assert_eq!(below_the_first_prompt(&terminal), expected);
    leave(terminal);
    server.finish();
}

#[test]
fn what_is_pasted_during_a_turn_stays_together() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four five")).gate_after(3, &gate),
        )
        .reply(ScriptedTurn::new().text("second answer"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("first");
    gate.wait_until_reached();
    terminal.wait_for_text("one");
    assert!(terminal.look(Screen::bracketed_paste), "the terminal marks what is pasted");
    terminal.paste("a\nb\nc");
    gate.open();
    terminal.wait_for("what was pasted", |screen| screen.contains("> a\n  b\n  c"));
    say(&mut terminal, "", "second answer");
    assert_eq!(texts(&server.requests()[1].last_message()).pop().unwrap(), "a\nb\nc");
    leave(terminal);
    server.finish();
}

/// Lines that arrive at once were pasted into a terminal that does not mark that: they are one message, sent by Enter.
#[test]
fn a_paste_without_marks_is_one_message() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("an answer")).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &[], (80, 24));
    wait_for_prompt(&terminal);
    terminal.type_keys("one\rtwo 睡鼠\r\rthree");
    terminal.wait_for("all lines", |screen| screen.contains("> one\n  two 睡鼠\n\n  three"));
    say(&mut terminal, "", "an answer");
    let said = texts(&server.single_request().last_message()).pop().unwrap();
    assert_eq!(said, "one\ntwo 睡鼠\n\nthree");
    leave(terminal);
    server.finish();
}

#[test]
fn two_messages_in_one_go() {
    let server = server(WireFormat::Anthropic)
        .replies(["answer one", "answer two"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.type_keys("one\rtwo\r");
    terminal.wait_for_text("answer two");
    wait_for_prompt(&terminal);
    let expected = ["> one", "answer one", "> two", "answer two", ">"];
    assert_eq!(below_the_first_prompt(&terminal), expected);
    leave(terminal);
    server.finish();
}

#[test]
fn earlier_messages_are_found_again() {
    let server = server(WireFormat::Anthropic)
        .replies(["first", "second", "third"].map(|n| ScriptedTurn::new().text(n)))
        .expect_break("another session")
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    say(&mut terminal, "a question", "first");
    leave(terminal);
    let file = home.dormouse_home().join("history");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "\"a question\"\n");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let mut terminal = talk(&home, &[], (80, 24));
    say(&mut terminal, "\x1b[A!", "second");
    say(&mut terminal, "\x1b[A\x1b[A", "third");
    let said: Vec<String> =
        server.requests().iter().map(|r| texts(&r.last_message()).pop().unwrap()).collect();
    assert_eq!(said, ["a question", "a question!", "a question"]);
    leave(terminal);
    server.finish();
}

#[test]
fn ways_to_leave() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.type_keys("thrown away");
    terminal.wait_for_text("thrown away");
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    assert!(!terminal.screen().contains("again"), "only what was typed is thrown away");
    terminal.type_keys("\x03");
    terminal.wait_for_text("Press Ctrl-C again or Ctrl-D to leave.");
    wait_for_prompt(&terminal);
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait(), 0);
    assert!(terminal.is_sane());
    leave(talk(&home, &[], (80, 24)));
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("/quit");
    assert_eq!(terminal.wait(), 0);
    let mut terminal = talk(&home, &[], (80, 24));
    assert!(!terminal.is_sane(), "the editor reads key by key");
    terminal.signal(Signal::TERM);
    assert_eq!(terminal.wait(), 130);
    assert!(terminal.is_sane());
    assert!(!terminal.look(Screen::bracketed_paste));
    server.finish();
}

#[test]
fn ended_in_the_middle_of_a_turn() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four five")).gate_after(3, &gate),
        )
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("count");
    terminal.wait_for_text("one");
    terminal.signal(Signal::HUP);
    assert_eq!(terminal.wait(), 130);
    assert!(terminal.is_sane());
    assert!(transcript(&home).contains("one"));
    gate.open();
    server.finish();
}

#[test]
fn stopped_and_taken_up_again_in_the_middle_of_a_turn() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four five")).gate_after(3, &gate),
        )
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("count");
    terminal.wait_for_text("one");
    terminal.signal(Signal::STOP);
    terminal.make_sane();
    terminal.signal(Signal::CONT);
    wait_until("the echo to be off again", || !terminal.is_sane());
    gate.open();
    terminal.wait_for_text("five");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

#[test]
fn a_command_that_takes_its_time_to_stop() {
    let command = r#"{"command":"trap 'until [ -e seen ]; do sleep 0.1; done; exit' TERM; echo $$ > pid; while :; do sleep 0.1; done"}"#;
    let server =
        server(WireFormat::Anthropic).reply(ScriptedTurn::new().call("w", "Bash", command)).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &["--permission-mode", "bypass"], (80, 24));
    terminal.enter("wait");
    wait_until("the command to start", || home.project().join("pid").exists());
    terminal.type_keys("\x03");
    terminal.wait_for_text("stopping · ");
    home.write("seen", "");
    terminal.wait_for_text("Interrupted.");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

#[test]
fn wide_letters_are_edited_and_the_window_changes_meanwhile() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("an answer")).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (40, 24));
    terminal.type_keys("睡鼠在冬天睡觉，因为食物很少。它们在秋天吃很多坚果");
    terminal.wait_for_text("吃很多坚果");
    terminal.resize(30, 24);
    terminal.type_keys("\x7f\x7f\x1b[D\x1b[D🌰");
    terminal.wait_for_text("🌰");
    say(&mut terminal, "", "an answer");
    let said = texts(&server.single_request().last_message()).pop().unwrap();
    assert_eq!(said, "睡鼠在冬天睡觉，因为食物很少。它们在秋天吃🌰很多");
    leave(terminal);
    server.finish();
}

#[test]
fn a_server_that_is_slow_at_the_start_is_waited_for_aloud() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut home = TestHome::new();
    home.set_env("ANTHROPIC_BASE_URL", format!("http://{}", listener.local_addr().unwrap()));
    home.set_env("ANTHROPIC_API_KEY", "k");
    let terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &["--model", "m"], (80, 24));
    terminal.wait_for_text("Connecting to the model server");
}

#[test]
fn what_is_to_be_done_is_listed() {
    let list = r#"{"todos":[{"content":"find the nuts","status":"completed"},
        {"content":"count them","status":"in_progress"},{"content":"sleep","status":"pending"}]}"#;
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("A plan.").call("t", "TodoWrite", list.replace('\n', "")))
        .reply(ScriptedTurn::new().text("I count."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    say(&mut terminal, "nuts", "I count.");
    let expected =
        ["> nuts", "A plan.", "I count.", "[x] find the nuts", "[>] count them", "[ ] sleep", ">"];
    assert_eq!(below_the_first_prompt(&terminal), expected);
    leave(terminal);
    server.finish();
}

#[test]
fn silence_faults_and_tries_are_told() {
    let server = server(WireFormat::Anthropic)
        .reply(Reply::rate_limited(2))
        .reply(
            Reply::from(ScriptedTurn::new().text("a first try of an answer"))
                .stop_after(4)
                .then(End::Reset),
        )
        .reply(ScriptedTurn::new().text("an answer"))
        .reply(Reply::from(ScriptedTurn::new().text("x")).stop_after(0).then(End::Hang))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("hi");
    terminal.wait_for_text("retrying in");
    terminal.wait_for_text("Partial response discarded");
    terminal.wait_for_text("an answer");
    wait_for_prompt(&terminal);
    terminal.enter("and again");
    terminal.wait_for_text("waiting for the model · 1 s");
    terminal.type_keys("\x03");
    terminal.wait_for_text("Interrupted.");
    leave(terminal);
    server.finish();
}

#[test]
fn a_failure_leaves_the_conversation_usable() {
    let server = server(WireFormat::Anthropic)
        .reply(Reply::unauthorized_401())
        .reply(ScriptedTurn::new().text("an answer"))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("hi");
    terminal.wait_for_text("error: ");
    terminal.wait_for_text("the key came from ANTHROPIC_API_KEY");
    wait_for_prompt(&terminal);
    say(&mut terminal, "again", "an answer");
    leave(terminal);
    server.finish();
}

#[test]
fn commands_are_not_for_the_model() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("first"))
        .reply(ScriptedTurn::new().text("second"))
        .reply(ScriptedTurn::new().text("third"))
        .expect_break("another model was chosen")
        .expect_break("another session")
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 60));
    say(&mut terminal, "hi", "first");
    say(&mut terminal, "/help", "Ctrl-D");
    say(&mut terminal, "/cost", "no price for");
    say(&mut terminal, "/sta\t", "requests for");
    say(&mut terminal, "/config", "settings.json");
    say(&mut terminal, "/permissions plan", "plan: read-only");
    say(&mut terminal, "/premissions", "Did you mean /permissions?");
    say(&mut terminal, "/model other-1", "Model set to other-1");
    assert_eq!(server.requests().len(), 1);
    say(&mut terminal, "/bin/sh is a path", "second");
    let requests = server.requests();
    assert_eq!(requests[1].json()["model"], "other-1");
    assert_eq!(requests[1].messages().len(), 3);
    say(&mut terminal, "/clear", "The previous one is saved");
    say(&mut terminal, "anew", "third");
    assert_eq!(server.requests()[2].messages().len(), 1);
    assert_eq!(home.transcripts().len(), 2);
    leave(terminal);
    server.finish();
}

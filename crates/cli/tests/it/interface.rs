//! What the terminal interface shows while an agent works, and what its keys do at every moment.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{
    CellColor, Gate, RecordedRequest, Reply, ScriptedServer, Terminal, TestHome, WireFormat,
};

use crate::program::{BOTH, ask, server};
use crate::talk::{
    answer, below_the_first_prompt, leave, say, talk, texts, wait_for_menu, wait_for_prompt,
};

const BYPASS: &[&str] = &["--permission-mode", "bypass"];

/// The color of the first cell of the text in the row that contains it.
fn color_of(terminal: &Terminal, text: &str) -> CellColor {
    terminal.look(|screen| {
        let (_, columns) = screen.size();
        let row = screen.rows(0, columns.get()).position(|row| row.contains(text)).unwrap();
        let row = u16::try_from(row).unwrap();
        let column = (0..columns.get()).find(|column| {
            screen.contents_between(row, *column, row, columns.get()).starts_with(text)
        });
        screen.cell(row, column.unwrap()).unwrap().fgcolor()
    })
}

/// A model that runs a command and waits at the gate before it goes on.
fn working(command: &str, gate: &Gate) -> (ScriptedServer, TestHome) {
    let input = serde_json::json!({ "command": command }).to_string();
    let server = server(WireFormat::Anthropic)
        .reply(
            Reply::from(ScriptedTurn::new().text("one two three four").call("b", "Bash", input))
                .gate_after(3, gate),
        )
        .start();
    let home = TestHome::new().with_server(&server);
    (server, home)
}

/// A command that fails does not look like one that succeeded: exit code, red, and what it printed.
#[test]
fn a_failed_command_is_seen() {
    let command = "seq 1 40; echo error: no nuts >&2; exit 3";
    let input = serde_json::json!({ "command": command }).to_string();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("b", "Bash", input))
        .reply(ScriptedTurn::new().text("It failed."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, BYPASS, (100, 40));
    say(&mut terminal, "count", "It failed.");
    let screen = terminal.screen();
    for wanted in [
        "· exit code 3, 41 lines",
        "  1\n  2\n",
        "  … 29 lines more · Ctrl-O shows all",
        "  error: no nuts",
    ] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    assert_eq!(color_of(&terminal, "· exit code 3"), CellColor::Idx(1));
    leave(terminal);
    server.finish();
}

#[test]
fn keys_are_shown_while_the_answer_streams_and_esc_stops_it() {
    let gate = Gate::new();
    let (server, home) = working("true", &gate);
    let mut terminal = talk(&home, BYPASS, (80, 24));
    terminal.enter("go");
    gate.wait_until_reached();
    terminal.wait_for_text("one two");
    terminal.type_keys("睡鼠 and more");
    terminal.wait_for_text("bypass > 睡鼠 and more");
    terminal.type_keys("\x1b");
    terminal.wait_for_text("Interrupted.");
    // What was typed is still there.
    terminal.wait_for_text("bypass > 睡鼠 and more");
    server.push(ScriptedTurn::new().text("Yes?"));
    terminal.type_keys("!\r");
    terminal.wait_for_text("Yes?");
    wait_for_prompt(&terminal);
    assert_eq!(texts(&server.requests()[1].last_message()).pop().unwrap(), "睡鼠 and more!");
    gate.open();
    leave(terminal);
}

/// Enter queues, Up takes back, Enter again steers: it goes with the next request of this turn, after the results.
#[test]
fn a_message_in_the_middle_of_a_turn() {
    for wire in BOTH {
        let gate = Gate::new();
        let input = r#"{"command":"echo done"}"#;
        let reply = ScriptedTurn::new().text("one two three four").call("b", "Bash", input);
        let server = server(wire)
            .reply(Reply::from(reply).gate_after(3, &gate))
            .reply(ScriptedTurn::new().text("With walnuts."))
            .reply(ScriptedTurn::new().text("And later."))
            .start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = talk(&home, BYPASS, (80, 24));
        terminal.enter("collect nuts");
        gate.wait_until_reached();
        terminal.enter("no walnuts");
        terminal.wait_for_text("queued: no walnuts");
        terminal.type_keys("\x1b[A");
        terminal.wait_for_text("bypass > no walnuts");
        terminal.type_keys("\x01\x1b[3~\x1b[3~\x1b[3~\r");
        terminal.wait_for_text("queued: walnuts");
        terminal.type_keys("\r");
        terminal.wait_for_text("with the next request: walnuts");
        terminal.enter("and later?");
        terminal.wait_for_text("queued: and later?");
        gate.open();
        terminal.wait_for_text("And later.");
        wait_for_prompt(&terminal);
        let rows = terminal.all_rows().join("\n");
        assert_eq!(rows.matches("> walnuts").count(), 1, "{rows}");
        assert!(!rows.contains("with the next request"), "{rows}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{wire:?}");
        let told = requests[1].json()["messages"].to_string();
        let (result, message) = (told.find("done").unwrap(), told.find("walnuts").unwrap());
        assert!(result < message, "after the results: {told}");
        assert!(!told.contains("and later?"));
        assert_eq!(texts(&requests[2].last_message()).pop().unwrap(), "and later?");
        leave(terminal);
        server.finish();
    }
}

#[test]
fn esc_twice_picks_a_message_to_go_back_to() {
    let write = r#"{"file_path":"nuts.txt","content":"40\\n"}"#;
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("Good morning."))
        .reply(ScriptedTurn::new().call("w", "Write", write))
        .reply(ScriptedTurn::new().text("Written."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, BYPASS, (100, 30));
    say(&mut terminal, "good morning", "Good morning.");
    say(&mut terminal, "write down the nuts", "Written.");
    terminal.type_keys("\x1b");
    terminal.wait_for_text("Press Esc again to go back to an earlier message.");
    terminal.type_keys("\x1b");
    terminal.wait_for_text("❯ write down the nuts");
    assert!(terminal.screen().contains("nuts.txt (new)"), "{}", terminal.screen());
    // Esc picks nothing, and the screen is as before.
    terminal.type_keys("\x1b");
    wait_for_prompt(&terminal);
    assert!(!terminal.screen().contains('❯'), "{}", terminal.screen());
    terminal.type_keys("\x1b");
    terminal.wait_for_text("Press Esc again");
    terminal.type_keys("\x1b");
    terminal.wait_for_text("❯ write down the nuts");
    terminal.type_keys("morn");
    terminal.wait_for_text("❯ good morning");
    terminal.type_keys("\x15\r");
    terminal.wait_for_text("❯ Files and conversation");
    terminal.type_keys("\r");
    // The message comes back, to be changed and sent again.
    terminal.wait_for_text("bypass > write down the nuts");
    assert!(!home.project().join("nuts.txt").exists());
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

/// `--resume` and `/resume` pick a session: by title, age and first and last prompt, narrowed by typing.
#[test]
fn a_session_is_picked() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    for (prompt, answer) in [("count the acorns", "Forty."), ("数一下松果", "十二个。")] {
        server.push(ScriptedTurn::new().text(answer));
        home.run(&mut ask(&home, &[prompt])).success();
        if server.requests().len() == 1 {
            server.expect_break("another session");
        }
    }
    let terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &["--resume"], (80, 24));
    let mut terminal = terminal;
    terminal.wait_for_text("Resume a session");
    terminal.wait_for_text("❯ 数一下松果");
    terminal.type_keys("acorn");
    terminal.wait_for_text("❯ count the acorns");
    assert!(terminal.screen().contains("first: count the acorns"), "{}", terminal.screen());
    terminal.type_keys("\r");
    terminal.wait_for_text("resumed session");
    terminal.wait_for_text("Forty.");
    wait_for_prompt(&terminal);
    // Another one, from within.
    terminal.enter("/resume");
    terminal.wait_for_text("❯ 数一下松果");
    assert!(!terminal.screen().contains("❯ count"), "not the session itself");
    terminal.type_keys("\r");
    terminal.wait_for_text("十二个。");
    wait_for_prompt(&terminal);
    server.push(ScriptedTurn::new().text("还是十二个。"));
    say(&mut terminal, "再数一次", "还是十二个。");
    assert!(server.requests()[2].text().contains("数一下松果"));
    leave(terminal);
    // Esc leaves without opening one.
    let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &["--resume"], (80, 24));
    terminal.wait_for_text("Resume a session");
    terminal.type_keys("\x1b");
    assert_eq!(terminal.wait(), 0);
    assert!(terminal.is_sane());
    server.finish();
}

/// A command in the background is a task: listed, shown in the status line, stopped; its end is told to user and model.
#[test]
fn background_commands_are_tasks() {
    let start = |id: &str, command: &str| {
        let input = serde_json::json!({ "command": command, "run_in_background": true });
        ScriptedTurn::new().call(id, "Bash", input.to_string())
    };
    let server = server(WireFormat::Anthropic)
        .reply(start("a", "echo the nuts are counted; sleep 1000"))
        .reply(ScriptedTurn::new().text("Started."))
        .reply(ScriptedTurn::new().text("I see that it ended."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, BYPASS, (100, 30));
    say(&mut terminal, "start it", "Started.");
    terminal.wait_for_text("sleep 1000 · running in the background as shell_1\n");
    terminal.wait_for_text("⚙ shell_1: echo the nuts are c… (");
    say(&mut terminal, "/tasks", " s · echo the nuts are counted; sleep 1000");
    say(&mut terminal, "/tasks show shell_1", "\nthe nuts are counted\n");
    say(&mut terminal, "/tasks stop nothing", "No task `nothing` is running");
    terminal.enter("/tasks stop shell_1");
    terminal.wait_for_text("background command shell_1 ended (stopped, after ");
    terminal.wait_for("no pill", |screen| !screen.contains("⚙ shell_1"));
    say(&mut terminal, "and now?", "I see that it ended.");
    let request = server.requests()[2].text();
    assert!(request.contains("The background command `shell_1` has ended"), "{request}");
    leave(terminal);
    server.finish();
}

/// However long a command is, the row says for how long it has run and how to stop it; waiting does, too.
#[test]
fn a_wait_shows_its_time_and_the_key_that_ends_it() {
    let command = format!("echo {}; sleep 1000", "nuts ".repeat(30));
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call(
            "a",
            "Bash",
            serde_json::json!({ "command": command }).to_string(),
        ))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, BYPASS, (60, 24));
    terminal.enter("go");
    terminal.wait_for("time and key", |screen| {
        let mut rows = screen.lines();
        rows.any(|row| row.starts_with("Bash: echo nuts") && row.ends_with(" s · Esc to interrupt"))
    });
    terminal.type_keys("\x1b");
    terminal.wait_for_text("interrupted");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

/// What shows or changes something beside the conversation runs at once; other commands wait for the end of the turn.
#[test]
fn commands_during_a_turn() {
    let gate = Gate::new();
    let input =
        serde_json::json!({ "command": "echo working; sleep 1000", "run_in_background": true });
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("a", "Bash", input.to_string()))
        .reply(Reply::from(ScriptedTurn::new().text("one two three four")).gate_after(3, &gate))
        // It is told that the command has ended.
        .reply(ScriptedTurn::new().text("It was stopped."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, BYPASS, (100, 40));
    terminal.enter("start it");
    gate.wait_until_reached();
    // The status line follows the turn.
    terminal.wait_for_text("⚙ shell_1");
    terminal.enter("/tasks stop shell_1");
    terminal.wait_for_text("Stopping shell_1.");
    terminal.wait_for("no pill", |screen| !screen.contains("⚙ shell_1"));
    terminal.enter("/cost");
    terminal.wait_for_text("background tasks");
    terminal.enter("/context");
    terminal.wait_for_text("auto-compaction at");
    terminal.enter("/permissions plan");
    terminal.wait_for_text("plan >");
    terminal.enter("/doctor");
    terminal.wait_for_text("queued: /doctor");
    terminal.type_keys("\x1b[A");
    terminal.wait_for_text("plan > /doctor");
    terminal.type_keys("\x15");
    gate.open();
    terminal.wait_for_text("It was stopped.");
    wait_for_prompt(&terminal);
    // The answer is not torn.
    let rows = terminal.all_rows().join("\n");
    assert!(rows.contains("\none two three four\n"), "{rows}");
    leave(terminal);
    server.finish();
}

/// A session that is open elsewhere cannot be resumed; this one stays open.
#[test]
fn a_session_that_is_open_elsewhere_costs_nobody_theirs() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    server.push(ScriptedTurn::new().text("Good morning."));
    let mut first = talk(&home, &[], (100, 24));
    say(&mut first, "good morning", "Good morning.");
    let id = home.transcripts()[0].file_stem().unwrap().to_string_lossy().into_owned();
    let mut second = talk(&home, &[], (100, 24));
    say(&mut second, &format!("/resume {id}"), "is open elsewhere");
    say(&mut second, "/cost", "background tasks");
    leave(second);
    leave(first);
    server.finish();
}

/// Ctrl-D during a turn leaves when it ends; Esc takes that back, and what is typed is not left behind.
#[test]
fn leaving_during_a_turn_is_taken_back() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(Reply::from(ScriptedTurn::new().text("one two three four")).gate_after(3, &gate))
        .reply(ScriptedTurn::new().text("The second answer."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("go");
    gate.wait_until_reached();
    terminal.type_keys("\x04");
    terminal.wait_for_text("Leaving when the turn ends · Esc: stay");
    terminal.type_keys("\x1b");
    terminal.wait_for("staying", |screen| !screen.contains("Leaving when"));
    terminal.type_keys("\x04");
    terminal.wait_for_text("Leaving when the turn ends");
    terminal.type_keys("and this?");
    // A turn that ended before the keys were read would end the program.
    terminal.wait_for_text("> and this?");
    gate.open();
    terminal.wait_for("the end of the turn", |screen| screen.contains("one two three four"));
    terminal.type_keys("\r");
    terminal.wait_for_text("The second answer.");
    assert_eq!(terminal.wait(), 0);
    server.finish();
}

/// A rule that does not cover the call is kept, and the question comes again.
#[test]
fn a_rule_that_does_not_cover_the_call() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("b", "Bash", r#"{"command":"touch acorn"}"#))
        .reply(ScriptedTurn::new().text("Touched."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (100, 30));
    terminal.enter("touch it");
    wait_for_menu(&terminal, "touch acorn");
    terminal.type_keys("e");
    terminal.wait_for_text("Bash(touch");
    terminal.type_keys("\x15Bash(ls:*)\r");
    terminal.wait_for_text("Allow Bash(ls:*) in this session");
    terminal.type_keys("s");
    terminal.wait_for_text("the rule `Bash(ls:*)` does not cover this call");
    assert!(!home.project().join("acorn").exists());
    // The menu of before may still be drawn: it has another first line.
    terminal.wait_for_text("❯ 1 Yes (y)");
    terminal.type_keys("y");
    terminal.wait_for_text("Touched.");
    wait_for_prompt(&terminal);
    assert!(home.project().join("acorn").exists());
    leave(terminal);
    server.finish();
}

/// A resumed session shows where it was: the last turns with their calls.
#[test]
fn a_resumed_session_shows_its_last_turns() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, BYPASS, (90, 40));
    for number in 1..=4 {
        let input = format!(r#"{{"command":"echo nut {number}; exit {number}"}}"#);
        server.push(ScriptedTurn::new().text("I look.").call("b", "Bash", input));
        server.push(ScriptedTurn::new().text(format!("**Answer** {number}.")));
        say(&mut terminal, &format!("question {number}"), &format!("Answer {number}."));
    }
    leave(terminal);
    let terminal = talk(&home, &["--continue"], (90, 40));
    let screen = terminal.screen();
    for wanted in ["> question 2", "> question 4", "exit code 4, 1 line", "  nut 4", "Answer 4."] {
        assert!(screen.contains(wanted), "{wanted}: {screen}");
    }
    assert!(!screen.contains("question 1"), "{screen}");
    leave(terminal);
    server.finish();
}

#[test]
fn slash_commands_are_suggested_as_they_are_typed() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (100, 30));
    terminal.type_keys("/co");
    terminal.wait_for_text("/context  show what fills the context window");
    assert!(terminal.screen().contains("  /compact"), "{}", terminal.screen());
    terminal.type_keys("n\t");
    terminal.wait_for_text("> /config");
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    assert!(!terminal.screen().contains("/context"), "{}", terminal.screen());
    // Ctrl-C clears; Up brings it back.
    terminal.type_keys("\x1b[A");
    terminal.wait_for_text("> /config");
    terminal.type_keys("\x03");
    wait_for_prompt(&terminal);
    leave(terminal);
    server.finish();
}

/// Nothing is cleared as a whole, nothing is asked, and rows that did not change are not written again.
#[test]
fn a_long_answer_is_written_once() {
    let lines: Vec<String> = (0..400).map(|line| format!("{line}. a line of the answer")).collect();
    let answer = lines.join("\n\n");
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text(&answer)).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (100, 30));
    say(&mut terminal, "count", "399. a line of the answer");
    let bytes = String::from_utf8(terminal.bytes()).unwrap();
    for sequence in ["\x1b[2J", "\x1b[3J", "\x1b[?1049h", "\x1b[6n", "\x1b[c"] {
        assert!(!bytes.contains(sequence), "{sequence:?}");
    }
    // A frame may end within the row, so that it is not in one piece; but it is not written twice.
    assert!(bytes.matches("200. a line").count() <= 1);
    assert!(bytes.len() < 3 * answer.len(), "{} bytes for {}", bytes.len(), answer.len());
    leave(terminal);
    server.finish();
}

/// Ctrl-Z gives the terminal back in its normal mode and takes it again; a new size moves nothing that is finished.
#[test]
fn stopped_resized_and_used_again() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("Good morning."))
        .reply(ScriptedTurn::new().text("Good night."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (100, 30));
    say(&mut terminal, "good morning", "Good morning.");
    terminal.type_keys("\x1a");
    terminal.signal(rustix::process::Signal::CONT);
    wait_for_prompt(&terminal);
    terminal.resize(70, 20);
    terminal.type_keys("good ");
    terminal.wait_for_text("> good");
    terminal.resize(100, 30);
    terminal.type_keys("night\r");
    terminal.wait_for_text("Good night.");
    wait_for_prompt(&terminal);
    let rows = terminal.all_rows().join("\n");
    assert_eq!(rows.matches("Good morning.").count(), 1, "{rows}");
    leave(terminal);
    server.finish();
}

/// A reason is typed below the choice; the choice that keeps a rule shows the whole rule.
#[test]
fn the_menu_shows_the_whole_rule() {
    let long = format!("touch {}", "a-rather-long-file-name-".repeat(2));
    let input = serde_json::json!({ "command": long }).to_string();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("b", "Bash", input))
        .reply(ScriptedTurn::new().text("Not done."))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (50, 30));
    terminal.enter("touch it");
    wait_for_menu(&terminal, "don't ask again");
    let shown = terminal.screen().replace(['\n', ' '], "");
    assert!(shown.contains(&format!("Bash({})", long.replace(' ', ""))), "{shown}");
    answer(&mut terminal, "tuse a short name\r", "Not done.");
    let told = texts(&server.requests()[1].last_message()).pop().unwrap();
    assert!(told.contains("was not run") && told.contains("use a short name"), "{told}");
    leave(terminal);
    server.finish();
}

/// `@` finds files by a few letters of their path, as git sees them, and puts the path into the message.
#[test]
fn files_are_found_by_a_few_letters() {
    let server =
        server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("I look at it.")).start();
    let home = TestHome::new().with_server(&server);
    home.write("src/parser/lexer.rs", "// lexer");
    home.write("src/parser/mod.rs", "// parser");
    home.write("文档/睡鼠.md", "睡");
    home.write("ignored/lexer.rs", "// not this");
    home.write(".gitignore", "ignored/\n");
    home.git_init();
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.type_keys("see @lex");
    terminal.wait_for_text("❯ src/parser/lexer.rs");
    assert!(!terminal.screen().contains("ignored"), "{}", terminal.screen());
    terminal.type_keys("\t");
    terminal.wait_for_text("> see @src/parser/lexer.rs");
    terminal.type_keys("and @睡");
    terminal.wait_for_text("❯ 文档/睡鼠.md");
    terminal.type_keys("\r");
    terminal.wait_for_text("and @文档/睡鼠.md");
    terminal.type_keys("\r");
    terminal.wait_for_text("I look at it.");
    wait_for_prompt(&terminal);
    let sent = texts(&server.requests()[0].last_message());
    assert!(
        sent.iter().any(|text| text.starts_with("see @src/parser/lexer.rs and @文档/睡鼠.md")),
        "{sent:?}"
    );
    leave(terminal);
    server.finish();
}

/// What the model thinks is one line, and a key shows all of it; effort is set on the command line and by `/effort`.
#[test]
fn thinking_is_folded_and_effort_is_set() {
    for wire in BOTH {
        let server = server(wire)
            .reply(
                ScriptedTurn::new()
                    .thinking("Forty nuts,\nminus two.", "sig")
                    .text("Thirty-eight."),
            )
            .reply(ScriptedTurn::new().text("Still thirty-eight."))
            .start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = talk(&home, &["--effort", "low"], (80, 24));
        terminal.wait_for_text("scripted-1 (low)");
        say(&mut terminal, "how many?", "Thirty-eight.");
        let screen = terminal.screen();
        assert!(screen.contains("thought: 2 lines · Alt-T shows it"), "{screen}");
        assert!(!screen.contains("minus two"), "{screen}");
        terminal.type_keys("\x1bt");
        terminal.wait_for_text("minus two.");
        say(&mut terminal, "/effort none", "Unknown effort `none`");
        say(&mut terminal, "/effort max", "Effort set to max.");
        server.expect_break("another effort");
        say(&mut terminal, "sure?", "Still thirty-eight.");
        let efforts: Vec<_> =
            server.requests().iter().map(|request| effort(wire, request)).collect();
        let most = if wire == WireFormat::Anthropic { "max" } else { "high" };
        assert_eq!(efforts, ["low", most]);
        leave(terminal);
        server.finish();
    }
}

fn effort(wire: WireFormat, request: &RecordedRequest) -> String {
    let body = request.json();
    let effort = match wire {
        WireFormat::Anthropic => &body["output_config"]["effort"],
        WireFormat::OpenAi => &body["reasoning_effort"],
    };
    effort.as_str().unwrap_or_default().to_owned()
}

/// A pager and an editor leave nothing behind: the screen is as before.
#[test]
fn a_pager_leaves_nothing_behind() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("b", "Bash", r#"{"command":"seq 3"}"#))
        .reply(ScriptedTurn::new().text("Counted."))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("PAGER", "true");
    home.set_env("VISUAL", "true");
    let mut terminal = talk(&home, BYPASS, (80, 24));
    say(&mut terminal, "count", "Counted.");
    let above_status = |terminal: &Terminal| {
        let screen = terminal.screen();
        screen.split("scripted-1 · bypass").next().map(str::to_owned)
    };
    let before = above_status(&terminal);
    for key in ["\x0f", "\x07", "\x0f"] {
        terminal.type_keys(key);
        terminal.type_keys("x");
        terminal.wait_for_text("bypass > x");
        terminal.type_keys("\x7f");
        wait_for_prompt(&terminal);
    }
    assert_eq!(above_status(&terminal), before);
    leave(terminal);
    server.finish();
}

/// A run without a conversation says what it waits for.
#[test]
fn a_run_that_takes_long_says_so() {
    let gate = Gate::new();
    let reply = Reply::from(ScriptedTurn::new().text("At last.")).gate_after(0, &gate);
    let server = server(WireFormat::Anthropic).reply(reply).start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = home.terminal(env!("CARGO_BIN_EXE_dormouse"), &["-p", "hi"], (80, 24));
    terminal.wait_for_text("waiting for the model · ");
    gate.open();
    terminal.wait_for_text("At last.");
    assert_eq!(terminal.wait(), 0);
    server.finish();
}

/// A window that gets narrower in the middle of a row loses no word of it, in either language.
#[test]
fn a_narrower_window_loses_nothing() {
    let english: Vec<String> = (0..60).map(|number| format!("word{number}")).collect();
    let chinese: Vec<String> = (0..60).map(|number| format!("松果{number}号，")).collect();
    for (words, separator) in [(english, " "), (chinese, "")] {
        let gate = Gate::new();
        let text = words.join(separator);
        let reply = Reply::from(ScriptedTurn::new().text(text)).gate_after(3, &gate);
        let server = server(WireFormat::Anthropic).reply(reply).start();
        let home = TestHome::new().with_server(&server);
        let mut terminal = talk(&home, &[], (80, 24));
        terminal.enter("go");
        terminal.wait_for_text(words[0].trim_end_matches('，'));
        terminal.wait_for("a part of a row", |screen| screen.contains("writing · "));
        terminal.resize(40, 24);
        gate.open();
        wait_for_prompt(&terminal);
        let shown: String = terminal.all_rows().concat().replace(' ', "");
        let mut rest = shown.as_str();
        for word in &words {
            let word = word.trim_end_matches('，');
            let (_, after) = rest.split_once(word).unwrap_or_else(|| panic!("{word}: {shown}"));
            rest = after;
        }
        leave(terminal);
        server.finish();
    }
}

/// In tmux, rows that are wrapped scroll the screen. However often the window gets narrower, the composer and the status line are
/// there once.
#[test]
fn a_narrower_window_doubles_nothing() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("an answer")).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("TERM", "screen");
    let mut terminal = talk(&home, &[], (100, 24));
    terminal.type_keys("a text that is typed into the composer and has to be wrapped");
    terminal.wait_for_text("has to be wrapped");
    for columns in [80, 60, 50, 44, 40, 36, 33, 30, 28] {
        terminal.narrow_like_tmux(columns);
        // Drawn after the new size was taken.
        terminal.type_keys(" x");
        let typed = format!("x{columns}");
        terminal.type_keys(&typed.replace('x', ""));
        terminal.wait_for("the new width", |screen| {
            let shown: String = screen.split_whitespace().collect();
            shown.contains(&format!("{typed}scripted-1·"))
        });
    }
    let rows = terminal.all_rows().join("\n");
    assert_eq!(rows.matches("> a").count(), 1, "{rows}");
    assert_eq!(rows.matches("\nscripted-1 · ").count(), 1, "{rows}");
    say(&mut terminal, "", "an answer");
    let rows = below_the_first_prompt(&terminal).join("\n");
    assert!(rows.contains("x28\nan answer\n>"), "{rows}");
    leave(terminal);
    server.finish();
}

/// A change that is longer than what a question shows is seen in the pager before it can be confirmed.
#[test]
fn a_long_change_is_not_confirmed_unseen() {
    let rows: Vec<String> = (1..=500).map(|number| format!("row {number}")).collect();
    let content = rows.join("\n") + "\n";
    let input = serde_json::json!({"file_path": "long.txt", "content": content}).to_string();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("w", "Write", input))
        .reply(ScriptedTurn::new().text("written"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("PAGER", format!("cp -t {}", home.user_home().display()));
    let mut terminal = talk(&home, &[], (100, 40));
    terminal.enter("write it");
    wait_for_menu(&terminal, "… 200 more lines");
    assert!(terminal.all_rows().iter().any(|row| row.contains("Write long.txt · 1 hunk, +500 −0")));
    terminal.type_keys("y");
    let shown = || {
        let files = std::fs::read_dir(home.user_home()).unwrap().map(|entry| entry.unwrap().path());
        files.into_iter().find(|file| file.extension().is_some_and(|ending| ending == "diff"))
    };
    terminal.wait_for("the pager", |_| shown().is_some());
    assert!(!home.project().join("long.txt").exists());
    let diff = std::fs::read_to_string(shown().unwrap()).unwrap();
    assert!(diff.contains("+row 500\n"), "{diff}");
    wait_for_menu(&terminal, "View the whole change");
    answer(&mut terminal, "y", "written");
    assert_eq!(std::fs::read_to_string(home.project().join("long.txt")).unwrap(), content);
    leave(terminal);
    server.finish();
}

/// Code has the colors of the terminal's palette, and none with `NO_COLOR`.
#[test]
fn code_is_colored() {
    for (no_color, expected) in [(false, CellColor::Idx(5)), (true, CellColor::Default)] {
        let answer = "```rust\nfn nuts() {} // none\n```\nwhich is all";
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text(answer)).start();
        let mut home = TestHome::new().with_server(&server);
        if no_color {
            home.set_env("NO_COLOR", "1");
        }
        let mut terminal = talk(&home, &[], (80, 24));
        say(&mut terminal, "code?", "which is all");
        assert_eq!(color_of(&terminal, "fn nuts"), expected);
        leave(terminal);
        server.finish();
    }
}

/// Without a pager the whole change is shown in the terminal: it is still not confirmed unseen.
#[test]
fn a_long_change_is_shown_without_a_pager_too() {
    let rows: Vec<String> = (1..=400).map(|number| format!("row {number}")).collect();
    let input =
        serde_json::json!({"file_path": "long.txt", "content": rows.join("\n")}).to_string();
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("w", "Write", input))
        .reply(ScriptedTurn::new().text("written"))
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("PAGER", "no-such-pager");
    let mut terminal = talk(&home, &[], (100, 40));
    terminal.enter("write it");
    wait_for_menu(&terminal, "… 100 more lines");
    terminal.type_keys("y");
    terminal.wait_for_text("+row 400");
    assert!(!home.project().join("long.txt").exists());
    wait_for_menu(&terminal, "View the whole change");
    answer(&mut terminal, "y", "written");
    leave(terminal);
    server.finish();
}

/// The setting `thinking`, in the words of each server; without it, nothing is said about it.
#[test]
fn thinking_is_switched_by_a_setting() {
    for (setting, expected) in [("on", true), ("off", false)] {
        let server = server(WireFormat::OpenAi).reply(ScriptedTurn::new().text("Hm.")).start();
        let home = TestHome::new().with_server(&server);
        let settings = format!("{{\"thinking\": \"{setting}\"}}");
        home.write(home.dormouse_home().join("settings.json"), settings);
        home.run(&mut ask(&home, &["how many?"])).success();
        let body = server.requests()[0].json();
        assert_eq!(body["chat_template_kwargs"]["enable_thinking"], expected, "{body}");
        server.finish();
    }
    for (model, expected) in [
        ("claude-opus-5-5", serde_json::json!({"type": "adaptive", "display": "summarized"})),
        ("claude-opus-4-5", serde_json::json!({"type": "enabled", "budget_tokens": 16_000})),
        ("other", serde_json::Value::Null),
    ] {
        let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("Hm.")).start();
        let home = TestHome::new().with_server(&server);
        home.write(home.dormouse_home().join("settings.json"), "{\"thinking\": \"on\"}");
        home.run(&mut ask(&home, &["--model", model, "how many?"])).success();
        let sent = server.requests()[0].json()["thinking"].clone();
        assert_eq!(sent, expected, "{model}");
        server.finish();
    }
}

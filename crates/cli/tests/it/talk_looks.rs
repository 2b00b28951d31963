//! What it looks like: widths, colours, hostile text, resizing.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, Reply, Screen, Terminal, TestHome, WireFormat, needs};

use crate::program::server;
use crate::talk::{
    answer, below_the_first_prompt, leave, say, talk, wait_for_menu, wait_for_prompt,
};

const ANSWER: &str = "\
# Nuts
The plan asks for **52 nuts**, see `plan.md` and [the docs](https://example.invalid/docs):

- 40 hazelnuts, which are small and round and brown and keep well
- 12 acorns

| Kind | Count | 中文 |
|------|------:|---|
| hazelnut | 40 | 榛子 |
| acorn | 12 | 橡子 🌰 |

```rust
fn main() { println!(\"a line of code that is too long for a narrow terminal\"); }
```

睡鼠在冬天睡觉，因为食物很少。它们在秋天吃很多坚果，然后在树洞里睡到春天。

Done.";

fn answered(arguments: &[&str], variables: &[(&str, &str)], size: (u16, u16)) -> Terminal {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text(ANSWER)).start();
    let mut home = TestHome::new().with_server(&server);
    for (name, value) in variables {
        home.set_env(name, value);
    }
    let mut terminal = talk(&home, arguments, size);
    say(&mut terminal, "nuts", "Done.");
    let terminal = leave(terminal);
    server.finish();
    terminal
}

/// No row was broken by the terminal itself.
fn assert_nothing_runs_over(terminal: &Terminal) {
    let (rows, columns) = terminal.look(Screen::size);
    for row in 0..rows.get() {
        assert!(!terminal.look(|screen| screen.row_wrapped(row)), "row {row} of {columns} columns");
    }
}

#[test]
fn at_80_columns() {
    let terminal = answered(&[], &[], (80, 40));
    assert_nothing_runs_over(&terminal);
    let expected = [
        "> nuts",
        "Nuts",
        "The plan asks for 52 nuts, see plan.md and the docs",
        "(https://example.invalid/docs):",
        "• 40 hazelnuts, which are small and round and brown and keep well",
        "• 12 acorns",
        "Kind     │ Count │ 中文",
        "─────────┼───────┼────────",
        "hazelnut │    40 │ 榛子",
        "acorn    │    12 │ 橡子 🌰",
        "  fn main() { println!(\"a line of code that is too long for a narrow terminal\")",
        "  ; }",
        "睡鼠在冬天睡觉，因为食物很少。它们在秋天吃很多坚果，然后在树洞里睡到春天。",
        "Done.",
        "Session saved. Continue it with: dormouse --continue",
    ];
    assert_eq!(below_the_first_prompt(&terminal), expected);
    let bold = terminal.look(|screen| {
        let row = screen.rows(0, 80).position(|row| row.starts_with("The plan")).unwrap();
        let bold = |column| screen.cell(u16::try_from(row).unwrap(), column).unwrap().bold();
        (bold(17), bold(18), bold(24), bold(25))
    });
    assert_eq!(bold, (false, true, true, false));
}

#[test]
fn at_40_columns() {
    let terminal = answered(&[], &[], (40, 60));
    assert_nothing_runs_over(&terminal);
    let rows = below_the_first_prompt(&terminal);
    let expected = [
        "• 40 hazelnuts, which are small and",
        "  round and brown and keep well",
        "• 12 acorns",
        "Kind     │ Count │ 中文",
        "─────────┼───────┼────────",
        "hazelnut │    40 │ 榛子",
        "acorn    │    12 │ 橡子 🌰",
        "  fn main() { println!(\"a line of code",
        "  that is too long for a narrow termina",
        "  l\"); }",
        "睡鼠在冬天睡觉，因为食物很少。它们在秋",
        "天吃很多坚果，然后在树洞里睡到春天。",
        "Done.",
    ];
    let from = rows.iter().position(|row| row.starts_with('•')).unwrap();
    assert_eq!(rows[from..from + expected.len()], expected);
}

#[test]
fn without_colours() {
    let styled = |terminal: &Terminal| {
        let bytes = String::from_utf8(terminal.bytes()).unwrap();
        bytes.replace("\x1b[0m", "").contains('m') && bytes.contains("\x1b[1m")
    };
    assert!(styled(&answered(&[], &[], (80, 40))), "the check itself");
    let terminal = answered(&[], &[("NO_COLOR", "1")], (80, 40));
    assert!(!styled(&terminal));
    assert!(below_the_first_prompt(&terminal).contains(&"• 12 acorns".to_owned()));
    assert!(!styled(&answered(&["--plain"], &[], (80, 40))));
}

#[test]
fn a_terminal_that_can_only_print() {
    let terminal = answered(&[], &[("TERM", "dumb")], (80, 40));
    let bytes = String::from_utf8(terminal.bytes()).unwrap();
    assert!(!bytes.contains('\x1b'), "{bytes:?}");
    assert!(below_the_first_prompt(&terminal).contains(&"• 12 acorns".to_owned()));
}

#[test]
fn plain_says_what_goes_on_in_lines_of_their_own() {
    let gate = Gate::new();
    let server = server(WireFormat::Anthropic)
        .reply(Reply::from(ScriptedTurn::new().text("an answer")).gate_after(0, &gate))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &["--plain"], (80, 24));
    terminal.enter("hi");
    terminal.wait_for_text("waiting for the model · ");
    gate.open();
    terminal.wait_for_text("an answer");
    wait_for_prompt(&terminal);
    let rows = below_the_first_prompt(&terminal);
    assert!(rows[1].starts_with("waiting for the model · "), "{rows:?}");
    assert_eq!(
        (rows.first().unwrap().as_str(), rows[rows.len() - 2].as_str()),
        ("> hi", "an answer")
    );
    leave(terminal);
    server.finish();
}

#[test]
fn nothing_of_a_hostile_model_steers_the_terminal() {
    let server = server(WireFormat::Anthropic)
        .reply(
            ScriptedTurn::new()
                .text("a\u{1b}]0;owned\u{7}b \u{1b}[2J\u{9b}31m \u{202e}txt\n```\n\u{1b}[1;1Hx\n```\n")
                .call("b", "Bash", r#"{"command":"printf '\\033]0;owned\\007'; cat evil.txt"}"#)
                .call("c", "Bash", r#"{"command":"touch \u001b]0;owned\u0007 x"}"#)
                .call("e", "Write", r#"{"file_path":"e\u001b[2J.txt","content":"\u001b]0;owned\u0007\n"}"#),
        )
        .reply(ScriptedTurn::new().text("all done"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("evil.txt", "\x1b]0;owned\x07\n");
    let mut terminal = talk(&home, &[], (80, 40));
    terminal.enter("go");
    wait_for_menu(&terminal, "again for Bash(touch");
    terminal.type_keys("n");
    wait_for_menu(&terminal, "again for Write(e");
    answer(&mut terminal, "n", "all done");
    let bytes = String::from_utf8(terminal.bytes()).unwrap();
    // The window's title is the program's own.
    let bytes = ["", "… ", "? "].iter().fold(bytes, |bytes, mark| {
        bytes.replace(&format!("\x1b]0;{mark}project · dormouse\x07"), "")
    });
    assert!(!bytes.contains("\x1b]") && !bytes.contains("\x1b[2J") && !bytes.contains('\u{9b}'));
    assert!(!bytes.contains("\x1b[1;1H") && !bytes.contains('\u{202e}') && !bytes.contains('\x07'));
    assert!(bytes.contains("a\u{fffd}]0;owned\u{fffd}b"), "{bytes:?}");
    leave(terminal);
    server.finish();
}

#[test]
fn resized_while_the_answer_streams() {
    let gate = Gate::new();
    let text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen";
    let server = server(WireFormat::Anthropic)
        .reply(Reply::from(ScriptedTurn::new().text(text)).gate_after(3, &gate))
        .start();
    let home = TestHome::new().with_server(&server);
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.enter("count");
    gate.wait_until_reached();
    terminal.wait_for_text("one");
    terminal.resize(30, 24);
    gate.open();
    terminal.wait_for_text("fourteen");
    wait_for_prompt(&terminal);
    let expected = [
        "> count",
        "one two three four five six",
        "seven eight nine ten eleven",
        "twelve thirteen fourteen",
        ">",
    ];
    assert_eq!(below_the_first_prompt(&terminal), expected);
    leave(terminal);
    server.finish();
}

/// The first line that a command of the user's prints is the status line; one that fails is told once.
#[test]
fn the_status_line_is_a_commands() {
    needs!("python");
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("Hello."))
        .reply(ScriptedTurn::new().text("Again."))
        .start();
    let home = TestHome::new().with_server(&server);
    let command = r#"python3 -c 'import json,sys; d=json.load(sys.stdin); print("[%s, %d]" % (d["model"]["id"], d["context"]["window_tokens"]))'"#;
    let settings = serde_json::json!({"statusLine": {"type": "command", "command": command}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let mut terminal = talk(&home, &[], (80, 24));
    terminal.wait_for_text("[scripted-1, 200000]");
    say(&mut terminal, "hi", "Hello.");
    let rows = terminal.all_rows();
    assert_eq!(rows.iter().filter(|row| row.contains("[scripted-1")).count(), 1, "{rows:?}");
    leave(terminal);
    let settings = serde_json::json!({"statusLine": {"command": "echo no such thing >&2; exit 3"}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let mut terminal = talk(&home, &[], (80, 24));
    say(&mut terminal, "hi", "Again.");
    let rows = terminal.all_rows().join("\n");
    assert_eq!(rows.matches("command failed: no such thing").count(), 1, "{rows}");
    leave(terminal);
    let command = r"printf '\033[1;32mgreen\033[0m \033]0;title\007'; printf 'long %.0s' $(seq 40)";
    let settings = serde_json::json!({"statusLine": {"type": "command", "command": command}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let terminal = talk(&home, &[], (40, 24));
    terminal.wait_for_text("green long long");
    let rows = terminal.all_rows();
    let row = rows.iter().position(|row| row.starts_with("green long")).unwrap();
    assert!(rows[row].trim_end().ends_with('…'), "{rows:?}");
    assert!(!rows[row + 1].contains("long") && !rows.concat().contains('\u{fffd}'), "{rows:?}");
    leave(terminal);
    let settings = serde_json::json!({"statusLine": {"type": "static", "command": "echo never"}});
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
    let terminal = talk(&home, &[], (80, 24));
    terminal.wait_for_text("`statusLine.type` is `static`; only `command` is supported");
    assert!(!terminal.all_rows().concat().contains("never"));
    leave(terminal);
}

/// The cost of subagents and background tasks stands apart in the status line (B-29).
#[test]
fn the_status_line_shows_what_background_work_cost() {
    let agent =
        r#"{"description":"look around a little","prompt":"look","subagent_type":"explore"}"#;
    let server = server(WireFormat::Anthropic)
        .agent_with(|_| ScriptedTurn::new().text("Three nuts.").into())
        .reply(ScriptedTurn::new().call("a", "Agent", agent))
        .reply(ScriptedTurn::new().text("There are three."))
        .start();
    let home = TestHome::new().with_server(&server);
    let prices = r#"{"prices":{"scripted":{"input":10,"output":10}}}"#;
    let mut terminal = talk(&home, &["--settings", prices], (140, 24));
    wait_for_prompt(&terminal);
    assert!(!terminal.screen().contains("background $"), "{}", terminal.screen());
    say(&mut terminal, "how many?", "There are three.");
    terminal.wait_for("the cost", |screen| screen.contains(" · of it background $0.0"));
    leave(terminal);
    server.finish();
}

//! What the model sends goes back as it came: unknown blocks, odd numbers, key order, signatures, every
//! framing of the stream.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Framing, TestHome, WireFormat};

use crate::program::{BOTH, ask, server};

const UNKNOWN: &str = r#"{"zeta":1.10,"type":"hologram","big":12345678901234567890123,"exp":1E+2,"nested":{"b":[1.0,-0],"a":null}}"#;
const REDACTED: &str = r#"{"type":"redacted_thinking","data":"cmVkYWN0ZWQvdGhvdWdodA"}"#;
const ARGUMENTS: &str = r#"{"limit": 1,  "file_path":"a.txt", "offset":1}"#;

fn says_everything() -> ScriptedTurn {
    ScriptedTurn::new()
        .thinking("let me see — 睡鼠 \u{1F42D}", "c2lnbmF0dXJl+/==")
        .raw(REDACTED)
        .raw(UNKNOWN)
        .text("reading “a.txt” 睡鼠")
        .call("t1", "Read", ARGUMENTS)
}

/// The exact texts that the second request must contain.
fn expected(wire: WireFormat) -> Vec<String> {
    match wire {
        WireFormat::Anthropic => vec![
            r#"{"type":"thinking","thinking":"let me see — 睡鼠 🐭","signature":"c2lnbmF0dXJl+/=="}"#.into(),
            REDACTED.into(),
            UNKNOWN.into(),
            r#"{"type":"text","text":"reading “a.txt” 睡鼠"}"#.into(),
            format!(r#"{{"type":"tool_use","id":"t1","name":"Read","input":{ARGUMENTS}}}"#),
        ],
        WireFormat::OpenAi => vec![
            r#""reasoning_content":"let me see — 睡鼠 🐭""#.into(),
            r#""content":"reading “a.txt” 睡鼠""#.into(),
            format!(r#""arguments":{}"#, serde_json::Value::from(ARGUMENTS)),
        ],
    }
}

fn check(wire: WireFormat, framing: Framing) {
    let server = server(wire)
        .framing(framing)
        .reply(says_everything())
        .reply(ScriptedTurn::new().text("done"))
        .reply(ScriptedTurn::new().text("again"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\ntwo\n");
    home.run(&mut ask(&home, &["hi"])).success();
    // The same after a resume, from the transcript.
    home.run(&mut ask(&home, &["-c", "hi"])).success();
    for request in &server.requests()[1..] {
        // One framing puts line ends between tokens; those come back too.
        let text = request.text().replace('\n', "");
        for part in expected(wire) {
            assert!(text.contains(&part), "{framing:?}: {part} is not in {text}");
        }
    }
    server.finish();
}

#[test]
fn blocks_go_back_as_they_came_in_every_framing() {
    for wire in BOTH {
        for framing in Framing::ALL {
            check(wire, framing);
        }
    }
}

/// Arguments spread over lines are sent back with their line ends, after a resume too.
#[test]
fn line_ends_in_arguments_survive() {
    let arguments = "{\n  \"file_path\": \"a.txt\",\r\n  \"limit\": 1\n}";
    for wire in BOTH {
        let server = server(wire)
            .reply(ScriptedTurn::new().call("t1", "Read", arguments))
            .reply(ScriptedTurn::new().text("done"))
            .reply(ScriptedTurn::new().text("again"))
            .start();
        let home = TestHome::new().with_server(&server);
        home.write("a.txt", "one\ntwo\n");
        home.run(&mut ask(&home, &["hi"])).success();
        home.run(&mut ask(&home, &["-c", "hi"])).success();
        let wanted = match wire {
            WireFormat::Anthropic => arguments.to_owned(),
            WireFormat::OpenAi => serde_json::Value::from(arguments).to_string(),
        };
        for request in &server.requests()[1..] {
            assert!(request.text().contains(&wanted), "{}", request.text());
        }
        server.finish();
    }
}

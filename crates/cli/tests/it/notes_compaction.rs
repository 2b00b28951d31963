//! Compaction from the session's notes: without a request, with the newest messages kept; and the reasons for
//! which it steps aside (C-15).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Gate, RecordedRequest, Reply, ScriptedServer, TestHome, WireFormat};
use serde_json::Value;

use crate::program::{ask, server, wait_until};
use crate::session_notes::{home_of, jobs, look};

/// Once, when the eighth look has come in.
const ONCE: &str = r#"{"sessionNotes":{"firstTokens":6515,"everyTokens":100000}}"#;
const LOOKS: usize = 8;

/// In a small window, notes are plain text that the program writes into the file.
fn is_for_notes(request: &RecordedRequest) -> bool {
    request.text().contains("Write notes on the conversation above")
}

/// Forks keep notes, and write a summary where they are asked for one.
fn start() -> ScriptedServer {
    server(WireFormat::Anthropic)
        .window(16_000)
        .max_output(4_000)
        .fork_with(|request| {
            if is_for_notes(request) {
                ScriptedTurn::new().text("The larder is being counted, shelf by shelf.").into()
            } else {
                ScriptedTurn::new().text("<summary>what a model says of it</summary>").into()
            }
        })
        .start()
}

/// A session whose notes cover all but its last answer.
fn session_with_notes(server: &ScriptedServer, settings: &str) -> TestHome {
    let mut home = home_of(server, settings);
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "16000");
    for number in 0..LOOKS {
        server.push(look(format!("c{number}")));
    }
    let gate = Gate::new();
    server
        .push(Reply::from(ScriptedTurn::new().text("eight looks were taken")).gate_after(1, &gate));
    let mut running = home.spawn(&mut ask(&home, &["count the larder, please"]));
    running.close_stdin();
    if settings == ONCE {
        server.wait_for_fork_requests(1);
        wait_until("the notes", || !jobs(&home).is_empty());
    }
    gate.open();
    running.wait().success();
    home
}

fn folder(home: &TestHome) -> std::path::PathBuf {
    home.transcripts()[0].with_extension("").join("session-memory")
}

fn reach(home: &TestHome) -> std::path::PathBuf {
    folder(home).join("reach.json")
}

/// A prompt that makes a compaction due; what the stream says of it.
fn compact(home: &TestHome, server: &ScriptedServer) -> Value {
    server.push(ScriptedTurn::new().text("all counted"));
    server.expect_break("compaction");
    let prompt = format!("and now {} the newest words", "this and that ".repeat(480));
    let output = home.run(&mut ask(home, &["-c", "--output-format", "stream-json", &prompt]));
    let lines = output.success().stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    let mut found = lines.filter(|line: &Value| line["subtype"] == "compact_boundary");
    let boundary = found.next().unwrap();
    boundary["compact_metadata"].clone()
}

#[test]
fn notes_stand_for_what_they_cover_without_a_request() {
    let server = start();
    let home = session_with_notes(&server, ONCE);
    let forks = server.fork_requests().len();
    let said = compact(&home, &server);
    assert_eq!((&said["way"], &said["trigger"]), (&"notes".into(), &"auto".into()), "{said}");
    assert_eq!(server.fork_requests().len(), forks, "no model was asked");
    let requests = server.requests();
    let after = requests.last().unwrap().text();
    for wanted in [
        "The larder is being counted, shelf by shelf.",
        "eight looks were taken",
        "the newest words",
        "count the larder, please",
    ] {
        assert!(after.contains(wanted), "no `{wanted}` in {after}");
    }
    assert!(after.matches("a nut in the larder").count() < 8 * 200, "{after}");
    // A resume sends the same bytes: the server compares them.
    server.push(ScriptedTurn::new().text("again"));
    home.run(&mut ask(&home, &["-c", "go on"])).success();
    server.finish();
}

/// A session that was compacted from its notes.
pub(crate) fn compacted_from_notes() -> TestHome {
    let server = start();
    let home = session_with_notes(&server, ONCE);
    let said = compact(&home, &server);
    assert_eq!(said["way"], "notes", "{said}");
    home
}

/// Why the notes did not do, and who wrote the summary instead.
#[track_caller]
fn check(settings: &str, prepare: impl Fn(&mut TestHome), why: &str) {
    let server = start();
    let mut home = session_with_notes(&server, settings);
    prepare(&mut home);
    let said = compact(&home, &server);
    assert_eq!(said["way"], "model", "{said}");
    let reason = said["without_notes"].as_str().unwrap_or_default();
    assert!(reason.contains(why), "{reason}");
    assert!(server.requests().last().unwrap().text().contains("what a model says of it"));
}

#[test]
fn it_steps_aside_where_it_is_switched_off() {
    check(ONCE, |home| home.set_env("DORMOUSE_NOTES_COMPACTION", "0"), "switched off");
}

#[test]
fn it_steps_aside_where_there_are_no_notes() {
    check(r#"{"layers":{"session_notes":false}}"#, |_| {}, "no notes");
}

#[test]
fn it_steps_aside_for_notes_that_say_nothing() {
    let blank = |home: &mut TestHome| {
        let file = folder(home).join("summary.md");
        let text = std::fs::read_to_string(&file).unwrap();
        home.write(&file, text.replace("The larder is being counted, shelf by shelf.\n", ""));
    };
    check(ONCE, blank, "nothing was written");
}

#[test]
fn it_steps_aside_where_the_message_they_reach_to_is_gone() {
    let lose = |home: &mut TestHome| {
        let file = reach(home);
        let mut mark: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        mark["message"] = "019a0000-0000-7000-8000-000000000000".into();
        home.write(&file, mark.to_string());
    };
    check(ONCE, lose, "no longer there");
}

#[test]
fn it_steps_aside_where_the_rest_is_too_large() {
    // What came after the notes is more than may be kept, and they do not speak of it.
    let talk_on = |home: &mut TestHome| {
        let file = reach(home);
        let transcript = std::fs::read_to_string(&home.transcripts()[0]).unwrap();
        let first = transcript
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .find(|line| line["type"] == "user")
            .unwrap();
        let mut mark: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        mark["message"] = first["uuid"].clone();
        home.write(&file, mark.to_string());
    };
    check(ONCE, talk_on, "still be too full");
}

#[test]
fn it_steps_aside_for_notes_that_can_not_be_read() {
    let spoil = |home: &mut TestHome| {
        home.write(folder(home).join("summary.md"), b"\xff\xfe no text");
    };
    check(ONCE, spoil, "no notes");
}

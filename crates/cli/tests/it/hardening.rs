//! What once went wrong when somebody tried: keys that leak, projects that mix, answers that never end.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, TestHome, WireFormat};
use serde_json::Value;

use crate::program::{BOTH, ask, dormouse, server, transcript};

/// A server may echo the key it was sent: in an error inside the stream, with an escape in the key.
#[test]
fn a_key_in_an_error_inside_the_stream_is_not_shown() {
    for wire in BOTH {
        let echo = |home: &TestHome| Reply::MidStreamError {
            after_events: 1,
            error_type: "authentication_error".into(),
            message: format!("bad key {}", home.key()),
        };
        let server = server(wire).start();
        let home = TestHome::new().with_server(&server);
        server.push(echo(&home));
        let output = home.run(&mut ask(&home, &["--output-format", "json", "hi"]));
        assert_ne!(output.code, Some(0));
        for text in [&output.stdout, &output.stderr, &transcript(&home)] {
            assert!(!text.contains(home.key()), "{text}");
        }
        assert!(output.stderr.contains("bad key [secret]"), "{}", output.stderr);
    }
}

#[test]
fn a_key_in_a_file_does_not_reach_the_transcript() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().call("t1", "Read", r#"{"file_path":"notes.txt"}"#).call(
            "t2",
            "Read",
            r#"{"file_path":"/proc/self/environ"}"#,
        ))
        .reply(ScriptedTurn::new().text("ok"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.write("notes.txt", format!("the key is {}\n", home.key()));
    home.run(&mut ask(&home, &["hi"])).success();
    let text = server.requests()[1].text();
    assert!(text.contains("the key is [secret]"), "{text}");
    assert!(text.contains("which may hold keys or passwords"), "{text}");
    assert!(!transcript(&home).contains(home.key()));
    server.finish();
}

/// A password in the address is no part of a message.
#[test]
fn a_password_in_an_address_is_not_shown() {
    let mut home = TestHome::new();
    home.set_env("OPENAI_BASE_URL", "http://user:hunter2pass@127.0.0.1:9/v1");
    let output = home.run(&mut ask(&home, &["--model", "m", "hi"]));
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("there is no server at"), "{}", output.stderr);
    assert!(!output.stderr.contains("hunter2pass"), "{}", output.stderr);
}

/// `项目` and `目项` have one slug; their sessions are their own.
#[test]
fn two_projects_of_one_slug_do_not_mix() {
    let server = server(WireFormat::Anthropic).reply(ScriptedTurn::new().text("one")).start();
    let home = TestHome::new().with_server(&server);
    let (one, other) = (home.root().join("项目"), home.root().join("目项"));
    std::fs::create_dir(&one).unwrap();
    std::fs::create_dir(&other).unwrap();
    home.run(ask(&home, &["private to one"]).current_dir(&one)).success();
    let output = home.run(ask(&home, &["-c", "hi"]).current_dir(&other));
    assert_eq!(output.code, Some(2), "{output:?}");
    let listed = home.run(dormouse(&home, &["sessions"]).current_dir(&other));
    assert_eq!(listed.success().stdout, "");
    let listed = home.run(dormouse(&home, &["sessions"]).current_dir(&one));
    assert!(listed.success().stdout.contains("private to one"));
    server.finish();
}

#[test]
fn a_session_goes_on_with_its_own_model() {
    let server = server(WireFormat::OpenAi)
        .replies(["a", "b", "c"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["--model", "first", "hi"])).success();
    home.run(&mut ask(&home, &["-c", "again"])).success();
    server.expect_break("another model was asked for");
    home.run(&mut ask(&home, &["-c", "--model", "second", "once more"])).success();
    let models: Vec<Value> =
        server.requests().iter().map(|request| request.json()["model"].clone()).collect();
    assert_eq!(models, ["first", "first", "second"]);
    server.finish();
}

/// The window that a name's suffix promises lasts as long as the session.
#[test]
fn a_large_window_by_name_is_kept() {
    let server = server(WireFormat::OpenAi)
        .no_model_info()
        .replies(["a", "b"].map(|text| ScriptedTurn::new().text(text)))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["--model", "big[1m]", "hi"])).success();
    let output = home.run(&mut ask(&home, &["-c", "--verbose", "again"]));
    assert!(output.success().stderr.contains("window 1000000 tokens"), "{}", output.stderr);
    assert_eq!(server.requests()[1].json()["model"], "big");
    server.finish();
}

#[test]
fn a_prompt_option_on_a_session_that_goes_on_is_said_to_have_no_effect() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("one"))
        .reply(ScriptedTurn::new().text("two"))
        .start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(&home, &["hi"])).success();
    let output = home.run(&mut ask(&home, &["-c", "--system-prompt", "Be a cat.", "hi"]));
    assert!(output.success().stderr.contains("have no effect"), "{}", output.stderr);
    server.finish();
}

/// A server that asks to go on for ever, and one that calls a thousand tools at once.
#[test]
fn what_never_ends_is_ended() {
    let server_of_pauses = server(WireFormat::Anthropic)
        .reply_with(|_| ScriptedTurn::new().text("more").stop("pause_turn").into())
        .start();
    let home = TestHome::new().with_server(&server_of_pauses);
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("paused its response 5 times"), "{}", output.stderr);

    let mut turn = ScriptedTurn::new();
    for n in 0..1_001 {
        turn = turn.call(format!("c{n}"), "Glob", r#"{"pattern":"*"}"#);
    }
    for wire in BOTH {
        let server = server(wire).reply(turn.clone()).start();
        let home = TestHome::new().with_server(&server);
        let output = home.run(&mut ask(&home, &["hi"]));
        assert!(output.stderr.contains("calls more than 1000 tools at once"), "{}", output.stderr);
    }
}

#[test]
fn a_web_page_is_recognised() {
    let server = server(WireFormat::OpenAi)
        .reply(Reply::Error {
            status: 200,
            headers: Vec::new(),
            body: dormouse_testkit::ErrorBody::Raw {
                content_type: "text/html".into(),
                text: "<html>It works!</html>".into(),
            },
        })
        .start();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("no event stream but `text/html`"), "{}", output.stderr);
    server.finish();
}

/// The limit on file sizes of a shell is told like a full disk.
#[test]
fn a_limit_on_file_sizes() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    let program = env!("CARGO_BIN_EXE_dormouse");
    let script = format!("ulimit -f 4; exec {program} -p hi </dev/null");
    let output = home.run(home.command("sh").args(["-c", &script]));
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("File too large"), "{}", output.stderr);
}

/// Whatever reads the pipe may show it on a terminal.
#[test]
fn piped_text_has_no_escape_sequences() {
    let server = server(WireFormat::Anthropic)
        .reply(ScriptedTurn::new().text("a\u{1b}]0;title\u{7}b\u{200b}c"))
        .start();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.success().stdout, "a\u{fffd}]0;title\u{fffd}b\u{fffd}c\n");
    server.finish();
}

/// JavaScript writes half a character that way; such a message was never answered.
#[test]
fn a_lone_surrogate_is_answered_by_the_mcp_server() {
    let home = TestHome::new();
    let lines = [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"half \ud83d of it"}}}"#,
    ];
    let mut running = home.spawn(&mut dormouse(&home, &["mcp"]));
    running.type_text(&(lines.join("\n") + "\n"));
    running.wait_for_stdout(|text| text.contains(r#""id":7"#));
    running.close_stdin();
    running.wait();
}

/// A damaged file that says whose a folder is must not hide the folder's memories.
#[test]
fn a_damaged_project_file_hides_no_memories_and_is_named() {
    let home = TestHome::new();
    let memory = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["memory"].iter().chain(arguments).copied().collect();
        home.run(&mut dormouse(&home, &arguments)).success().stdout.clone()
    };
    memory(&[
        "add",
        "deploys",
        "--type",
        "project",
        "--description",
        "We deploy from main",
        "--body",
        "x",
    ]);
    let projects = home.dormouse_home().join("projects");
    let folder = std::fs::read_dir(&projects).unwrap().next().unwrap().unwrap().path();
    for damaged in ["{", r#"{"root":"/elsewhere"}"#] {
        std::fs::write(folder.join("project.json"), damaged).unwrap();
        let doctor = home.run(&mut dormouse(&home, &["doctor", "--offline"]));
        assert!(doctor.stdout.contains("project.json is damaged"), "{doctor:?}");
        assert!(memory(&["list"]).contains("deploys"), "{damaged}");
    }
}

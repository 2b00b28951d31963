//! The three output formats, standard input, limits.

use dormouse_model::script::Turn;
use dormouse_testkit::{TestHome, Wire};
use serde_json::Value;

use crate::program::{BOTH, ask, server, transcript};

fn reads_then_answers() -> [Turn; 2] {
    [
        Turn::new().text("looking").call("t1", "Read", r#"{"file_path":"a.txt"}"#),
        Turn::new().text("it says one"),
    ]
}

#[test]
fn text_is_the_answer_and_nothing_else() {
    let server = server(Wire::Anthropic).replies(reads_then_answers()).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("it says one\n", ""));
    server.finish();
}

#[test]
fn json_is_one_object() {
    for wire in BOTH {
        let server = server(wire).replies(reads_then_answers()).start();
        let home = TestHome::new().with_server(&server);
        home.write("a.txt", "one\n");
        let output = home.run(&mut ask(&home, &["--output-format", "json", "hi"]));
        let result: Value = serde_json::from_str(&output.success().stdout).unwrap();
        assert_eq!(result["type"], "result");
        assert_eq!(result["subtype"], "success");
        assert_eq!(result["is_error"], false);
        assert_eq!(result["result"], "it says one");
        assert_eq!(result["num_turns"], 2);
        assert_eq!(result["total_cost_usd"], Value::Null, "the price of this model is not known");
        // What the server counted is what is reported, over both requests.
        let counted: u64 =
            server.requests().iter().map(|request| request.usage.input_total()).sum();
        let usage = &result["usage"];
        let reported = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
        let reported: u64 = reported.iter().map(|name| usage[name].as_u64().unwrap()).sum();
        assert_eq!(reported, counted);
        let session = result["session_id"].as_str().unwrap();
        assert!(home.transcripts()[0].ends_with(format!("{session}.jsonl")));
        server.finish();
    }
}

#[test]
fn an_error_is_an_object_too() {
    let server = server(Wire::Anthropic).reply(dormouse_testkit::Reply::forbidden_403()).start();
    let home = TestHome::new().with_server(&server);
    let output = home.run(&mut ask(&home, &["--output-format", "json", "hi"]));
    assert_eq!(output.code, Some(1));
    let result: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        (&result["subtype"], &result["is_error"]),
        (&Value::from("error"), &Value::from(true))
    );
    assert!(result["error"].as_str().unwrap().contains("not allowed"));
    assert_eq!(result["error_kind"], "not_allowed");
    server.finish();
}

#[test]
fn stream_json_is_an_object_a_line() {
    let server = server(Wire::Anthropic).replies(reads_then_answers()).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    let output = home.run(&mut ask(&home, &["--output-format", "stream-json", "hi"]));
    let text = output.success().stdout.clone();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.first(), Some(&"system"));
    assert_eq!(
        lines[0]["tools"],
        serde_json::json!([
            "Bash",
            "BashOutput",
            "Edit",
            "Glob",
            "Grep",
            "KillShell",
            "Read",
            "TodoWrite",
            "WebFetch",
            "Write"
        ])
    );
    assert_eq!(kinds.last(), Some(&"result"));
    let whole: Vec<&str> =
        kinds.iter().copied().filter(|kind| *kind == "assistant" || *kind == "user").collect();
    assert_eq!(whole, ["assistant", "user", "assistant"]);
    let deltas: String =
        lines.iter().filter_map(|line| line["event"]["delta"]["text"].as_str()).collect();
    assert_eq!(deltas, "lookingit says one");
    server.finish();
}

#[test]
fn standard_input_is_the_prompt_or_joins_it() {
    let server =
        server(Wire::Anthropic).reply(Turn::new().text("a")).reply(Turn::new().text("b")).start();
    let home = TestHome::new().with_server(&server);
    home.run_with_input(&mut ask(&home, &[]), "from the pipe").success();
    home.run_with_input(&mut ask(&home, &["review this"]), "from the pipe").success();
    server.expect_break("two sessions");
    let requests = server.requests();
    assert!(requests[0].text().contains(r#""text":"from the pipe""#));
    assert!(requests[1].text().contains(r#""text":"review this\n\nfrom the pipe""#));
}

/// What a slow command pipes in is waited for, and that is said.
#[test]
fn a_slow_input_is_waited_for() {
    let server = server(Wire::Anthropic).reply(Turn::new().text("a")).start();
    let home = TestHome::new().with_server(&server);
    let mut running = home.spawn(&mut ask(&home, &["typed"]));
    running.wait_for_stderr(|text| text.contains("waiting for standard input"));
    running.type_text("late data");
    running.close_stdin();
    running.wait().success();
    assert!(server.single_request().text().contains("late data"));
    server.finish();
}

#[test]
fn input_that_is_not_utf8_is_shown_as_far_as_it_is() {
    let server = server(Wire::Anthropic).reply(Turn::new().text("a")).start();
    let home = TestHome::new().with_server(&server);
    let program = env!("CARGO_BIN_EXE_dormouse");
    let script = format!("printf 'caf\\351 au lait' | {program} -p review");
    let output = home.run(home.command("sh").args(["-c", &script]));
    assert!(output.success().stderr.contains("not all UTF-8"), "{}", output.stderr);
    assert!(server.single_request().text().contains("caf\u{fffd} au lait"));
    server.finish();
}

/// An answer that could not be written is no success.
#[test]
fn a_full_disk_under_standard_output() {
    for format in ["text", "json"] {
        let server = server(Wire::Anthropic).reply(Turn::new().text("lost")).start();
        let home = TestHome::new().with_server(&server);
        let program = env!("CARGO_BIN_EXE_dormouse");
        let script = format!("{program} -p hi --output-format {format} </dev/null >/dev/full");
        let output = home.run(home.command("sh").args(["-c", &script]));
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains("the output could not be written: No space left"),
            "{}",
            output.stderr
        );
        server.finish();
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let server = server(Wire::Anthropic).reply(Turn::new().text("lost")).start();
    let home = TestHome::new().with_server(&server);
    let program = env!("CARGO_BIN_EXE_dormouse");
    let script = format!(
        "{{ {program} -p hi --output-format stream-json </dev/null; echo $? >&2; }} | true"
    );
    let output = home.run(home.command("sh").args(["-c", &script]));
    assert_eq!(output.stderr, "0\n");
    server.finish();
}

/// For programs every run ends with one result, whatever went wrong.
#[test]
fn a_failure_before_the_first_request_is_a_result_too() {
    let home = TestHome::new();
    for arguments in
        [&["--output-format", "json", "hi"][..], &["--output-format", "stream-json", "-c", "hi"]]
    {
        let output = home.run(&mut ask(&home, arguments));
        assert_eq!(output.code, Some(2));
        let result: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(
            (&result["subtype"], &result["error_kind"]),
            (&Value::from("error"), &Value::from("usage"))
        );
    }
}

#[test]
fn max_turns_stops_and_a_resume_goes_on() {
    let server = server(Wire::Anthropic).replies(reads_then_answers()).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    let output = home.run(&mut ask(&home, &["--max-turns", "1", "hi"]));
    assert_eq!(output.code, Some(3));
    assert!(output.stderr.contains("--max-turns was reached"), "{}", output.stderr);
    let output = home.run(&mut ask(&home, &["-c", "go on"]));
    assert_eq!(output.success().stdout, "it says one\n");
    server.finish();
}

#[test]
fn a_cut_and_a_declined_answer_are_said() {
    for (reason, said) in [("max_tokens", "was cut"), ("refusal", "declined")] {
        let server = server(Wire::Anthropic).reply(Turn::new().text("well").stop(reason)).start();
        let home = TestHome::new().with_server(&server);
        let output = home.run(&mut ask(&home, &["hi"]));
        assert_eq!((output.code, output.stdout.as_str()), (Some(3), "well\n"));
        assert!(output.stderr.contains(said), "{}", output.stderr);
        server.finish();
    }
}

#[test]
fn the_system_prompt_can_be_replaced_and_added_to() {
    let server = server(Wire::Anthropic).reply(Turn::new().text("meow")).start();
    let home = TestHome::new().with_server(&server);
    home.run(&mut ask(
        &home,
        &["--system-prompt", "Be a cat.", "--append-system-prompt", "Purr.", "hi"],
    ))
    .success();
    assert!(server.single_request().system_text().starts_with("Be a cat.\n\nPurr."));
    server.finish();
}

/// Lines that existing tools read: one a block, the counters on the last line of a message.
#[test]
fn the_transcript_has_a_line_a_block() {
    let server = server(Wire::Anthropic).replies(reads_then_answers()).start();
    let home = TestHome::new().with_server(&server);
    home.write("a.txt", "one\n");
    home.run(&mut ask(&home, &["hi"])).success();
    let text = transcript(&home);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        ["prefix", "user", "assistant", "assistant", "assistant", "user", "assistant", "assistant"],
        "{text}"
    );
    let mut uuids: Vec<&str> = lines.iter().map(|line| line["uuid"].as_str().unwrap()).collect();
    uuids.sort_unstable();
    uuids.dedup();
    assert_eq!(uuids.len(), lines.len(), "a line has an id of its own");
    let last = lines.last().unwrap();
    assert_eq!(last["message"]["stop_reason"], "end_turn");
    assert!(last["message"]["usage"]["output_tokens"].as_u64().unwrap() > 0);
    for line in &lines {
        for field in ["uuid", "sessionId", "timestamp", "cwd", "version"] {
            assert!(line[field].is_string(), "{field}: {line}");
        }
    }
    server.finish();
}

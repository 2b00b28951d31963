//! Everything that can go wrong between us and a server, in both formats: retried where that helps, told
//! clearly where it does not, and the conversation stays usable.

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, Output, Reply, ScriptedServer, TestHome, WireFormat};

use crate::program::{BOTH, ask, server, transcript};

fn answer() -> ScriptedTurn {
    ScriptedTurn::new().text("the answer")
}

fn reads() -> ScriptedTurn {
    ScriptedTurn::new().text("looking").call("t1", "Read", r#"{"file_path":"a.txt"}"#)
}

/// Runs one prompt against these replies, in both formats.
fn each(replies: impl Fn() -> Vec<Reply>, check: impl Fn(&Output, &ScriptedServer, &TestHome)) {
    for wire in BOTH {
        let server = server(wire).replies(replies()).start();
        let mut home = TestHome::new().with_server(&server);
        // Long enough for a busy machine, where every answer has the same limit.
        home.set_env("DORMOUSE_IDLE_TIMEOUT_MS", "5000");
        home.write("a.txt", "one\n");
        let output = home.run(&mut ask(&home, &["hi"]));
        check(&output, &server, &home);
        still_usable(&server, &home);
        server.finish();
    }
}

/// Whatever happened: the next message works, and the server finds nothing wrong with the history.
fn still_usable(server: &ScriptedServer, home: &TestHome) {
    server.push(ScriptedTurn::new().text("still usable"));
    let output = home.run(&mut ask(home, &["--continue", "go on"]));
    assert_eq!(output.success().stdout, "still usable\n");
}

/// The fault is mended by another try, and said.
fn mended(fault: impl Fn() -> Reply, said: &str) {
    each(
        || vec![fault(), answer().into()],
        |output, server, _| {
            assert_eq!(output.success().stdout, "the answer\n");
            assert!(output.stderr.contains(said), "{}", output.stderr);
            assert!(output.stderr.contains("retrying in"), "{}", output.stderr);
            let requests = server.requests();
            assert_eq!(requests[0].body, requests[1].body, "a retry sends the same bytes");
        },
    );
}

/// The fault ends the turn with this.
fn told(fault: impl Fn() -> Reply, said: &[&str]) {
    each(
        || vec![fault()],
        |output, _, _| {
            assert_eq!(output.code, Some(1), "{output:?}");
            for part in said {
                assert!(output.stderr.contains(part), "{part:?} is not in {}", output.stderr);
            }
        },
    );
}

#[test]
fn rate_limited() {
    mended(|| Reply::rate_limited(0), "limits the rate");
}

#[test]
fn the_time_to_come_back_is_heeded() {
    let start = std::time::Instant::now();
    mended(|| Reply::rate_limited(1), "retrying in 1.0 s");
    // Twice, once a format. A lower bound: a busy machine keeps it too.
    assert!(start.elapsed() >= std::time::Duration::from_secs(2));
}

#[test]
fn a_spending_cap_is_not_retried() {
    told(Reply::spend_cap_429, &["credit or spending limit", "a retry does not help"]);
}

#[test]
fn overloaded() {
    mended(Reply::overloaded_529, "overloaded");
}

#[test]
fn a_server_error() {
    mended(Reply::server_error_500, "status 500");
    mended(Reply::timeout_504, "status 504");
    mended(Reply::html_502, "status 502");
}

#[test]
fn an_error_inside_the_stream() {
    let fault = || Reply::MidStreamError {
        after_events: 3,
        error_type: "overloaded_error".into(),
        message: "Overloaded".into(),
    };
    mended(fault, "verloaded");
}

#[test]
fn a_reset_in_the_middle_of_an_event() {
    mended(|| Reply::from(answer()).cut_inside_event(3).then(End::Reset), "the response broke off");
}

#[test]
fn a_stream_that_ends_too_early() {
    mended(|| Reply::from(answer()).stop_after(2).then(End::Close), "the response broke off");
    mended(|| Reply::from(answer()).stop_after(2).then(End::Fin), "the response broke off");
}

#[test]
fn only_the_closing_event_is_missing() {
    each(
        || vec![Reply::from(answer()).without_end()],
        |output, server, _| {
            assert_eq!(output.success().stdout, "the answer\n");
            assert_eq!(server.requests().len(), 1);
        },
    );
}

#[test]
fn the_closing_event_comes_twice() {
    each(
        || vec![Reply::from(answer()).end_twice()],
        |output, _, _| assert_eq!(output.success().stdout, "the answer\n"),
    );
}

/// A read-only call runs as soon as its block is complete; then the stream breaks. The call is not made
/// twice: what was complete counts.
#[test]
fn a_stream_that_ends_after_a_call_was_started() {
    for wire in BOTH {
        let turn = reads()
            .call("t2", "Read", r#"{"file_path":"b.txt"}"#)
            .text("and then some text that never ends");
        // All but the last events: the calls are complete, the text is not.
        let events = match wire {
            WireFormat::Anthropic => {
                dormouse_model::script::anthropic_events(&turn, &frame()).len() - 4
            }
            WireFormat::OpenAi => dormouse_model::script::openai_events(&turn, &frame()).len() - 4,
        };
        let server = server(wire)
            .reply(Reply::from(turn).stop_after(events).then(End::Fin))
            .reply(answer())
            .start();
        let home = TestHome::new().with_server(&server);
        home.write("a.txt", "content of a\n");
        home.write("b.txt", "content of b\n");
        let output = home.run(&mut ask(&home, &["hi"]));
        assert_eq!(output.success().stdout, "the answer\n");
        assert!(
            output.stderr.contains("going on with the calls that were complete"),
            "{}",
            output.stderr
        );
        let second = server.requests()[1].text();
        assert_eq!(second.matches("content of a").count(), 1);
        assert_eq!(second.matches("content of b").count(), 1);
        assert!(!second.contains("never ends"), "half a block was kept: {second}");
        still_usable(&server, &home);
        server.finish();
    }
}

fn frame() -> dormouse_model::script::ResponseFrame {
    dormouse_model::script::ResponseFrame {
        message_id: "m".into(),
        model: "m".into(),
        usage: dormouse_conversation::Usage::default(),
    }
}

#[test]
fn a_server_that_hangs() {
    // At the same time, because each has to wait for the real limit.
    std::thread::scope(|scope| {
        for events in [0, 2] {
            let hang = move || Reply::from(answer()).stop_after(events).then(End::Hang);
            scope.spawn(move || mended(hang, "sent nothing for 5 seconds"));
        }
    });
}

#[test]
fn an_event_that_is_not_json() {
    mended(|| Reply::from(answer()).event_override(2, "{\"type\": oops"), "not valid JSON");
}

#[test]
fn a_call_with_broken_arguments() {
    each(
        || {
            vec![
                ScriptedTurn::new().call("t1", "Read", r#"{"file_path": "a.t"#).into(),
                answer().into(),
            ]
        },
        |output, server, _| {
            assert_eq!(output.success().stdout, "the answer\n");
            let second = server.requests()[1].text();
            // The model sees what it wrote, and what is wrong with it.
            assert!(second.contains(r"a.t") && second.contains("valid JSON"), "{second}");
        },
    );
}

#[test]
fn a_tool_that_does_not_exist() {
    each(
        || vec![ScriptedTurn::new().call("t1", "Teleport", "{}").into(), answer().into()],
        |output, server, _| {
            assert_eq!(output.success().stdout, "the answer\n");
            let second = server.requests()[1].text();
            assert!(
                second.contains("Teleport") && second.contains("Bash, BashOutput, Edit, ExitPlan"),
                "{second}"
            );
        },
    );
}

#[test]
fn commands_are_refused_in_a_headless_run() {
    each(
        || {
            vec![
                ScriptedTurn::new().call("t1", "Bash", r#"{"command":"touch harm"}"#).into(),
                answer().into(),
            ]
        },
        |output, server, home| {
            assert_eq!(output.success().stdout, "the answer\n");
            assert!(server.requests()[1].text().contains("Bash was not run"));
            assert!(!home.project().join("harm").exists());
        },
    );
}

#[test]
fn an_empty_answer() {
    each(
        || vec![ScriptedTurn::new().into()],
        |output, _, home| {
            assert_eq!(output.code, Some(3), "{output:?}");
            assert!(output.stderr.contains("empty response"), "{}", output.stderr);
            assert!(transcript(home).contains("the model said nothing"));
        },
    );
}

#[test]
fn the_window_is_exceeded_while_answering() {
    told(
        || ScriptedTurn::new().text("half an ans").stop("model_context_window_exceeded").into(),
        &["context window is full", "start a new session"],
    );
}

#[test]
fn too_long_in_all_its_shapes() {
    told(
        || Reply::prompt_too_long(219_898, 200_000),
        &["(219898 tokens, 200000 allowed)", "start a new session"],
    );
    told(
        || Reply::max_tokens_too_long(188_240, 21_333, 200_000),
        &["(209573 tokens, 200000 allowed)"],
    );
    told(Reply::gateway_too_long, &["too long for the model"]);
    told(Reply::openai_context_length_exceeded, &["too long for the model"]);
    told(|| Reply::llama_exceed_context(5_000, 4_096), &["(5000 tokens, 4096 allowed)"]);
    told(Reply::vllm_too_long, &["too long for the model"]);
    told(Reply::request_too_large_413, &["too large for the server"]);
}

#[test]
fn a_refused_thinking_block() {
    told(Reply::thinking_refused, &["refused a thinking block"]);
}

#[test]
fn a_bad_key_names_its_variable_and_not_its_value() {
    for wire in BOTH {
        let server = server(wire).reply(Reply::unauthorized_401()).start();
        let home = TestHome::new().with_server(&server);
        let output = home.run(&mut ask(&home, &["hi"]));
        assert_eq!(output.code, Some(1));
        let variable = match wire {
            WireFormat::Anthropic => "ANTHROPIC_API_KEY",
            WireFormat::OpenAi => "OPENAI_API_KEY",
        };
        assert!(
            output.stderr.contains(&format!("set {variable} to a valid key")),
            "{}",
            output.stderr
        );
        assert!(!output.stderr.contains(home.key()), "the key was printed");
        assert!(!transcript(&home).contains(home.key()));
        server.finish();
    }
}

#[test]
fn other_refusals() {
    told(Reply::forbidden_403, &["not allowed", "--model"]);
    told(Reply::not_found_404, &["does not know this model", "--model"]);
    told(Reply::billing_402, &["credit or spending limit"]);
    told(|| Reply::bad_request_400("odd parameter"), &["odd parameter"]);
}

#[test]
fn no_server_at_all() {
    for (url, key) in
        [("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"), ("OPENAI_BASE_URL", "OPENAI_API_KEY")]
    {
        let mut home = TestHome::new();
        home.set_env(url, "http://127.0.0.1:9");
        home.set_env(key, "k");
        let output = home.run(&mut ask(&home, &["--model", "m", "hi"]));
        assert_eq!(output.code, Some(1));
        assert!(
            output.stderr.contains("there is no server at http://127.0.0.1:9/"),
            "{}",
            output.stderr
        );
        assert!(output.stderr.contains("check that the server is running"), "{}", output.stderr);
    }
}

#[test]
fn it_gives_up_after_ten_retries() {
    let server = server(WireFormat::Anthropic).reply_with(|_| Reply::overloaded_529()).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_RETRY_BASE_MS", "1");
    let output = home.run(&mut ask(&home, &["hi"]));
    assert_eq!(output.code, Some(1));
    assert_eq!(server.requests().len(), 11);
    assert!(output.stderr.contains("(10 of 10)"));
    server.finish();
}

//! Faults in streams and refusals, as a client sees them.

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{End, Framing, Gate, HANGS, Reply, ScriptedServer, WireFormat};

use crate::client::{Answer, Client, ask};

/// For what must not come: whatever had been written before is there already, so a slow machine changes nothing.
const MOMENT: Duration = Duration::from_millis(200);

fn turn() -> Reply {
    Reply::Turn(ScriptedTurn::new().text("a text of some length, in steps"))
}

#[track_caller]
fn play(wire: WireFormat, reply: Reply) -> Answer {
    let server = ScriptedServer::builder().wire(wire).reply(reply).start();
    let answer = Client::new(&server).post(&ask());
    server.finish();
    answer
}

fn names(answer: &Answer) -> Vec<String> {
    answer.events().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_reset_is_a_reset() {
    for framing in [Framing::EventAtATime, Framing::Whole] {
        let reply = turn().stop_after(3).then(End::Reset);
        let server = ScriptedServer::builder().framing(framing).reply(reply).start();
        let answer = Client::new(&server).post(&ask());
        assert_eq!(answer.end.as_ref().unwrap_err().kind(), ErrorKind::ConnectionReset);
        assert_eq!(names(&answer), ["message_start", "content_block_start", "content_block_delta"]);
        server.finish();
    }
}

#[test]
fn a_connection_closed_inside_the_body_ends_early() {
    let answer = play(WireFormat::Anthropic, turn().stop_after(2).then(End::Fin));
    assert_eq!(answer.end.as_ref().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    assert_eq!(answer.events().len(), 2);
}

#[test]
fn a_cut_inside_an_event_leaves_half_of_it() {
    let whole = play(WireFormat::Anthropic, turn());
    for end in [End::Close, End::Fin, End::Reset] {
        let answer = play(WireFormat::Anthropic, turn().cut_inside_event(2).then(end));
        assert_eq!(answer.end.is_ok(), end == End::Close);
        assert_eq!(answer.events().len(), 2, "half an event is none");
        assert_eq!(answer.chunks[..2], whole.chunks[..2]);
        assert_eq!(answer.chunks.len(), 3);
        assert!(whole.chunks[2].starts_with(&answer.chunks[2]));
        assert_eq!(answer.chunks[2].len(), whole.chunks[2].len() / 2);
    }
}

#[test]
fn a_hanging_stream_hangs_until_the_server_is_dropped() {
    let gate = Gate::new();
    let reply = turn().stop_after(1).gate_after(1, &gate).then(End::Hang);
    let server = ScriptedServer::builder().reply(reply).start();
    let mut client = Client::new(&server);
    client.send(&ask());
    gate.wait_until_reached();
    client.set_patience(MOMENT);
    let answer = client.read_answer().unwrap();
    assert_eq!(answer.end.as_ref().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(answer.events().len(), 1);
    gate.open();
    assert_eq!(client.line().unwrap_err().kind(), ErrorKind::WouldBlock);
    server.finish();
    client.set_patience(HANGS);
    assert_ne!(client.line().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_gate_holds_the_stream_until_it_is_opened() {
    let gate = Gate::new();
    let server = ScriptedServer::builder().reply(turn().gate_after(2, &gate)).start();
    let mut client = Client::new(&server);
    client.send(&ask());
    gate.wait_until_reached();
    client.set_patience(MOMENT);
    let answer = client.read_answer().unwrap();
    assert_eq!(answer.end.as_ref().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(answer.events().len(), 2);
    gate.open();
    client.set_patience(HANGS);
    assert!(client.line().is_ok());
    server.finish();
}

#[test]
fn streams_can_lack_their_end_or_say_it_twice() {
    let last = |answer: &Answer| answer.events().pop().unwrap();
    let anthropic = |reply| play(WireFormat::Anthropic, reply);
    assert_eq!(last(&anthropic(turn())).0, "message_stop");
    assert_eq!(last(&anthropic(turn().without_end())).0, "message_delta");
    let twice = anthropic(turn().end_twice());
    assert_eq!(names(&twice)[names(&twice).len() - 2..], ["message_stop", "message_stop"]);
    assert_eq!(last(&play(WireFormat::OpenAi, turn())).1, "[DONE]");
    assert_ne!(last(&play(WireFormat::OpenAi, turn().without_end())).1, "[DONE]");
}

#[test]
fn an_event_can_be_replaced() {
    let answer = play(WireFormat::Anthropic, turn().event_override(2, r#"{"type":"content_blo"#));
    let events = answer.events();
    assert_eq!(events[2], ("content_block_delta".into(), r#"{"type":"content_blo"#.into()));
    assert!(events[3].1.ends_with('}'));
}

#[test]
fn errors_come_in_the_middle_of_streams() {
    let reply = || Reply::MidStreamError {
        after_events: 4,
        error_type: "overloaded_error".into(),
        message: "Overloaded".into(),
    };
    let events = play(WireFormat::Anthropic, reply()).events();
    assert_eq!(events.len(), 5);
    assert_eq!(events[4].0, "error");
    let data: serde_json::Value = serde_json::from_str(&events[4].1).unwrap();
    assert_eq!(data["error"]["type"], "overloaded_error");
    let events = play(WireFormat::OpenAi, reply()).events();
    assert_eq!(events.len(), 5);
    let data: serde_json::Value = serde_json::from_str(&events[4].1).unwrap();
    assert_eq!(data["error"]["message"], "Overloaded");
}

#[test]
fn slow_headers_are_slow() {
    let (before, pause) = (Instant::now(), Duration::from_millis(150));
    let answer = play(WireFormat::Anthropic, turn().slow(pause).stop_after(1));
    // A lower bound: a slow machine keeps it too.
    assert!(before.elapsed() >= pause);
    assert_eq!(answer.events().len(), 1);
}

#[test]
fn refusals_have_their_status_and_words() {
    let cases = [
        (Reply::rate_limited(3), 429, "rate limit"),
        (Reply::spend_cap_429(), 429, "spend limit"),
        (Reply::overloaded_529(), 529, "Overloaded"),
        (Reply::server_error_500(), 500, "Internal"),
        (Reply::timeout_504(), 504, "timed out"),
        (Reply::prompt_too_long(9, 8), 400, "prompt is too long: 9 tokens > 8 maximum"),
        (Reply::max_tokens_too_long(5, 4, 8), 400, "exceed context limit: 5 + 4 > 8"),
        (Reply::request_too_large_413(), 413, "maximum size"),
        (Reply::gateway_too_long(), 400, "Input is too long for requested model"),
        (Reply::openai_context_length_exceeded(), 400, "maximum context length is"),
        (Reply::llama_exceed_context(9, 8), 400, "exceed_context_size_error"),
        (Reply::vllm_too_long(), 400, "maximum context length is 32768"),
        (Reply::thinking_refused(), 400, "Invalid `signature` in `thinking` block"),
        (Reply::bad_request_400("odd"), 400, "odd"),
        (Reply::unauthorized_401(), 401, "x-api-key"),
        (Reply::billing_402(), 402, "credit"),
        (Reply::forbidden_403(), 403, "permission"),
        (Reply::not_found_404(), 404, "model"),
        (Reply::html_502(), 502, "<html>"),
    ];
    for wire in [WireFormat::Anthropic, WireFormat::OpenAi] {
        for (reply, status, words) in &cases {
            let answer = play(wire, reply.clone());
            assert_eq!(answer.status, *status, "{reply:?}");
            assert!(answer.text().contains(words), "{reply:?}: {}", answer.text());
            assert_eq!(answer.header("request-id"), Some("req_0"));
            let waits = matches!(words, &"rate limit").then_some("3");
            assert_eq!(answer.header("retry-after"), waits);
        }
    }
}

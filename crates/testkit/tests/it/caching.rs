//! The prompt cache through the server: what each answer says it cost.

use std::time::Duration;

use dormouse_conversation::Usage;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Reply, ScriptedServer, WireFormat};

use crate::client::{Client, assistant, body, user};

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;

/// A conversation of text blocks; the last carries a marker. The system prompt has about 2,000 tokens.
fn conversation(blocks_of_turns: &[usize]) -> String {
    let mut messages = Vec::new();
    let last = blocks_of_turns.len() - 1;
    for (turn, count) in blocks_of_turns.iter().enumerate() {
        let mut blocks: Vec<String> = (0..*count)
            .map(|block| format!(r#"{{"type":"text","text":"turn {turn} block {block}"}}"#))
            .collect();
        if turn == last {
            let end = blocks.last_mut().unwrap();
            *end = end.replace('}', &format!("{MARKER}}}"));
        }
        let role = if turn % 2 == 0 { "user" } else { "assistant" };
        messages.push(format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(",")));
    }
    let system = "s".repeat(8000);
    format!(
        r#"{{"model":"scripted-1","stream":true,"system":"{system}","messages":[{}]}}"#,
        messages.join(",")
    )
}

fn server() -> ScriptedServer {
    ScriptedServer::builder().reply_with(|_| ScriptedTurn::new().text("12345678").into()).start()
}

/// What the stream said the request cost.
fn streamed(client: &mut Client, text: &str) -> Usage {
    let events = client.post(text).events();
    let start: serde_json::Value = serde_json::from_str(&events[0].1).unwrap();
    let end: serde_json::Value = serde_json::from_str(&events[events.len() - 2].1).unwrap();
    let start: Usage = serde_json::from_value(start["message"]["usage"].clone()).unwrap();
    let end: Usage = serde_json::from_value(end["usage"].clone()).unwrap();
    start.updated(end)
}

#[test]
fn each_turn_reads_exactly_what_the_last_one_wrote() {
    let server = server();
    let mut client = Client::new(&server);
    for turns in [1, 3, 5, 7, 9] {
        let usage = streamed(&mut client, &conversation(&vec![2; turns]));
        assert_eq!(usage, server.requests().last().unwrap().usage);
        assert_eq!(usage.output_tokens, 2);
    }
    let requests = server.requests();
    assert_eq!(requests[0].usage.cache_read_input_tokens, 0);
    assert!(requests[0].written > 2000);
    for pair in requests.windows(2) {
        assert_eq!(pair[1].usage.cache_read_input_tokens, pair[0].written);
        assert_eq!(pair[1].usage.cache_creation_input_tokens, pair[1].written - pair[0].written);
        assert_eq!(pair[1].usage.input_tokens, 0);
    }
    server.finish();
}

#[test]
fn many_new_blocks_behind_one_marker_miss() {
    for (blocks, hit) in [(18, true), (19, false)] {
        let server = server();
        let mut client = Client::new(&server);
        streamed(&mut client, &conversation(&[1]));
        // One block of the assistant and so many of the user are new.
        let usage = streamed(&mut client, &conversation(&[1, 1, blocks]));
        assert_eq!(usage.cache_read_input_tokens > 0, hit, "{blocks}");
        server.finish();
    }
}

#[test]
fn entries_expire_by_the_servers_clock() {
    for (minutes, hit) in [(4, true), (5, false)] {
        let server = server();
        let mut client = Client::new(&server);
        streamed(&mut client, &conversation(&[1]));
        server.advance(Duration::from_mins(minutes));
        let usage = streamed(&mut client, &conversation(&[1, 1, 1]));
        assert_eq!(usage.cache_read_input_tokens > 0, hit, "{minutes}");
        server.finish();
    }
}

#[test]
fn small_prefixes_are_not_kept() {
    for (minimum, hit) in [(1024, true), (4096, false)] {
        let server = ScriptedServer::builder()
            .minimum_cacheable(minimum)
            .reply_with(|_| ScriptedTurn::new().text("x").into())
            .start();
        let mut client = Client::new(&server);
        streamed(&mut client, &conversation(&[1]));
        let usage = streamed(&mut client, &conversation(&[1]));
        assert_eq!(usage.cache_read_input_tokens > 0, hit, "{minimum}");
        assert_eq!(usage.cache_creation_input_tokens, 0);
        server.finish();
    }
}

#[test]
fn a_refused_request_leaves_nothing_in_the_cache() {
    let server = ScriptedServer::builder()
        .replies([Reply::overloaded_529(), ScriptedTurn::new().text("x").into()])
        .start();
    let mut client = Client::new(&server);
    assert_eq!(client.post(&conversation(&[1])).status, 529);
    let usage = streamed(&mut client, &conversation(&[1]));
    assert_eq!(usage.cache_read_input_tokens, 0);
    assert_eq!(server.requests()[0].written, 0);
    server.finish();
}

#[test]
fn openai_servers_cache_by_themselves() {
    let server = ScriptedServer::builder()
        .wire(WireFormat::OpenAi)
        .reply_with(|_| ScriptedTurn::new().text("x").into())
        .start();
    let mut client = Client::new(&server);
    let mut messages = vec![user("go and do something long enough to be seen")];
    for turn in 0..5 {
        let texts: Vec<&str> = messages.iter().map(String::as_str).collect();
        let events = client.post(&body(&texts)).events();
        let usage: serde_json::Value = serde_json::from_str(&events[events.len() - 2].1).unwrap();
        let usage = &usage["usage"];
        let request = server.requests().pop().unwrap();
        assert_eq!(usage["prompt_tokens"], request.usage.input_total());
        let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap();
        assert_eq!(cached, request.usage.cache_read_input_tokens);
        let before = server.requests().iter().rev().nth(1).map_or(0, |earlier| earlier.written);
        assert_eq!(cached, before, "turn {turn}");
        messages.extend([assistant("done so far"), user("more")]);
    }
    server.finish();
}

/// A fork goes on from a request of the conversation: it reads what that wrote, and breaks nothing.
#[test]
fn forks_have_replies_of_their_own_and_share_the_cache() {
    let server = server();
    server.push_fork(ScriptedTurn::new().text("noted"));
    let mut client = Client::new(&server);
    streamed(&mut client, &conversation(&[1]));
    let tagged = conversation(&[1, 1, 1]).replace("turn 2", "<forked-conversation> turn 2");
    streamed(&mut client, &tagged);
    // A text that only speaks of it is none.
    let quoted = conversation(&[1, 1, 1]).replace("turn 2", r#"{\"text\":\"<forked-conversation>"#);
    streamed(&mut client, &quoted);
    let (requests, forks) = (server.requests(), server.wait_for_fork_requests(1));
    assert_eq!((requests.len(), forks.len(), forks[0].index), (2, 1, 0));
    assert_eq!(forks[0].usage.cache_read_input_tokens, requests[0].written);
    assert_eq!(requests[1].usage.cache_read_input_tokens, requests[0].written);
    server.push_fork(ScriptedTurn::new().text("never asked for"));
    assert_eq!(server.problems(), ["1 fork replies were not asked for"]);
    let other = tagged.replace("turn 0", "turn X");
    client.post(&other);
    assert!(server.problems()[0].starts_with("fork request 1: the prefix changes at byte"));
}

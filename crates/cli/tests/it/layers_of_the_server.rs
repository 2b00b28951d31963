//! What servers clear themselves: deletions in their cache (C-8), and old tool uses (C-9).

use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{RecordedRequest, ScriptedServer, TestHome, WireFormat};
use serde_json::{Value, json};

use crate::program::{ask, dormouse, server};
use crate::talk::{leave, say, talk};

const RESULT: &str = "a nut in the larder";

/// A session that has looked at a file so often.
fn looked(
    server: &ScriptedServer,
    home: &TestHome,
    arguments: &[&str],
    range: std::ops::Range<u32>,
) {
    home.write("nuts.txt", format!("{RESULT}\n").repeat(200));
    for number in range {
        let input = r#"{"command":"cat nuts.txt"}"#;
        server.push(ScriptedTurn::new().call(format!("c{number}"), "Bash", input));
    }
    server.push(ScriptedTurn::new().text("looked"));
    home.run(ask(home, arguments).env("DORMOUSE_REPEATED_CALLS", "0")).success();
}

fn deletions(request: &RecordedRequest) -> Vec<Vec<String>> {
    let messages = request.messages();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let edits = blocks.filter(|block| block["type"] == "cache_edits");
    let id = |edit: &Value| edit["cache_reference"].as_str().unwrap().to_owned();
    edits.map(|block| block["edits"].as_array().unwrap().iter().map(id).collect()).collect()
}

fn with_cache_edits(server: &ScriptedServer) -> TestHome {
    let mut home = TestHome::new().with_server(server);
    home.set_env("DORMOUSE_CACHE_EDITS", "1");
    settings(&home, &json!({"cacheEdits": {"above": 6, "keep": 2}}));
    home
}

fn settings(home: &TestHome, settings: &Value) {
    home.write(home.dormouse_home().join("settings.json"), settings.to_string());
}

fn layer(home: &TestHome, name: &str) -> Value {
    let stats = home.run(&mut dormouse(home, &["stats", "--json"]));
    let stats: Value = serde_json::from_str(&stats.success().stdout).unwrap();
    assert_eq!(stats["cache_breaks"], json!({}), "every break is announced");
    stats["layers"][name].clone()
}

#[test]
fn deletions_are_sent_again_in_the_same_place_and_the_messages_stay() {
    let server = server(WireFormat::Anthropic).knows_cache_edits().start();
    let home = with_cache_edits(&server);
    // The server compares the bytes of all requests, and refuses a deletion of what is not there.
    looked(&server, &home, &["count"], 0..13);
    let requests = server.requests();
    let first = requests.iter().position(|request| !deletions(request).is_empty()).unwrap();
    assert_eq!(first, 7, "with the seventh result");
    assert_eq!(deletions(&requests[first]), [["c0", "c1", "c2", "c3", "c4"]]);
    let last = requests.last().unwrap();
    assert_eq!(deletions(last)[0], ["c0", "c1", "c2", "c3", "c4"]);
    assert_eq!(deletions(last)[1], ["c5", "c6", "c7", "c8", "c9"]);
    assert_eq!(last.text().matches(RESULT).count(), 13 * 200, "nothing is cleared here");
    let (before, after) = (&requests[first - 1].usage, &requests[first].usage);
    assert!(after.input_total() + 3_000 < before.input_total(), "{before:?} {after:?}");
    assert!(after.cache_read_input_tokens > 0, "what stands before and behind stays cached");
    let figures = layer(&home, "cache_edits");
    assert_eq!((&figures["fired"], &figures["changed"]), (&json!(2), &json!(10)));
    // After a resume the same bytes.
    server.push(ScriptedTurn::new().text("again"));
    home.run(&mut ask(&home, &["-c", "and on"])).success();
    assert_eq!(deletions(server.requests().last().unwrap()).len(), 2);
    server.finish();
}

#[test]
fn switched_off_they_are_taken_back() {
    let server = server(WireFormat::Anthropic).knows_cache_edits().start();
    let mut home = with_cache_edits(&server);
    looked(&server, &home, &["count"], 0..8);
    home.set_env("DORMOUSE_CACHE_EDITS", "0");
    server.expect_break("deletions taken back");
    server.push(ScriptedTurn::new().text("whole"));
    home.run(&mut ask(&home, &["-c", "and on"])).success();
    let request = server.requests().pop().unwrap();
    assert_eq!(deletions(&request), Vec::<Vec<String>>::new());
    assert_eq!(request.text().matches(RESULT).count(), 8 * 200);
    server.push(ScriptedTurn::new().text("still whole"));
    home.run(&mut ask(&home, &["-c", "and on"])).success();
    server.finish();
}

#[test]
fn after_a_clearing_by_time_they_start_anew() {
    let server = server(WireFormat::Anthropic).knows_cache_edits().start();
    let home = with_cache_edits(&server);
    looked(&server, &home, &["count"], 0..8);
    let home = home.with_now("2026-11-02T12:00:00Z");
    server.expect_break("cleared after a pause");
    server.push(ScriptedTurn::new().text("later"));
    home.run(&mut ask(&home, &["-c", "hours later"])).success();
    let request = server.requests().pop().unwrap();
    assert_eq!(deletions(&request), Vec::<Vec<String>>::new());
    assert_eq!(request.text().matches(RESULT).count(), 5 * 200);
    // What was cleared needs no deletion; the rest counts from here.
    looked(&server, &home, &["-c", "go on"], 8..10);
    assert_eq!(deletions(server.requests().last().unwrap()), [["c3", "c4", "c5", "c6", "c7"]]);
    server.finish();
}

#[test]
fn a_compaction_takes_them_out_and_its_fork_sends_what_was_sent() {
    let server = server(WireFormat::Anthropic)
        .knows_cache_edits()
        .fork_with(|_| ScriptedTurn::new().text("<summary>looked at nuts</summary>").into())
        .start();
    let home = with_cache_edits(&server);
    looked(&server, &home, &["count"], 0..13);
    let sent = deletions(server.requests().last().unwrap());
    let mut terminal = talk(&home, &["-c"], (100, 24));
    say(&mut terminal, "/compact", "compacted");
    assert_eq!(deletions(&server.fork_requests()[0]), sent);
    server.expect_break("compaction");
    server.push(ScriptedTurn::new().text("I go on"));
    say(&mut terminal, "go on", "I go on");
    assert_eq!(deletions(server.requests().last().unwrap()), Vec::<Vec<String>>::new());
    leave(terminal);
    server.finish();
}

#[test]
fn a_server_that_is_not_said_to_know_them_gets_none() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"cacheEdits": {"above": 6, "keep": 2}}));
    looked(&server, &home, &["count"], 0..9);
    server.finish();
    let server = self::server(WireFormat::OpenAi).start();
    let home = with_cache_edits(&server);
    looked(&server, &home, &["count"], 0..9);
    assert!(!server.requests().last().unwrap().text().contains("cache_edits"));
    server.finish();
}

#[test]
fn a_server_that_manages_the_window_is_asked_to_clear() {
    let server = server(WireFormat::Anthropic)
        .model("claude-opus-5-5")
        .window(100_000)
        .max_output(4_000)
        .start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_SERVER_CLEARING", "1");
    home.set_env("DORMOUSE_REPEATED_CALLS", "0");
    home.set_env("DORMOUSE_CONTEXT_WINDOW", "100000");
    home.set_env("DORMOUSE_AUTO_COMPACT", "0");
    home.write("many.txt", format!("{RESULT}\n").repeat(1_400));
    for number in 0..14 {
        let input = r#"{"command":"cat many.txt"}"#;
        server.push(ScriptedTurn::new().call(format!("c{number}"), "Bash", input));
    }
    server.push(ScriptedTurn::new().text("looked"));
    home.run(&mut ask(&home, &["count"])).success();
    let request = server.requests().pop().unwrap();
    let asked = request.json()["context_management"]["edits"].clone();
    assert_eq!(asked[0]["type"], "clear_thinking_20251015");
    assert_eq!(asked[0]["keep"], json!({"type": "thinking_turns", "value": 1}));
    let effective = 84_000;
    let from = effective / 100 * 70;
    assert_eq!(asked[1]["trigger"], json!({"type": "input_tokens", "value": from}));
    assert_eq!(asked[1]["clear_at_least"], json!({"type": "input_tokens", "value": from / 2}));
    assert_eq!(asked[1]["keep"], json!({"type": "tool_uses", "value": 5}));
    let excluded: Vec<&str> =
        asked[1]["exclude_tools"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    let clearable = ["Read", "Bash", "Grep", "Glob", "WebFetch", "Edit", "Write"];
    for name in request.tool_names() {
        assert_ne!(excluded.contains(&name.as_str()), clearable.contains(&name.as_str()), "{name}");
    }
    assert_eq!(request.header("anthropic-beta"), Some("context-management-2025-06-27"));
    // The whole history is sent, and what was cleared is in the figures.
    assert_eq!(request.text().matches(RESULT).count(), 14 * 1_400);
    let told = server.requests().iter().filter_map(|request| request.applied.clone()).count();
    let figures = layer(&home, "server_clearing");
    assert_eq!(figures["fired"], json!(told));
    assert!(told > 0 && figures["freed_tokens"].as_u64().unwrap() > from / 2, "{figures}");
    server.finish();
}

#[test]
fn other_servers_are_not_asked() {
    let server = server(WireFormat::OpenAi).start();
    let mut home = TestHome::new().with_server(&server);
    home.set_env("DORMOUSE_SERVER_CLEARING", "1");
    looked(&server, &home, &["count"], 0..2);
    assert!(!server.requests().last().unwrap().text().contains("context_management"));
    server.finish();
}

#[test]
fn odd_words_about_what_was_cleared_are_passed_over() {
    for odd in [
        "null",
        "7",
        r#"{"applied_edits":"none"}"#,
        r#"{"applied_edits":[{"cleared_tool_uses":"x"}]}"#,
    ] {
        let server = server(WireFormat::Anthropic).start();
        let home = TestHome::new().with_server(&server);
        let delta = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{{"output_tokens":2}},"context_management":{odd}}}"#
        );
        let reply: dormouse_testkit::Reply = ScriptedTurn::new().text("fine").into();
        server.push(reply.event_override(4, delta));
        let output = home.run(&mut ask(&home, &["hello"]));
        assert_eq!(output.success().stdout.trim(), "fine", "{odd}");
        server.finish();
    }
}

#[test]
fn shares_that_make_no_sense_are_refused() {
    let server = server(WireFormat::Anthropic).start();
    let home = TestHome::new().with_server(&server);
    settings(&home, &json!({"snip": {"fromPercent": 50, "toPercent": 60}}));
    let output = home.run(&mut ask(&home, &["hello"]));
    assert_eq!(output.code, Some(2), "{}", output.stderr);
    assert!(output.stderr.contains("snip.fromPercent"), "{}", output.stderr);
    server.finish();
}

//! Tests of the checks: each fires on a bad request and not on a good one.

use super::*;

fn request(wire: WireFormat, body: &str) -> RecordedRequest {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    if wire == WireFormat::Anthropic {
        headers.push(("anthropic-version".into(), "2023-06-01".into()));
        headers.push(("x-api-key".into(), "canary-key".into()));
    }
    RecordedRequest {
        index: 0,
        connection: 0,
        method: "POST".into(),
        path: "/v1/messages".into(),
        headers,
        body: body.as_bytes().to_vec(),
        usage: dormouse_conversation::Usage::default(),
        written: 0,
        left_out: 0,
        applied: None,
    }
}

fn problems_of(request: &RecordedRequest, wire: WireFormat) -> String {
    let canaries = ["canary-key".to_owned(), "line\nbreak".to_owned()];
    check_request(request, &Rules { wire, window: Some(1000), canaries: &canaries }).join("; ")
}

#[track_caller]
fn check_messages(wire: WireFormat, messages: &str, expected: &str) {
    let body = format!(r#"{{"stream":true,"messages":[{messages}]}}"#);
    assert_eq!(problems_of(&request(wire, &body), wire), expected, "{messages}");
}

#[track_caller]
fn anthropic(messages: &str, expected: &str) {
    check_messages(WireFormat::Anthropic, messages, expected);
}

#[track_caller]
fn openai(messages: &str, expected: &str) {
    check_messages(WireFormat::OpenAi, messages, expected);
}

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const CALLS: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","input":{}},{"type":"tool_use","id":"b","input":{}}]}"#;

#[test]
fn good_anthropic_conversations_pass() {
    anthropic(ASK, "");
    anthropic(&format!(r#"{ASK},{{"role":"assistant","content":"x"}},{ASK}"#), "");
    anthropic(
        &format!(
            r#"{ASK},{CALLS},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"b"}},{{"type":"tool_result","tool_use_id":"a","content":""}},{{"type":"text","text":"and"}}]}},{{"role":"system","content":"mind"}}"#
        ),
        "",
    );
}

#[test]
fn anthropic_pairing() {
    let results = |blocks: &str| format!(r#"{ASK},{CALLS},{{"role":"user","content":[{blocks}]}}"#);
    let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}"}}"#);
    let (a, b, c) = (result("a"), result("b"), result("c"));
    let text = r#"{"type":"text","text":"x"}"#;
    anthropic(&results(&a), "messages.1: the call `b` has 0 results in the next message");
    anthropic(
        &results(&format!("{a},{b},{b}")),
        "messages.1: the call `b` has 2 results in the next message",
    );
    anthropic(&results(&format!("{a},{b},{c}")), "messages.2: the result `c` answers no call");
    anthropic(
        &results(&format!("{a},{text},{b}")),
        "messages.2: a result stands behind another block",
    );
    anthropic(
        &format!(
            r#"{ASK},{CALLS},{{"role":"user","content":[{a},{b}]}},{{"role":"assistant","content":"x"}},{{"role":"user","content":[{a}]}}"#
        ),
        "messages.4: the result `a` answers no call",
    );
}

#[test]
fn anthropic_alternation() {
    anthropic(&format!("{ASK},{ASK}"), "messages.1: `user` may not follow `user`");
    anthropic(
        &format!(r#"{{"role":"assistant","content":"x"}},{ASK}"#),
        "messages.0: `assistant` may not follow ``",
    );
    anthropic(
        &format!(r#"{ASK},{{"role":"assistant","content":"x"}}"#),
        "the last message is the assistant's",
    );
    anthropic(
        &format!(r#"{ASK},{{"role":"system","content":"x"}},{ASK}"#),
        "messages.2: `user` may not follow `system`",
    );
}

#[test]
fn anthropic_blocks() {
    let user = |blocks: &str| format!(r#"{{"role":"user","content":[{blocks}]}}"#);
    anthropic(r#"{"role":"user","content":""}"#, "messages.0: empty content");
    anthropic(&user(""), "messages.0: empty content");
    anthropic(&user(r#"{"type":"text","text":""}"#), "messages.0: an empty text block");
    anthropic(
        &user(r#"{"type":"thinking","thinking":"x","signature":"s","cache_control":{}}"#),
        "messages.0: a cache marker on a thinking block",
    );
    anthropic(
        &user(r#"{"type":"text","text":"","cache_control":{}}"#),
        "messages.0: an empty text block; messages.0: a cache marker on an empty text block",
    );
}

#[test]
fn good_and_bad_openai_conversations() {
    let system = r#"{"role":"system","content":"s"}"#;
    let calls = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}}]}"#;
    let result = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":""}}"#);
    let (a, b, c) = (result("a"), result("b"), result("c"));
    openai(&format!("{system},{ASK},{calls},{a},{b}"), "");
    openai(&format!("{system},{ASK},{calls},{b},{a},{ASK}"), "");
    openai(&format!("{ASK},{calls},{a}"), "messages.1: the call `b` has 0 results");
    openai(&format!("{ASK},{calls},{a},{b},{c}"), "messages.4: the result `c` answers no call");
    openai(
        &format!("{ASK},{calls},{a},{ASK},{b}"),
        "messages.1: the call `b` has 0 results; messages.4: the result `b` answers no call",
    );
    openai(&format!("{system},{ASK},{ASK}"), "messages.2: `user` may not follow `user`");
    openai(&format!("{ASK},{system}"), "messages.1: `system` may not follow `user`");
    openai(r#"{"role":"user","content":""}"#, "messages.0: empty content");
    openai(&format!(r#"{ASK},{{"role":"assistant"}},{ASK}"#), "messages.1: empty content");
}

#[test]
fn bodies() {
    let check = |body: &str, expected: &str| {
        let problems = problems_of(&request(WireFormat::Anthropic, body), WireFormat::Anthropic);
        assert!(problems.contains(expected), "{body}: {problems}");
    };
    check("{", "the body is not JSON");
    check(&format!(r#"{{"messages":[{ASK}],"stream":true}}"#), "`messages` is not the last key");
    check(&format!(r#"{{"messages":[{ASK}]}}"#), "`stream` is not true");
    check(r#"{"stream":true,"messages":[]}"#, "there are no messages");
    check(&format!(r#"{{"stream":true,"top_k":1,"messages":[{ASK}]}}"#), "`top_k` is refused");
    let long = "x".repeat(4000);
    check(
        &format!(r#"{{"stream":true,"system":"{long}","messages":[{ASK}]}}"#),
        "do not fit into a window of 1000",
    );
}

#[test]
fn canaries_and_headers() {
    let good = format!(r#"{{"stream":true,"messages":[{ASK}]}}"#);
    let check = |change: &dyn Fn(&mut RecordedRequest), expected: &str| {
        let mut request = request(WireFormat::Anthropic, &good);
        change(&mut request);
        assert_eq!(problems_of(&request, WireFormat::Anthropic), expected);
    };
    check(&|_| {}, "");
    let say = |text: &str| good.replace("go", text).into_bytes();
    check(&|r| r.body = say("the canary-key"), r#"the body contains the canary "canary-key""#);
    check(&|r| r.body = say("line\\nbreak"), r#"the body contains the canary "line\nbreak""#);
    check(
        &|r| r.headers.push(("user-agent".into(), "canary-key".into())),
        r#"the header `user-agent` contains the canary "canary-key""#,
    );
    check(
        &|r| r.headers.push(("authorization".into(), "Bearer x".into())),
        "2 headers of `x-api-key` and `authorization`, not one",
    );
    check(
        &|r| r.headers.retain(|(name, _)| name != "anthropic-version"),
        "not one header `anthropic-version`",
    );
    check(
        &|r| r.headers.retain(|(name, _)| name != "content-type"),
        "the header `content-type` is not `application/json`",
    );
}

#[test]
fn the_prefix_rule() {
    let body = |messages: &str| format!(r#"{{"system":"s","messages":[{messages}]}}"#);
    let marked = r#"{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}"#;
    let plain = r#"{"role":"user","content":[{"type":"text","text":"a"}]}"#;
    let check = |old: &str, new: &str| check_prefix(body(old).as_bytes(), body(new).as_bytes());
    assert_eq!(check(marked, &format!("{plain},{marked}")), Ok(()));
    assert_eq!(check(marked, marked), Ok(()), "the same request again");
    assert_eq!(check(&format!("{plain},{marked}"), &format!("{plain},{plain},{marked}")), Ok(()));
    assert!(check(&format!("{plain},{ASK}"), plain).is_err(), "shorter");
    assert!(check(plain, &plain.replace("\"a\"", "\"b\"")).is_err());
    assert!(check(plain, &plain.replace(":\"a\"", ": \"a\"")).is_err(), "a space counts");
    let text = check(plain, &plain.replace("\"a\"", "\"b\"")).unwrap_err().to_string();
    assert!(text.contains("before:") && text.contains("now:"), "{text}");
}

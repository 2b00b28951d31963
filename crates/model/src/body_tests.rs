//! Tests of the append-only body: bytes, joined turns, markers, rebuilds.

use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{MessageId, SeededIds, SystemClock};
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, Prefix, RequestOptions, Response,
    ResponseFormat, ResultContent, SystemBlock, ToolChoice, ToolDefinition, ToolUseId, Usage,
};
use serde_json::value::RawValue;

use super::*;
use crate::wire_format::CacheTtl;
use dormouse_conversation::ServerTool;

fn dialect(wire: WireFormat) -> Dialect {
    Dialect::new(wire, CacheTtl::OneHour)
}

fn prefix() -> Arc<Prefix> {
    let block = |text: &str, is_static| SystemBlock { text: text.into(), is_static };
    let schema = RawValue::from_string(r#"{"type":"object"}"#.into()).unwrap();
    let tool = ToolDefinition {
        server_tool: None,
        name: "Read".into(),
        description: "reads".into(),
        input_schema: schema,
    };
    Prefix::new(
        vec![block("dynamic", false), block("static", true)],
        vec![tool],
        vec![Block::text("first")],
        EnvironmentFacts::default(),
    )
}

fn options() -> RequestOptions {
    RequestOptions::new("m", 100)
}

fn message(role: Role, blocks: Vec<Block>) -> Message {
    let ids = SeededIds::new(Arc::new(SystemClock::default()), 1);
    let now = "2026-11-15T08:00:00Z".parse().unwrap();
    let id = MessageId::generate(&ids);
    match role {
        Role::User => Message::user(id, now, blocks, MessageFlags::default()),
        Role::Assistant => {
            let response = Response {
                id: "r".into(),
                model: "m".into(),
                stop_reason: None,
                usage: Usage::default(),
                request_id: None,
            };
            Message::assistant(id, now, blocks, response)
        }
    }
}

fn user(text: &str) -> Message {
    message(Role::User, vec![Block::text(text)])
}

fn call() -> Message {
    let call = r#"{"type":"tool_use","id":"t1","name":"Read","input":{"n":1.10}}"#;
    message(Role::Assistant, vec![Block::text("look"), Block::from_json(call).unwrap()])
}

fn result() -> Message {
    let id = ToolUseId::new("t1");
    message(Role::User, vec![Block::tool_result(&id, &ResultContent::Text("ok".into()), false)])
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn anthropic_bytes() {
    let mut body = WireBody::new(dialect(WireFormat::Anthropic), &prefix(), &options());
    body.append(&user("hello"));
    assert_eq!(
        text(&body.render(&[0])),
        concat!(
            r#"{"model":"m","max_tokens":100,"stream":true,"system":["#,
            r#"{"type":"text","text":"static","cache_control":{"type":"ephemeral","ttl":"1h"}},"#,
            r#"{"type":"text","text":"dynamic","cache_control":{"type":"ephemeral","ttl":"1h"}}],"#,
            r#""tools":[{"name":"Read","description":"reads","input_schema":{"type":"object"}}],"#,
            r#""messages":[{"role":"user","content":[{"type":"text","text":"first"},"#,
            r#"{"type":"text","text":"hello","cache_control":{"type":"ephemeral","ttl":"1h"}}]}]}"#
        )
    );
}

/// A tool that servers define is named to those who know it, and described to all others.
#[test]
fn a_tool_that_the_model_knows() {
    let schema = RawValue::from_string(r#"{"type":"object"}"#.into()).unwrap();
    let tool = ToolDefinition {
        server_tool: Some(ServerTool::Memory),
        name: "memory".into(),
        description: "files".into(),
        input_schema: schema,
    };
    let prefix = Prefix::new(Vec::new(), vec![tool], Vec::new(), EnvironmentFacts::default());
    let sent = |dialect: Dialect| {
        let mut body = WireBody::new(dialect, &prefix, &options());
        body.append(&user("hello"));
        text(&body.render(&[])).to_owned()
    };
    let knowing = |wire| Dialect { server_tools: vec![ServerTool::Memory], ..dialect(wire) };
    let named = r#""tools":[{"type":"memory_20250818","name":"memory"}],"#;
    let described =
        r#""tools":[{"name":"memory","description":"files","input_schema":{"type":"object"}}],"#;
    assert!(sent(knowing(WireFormat::Anthropic)).contains(named));
    assert!(sent(dialect(WireFormat::Anthropic)).contains(described));
    let other = sent(knowing(WireFormat::OpenAi));
    assert!(other.contains(r#""function":{"name":"memory","description":"files","#), "{other}");
    assert!(!other.contains("memory_2025"), "{other}");
}

#[test]
fn openai_bytes() {
    let mut body = WireBody::new(dialect(WireFormat::OpenAi), &prefix(), &options());
    for message in [user("hello"), call(), result(), user("and?")] {
        body.append(&message);
    }
    assert_eq!(
        text(&body.render(&[0])),
        concat!(
            r#"{"model":"m","max_tokens":100,"stream":true,"stream_options":{"include_usage":true},"#,
            r#""tools":[{"type":"function","function":{"name":"Read","description":"reads","parameters":{"type":"object"}}}],"#,
            r#""messages":[{"role":"system","content":"static\n\ndynamic"},"#,
            r#"{"role":"user","content":[{"type":"text","text":"first"},{"type":"text","text":"hello"}]},"#,
            r#"{"role":"assistant","content":"look","tool_calls":[{"id":"t1","type":"function","function":{"name":"Read","arguments":"{\"n\":1.10}"}}]},"#,
            r#"{"role":"tool","tool_call_id":"t1","content":"ok"},"#,
            r#"{"role":"user","content":[{"type":"text","text":"and?"}]}]}"#
        )
    );
}

#[test]
fn what_was_sent_is_not_added_to() {
    for wire in [WireFormat::Anthropic, WireFormat::OpenAi] {
        let mut body = WireBody::new(dialect(wire), &prefix(), &options());
        body.append(&user("one"));
        let joined = body.turns().len();
        body.mark_sent(Duration::ZERO);
        let before = body.render(&[]);
        body.append(&user("two"));
        assert_eq!((joined, body.turns().len()), (1, 2));
        let after = body.render(&[]);
        let kept = before.len() - TAIL.len();
        assert_eq!(before[..kept], after[..kept]);
    }
}

#[test]
fn markers_do_not_touch_what_is_kept() {
    let mut body = WireBody::new(dialect(WireFormat::Anthropic), &prefix(), &options());
    for message in [user("one"), call(), result()] {
        body.append(&message);
    }
    let plain = text(&body.render(&[])).to_owned();
    let marked = text(&body.render(&[0, 2])).to_owned();
    let marker = CacheTtl::OneHour.marker();
    assert_eq!(marked.matches(marker).count(), 4);
    assert_eq!(marked.replace(marker, ""), plain.replace(marker, ""));
    assert_eq!(text(&body.render(&[])), plain);
}

#[test]
fn thinking_of_another_server_is_left_out() {
    let foreign =
        Block::from_json(r#"{"type":"thinking","thinking":"hm","field":"reasoning"}"#).unwrap();
    let own = Block::from_json(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#).unwrap();
    let mut body = WireBody::new(dialect(WireFormat::Anthropic), &prefix(), &options());
    body.append(&message(Role::Assistant, vec![foreign.clone(), own, Block::text("x")]));
    let bytes = body.render(&[]);
    assert!(text(&bytes).contains(
        r#"[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"x"}]"#
    ));
    let mut body = WireBody::new(dialect(WireFormat::OpenAi), &prefix(), &options());
    body.append(&message(Role::Assistant, vec![foreign, Block::text("x")]));
    assert!(
        text(&body.render(&[])).contains(r#"{"role":"assistant","content":"x","reasoning":"hm"}"#)
    );
}

#[test]
fn options_of_a_side_question() {
    let schema = RawValue::from_string(r#"{"type":"object","b":1,"a":2}"#.into()).unwrap();
    let options = RequestOptions {
        tool_choice: ToolChoice::None,
        response_format: ResponseFormat::Json { name: "pick".into(), schema },
        ..options()
    };
    let head =
        |wire| text(&WireBody::new(dialect(wire), &prefix(), &options).render(&[])).to_owned();
    assert!(head(WireFormat::Anthropic).contains(
        r#""tool_choice":{"type":"none"},"output_config":{"format":{"type":"json_schema","schema":{"type":"object","b":1,"a":2}}}"#
    ));
    assert!(head(WireFormat::OpenAi).contains(
        r#""tool_choice":"none","response_format":{"type":"json_schema","json_schema":{"name":"pick","strict":true,"schema":{"type":"object","b":1,"a":2}}}"#
    ));
}

#[test]
fn pictures_in_a_result_follow_as_the_users() {
    let content = ResultContent::Blocks(vec![Block::image("image/png", "AAAA")]);
    let result =
        message(Role::User, vec![Block::tool_result(&ToolUseId::new("t1"), &content, true)]);
    let mut body = WireBody::new(dialect(WireFormat::OpenAi), &prefix(), &options());
    body.append(&call());
    body.append(&result);
    assert!(text(&body.render(&[])).ends_with(concat!(
        r#"{"role":"tool","tool_call_id":"t1","content":"Error: [an image, which follows]"},"#,
        r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}]}"#
    )));
}

#[test]
fn a_rebuild_gives_the_bytes_of_a_fresh_start() {
    let mut detector = BreakDetector::default();
    let mut body = WireBody::new(dialect(WireFormat::Anthropic), &prefix(), &options());
    body.append(&user("one"));
    body.mark_sent(Duration::ZERO);
    let messages = [user("one"), call(), result()];
    body.rebuild(
        RebuildReason::new("test"),
        &mut detector,
        dialect(WireFormat::Anthropic),
        &prefix(),
        &options(),
        &messages,
    );
    let mut fresh = WireBody::new(dialect(WireFormat::Anthropic), &prefix(), &options());
    for message in &messages {
        fresh.append(message);
    }
    assert_eq!(body.render(&[]), fresh.render(&[]));
}

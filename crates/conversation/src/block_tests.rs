//! Tests of content blocks.

use super::*;

#[track_caller]
fn check_kept(text: &str) -> Block {
    let block = Block::from_json(text).unwrap();
    assert_eq!(block.raw(), text);
    assert_eq!(serde_json::to_string(&block).unwrap(), text);
    let list: Vec<Block> = serde_json::from_str(&format!("[{text}]")).unwrap();
    assert_eq!(list[0].raw(), text);
    block
}

#[test]
fn blocks_go_back_as_they_came() {
    check_kept(
        r#"{"zeta":1.10,"type":"hologram","big":12345678901234567890123,"a":{"c":1,"b":2}}"#,
    );
    check_kept(r#"{"type":"thinking","thinking":"","signature":"EoQD=="}"#);
    let call =
        check_kept(r#"{"input":{"n":1.10, "m":1e400},"name":"Read","id":"t1","type":"tool_use"}"#);
    assert_eq!(call.as_tool_use().unwrap().input.get(), r#"{"n":1.10, "m":1e400}"#);
    assert_eq!(*call.kind(), BlockKind::ToolUse { id: ToolUseId::new("t1"), name: "Read".into() });
}

#[test]
fn line_ends_between_tokens() {
    let block = check_kept("{\r\n\"type\":\"text\",\n\"text\":\"a\\nb\"}");
    assert!(block.has_newlines());
    assert_eq!(block.to_single_line().raw(), "{  \"type\":\"text\", \"text\":\"a\\nb\"}");
    assert_eq!(block.as_text().unwrap(), "a\nb");
}

#[test]
fn what_is_no_block_is_refused() {
    for text in [
        "[]",
        "5",
        "{}",
        r#"{"type":5}"#,
        r#"{"type":"tool_use","id":"a"}"#,
        r#"{"type":"tool_result"}"#,
    ] {
        assert!(Block::from_json(text).is_err(), "{text}");
    }
    assert!(Block::from_json("{").is_err());
}

#[test]
fn results() {
    let id = ToolUseId::new("t1");
    let block = Block::tool_result(&id, &ResultContent::Text("done".into()), true);
    assert_eq!(
        block.raw(),
        r#"{"type":"tool_result","tool_use_id":"t1","content":"done","is_error":true}"#
    );
    assert!(block.is_error());
    let content = ResultContent::Blocks(vec![Block::text("a"), Block::image("image/png", "AAAA")]);
    let block = Block::tool_result(&id, &content, false);
    assert!(!block.is_error());
    assert!(
        matches!(block.result_content(), Some(ResultContent::Blocks(blocks)) if blocks.len() == 2)
    );
    assert_eq!(Block::from_json(block.raw()).unwrap().kind(), block.kind());
}

#[test]
fn a_forwarded_call_is_a_call_of_the_tool_that_it_names() {
    let raw = r#"{"type":"tool_use","id":"t1","name":"MoreTools","input":{"arguments":{"n":1.10},"tool":"KillShell"}}"#;
    let block = Block::from_json(raw).unwrap();
    assert_eq!(block.raw(), raw);
    let call = block.as_tool_use().unwrap();
    assert_eq!((call.name, call.input.get()), ("KillShell", r#"{"n":1.10}"#));
    assert!(matches!(block.kind(), BlockKind::ToolUse { name, .. } if name == "KillShell"));
    let received = block.as_received_tool_use().unwrap();
    assert_eq!(received.name, "MoreTools");
    assert_eq!(received.input.get(), r#"{"arguments":{"n":1.10},"tool":"KillShell"}"#);
}

#[test]
fn what_names_no_arguments_stays_what_it_is() {
    for input in [r#"{"tool":"KillShell"}"#, r#"{"tool":"KillShell","arguments":"{}"}"#, "{}"] {
        let raw = format!(r#"{{"type":"tool_use","id":"t1","name":"MoreTools","input":{input}}}"#);
        let block = Block::from_json(raw).unwrap();
        let call = block.as_tool_use().unwrap();
        assert_eq!((call.name, call.input.get()), ("MoreTools", input));
    }
    let raw = r#"{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"MoreTools"}}"#;
    assert_eq!(Block::from_json(raw).unwrap().as_tool_use().unwrap().name, "Read");
}

//! Tests of replays.

use super::*;
use proptest::prelude::*;

const USER: &str = r#"{"type":"user","uuid":"01a1df2e-ec05-7007-8000-000000000001","timestamp":"2026-11-15T08:00:00Z","message":{"role":"user","content":"hi"}}"#;

/// A line of an answer, as other agents write it.
fn answer(line: u32, ids: (&str, &str), block: &str, output: u32) -> String {
    let (id, request) = ids;
    format!(
        r#"{{"type":"assistant","uuid":"01a1df2e-ec05-7007-8000-0000000001{line:02}","timestamp":"2026-11-15T08:00:01Z","requestId":"{request}","message":{{"id":"{id}","role":"assistant","model":"m","content":[{{"type":"text","text":"{block}"}}],"usage":{{"input_tokens":3,"cache_creation":{{"ephemeral_1h_input_tokens":9}},"output_tokens":{output}}}}}}}"#
    )
}

fn said(replay: &Replay) -> Vec<&ReplayedMessage> {
    let events = replay.events.iter();
    events
        .filter_map(|event| if let ReplayEvent::Message(said) = event { Some(said) } else { None })
        .collect()
}

#[test]
fn lines_of_one_answer_count_once_and_the_last_counts() {
    let lines = [
        USER.to_owned(),
        answer(1, ("msg_1", "req_1"), "a", 1),
        answer(2, ("msg_1", "req_1"), "b", 40),
        answer(2, ("msg_1", "req_1"), "b", 40),
        answer(3, ("msg_1", "req_2"), "asked again", 7),
    ];
    let replay = replay_transcript(lines.join("\n").as_bytes());
    let said = said(&replay);
    assert_eq!(said.len(), 3, "{said:#?}");
    assert_eq!(said[1].message.text(), "a\nb");
    let usage =
        |said: &ReplayedMessage| said.message.response.as_ref().unwrap().usage.output_tokens;
    assert_eq!((usage(said[1]), usage(said[2])), (40, 7));
    assert!(said[1].one_hour_cache && !said[0].one_hour_cache);
}

#[test]
fn what_a_server_cleared_belongs_to_its_answer_in_either_form() {
    let edits = r#"{"applied_edits":[{"cleared_input_tokens":30},{"cleared_input_tokens":12}]}"#;
    let theirs = answer(1, ("msg_1", "req_1"), "a", 1)
        .replace(r#""role""#, &format!(r#""context_management":{edits},"role""#));
    let ours = answer(2, ("msg_2", "req_2"), "b", 1).replace(
        r#""requestId""#,
        r#""messageUuid":"01a1df2e-ec05-7007-8000-000000000102","requestId""#,
    );
    let line = r#"{"type":"server-clearing","messageUuid":"01a1df2e-ec05-7007-8000-000000000102","clearedTokens":7}"#;
    let lines = [theirs, line.to_owned(), ours];
    let replay = replay_transcript(lines.join("\n").as_bytes());
    let cleared: Vec<_> = said(&replay).iter().map(|said| said.server_cleared).collect();
    assert_eq!(cleared, [Some(42), Some(7)], "{:?}", replay.warnings);
}

#[test]
fn results_replaced_after_they_were_sent_are_an_event() {
    let result =
        |text: &str| format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}}]"#);
    let id = "01a1df2e-ec05-7007-8000-000000000009";
    let user = USER.replace("\"hi\"", &result("whole")).replace("000000000001", "000000000009");
    let user = user.replacen('{', &format!(r#"{{"messageUuid":"{id}","#), 1);
    let stored = |text: &str| {
        let content = result(text);
        format!(
            r#"{{"type":"stored-result","messageUuid":"{id}","message":{{"role":"user","content":{content}}}}}"#
        )
    };
    let lines = [user, stored("preview"), answer(1, ("msg_1", "req_1"), "a", 1), stored("cleared")];
    let replay = replay_transcript(lines.join("\n").as_bytes());
    assert!(said(&replay)[0].message.blocks[0].raw().contains("preview"), "{replay:?}");
    let Some(ReplayEvent::ResultsReplaced { blocks, .. }) = replay.events.last() else {
        panic!("{replay:?}")
    };
    assert!(blocks[0].raw().contains("cleared"));
}

#[test]
fn a_subagents_own_transcript_is_a_conversation() {
    let lines = [USER.to_owned(), answer(1, ("msg_1", "req_1"), "a", 9)];
    let side = lines.join("\n").replace(r#""uuid""#, r#""isSidechain":true,"uuid""#);
    assert_eq!(said(&replay_transcript(side.as_bytes())).len(), 0);
    let replay = replay_abridged_subagent(&mut std::io::Cursor::new(side)).unwrap();
    assert_eq!((said(&replay).len(), replay.side_chains.len()), (2, 0));
}

#[test]
fn abridged_line_by_line_all_figures_are_the_same() {
    let long = "word ".repeat(9_000);
    let result = format!(
        r#"{{"type":"user","uuid":"01a1df2e-ec05-7007-8000-000000000003","timestamp":"2026-11-15T08:00:02Z","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{long}"}}]}}}}"#
    );
    let lines = [USER, "no json", &answer(1, ("msg_1", "req_1"), &long, 9), &result, r#"{"cut"#];
    let text = lines.join("\n");
    let whole = replay_transcript(text.as_bytes());
    let abridged = replay_abridged(&mut std::io::Cursor::new(&text)).unwrap();
    assert_eq!((abridged.lines, &abridged.warnings), (whole.lines, &whole.warnings));
    let tokens = |replay: &Replay| -> Vec<u64> {
        said(replay).iter().map(|said| said.message.tokens()).collect()
    };
    assert_eq!(tokens(&abridged), tokens(&whole));
    let bytes = |replay: &Replay| -> usize {
        let blocks = said(replay).into_iter().flat_map(|said| said.message.blocks.clone());
        blocks.map(|block| block.raw().len()).sum()
    };
    assert!(bytes(&abridged) < bytes(&whole) / 10, "{}", bytes(&abridged));
}

#[test]
fn broken_lines_are_named_and_foreign_ones_counted() {
    let lines = [
        "no json",
        r#"{"type":"ai-title","title":"x"}"#,
        r#"{"type":"user","message":{"role":"user","content":"no uuid"}}"#,
        USER,
        r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto","preTokens":170431}}"#,
        r#"{"type":"assistant","isSidechain":true,"uuid":"x","message":{"id":"s","role":"assistant","model":"m","usage":{"output_tokens":5}}}"#,
        r#"{"type":"user","uuid":"01a1"#,
    ];
    let replay = replay_transcript(lines.join("\n").as_bytes());
    assert_eq!(replay.lines, 6);
    let warnings: Vec<String> = replay.warnings.iter().map(ToString::to_string).collect();
    assert!(warnings[0].starts_with("line 1 was skipped"), "{warnings:?}");
    assert!(warnings[1].contains("line 3 was skipped: a message without a `uuid`"));
    assert!(warnings[2].starts_with("line 7, the last, was cut off"));
    assert_eq!(replay.other_lines, BTreeMap::from([("ai-title".to_owned(), 1)]));
    assert_eq!(replay.side_chains[0].usage.output_tokens, 5);
    let [_, ReplayEvent::Compacted(compaction)] = replay.events.as_slice() else {
        panic!("{:?}", replay.events)
    };
    assert_eq!((compaction.trigger.as_str(), compaction.pre_tokens), ("auto", 170_431));
}

proptest! {
    #[test]
    fn whatever_is_cut_out_or_changed_the_rest_is_read(
        at in 0_usize..2_000, length in 0_usize..300, byte in any::<u8>()
    ) {
        let lines = [
            USER.to_owned(),
            answer(1, ("msg_1", "req_1"), "a", 1),
            answer(2, ("msg_1", "req_1"), "b", 40),
            answer(3, ("msg_2", "req_2"), "c", 7),
            String::new(),
        ];
        let mut bytes = lines.join("\n").into_bytes();
        let at = at.min(bytes.len());
        let end = (at + length).min(bytes.len());
        bytes.splice(at..end, [byte]);
        let replay = replay_transcript(&bytes);
        prop_assert!(replay.lines <= 6);
        prop_assert!(replay.warnings.len() <= 2, "{:?}", replay.warnings);
        prop_assert!(length > 250 || said(&replay).len() + replay.warnings.len() >= 2);
    }
}

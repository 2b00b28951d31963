//! A compaction in a transcript: it counts whole, or not at all.

use dormouse_base::MessageId;
use dormouse_conversation::transcript::{
    CompactionBoundary, CompactionTrigger, Transcript, TranscriptWarning, load_transcript,
};
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, Prefix, PrefixOrigin, Response, SystemBlock,
    Usage,
};

use crate::transcript::Desk;

fn answer(desk: &Desk, text: &str) -> Message {
    let response = Response {
        id: format!("msg_{text}"),
        model: "m".into(),
        stop_reason: None,
        usage: Usage { input_tokens: 90_000, ..Usage::default() },
        request_id: None,
    };
    let thinking =
        Block::from_json(r#"{"type":"thinking","thinking":"hm","signature":"s"}"#).unwrap();
    let id = MessageId::generate(&*desk.ids);
    Message::assistant(id, desk.clock.now(), vec![thinking, Block::text(text)], response)
}

fn summary(desk: &Desk) -> Message {
    let flags = MessageFlags { meta: true, compact_summary: true, ..MessageFlags::default() };
    let id = MessageId::generate(&*desk.ids);
    Message::user(id, desk.clock.now(), vec![Block::text("in short")], flags)
}

fn prefix(text: &str) -> std::sync::Arc<Prefix> {
    let system = vec![SystemBlock { text: text.into(), is_static: true }];
    Prefix::new(system, Vec::new(), Vec::new(), EnvironmentFacts::default())
}

fn origin() -> PrefixOrigin {
    PrefixOrigin { model: "m".into(), server: "s".into(), max_tokens: Some(9) }
}

/// Two rounds, of which a compaction keeps the second; then one more message.
fn write(desk: &Desk) -> Transcript {
    let mut transcript = desk.create();
    transcript.record_prefix(&prefix("old"), &origin()).unwrap();
    let messages =
        [desk.user("one"), answer(desk, "first"), desk.user("two"), answer(desk, "second")];
    for message in &messages {
        transcript.record_message(message).unwrap();
    }
    let head = [summary(desk), summary(desk)];
    let view = head.iter().chain(&messages[2..]).map(|message| message.id).collect();
    let boundary = CompactionBoundary {
        trigger: CompactionTrigger::Auto,
        pre_tokens: 90_000,
        post_tokens: 10,
        method: "notes".into(),
        last_message: Some(messages[1].id),
        view,
        removed: Vec::new(),
        tools: Vec::new(),
        fidelity: None,
    };
    transcript.record_boundary(&boundary, &prefix("new"), &origin(), &head).unwrap();
    transcript.record_thinking_dropped(&[messages[3].id]).unwrap();
    transcript.record_message(&desk.user("three")).unwrap();
    transcript
}

fn texts(messages: &[Message]) -> Vec<String> {
    messages.iter().map(Message::text).collect()
}

#[test]
fn what_is_left_and_what_was_put_away() {
    let desk = Desk::new();
    let lines = write(&desk).lines();
    let loaded = load_transcript(&desk.bytes());
    assert_eq!(loaded.warnings, []);
    assert_eq!(texts(&loaded.messages), ["in short", "in short", "two", "second", "three"]);
    assert_eq!(texts(&loaded.compacted), ["one", "first"]);
    assert_eq!(loaded.prefix.unwrap().system()[0].text, "new");
    // Its counters are those of a window that is no more, its thinking was dropped.
    assert_eq!(loaded.messages[3].response.as_ref().unwrap().usage, Usage::default());
    assert_eq!(loaded.messages[3].blocks.len(), 1);
    let spoken: Vec<u64> = loaded.user_messages.iter().map(|spoken| spoken.line).collect();
    assert_eq!((spoken, loaded.lines), (vec![2, 4, 10], lines));
}

#[test]
fn wherever_a_crash_cuts_it_the_conversation_is_whole() {
    let desk = Desk::new();
    write(&desk);
    let bytes = desk.bytes();
    for end in 0..bytes.len() {
        let loaded = load_transcript(&bytes[..end]);
        let texts = texts(&loaded.messages);
        let compacted = texts.first().is_some_and(|first| first == "in short");
        let expected: &[&str] = if compacted {
            &["in short", "in short", "two", "second", "three"]
        } else {
            &["one", "first", "two", "second"]
        };
        assert!(
            expected.starts_with(&texts.iter().map(String::as_str).collect::<Vec<_>>()),
            "{texts:?}"
        );
        assert!(!compacted || texts.len() >= 4, "{texts:?}");
        let name = loaded.prefix.map(|prefix| prefix.system()[0].text.clone());
        assert_eq!(name.as_deref() == Some("new"), compacted);
    }
}

#[test]
fn a_session_goes_on_after_half_a_compaction() {
    let desk = Desk::new();
    write(&desk);
    let bytes = desk.bytes();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    // The boundary and the first of its two messages, then what a later process wrote.
    let mut kept: Vec<&[u8]> = lines[..7].to_vec();
    kept.push(lines[9]);
    let loaded = load_transcript(&kept.concat());
    assert_eq!(texts(&loaded.messages), ["one", "first", "two", "second", "three"]);
    assert!(
        loaded
            .warnings
            .iter()
            .any(|warning| matches!(warning, TranscriptWarning::IncompleteBoundary { line: 6 })),
        "{:?}",
        loaded.warnings
    );
}

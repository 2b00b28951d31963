//! Writing and reading, lines of two messages that alternate, foreign lines, torn ends.

use std::sync::Arc;

use dormouse_base::{Clock, Dir, IdSource, ManualClock, MessageId, SeededIds, SessionId};
use dormouse_conversation::transcript::{
    LineEnvelope, LineNotes, MessageHeader, Transcript, TranscriptError, TranscriptWarning,
    list_sessions, load_transcript, newest_session, session_file,
};
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, Prefix, PrefixOrigin, Response, ResultContent,
    Role, StopReason, SystemBlock, ToolUseId, Usage, pairing_violations, repair_pairing,
};
use proptest::prelude::*;

pub(crate) struct Desk {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) session: SessionId,
}

impl Desk {
    pub(crate) fn new() -> Self {
        let clock: Arc<dyn Clock> =
            Arc::new(ManualClock::new("2026-11-15T08:00:00Z".parse().unwrap()));
        let ids: Arc<dyn IdSource> = Arc::new(SeededIds::new(clock.clone(), 1));
        let session = SessionId::generate(&*ids);
        Self { folder: tempfile::tempdir().unwrap(), clock, ids, session }
    }

    pub(crate) fn dir(&self) -> Dir {
        Dir::open(self.folder.path()).unwrap()
    }

    pub(crate) fn create(&self) -> Transcript {
        Transcript::create(
            &self.dir(),
            self.session,
            envelope(),
            self.clock.clone(),
            self.ids.clone(),
        )
        .unwrap()
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.dir().read(&session_file(self.session)).unwrap()
    }

    pub(crate) fn user(&self, text: &str) -> Message {
        let id = MessageId::generate(&*self.ids);
        Message::user(id, self.clock.now(), vec![Block::text(text)], MessageFlags::default())
    }
}

pub(crate) fn envelope() -> LineEnvelope {
    LineEnvelope { folder: "/home/u/app".into(), version: "0".into(), git_branch: "main".into() }
}

fn response(stop_reason: Option<StopReason>, output_tokens: u64) -> Response {
    Response {
        id: "msg_1".into(),
        model: "m".into(),
        stop_reason,
        usage: Usage { input_tokens: 10, output_tokens, ..Usage::default() },
        request_id: Some("req_1".into()),
    }
}

fn call(id: &str) -> Block {
    Block::from_json(format!(
        r#"{{"type":"tool_use","id":"{id}","name":"Read","input":{{"n":1.10}}}}"#
    ))
    .unwrap()
}

fn result(id: &str) -> Block {
    Block::tool_result(&ToolUseId::new(id), &ResultContent::Text("ok".into()), false)
}

/// An answer with two calls; the first result comes while the answer still streams.
fn write_turn(desk: &Desk, transcript: &mut Transcript) -> Vec<Message> {
    let prompt = desk.user("hello");
    transcript.record_message(&prompt).unwrap();
    let (answer, results) = (MessageId::generate(&*desk.ids), MessageId::generate(&*desk.ids));
    let (begun, whole) = (response(None, 1), response(Some(StopReason::ToolUse), 99));
    let from_model = |response| MessageHeader {
        message: answer,
        role: Role::Assistant,
        flags: MessageFlags::default(),
        response: Some(response),
    };
    let from_tools = MessageHeader {
        message: results,
        role: Role::User,
        flags: MessageFlags::default(),
        response: None,
    };
    transcript.record_blocks(from_model(&begun), &[Block::text("look")]).unwrap();
    transcript.record_blocks(from_model(&begun), &[call("a")]).unwrap();
    transcript.record_blocks(from_tools, &[result("a")]).unwrap();
    transcript.record_blocks(from_model(&begun), &[call("b")]).unwrap();
    transcript.record_response_end(from_model(&whole)).unwrap();
    transcript.record_blocks(from_tools, &[result("b")]).unwrap();
    vec![
        prompt,
        Message::assistant(
            answer,
            desk.clock.now(),
            vec![Block::text("look"), call("a"), call("b")],
            whole,
        ),
        Message::user(
            results,
            desk.clock.now(),
            vec![result("a"), result("b")],
            MessageFlags::default(),
        ),
    ]
}

#[test]
fn what_is_written_is_read() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    let system = vec![SystemBlock { text: "be".into(), is_static: true }];
    let prefix = Prefix::new(
        system,
        Vec::new(),
        vec![Block::text("first")],
        EnvironmentFacts::default().with("date", "x"),
    );
    let origin = PrefixOrigin { model: "m".into(), server: "http://s".into(), max_tokens: Some(5) };
    transcript.record_prefix(&prefix, &origin).unwrap();
    let written = write_turn(&desk, &mut transcript);
    transcript.record_facts(&EnvironmentFacts::default().with("date", "y")).unwrap();
    let loaded = load_transcript(&desk.bytes());
    assert_eq!(loaded.messages, written);
    assert_eq!((loaded.warnings, loaded.origin), (vec![], Some(origin)));
    let read = loaded.prefix.unwrap();
    assert_eq!((read.system(), read.opening_blocks()), (prefix.system(), prefix.opening_blocks()));
    assert_eq!(loaded.facts.unwrap().get("date"), Some("y"));
}

#[test]
fn every_line_has_an_id_of_its_own_and_a_parent() {
    let desk = Desk::new();
    write_turn(&desk, &mut desk.create());
    let text = String::from_utf8(desk.bytes()).unwrap();
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for pair in lines.windows(2) {
        assert_eq!(pair[1]["parentUuid"], pair[0]["uuid"]);
    }
    let mut ids: Vec<&str> = lines.iter().map(|line| line["uuid"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), lines.len());
}

#[test]
fn what_is_withdrawn_does_not_count() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    let prompt = desk.user("hello");
    transcript.record_message(&prompt).unwrap();
    let answer = MessageId::generate(&*desk.ids);
    let begun = response(None, 1);
    let author = MessageHeader {
        message: answer,
        role: Role::Assistant,
        flags: MessageFlags::default(),
        response: Some(&begun),
    };
    transcript.record_blocks(author, &[Block::text("half an ans")]).unwrap();
    transcript.record_withdrawn(answer).unwrap();
    assert_eq!(load_transcript(&desk.bytes()).messages, [prompt]);
}

#[test]
fn what_a_withdrawn_message_brought_was_not_delivered() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    let ids = ["a".to_owned(), "b".to_owned()];
    let (gone, kept) = (desk.user("results"), desk.user("results again"));
    let notes = LineNotes { delivers: &ids, ..LineNotes::default() };
    transcript.record_noted(MessageHeader::of(&gone), &gone.blocks, notes).unwrap();
    assert_eq!(load_transcript(&desk.bytes()).delivered, ids);
    transcript.record_withdrawn(gone.id).unwrap();
    assert!(load_transcript(&desk.bytes()).delivered.is_empty());
    transcript.record_noted(MessageHeader::of(&kept), &kept.blocks, notes).unwrap();
    assert_eq!(load_transcript(&desk.bytes()).delivered, ids);
}

#[test]
fn blocks_with_line_ends_come_back_exactly() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    let odd = Block::from_json("{\n\"type\":\"text\",\r\n \"text\":\"a\\nb\"}").unwrap();
    let message = Message { blocks: vec![odd, Block::text("plain")], ..desk.user("") };
    transcript.record_message(&message).unwrap();
    assert_eq!(load_transcript(&desk.bytes()).messages, [message]);
    // Other tools find the blocks where they look for them.
    let line: serde_json::Value = serde_json::from_slice(desk.bytes().trim_ascii_end()).unwrap();
    assert_eq!(line["message"]["content"][0]["text"], "a\nb");
}

/// Cut at every byte of its last line, a transcript loads; all before the last line is there.
#[test]
fn a_torn_last_line_is_dropped_at_every_byte() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    transcript.record_message(&desk.user("kept")).unwrap();
    let before = desk.bytes().len();
    let last = desk.user("睡鼠 \"quoted\" \\ and \u{1F42D}");
    transcript.record_message(&last).unwrap();
    drop(transcript);
    let bytes = desk.bytes();
    for cut in before..=bytes.len() {
        let loaded = load_transcript(&bytes[..cut]);
        // The newline alone may be missing: then the line is whole.
        let whole = cut + 1 >= bytes.len();
        assert_eq!(loaded.messages.len(), 1 + usize::from(whole), "cut at {cut}");
        let torn = cut > before && !whole;
        assert_eq!(loaded.warnings.len(), usize::from(torn), "cut at {cut}");
        // And one can go on from there: on disk as well.
        std::fs::write(
            desk.folder.path().join(session_file(desk.session).as_path()),
            &bytes[..cut],
        )
        .unwrap();
        let (mut again, _) = Transcript::resume(
            &desk.dir(),
            desk.session,
            envelope(),
            desk.clock.clone(),
            desk.ids.clone(),
        )
        .unwrap();
        again.record_message(&desk.user("next")).unwrap();
        drop(again);
        let loaded = load_transcript(&desk.bytes());
        assert_eq!(loaded.warnings, [], "cut at {cut}: the torn line is put aside");
        assert_eq!(loaded.messages.len(), 2 + usize::from(whole), "cut at {cut}");
    }
}

#[test]
fn a_bad_line_in_the_middle_is_named() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    transcript.record_message(&desk.user("one")).unwrap();
    let mut bytes = desk.bytes();
    bytes.extend_from_slice(b"not json\n{\"type\":\"user\",\"message\":{\"role\":\"king\",\"content\":[]}}\n\xff\xfe\n\n");
    transcript.record_message(&desk.user("two")).unwrap();
    let tail =
        desk.bytes().split_off(desk.bytes().iter().position(|byte| *byte == b'\n').unwrap() + 1);
    bytes.extend_from_slice(&tail);
    let loaded = load_transcript(&bytes);
    let texts: Vec<String> = loaded.messages.iter().map(Message::text).collect();
    assert_eq!(texts, ["one", "two"]);
    let lines: Vec<usize> = loaded
        .warnings
        .iter()
        .map(|warning| match warning {
            TranscriptWarning::BadLine { line, .. }
            | TranscriptWarning::Torn { line, .. }
            | TranscriptWarning::IncompleteBoundary { line } => *line,
        })
        .collect();
    assert_eq!(lines, [2, 3, 4]);
}

/// Lines as another agent writes them: string content, one response in several lines that share
/// `message.id`, side chains, kinds of line nobody here knows.
#[test]
fn another_agents_lines_are_read() {
    let lines = [
        r#"{"type":"file-history-snapshot","snapshot":{}}"#,
        r#"{"parentUuid":null,"isSidechain":false,"cwd":"/x","sessionId":"11111111-1111-4111-8111-111111111111","type":"user","message":{"role":"user","content":"look"},"uuid":"22222222-2222-4222-8222-222222222222","timestamp":"2026-03-04T05:06:18.622Z","todos":[]}"#,
        r#"{"parentUuid":"22222222-2222-4222-8222-222222222222","isSidechain":false,"message":{"model":"m","id":"msg_1","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"EoQ"}],"stop_reason":null,"usage":{"input_tokens":3,"output_tokens":10,"service_tier":"standard"}},"requestId":"req_1","type":"assistant","uuid":"33333333-3333-4333-8333-333333333333","timestamp":"2026-03-04T05:06:22.627Z"}"#,
        r#"{"isSidechain":true,"type":"user","message":{"role":"user","content":"a sub-agent's"},"uuid":"55555555-5555-4555-8555-555555555555","timestamp":"2026-03-04T05:06:22.627Z"}"#,
        r#"{"isSidechain":false,"message":{"model":"m","id":"msg_1","role":"assistant","content":[{"type":"text","text":"here"}],"usage":{"input_tokens":3,"output_tokens":25}},"type":"assistant","uuid":"44444444-4444-4444-8444-444444444444","timestamp":"2026-03-04T05:06:23.627Z"}"#,
    ];
    let loaded = load_transcript((lines.join("\n") + "\n").as_bytes());
    assert_eq!(loaded.warnings, []);
    assert_eq!(loaded.folder.as_deref(), Some("/x"));
    let shapes: Vec<(Role, usize)> =
        loaded.messages.iter().map(|m| (m.role, m.blocks.len())).collect();
    assert_eq!(shapes, [(Role::User, 1), (Role::Assistant, 2)]);
    assert_eq!(loaded.messages[1].response.as_ref().unwrap().usage.output_tokens, 25);
}

#[test]
fn one_writer_a_session() {
    let desk = Desk::new();
    let first = desk.create();
    let resume = || {
        Transcript::resume(
            &desk.dir(),
            desk.session,
            envelope(),
            desk.clock.clone(),
            desk.ids.clone(),
        )
    };
    assert!(matches!(resume(), Err(TranscriptError::InUse { .. })));
    drop(first);
    assert!(resume().is_ok());
    let other = SessionId::generate(&*desk.ids);
    let missing =
        Transcript::resume(&desk.dir(), other, envelope(), desk.clock.clone(), desk.ids.clone());
    assert!(matches!(missing, Err(TranscriptError::Missing(_))));
}

#[test]
fn the_list_of_sessions() {
    let desk = Desk::new();
    let mut transcript = desk.create();
    assert!(
        list_sessions(&desk.dir(), None).unwrap().is_empty(),
        "a session without a word is none"
    );
    assert_eq!(newest_session(&desk.dir()).unwrap(), None);
    transcript.record_message(&desk.user(&format!("\n  {}", "long ".repeat(40)))).unwrap();
    let sessions = list_sessions(&desk.dir(), None).unwrap();
    assert_eq!((sessions.len(), sessions[0].messages), (1, 1));
    assert!(sessions[0].title.starts_with("long long") && sessions[0].title.ends_with('…'));
    assert!(sessions[0].title.chars().count() <= 81);
    assert_eq!(list_sessions(&desk.dir(), Some("LONG")).unwrap().len(), 1);
    assert_eq!(list_sessions(&desk.dir(), Some("absent")).unwrap().len(), 0);
    assert_eq!(newest_session(&desk.dir()).unwrap(), Some(desk.session));
}

/// The committed corpus of the fuzz target, as an ordinary test.
#[test]
fn the_fuzz_corpus_loads() {
    let desk = Desk::new();
    let corpus =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/transcript_load");
    let mut files = 0;
    for entry in corpus.read_dir().unwrap() {
        files += 1;
        let loaded = load_transcript(&std::fs::read(entry.unwrap().path()).unwrap());
        let (messages, _) =
            repair_pairing(loaded.messages, |blocks| Message { blocks, ..desk.user("") });
        assert_eq!(pairing_violations(&messages), Vec::<String>::new());
    }
    assert!(files >= 2);
}

proptest! {
    /// Any bytes load, and those that are a line of ours in between are found.
    #[test]
    fn any_bytes_load(noise in prop::collection::vec(any::<u8>(), 0..300), at in any::<prop::sample::Index>()) {
        let desk = Desk::new();
        desk.create().record_message(&desk.user("kept")).unwrap();
        let line = desk.bytes();
        // A newline on either side keeps the line a line.
        let mut bytes = noise.clone();
        let mut whole = vec![b'\n'];
        whole.extend(line);
        let place = at.index(bytes.len() + 1);
        bytes.splice(place..place, whole);
        let loaded = load_transcript(&bytes);
        prop_assert!(loaded.messages.iter().any(|message| message.text() == "kept"));
    }
}

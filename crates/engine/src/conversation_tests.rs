//! The invariants of a conversation.

use std::sync::Arc;

use dormouse_base::{Clock, Deadlines, Dir, RandomIds, SessionId, SystemClock};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_conversation::transcript::{LineEnvelope, Transcript};
use dormouse_conversation::{
    Block, EnvironmentFacts, Message, MessageFlags, MessageHistory, Prefix, RequestOptions, Role,
};
use dormouse_model::{CacheTtl, Dialect, WireFormat};

use super::Conversation;
use crate::config::services::Services;
use crate::wire_state::WireState;

fn conversation(home: &std::path::Path) -> Conversation {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    let ids = Arc::new(RandomIds::new(Arc::clone(&clock)));
    let figures = MetricsLog::at(home, Arc::clone(&clock));
    let services = Services { clock, ids, deadlines: Deadlines::default(), figures };
    let transcript = Transcript::create(
        &Dir::open(home).unwrap(),
        SessionId::generate(&*services.ids),
        LineEnvelope { folder: String::new(), version: String::new(), git_branch: String::new() },
        Arc::clone(&services.clock),
        Arc::clone(&services.ids),
    )
    .unwrap();
    let prefix = Prefix::new(Vec::new(), Vec::new(), Vec::new(), EnvironmentFacts::default());
    let dialect = Dialect::new(WireFormat::Anthropic, CacheTtl::FiveMinutes);
    let wire = WireState::new(prefix, dialect, RequestOptions::new("model", 100));
    Conversation::new(transcript, wire, MessageHistory::default(), None, services)
}

/// The bytes of the messages, without the closing brackets.
fn sent(conversation: &mut Conversation) -> String {
    let bytes = String::from_utf8(conversation.next_request().bytes).unwrap();
    let bytes = bytes.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    bytes.trim_end_matches(['}', ']']).to_owned()
}

#[test]
fn what_was_sent_only_grows() {
    let home = tempfile::tempdir().unwrap();
    let mut conversation = conversation(home.path());
    conversation.append_user(vec![Block::text("one")], MessageFlags::default()).unwrap();
    let first = sent(&mut conversation);
    conversation.append_closing("[no answer]").unwrap();
    conversation.append_user(vec![Block::text("two")], MessageFlags::default()).unwrap();
    let second = sent(&mut conversation);
    assert!(second.starts_with(&first), "{first}\n{second}");
}

#[test]
fn a_message_of_the_history_is_in_the_transcript() {
    let home = tempfile::tempdir().unwrap();
    let mut conversation = conversation(home.path());
    conversation.append_user(vec![Block::text("a prompt")], MessageFlags::default()).unwrap();
    conversation.close_after_error();
    assert_eq!(conversation.history().last_role(), Some(Role::Assistant));
    let path = conversation.transcript_path().to_owned();
    let written = || std::fs::read_to_string(&path).unwrap();
    assert!(written().contains("a prompt") && !written().contains("the run ended"));
    conversation.write_pending().unwrap();
    assert!(written().contains("the run ended"));
}

#[test]
fn a_partial_message_is_withdrawn_and_a_complete_one_is_not() {
    let home = tempfile::tempdir().unwrap();
    let mut conversation = conversation(home.path());
    let complete =
        conversation.append_user(vec![Block::text("x")], MessageFlags::default()).unwrap();
    assert!(!conversation.withdraw(complete.id));
    let partial = conversation.new_id();
    assert!(conversation.withdraw(partial));
}

#[test]
fn a_copy_continues_with_the_same_bytes() {
    let home = tempfile::tempdir().unwrap();
    let mut parent = conversation(home.path());
    parent.append_user(vec![Block::text("shared")], MessageFlags::default()).unwrap();
    let shared = sent(&mut parent);
    parent.append_closing("[no answer]").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let fork = conversation(folder.path());
    let opening: Message =
        fork.new_user_message(vec![Block::text("task")], MessageFlags::default());
    let Conversation { transcript, services, .. } = fork;
    let mut fork = parent.copy().into_conversation(transcript, opening, services).unwrap();
    assert!(sent(&mut fork).starts_with(&shared));
}

//! Helpers for the tests of messages.

use std::sync::Arc;

use dormouse_base::{Clock, Dir, IdSource, RandomIds, SystemClock};

use super::{
    AgentName, Mailboxes, MessageContent, MessageRouter, MessageSender, MessageSummary,
    MessageText, OutgoingMessage, SenderReachability,
};

pub(super) fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

pub(super) fn content(text: &str) -> MessageContent {
    let summary = MessageSummary::new("one two three four five").unwrap();
    MessageContent::Text { summary, text: MessageText::new(text).unwrap() }
}

pub(super) fn draft(from: &str, text: &str) -> OutgoingMessage {
    OutgoingMessage {
        from: name(from),
        reply_to: None,
        reach: SenderReachability::Answerable,
        content: content(text),
    }
}

pub(super) fn text_of(draft: &OutgoingMessage) -> String {
    match &draft.content {
        MessageContent::Text { text, .. } => text.to_string(),
        other => panic!("{other:?}"),
    }
}

pub(super) fn clock_and_ids() -> (Arc<dyn Clock>, Arc<dyn IdSource>) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
    (Arc::clone(&clock), Arc::new(RandomIds::new(clock)))
}

pub(super) fn mailboxes(folder: &std::path::Path) -> Mailboxes {
    let (clock, ids) = clock_and_ids();
    Mailboxes::open(&Dir::create(folder).unwrap(), clock, ids).unwrap()
}

pub(super) fn router() -> MessageRouter {
    let (clock, ids) = clock_and_ids();
    MessageRouter::new(clock, ids)
}

pub(super) fn routes(from: &str, folder: &std::path::Path) -> MessageSender {
    MessageSender {
        from: name(from),
        reply_to: None,
        router: router(),
        mailboxes: mailboxes(folder),
    }
}

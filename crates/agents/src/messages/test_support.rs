//! What the tests of messages share.

use std::sync::Arc;

use dormouse_base::{Clock, Dir, IdSource, RandomIds, SystemClock};

use super::{AgentName, Content, Draft, Mailboxes, PostOffice, Reach, Routes, Summary, Words};

pub(super) fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

pub(super) fn content(text: &str) -> Content {
    let summary = Summary::new("one two three four five").unwrap();
    Content::Text { summary, text: Words::new(text).unwrap() }
}

pub(super) fn draft(from: &str, text: &str) -> Draft {
    Draft { from: name(from), reply_to: None, reach: Reach::Answerable, content: content(text) }
}

pub(super) fn text_of(draft: &Draft) -> String {
    match &draft.content {
        Content::Text { text, .. } => text.to_string(),
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

pub(super) fn office() -> PostOffice {
    let (clock, ids) = clock_and_ids();
    PostOffice::new(clock, ids)
}

pub(super) fn routes(from: &str, folder: &std::path::Path) -> Routes {
    Routes { from: name(from), reply_to: None, office: office(), mailboxes: mailboxes(folder) }
}

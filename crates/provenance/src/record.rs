//! The recent messages of a session, and which of them a text repeats (M-17).
//!
//! Invariants: words belong to their first author, so that a page does not become the project's by being
//! written to a file and read again; but what the user typed is theirs, whoever wrote it before.

use std::collections::{HashSet, VecDeque};
use std::sync::OnceLock;

use dormouse_base::MessageId;
use dormouse_memory::{MessageSource, QuarantinedText, Trust};

use crate::shingles::UncoveredShingles;
use crate::words::WordSequence;

/// A text that repeats nothing, but shares this many words with a page that the user never typed, is about the page.
const BORROWED_WORDS: usize = 3;
/// Shorter words occur everywhere.
const LONG_WORD_CHARS: usize = 5;
/// Messages that are kept for each trust, and bytes of each.
const KEPT_MESSAGES: usize = 200;
const KEPT_BYTES: usize = 256 * 1024;

#[derive(Debug)]
struct RecordedMessage {
    id: MessageId,
    trust: Trust,
    text: String,
    /// Split when a text is first compared with it.
    words: OnceLock<WordSequence>,
}

impl RecordedMessage {
    fn words(&self) -> &WordSequence {
        self.words.get_or_init(|| WordSequence::of(&self.text))
    }
}

/// The recent messages of a session with the trust in each.
#[derive(Debug, Default)]
pub struct ProvenanceRecord {
    messages: VecDeque<RecordedMessage>,
}

impl ProvenanceRecord {
    /// Adds a message. The oldest of the same trust goes when there are too many, never one of another trust: many
    /// small results must not push out a page.
    pub fn add(&mut self, id: MessageId, trust: Trust, text: &str) {
        let (text, _) = text.split_at(text.floor_char_boundary(KEPT_BYTES));
        let words = OnceLock::new();
        self.messages.push_back(RecordedMessage { id, trust, text: text.to_owned(), words });
        if self.with_trust(trust).count() > KEPT_MESSAGES
            && let Some(oldest) = self.messages.iter().position(|message| message.trust == trust)
        {
            self.messages.remove(oldest);
        }
    }

    /// Whether a message from outside contains this text.
    pub fn outside_contains(&self, text: &str) -> bool {
        self.with_trust(Trust::Outside).any(|message| message.text.contains(text))
    }

    /// The messages that a text comes from: those it repeats; if it repeats none, the user's last message, from which
    /// the model concluded it, and the pages since then that it is about. Quarantined memories count as outside,
    /// however their words come back.
    pub fn sources_of(
        &self,
        text: &str,
        session: &str,
        quarantined: &[QuarantinedText],
    ) -> Vec<MessageSource> {
        let source = |message: &RecordedMessage| MessageSource {
            session: session.to_owned(),
            message: message.id.to_string(),
            trust: message.trust,
        };
        let mut uncovered = UncoveredShingles::of(text);
        let mut covers =
            |message: &&RecordedMessage| uncovered.cover(message.words(), message.trust);
        let mut sources: Vec<MessageSource> =
            self.with_trust(Trust::Typed).filter(&mut covers).map(source).collect();
        for memory in quarantined {
            if uncovered.cover(&WordSequence::of(&memory.text), Trust::Outside) {
                let session = "memory".to_owned();
                let message = memory.file.to_string();
                sources.push(MessageSource { session, message, trust: Trust::Outside });
            }
        }
        let others = self.messages.iter().filter(|message| message.trust != Trust::Typed);
        for message in others {
            if uncovered.cover(message.words(), message.trust) {
                sources.push(source(message));
            }
        }
        if sources.is_empty() {
            sources.extend(self.concluded_from(text).into_iter().map(source));
        }
        sources
    }

    fn with_trust(&self, trust: Trust) -> impl Iterator<Item = &RecordedMessage> {
        self.messages.iter().filter(move |message| message.trust == trust)
    }

    fn concluded_from(&self, text: &str) -> Vec<&RecordedMessage> {
        let last = self.messages.iter().rposition(|message| message.trust == Trust::Typed);
        let typed: HashSet<&str> =
            self.with_trust(Trust::Typed).flat_map(|message| message.words().iter()).collect();
        let text = WordSequence::of(text);
        let own: HashSet<&str> = text
            .iter()
            .filter(|word| word.chars().count() >= LONG_WORD_CHARS && !typed.contains(word))
            .collect();
        let is_about = |message: &&RecordedMessage| {
            let words: HashSet<&str> = message.words().iter().collect();
            own.intersection(&words).count() >= BORROWED_WORDS
        };
        let since = self.messages.iter().skip(last.map_or(0, |last| last + 1));
        let pages = since.filter(|message| message.trust == Trust::Outside).filter(is_about);
        last.and_then(|last| self.messages.get(last)).into_iter().chain(pages).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_base::{IdSource, SeededIds, SystemClock};

    #[test]
    fn a_text_comes_from_what_it_repeats() {
        let ids = SeededIds::new(std::sync::Arc::new(SystemClock::default()), 1);
        let id = || MessageId::generate(&ids as &dyn IdSource);
        let mut record = ProvenanceRecord::default();
        record.add(id(), Trust::Typed, "please never ever mock the database in our tests");
        let page =
            "the build server of the far away company is always called badger and runs at night";
        record.add(id(), Trust::Outside, page);
        let trusts = |text: &str| -> Vec<Trust> {
            record.sources_of(text, "s", &[]).iter().map(|source| source.trust).collect()
        };
        assert_eq!(trusts("Tests use a real database. Why: the user said so."), [Trust::Typed]);
        let copied = "Note: the build server of the far away company is always called Badger.";
        assert_eq!(trusts(copied), [Trust::Outside]);
        assert_eq!(
            trusts(&format!(
                "{copied} Never mock: please never ever mock the database in our tests"
            )),
            [Trust::Typed, Trust::Outside]
        );
        assert_eq!(trusts(""), [Trust::Typed]);
    }
}

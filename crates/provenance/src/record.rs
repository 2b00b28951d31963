//! The recent messages of a session, and which of them a text repeats (M-17).
//!
//! Invariants: words belong to their first author, so that a page does not become the project's by being
//! written to a file and read again; but what the user typed is theirs, whoever wrote it before.

use std::collections::VecDeque;
use std::sync::OnceLock;

use dormouse_base::MessageId;
use dormouse_memory::{MessageSource, QuarantinedText, Trust};

use crate::evidence::identifiers;
use crate::shingles::TellingRuns;
use crate::support::{contains_quote, content_words, is_supported};
use crate::words::WordSequence;

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

    /// The messages that a text comes from.
    ///
    /// Any part of it that is from outside makes all of it so, and so does text from outside since the user's last message,
    /// unless the user said what it claims. It is the user's if one of their messages contains a quotation or supports the
    /// claim; otherwise the model concluded it. Quarantined memories count as outside, however their words come back.
    pub fn sources_of(
        &self,
        claimed: &ClaimedText<'_>,
        session: &str,
        quarantined: &[QuarantinedText],
    ) -> Vec<MessageSource> {
        let source = |message: &RecordedMessage, trust: Trust| MessageSource {
            session: session.to_owned(),
            message: message.id.to_string(),
            trust,
        };
        let foreign = ForeignParts::of(claimed.text, self);
        let outside = self.repeated_outside(&foreign, session, quarantined);
        if !outside.is_empty() {
            return outside;
        }
        let typed = self.supporting(claimed);
        let pages = self.outside_since_typed();
        if !pages.is_empty() && (typed.is_empty() || self.is_mostly_from(claimed.text, &pages)) {
            return pages.into_iter().map(|page| source(page, Trust::Outside)).collect();
        }
        let tools =
            self.with_trust(Trust::Tool).filter(|message| foreign.runs.are_in(message.words()));
        let mut sources: Vec<MessageSource> =
            tools.map(|message| source(message, Trust::Tool)).collect();
        match (typed.as_slice(), self.with_trust(Trust::Typed).last()) {
            ([], Some(last)) => sources.push(source(last, Trust::Concluded)),
            (typed, _) => sources.extend(typed.iter().map(|message| source(message, Trust::Typed))),
        }
        sources
    }

    /// Whether a part of a text that the user did not type is from outside.
    pub fn repeats_outside(&self, text: &str, quarantined: &[QuarantinedText]) -> bool {
        !self.repeated_outside(&ForeignParts::of(text, self), "", quarantined).is_empty()
    }

    fn repeated_outside(
        &self,
        foreign: &ForeignParts,
        session: &str,
        quarantined: &[QuarantinedText],
    ) -> Vec<MessageSource> {
        let source = |session: &str, message: String| MessageSource {
            session: session.to_owned(),
            message,
            trust: Trust::Outside,
        };
        let messages =
            self.with_trust(Trust::Outside).filter(|message| foreign.are_in(message.words()));
        let memories =
            quarantined.iter().filter(|memory| foreign.are_in(&WordSequence::of(&memory.text)));
        let messages = messages.map(|message| source(session, message.id.to_string()));
        messages.chain(memories.map(|memory| source("memory", memory.file.to_string()))).collect()
    }

    fn with_trust(&self, trust: Trust) -> impl DoubleEndedIterator<Item = &RecordedMessage> {
        self.messages.iter().filter(move |message| message.trust == trust)
    }

    /// The user's messages that say what a text claims.
    fn supporting(&self, claimed: &ClaimedText<'_>) -> Vec<&RecordedMessage> {
        let supports = |message: &&RecordedMessage| {
            claimed.quotes.iter().any(|quote| contains_quote(message.words(), quote))
                || is_supported(claimed.text, &message.text)
        };
        self.with_trust(Trust::Typed).filter(supports).collect()
    }

    fn outside_since_typed(&self) -> Vec<&RecordedMessage> {
        let last = self.messages.iter().rposition(|message| message.trust == Trust::Typed);
        let since = self.messages.iter().skip(last.map_or(0, |last| last + 1));
        since.filter(|message| message.trust == Trust::Outside).collect()
    }

    /// Whether half of a text's words occur in pages and not in what the user typed.
    fn is_mostly_from(&self, text: &str, pages: &[&RecordedMessage]) -> bool {
        let own = content_words(text);
        let mut borrowed = own.clone();
        for message in self.with_trust(Trust::Typed) {
            let typed = content_words(&message.text);
            borrowed.retain(|word| !typed.contains(word));
        }
        let theirs: Vec<_> = pages.iter().map(|page| content_words(&page.text)).collect();
        borrowed.retain(|word| theirs.iter().any(|words| words.contains(word)));
        !own.is_empty() && 2 * borrowed.len() >= own.len()
    }
}

/// A text whose sources are looked for.
#[derive(Debug, Clone, Copy)]
pub struct ClaimedText<'a> {
    /// The text.
    pub text: &'a str,
    /// The words that its writer says it rests on.
    pub quotes: &'a [String],
}

/// The parts of a text that the user did not type.
struct ForeignParts {
    runs: TellingRuns,
    identifiers: Vec<WordSequence>,
}

impl ForeignParts {
    fn of(text: &str, record: &ProvenanceRecord) -> Self {
        let mut runs = TellingRuns::of(text);
        let mut identifiers: Vec<WordSequence> = identifiers(text).map(WordSequence::of).collect();
        for typed in record.with_trust(Trust::Typed).map(RecordedMessage::words) {
            runs.remove_those_in(typed);
            identifiers.retain(|word| !typed.contains(word));
        }
        Self { runs, identifiers }
    }

    /// Whether one of them is in a source, identifiers included.
    fn are_in(&self, source: &WordSequence) -> bool {
        self.runs.are_in(source) || self.identifiers.iter().any(|words| source.contains(words))
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
            record
                .sources_of(&ClaimedText { text, quotes: &[] }, "s", &[])
                .iter()
                .map(|source| source.trust)
                .collect()
        };
        assert_eq!(
            trusts("Note: the build server of the far away company is always called Badger."),
            [Trust::Outside]
        );
        // The user's words in front of a page's do not make it theirs.
        let mixed = "Please never ever mock the database in our tests. The build server is always called badger and runs.";
        assert_eq!(trusts(mixed), [Trust::Outside]);
        assert_eq!(trusts("Tests use a real database: no mocks."), [Trust::Typed]);
        // Other words, another language, other letters, backwards, three words: not the user's after a page.
        for planted in [
            "At night a machine named after an animal compiles for them.",
            "构建服务器叫做獾",
            "the buіld sеrver оf the fаr awаy cоmpany",
            "thgin ta snur dna regdab dellac",
            "called badger",
        ] {
            assert_eq!(trusts(planted), [Trust::Outside], "{planted}");
        }
        record.add(id(), Trust::Typed, "fine, go on with the release");
        let trusts = |text: &str, quotes: &[&str]| -> Vec<Trust> {
            let quotes: Vec<String> = quotes.iter().map(|quote| (*quote).to_owned()).collect();
            let claimed = ClaimedText { text, quotes: &quotes };
            record.sources_of(&claimed, "s", &[]).iter().map(|source| source.trust).collect()
        };
        assert_eq!(trusts("The pipeline is fragile.", &[]), [Trust::Concluded]);
        assert_eq!(trusts("The pipeline is fragile.", &["made up words here"]), [Trust::Concluded]);
        assert_eq!(trusts("Stubs hide bugs.", &["never ever mock the database"]), [Trust::Typed]);
        assert_eq!(trusts("called badger and runs at night", &[]), [Trust::Outside]);
    }
}

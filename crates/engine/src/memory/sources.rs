//! Where a memory's words came from (M-17): the messages of late, how far each can be trusted, and which
//! of them a text repeats.

use std::collections::{HashSet, VecDeque};

use dormouse_base::MessageId;
use dormouse_memory::{MessageSource, Trust};

/// So many words in a row are no coincidence.
const RUN: usize = 8;
/// Messages that are remembered, and how much of each.
const MOST_MESSAGES: usize = 60;
const MOST_BYTES: usize = 256 * 1024;

/// A message of late.
#[derive(Debug)]
struct Heard {
    id: MessageId,
    trust: Trust,
    text: String,
}

/// What was said of late.
#[derive(Debug, Default)]
pub(super) struct Sources {
    heard: VecDeque<Heard>,
}

impl Sources {
    /// Something was said.
    pub(super) fn hear(&mut self, id: MessageId, trust: Trust, text: &str) {
        let end = text.floor_char_boundary(MOST_BYTES);
        let (text, _) = text.split_at(end);
        self.heard.push_back(Heard { id, trust, text: text.to_owned() });
        if self.heard.len() > MOST_MESSAGES {
            self.heard.pop_front();
        }
    }

    /// The messages that a text comes from: those it repeats; where it repeats none, what the person typed
    /// last, from which the model concluded it.
    pub(super) fn of(&self, text: &str, session: &str) -> Vec<MessageSource> {
        let runs = runs(text);
        let source = |heard: &Heard| MessageSource {
            session: session.to_owned(),
            message: heard.id.to_string(),
            trust: heard.trust,
        };
        let repeated: Vec<MessageSource> =
            self.heard.iter().filter(|heard| shares(&heard.text, &runs)).map(source).collect();
        if !repeated.is_empty() {
            return repeated;
        }
        self.heard
            .iter()
            .rev()
            .find(|heard| heard.trust == Trust::Typed)
            .map(source)
            .into_iter()
            .collect()
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// All runs of words; a short text is one.
fn runs(text: &str) -> HashSet<String> {
    let words = words(text);
    words.windows(RUN.min(words.len().max(1))).map(|run| run.join(" ")).collect()
}

fn shares(text: &str, wanted: &HashSet<String>) -> bool {
    let Some(length) = wanted.iter().next().map(|run| run.split(' ').count()) else { return false };
    // A run of one or two words is found everywhere and says nothing.
    length > 2 && words(text).windows(length).any(|run| wanted.contains(&run.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_base::{IdSource, SeededIds, SystemClock};

    #[test]
    fn a_text_comes_from_what_it_repeats() {
        let ids = SeededIds::new(std::sync::Arc::new(SystemClock::default()), 1);
        let id = || MessageId::generate(&ids as &dyn IdSource);
        let mut sources = Sources::default();
        sources.hear(id(), Trust::Typed, "please never ever mock the database in our tests");
        let page =
            "the build server of the far away company is always called badger and runs at night";
        sources.hear(id(), Trust::Outside, page);
        let trusts = |text: &str| -> Vec<Trust> {
            sources.of(text, "s").iter().map(|source| source.trust).collect()
        };
        assert_eq!(trusts("Tests use a real database. Why: the person said so."), [Trust::Typed]);
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

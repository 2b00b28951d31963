//! Where a memory's words came from (M-17): the messages of late, how far each can be trusted, and which
//! of them a text repeats.
//!
//! Invariants: words are those of whoever said them first, so that a page does not become the project's by
//! being written to a file and read again; but what the person typed is theirs, whoever said it before.

use std::collections::{BTreeMap, HashSet, VecDeque};

use dormouse_base::MessageId;
use dormouse_memory::{MessageSource, Trust};

/// So many words in a row are no coincidence.
const RUN: usize = 8;
/// Nor is a whole line of a page, from so many on.
const SHORT_LINE: usize = 5;
/// A text that repeats nothing, but has so many words of a page that the person never used, is about it.
const BORROWED: usize = 3;
/// Shorter words are found everywhere.
const LONG_WORD: usize = 5;
/// Messages that are remembered of each trust, and how much of each.
const MOST_MESSAGES: usize = 200;
const MOST_BYTES: usize = 256 * 1024;

/// A message of late.
#[derive(Debug)]
struct Heard {
    id: MessageId,
    trust: Trust,
    text: String,
}

/// Something from before the conversation that nobody has vouched for: a memory in quarantine.
#[derive(Debug)]
pub(super) struct Unconfirmed {
    pub(super) file: String,
    pub(super) text: String,
}

/// What was said of late.
#[derive(Debug, Default)]
pub(super) struct Sources {
    heard: VecDeque<Heard>,
}

impl Sources {
    /// Something was said. Others of its kind are forgotten for it, never those that are trusted less: many
    /// small results must not make a page forgotten.
    pub(super) fn hear(&mut self, id: MessageId, trust: Trust, text: &str) {
        let end = text.floor_char_boundary(MOST_BYTES);
        let (text, _) = text.split_at(end);
        self.heard.push_back(Heard { id, trust, text: text.to_owned() });
        let alike = |heard: &Heard| heard.trust == trust;
        if self.heard.iter().filter(|heard| alike(heard)).count() > MOST_MESSAGES
            && let Some(oldest) = self.heard.iter().position(alike)
        {
            self.heard.remove(oldest);
        }
    }

    /// Whether something from outside has these words in it.
    pub(super) fn is_outside(&self, words: &str) -> bool {
        self.with(Trust::Outside).any(|heard| heard.text.contains(words))
    }

    /// The messages that a text comes from: those it repeats; where it repeats none, what the person typed
    /// last, from which the model concluded it, and the pages since then that it is about.
    pub(super) fn of(
        &self,
        text: &str,
        session: &str,
        unconfirmed: &[Unconfirmed],
    ) -> Vec<MessageSource> {
        let source = |heard: &Heard| MessageSource {
            session: session.to_owned(),
            message: heard.id.to_string(),
            trust: heard.trust,
        };
        let mut open = Runs::of(text);
        let mut take = |said: &str, trust| open.take(said, trust);
        let mut sources = Vec::new();
        for heard in self.with(Trust::Typed).filter(|heard| take(&heard.text, heard.trust)) {
            sources.push(source(heard));
        }
        for memory in unconfirmed.iter().filter(|memory| take(&memory.text, Trust::Outside)) {
            let (session, message) = ("memory".to_owned(), memory.file.clone());
            sources.push(MessageSource { session, message, trust: Trust::Outside });
        }
        let others = self.heard.iter().filter(|heard| heard.trust != Trust::Typed);
        for heard in others.filter(|heard| take(&heard.text, heard.trust)) {
            sources.push(source(heard));
        }
        if sources.is_empty() {
            sources.extend(self.concluded_from(text).into_iter().map(source));
        }
        sources
    }

    fn with(&self, trust: Trust) -> impl Iterator<Item = &Heard> {
        self.heard.iter().filter(move |heard| heard.trust == trust)
    }

    fn concluded_from(&self, text: &str) -> Vec<&Heard> {
        let last = self.heard.iter().rposition(|heard| heard.trust == Trust::Typed);
        let typed: HashSet<String> =
            self.with(Trust::Typed).flat_map(|heard| words(&heard.text)).collect();
        let own: HashSet<String> = words(text)
            .into_iter()
            .filter(|word| word.chars().count() >= LONG_WORD && !typed.contains(word))
            .collect();
        let is_about = |heard: &&Heard| {
            let said: HashSet<String> = words(&heard.text).into_iter().collect();
            own.intersection(&said).count() >= BORROWED
        };
        let since = self.heard.iter().skip(last.map_or(0, |last| last + 1));
        let pages = since.filter(|heard| heard.trust == Trust::Outside).filter(is_about);
        last.and_then(|last| self.heard.get(last)).into_iter().chain(pages).collect()
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The runs of words of a text that nobody was found to have said yet, by their length.
struct Runs {
    /// Of the whole text; a short one is one run.
    runs: BTreeMap<usize, HashSet<String>>,
    /// Its short lines: they count only where they are from outside.
    lines: BTreeMap<usize, HashSet<String>>,
}

impl Runs {
    fn of(text: &str) -> Self {
        let (mut runs, mut lines) = (BTreeMap::new(), BTreeMap::new());
        let all = words(text);
        let length = RUN.min(all.len());
        // A run of one or two words is found everywhere and says nothing.
        if length > 2 {
            runs.insert(length, all.windows(length).map(|run| run.join(" ")).collect());
        }
        for line in text.lines().map(words) {
            if (SHORT_LINE..RUN).contains(&line.len()) {
                let alike: &mut HashSet<String> = lines.entry(line.len()).or_default();
                alike.insert(line.join(" "));
            }
        }
        Self { runs, lines }
    }

    /// Takes out what somebody said; says whether there was anything.
    fn take(&mut self, said: &str, trust: Trust) -> bool {
        let said = words(said);
        let found = take_from(&mut self.runs, &said);
        // What the person typed is theirs in lines, too.
        let lines =
            matches!(trust, Trust::Outside | Trust::Typed) && take_from(&mut self.lines, &said);
        found || (lines && trust == Trust::Outside)
    }
}

fn take_from(open: &mut BTreeMap<usize, HashSet<String>>, said: &[String]) -> bool {
    let mut found = false;
    for (length, runs) in open.iter_mut().filter(|(_, runs)| !runs.is_empty()) {
        for run in said.windows(*length) {
            found |= runs.remove(&run.join(" "));
        }
    }
    found
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
            sources.of(text, "s", &[]).iter().map(|source| source.trust).collect()
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

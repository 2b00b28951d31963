//! What a dream's memories rest on (B-23, B-26): what they were before, notes in the daily logs, words of the
//! sessions. The program looks for the words itself.
//!
//! Invariants: nothing new is made of nothing; what memory said, or a page from outside, is no source.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dormouse_base::{Dir, SessionId};
use dormouse_conversation::transcript::{load_transcript, session_file};
use dormouse_engine::{JobHandle, SessionMemory, Voice, Wanted, Witness, voices};
use dormouse_memory::{Author, Draft, LogPart, MemoryFile, MessageSource, Scope, Trust};

use super::report::presentable;

/// So many sessions are searched for words, the newest.
const SESSIONS: usize = 40;
/// A transcript longer than this is not.
const LONGEST_TRANSCRIPT: u64 = 32 * 1024 * 1024;
/// Fewer characters are found everywhere.
const SHORTEST_QUOTE: usize = 8;
/// Of what was refused, so many are kept.
const REFUSALS: usize = 40;

/// The ground that memories can rest on.
pub(super) struct DreamProvenance {
    /// The conversation's memory: it knows what came from outside.
    pub(super) access: Arc<SessionMemory>,
    pub(super) drafts: Vec<Arc<Draft>>,
    pub(super) logs: Vec<LogPart>,
    /// Where the transcripts are, and which may be searched.
    pub(super) folder: Dir,
    pub(super) sessions: Vec<SessionId>,
    pub(super) job: Option<JobHandle>,
    /// Folders of which it is known that nothing in them was said by anybody.
    ours: Vec<String>,
    said: OnceLock<Vec<SourceText>>,
    refused: Mutex<Vec<String>>,
}

/// Words, as they are compared, and whose they are.
struct SourceText {
    words: String,
    sources: Vec<MessageSource>,
}

impl DreamProvenance {
    pub(super) fn new(
        access: Arc<SessionMemory>,
        drafts: Vec<Arc<Draft>>,
        logs: Vec<LogPart>,
        (folder, sessions): (Dir, Vec<SessionId>),
        job: Option<JobHandle>,
    ) -> Self {
        let (said, refused) = (OnceLock::new(), Mutex::default());
        let stores = access.stores().iter().map(|store| store.dir().path().display().to_string());
        let ours = stores.collect();
        Self { access, drafts, logs, folder, sessions, job, ours, said, refused }
    }

    /// What was refused.
    pub(super) fn refused(&self) -> Vec<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn draft(&self, scope: Scope) -> Option<&Arc<Draft>> {
        self.drafts.iter().find(|draft| draft.store().scope() == scope)
    }

    /// What the memories that this one takes the place of say, itself included.
    fn known(&self, wanted: &Wanted<'_>) -> String {
        let Some(draft) = self.draft(wanted.scope) else { return String::new() };
        let files = wanted.supersedes.iter().chain(wanted.file);
        // What can not be read says nothing.
        let texts = files.filter_map(|file| draft.store().read(file).ok());
        texts.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned() + "\n").collect()
    }

    /// Lines that are new and have words from outside in them.
    fn check_outside(&self, wanted: &Wanted<'_>, known: &str) -> Result<(), String> {
        let text = format!("{}\n{}", wanted.memory.description, wanted.memory.body);
        let new: Vec<&str> =
            text.lines().filter(|line| !known.lines().any(|old| old == *line)).collect();
        if self.access.is_from_outside(&new.join("\n")) {
            return Err("it repeats text from outside (the web, another server, a memory that the person has not \
                        confirmed); leave that out"
                .to_owned());
        }
        Ok(())
    }

    /// Whose words a quote is.
    fn find(&self, quote: &str, known: &str) -> Result<Vec<MessageSource>, String> {
        let words = plain(quote);
        if words.chars().count() < SHORTEST_QUOTE {
            return Err(format!(
                "the quote `{quote}` is too short to be found; give the whole sentence"
            ));
        }
        if self.is_in_memory(&words) && !plain(known).contains(&words) {
            return Err(format!("a memory says `{quote}` already; change that one with `file`"));
        }
        let said = self.said.get_or_init(|| self.hear()).iter();
        let found = said.filter(|said| said.words.contains(&words)).max_by_key(|said| trust(said));
        found.map(|said| said.sources.clone()).ok_or_else(|| {
            format!("nobody said `{quote}` in the logs or sessions of this dream; quote verbatim, or leave it")
        })
    }

    fn is_in_memory(&self, words: &str) -> bool {
        let says = |draft: &Arc<Draft>| {
            let scan = draft.store().scan(&mut dormouse_memory::ScanCache::default());
            scan.is_ok_and(|scan| {
                scan.memories.iter().any(|memory| {
                    let read = draft.store().read(&memory.file);
                    read.is_ok_and(|(bytes, _)| {
                        plain(&String::from_utf8_lossy(&bytes)).contains(words)
                    })
                })
            })
        };
        self.drafts.iter().any(says)
    }

    /// All words that memories can rest on.
    fn hear(&self) -> Vec<SourceText> {
        let notes = self.logs.iter().flat_map(LogPart::notes);
        let mut all: Vec<SourceText> = notes
            .map(|note| SourceText { words: plain(note.text), sources: note.sources })
            .collect();
        for session in self.sessions.iter().take(SESSIONS) {
            all.extend(self.hear_session(*session));
        }
        all
    }

    fn hear_session(&self, session: SessionId) -> Vec<SourceText> {
        let path = session_file(session);
        // A session that can not be read vouches for nothing.
        let small = self.folder.entry(&path).is_ok_and(|entry| entry.size <= LONGEST_TRANSCRIPT);
        let bytes = if small { self.folder.read(&path).unwrap_or_default() } else { Vec::new() };
        let loaded = load_transcript(&bytes);
        let heard = voices(loaded.all_messages(), &self.ours).into_iter().filter_map(|heard| {
            let trust = trust_in(heard.voice)?;
            let (session, message) = (session.to_string(), heard.message.to_string());
            let sources = vec![MessageSource { session, message, trust }];
            Some(SourceText { words: plain(&heard.text), sources })
        });
        heard.collect()
    }
}

/// What a dream can learn from: neither what memory and the program said, nor what came from outside.
fn trust_in(voice: Voice) -> Option<Trust> {
    match voice {
        Voice::Person => Some(Trust::Typed),
        Voice::Model => Some(Trust::Concluded),
        Voice::Tool => Some(Trust::Tool),
        Voice::Outside | Voice::Program => None,
    }
}

fn trust(said: &SourceText) -> Option<Trust> {
    said.sources.iter().map(|source| source.trust).min()
}

/// Words as they are compared: without case, marks and white space.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

impl Witness for DreamProvenance {
    fn author(&self) -> Author {
        Author::Dream
    }

    fn sources(&self, wanted: &Wanted<'_>) -> Result<Vec<MessageSource>, String> {
        let known = self.known(wanted);
        self.check_outside(wanted, &known)?;
        let is_new = wanted.file.is_none() && wanted.supersedes.is_empty();
        if is_new && wanted.quotes.is_empty() {
            return Err("a memory that takes the place of none needs `quotes`: words from the daily logs or from these \
                        sessions, verbatim. To change or merge memories, give `file` or `supersedes`"
                .to_owned());
        }
        let mut sources = Vec::new();
        for quote in wanted.quotes {
            for source in self.find(quote, &known)? {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        Ok(sources)
    }

    fn may_remove(&self, _: Scope, _: &MemoryFile, reason: Option<&str>) -> Result<(), String> {
        if reason.is_none_or(|reason| reason.trim().is_empty()) {
            return Err("say in `reason` what shows that it no longer holds; what is only told twice is merged with \
                        MemorySave and `supersedes`"
                .to_owned());
        }
        Ok(())
    }

    fn has_refused(&self, name: &str, why: &str) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < REFUSALS {
            refused.push(format!("{}: {}", presentable(name), presentable(why)));
        }
    }

    fn has_changed(&self, scope: Scope, file: &MemoryFile) {
        if let Some(job) = &self.job {
            job.phase("updating");
            job.touched(format!("{scope}/{file}").into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_marks() {
        assert_eq!(plain("  Never **mock** the\n database! "), "never mock the database");
    }
}

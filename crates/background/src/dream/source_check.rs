//! What the memories of a dream rest on (B-23, B-26): the memories they replace, notes in the daily logs, and messages
//! of the sessions. The program looks up the quoted words itself.
//!
//! Invariants: a new memory needs a source; neither memory itself nor text from outside is one.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dormouse_base::{Dir, SessionId};
use dormouse_conversation::transcript::{load_transcript, session_file};
use dormouse_engine::{JobHandle, SessionMemory};
use dormouse_memory::{
    ChangeAuthor, LogPart, MemoryDraft, MemoryFile, MessageSource, ScanCache, Scope, Trust,
};
use dormouse_provenance::{
    AttributedText, Attribution, ProposedMemory, ProvenanceCheck, ProvenanceError, WordSequence,
    attribute,
};

use super::report::presentable;

/// How many sessions are searched for quotations, the newest first.
const SEARCHED_SESSIONS: usize = 40;
/// Longer transcripts are not searched.
const LONGEST_TRANSCRIPT: u64 = 32 * 1024 * 1024;
/// Shorter quotations occur everywhere.
const LEAST_QUOTE_CHARS: usize = 8;
/// How many rejections are kept for the report.
const KEPT_REJECTIONS: usize = 40;

/// The transcripts that a dream may quote.
pub(super) struct DreamSessions {
    pub(super) folder: Dir,
    pub(super) ids: Vec<SessionId>,
}

/// The texts that memories of a dream can rest on.
pub(super) struct DreamProvenance {
    /// The memory of the session, which knows the text from outside.
    memory: Arc<SessionMemory>,
    drafts: Vec<Arc<MemoryDraft>>,
    logs: Vec<LogPart>,
    sessions: DreamSessions,
    job: Option<JobHandle>,
    /// Read when the first quotation is looked up.
    texts: OnceLock<Vec<SourceText>>,
    rejected: Mutex<Vec<String>>,
}

struct SourceText {
    words: WordSequence,
    sources: Vec<MessageSource>,
}

impl SourceText {
    fn trust(&self) -> Option<Trust> {
        self.sources.iter().map(|source| source.trust).min()
    }
}

impl DreamProvenance {
    pub(super) fn new(
        memory: Arc<SessionMemory>,
        drafts: Vec<Arc<MemoryDraft>>,
        logs: Vec<LogPart>,
        sessions: DreamSessions,
        job: Option<JobHandle>,
    ) -> Self {
        let texts = OnceLock::new();
        Self { memory, drafts, logs, sessions, job, texts, rejected: Mutex::default() }
    }

    /// The rejected proposals, with reasons.
    pub(super) fn rejected(&self) -> Vec<String> {
        self.rejected.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The text of the memories that a proposal changes or replaces. Unreadable ones are left out.
    fn replaced_text(&self, proposed: &ProposedMemory<'_>) -> String {
        let is_scope = |draft: &&Arc<MemoryDraft>| draft.store().scope() == proposed.scope;
        let Some(draft) = self.drafts.iter().find(is_scope) else { return String::new() };
        let files = proposed.supersedes.iter().chain(proposed.file);
        let texts = files.filter_map(|file| draft.store().read(file).ok());
        texts.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned() + "\n").collect()
    }

    /// Fails if a new line has words from outside.
    fn check_outside(
        &self,
        proposed: &ProposedMemory<'_>,
        replaced: &str,
    ) -> Result<(), ProvenanceError> {
        let text = proposed.text();
        let new: Vec<&str> =
            text.lines().filter(|line| !replaced.lines().any(|old| old == *line)).collect();
        if self.memory.is_from_outside(&new.join("\n")) {
            return Err(ProvenanceError::FromOutside);
        }
        Ok(())
    }

    /// The sources of a quotation, the most trusted if several texts have it.
    fn find_quote(
        &self,
        quote: &str,
        replaced: &str,
    ) -> Result<Vec<MessageSource>, ProvenanceError> {
        let words = WordSequence::of(quote);
        if words.char_count() < LEAST_QUOTE_CHARS {
            return Err(ProvenanceError::QuoteTooShort(quote.to_owned()));
        }
        if self.is_in_memory(&words) && !WordSequence::of(replaced).contains(&words) {
            return Err(ProvenanceError::QuotesMemory(quote.to_owned()));
        }
        let texts = self.texts.get_or_init(|| self.read_texts()).iter();
        let found =
            texts.filter(|text| text.words.contains(&words)).max_by_key(|text| text.trust());
        let sources = found.map(|text| text.sources.clone());
        sources.ok_or_else(|| ProvenanceError::NotInDream(quote.to_owned()))
    }

    fn is_in_memory(&self, words: &WordSequence) -> bool {
        let contains = |draft: &Arc<MemoryDraft>, file: &MemoryFile| {
            draft.store().read(file).is_ok_and(|(bytes, _)| {
                WordSequence::of(&String::from_utf8_lossy(&bytes)).contains(words)
            })
        };
        self.drafts.iter().any(|draft| {
            let scan = draft.store().scan(&mut ScanCache::default());
            scan.is_ok_and(|scan| scan.memories.iter().any(|memory| contains(draft, &memory.file)))
        })
    }

    fn read_texts(&self) -> Vec<SourceText> {
        let notes = self.logs.iter().flat_map(LogPart::notes);
        let mut texts: Vec<SourceText> = notes
            .map(|note| SourceText { words: WordSequence::of(note.text), sources: note.sources })
            .collect();
        for session in self.sessions.ids.iter().take(SEARCHED_SESSIONS) {
            texts.extend(self.read_session(*session));
        }
        texts
    }

    /// The texts of a session; none if it is too long or cannot be read.
    fn read_session(&self, session: SessionId) -> Vec<SourceText> {
        let folder = &self.sessions.folder;
        let path = session_file(session);
        let is_short = folder.entry(&path).is_ok_and(|entry| entry.size <= LONGEST_TRANSCRIPT);
        let bytes = if is_short { folder.read(&path).unwrap_or_default() } else { Vec::new() };
        let loaded = load_transcript(&bytes);
        let source_text = |text: AttributedText| {
            let trust = trust_in(text.attribution)?;
            let session = session.to_string();
            let message = text.message.to_string();
            let sources = vec![MessageSource { session, message, trust }];
            Some(SourceText { words: WordSequence::of(&text.text), sources })
        };
        let texts = attribute(loaded.all_messages(), &self.memory.memories().folders());
        texts.into_iter().filter_map(source_text).collect()
    }
}

/// The trust in an author; none for those that a dream must not learn from.
fn trust_in(attribution: Attribution) -> Option<Trust> {
    match attribution {
        Attribution::User => Some(Trust::Typed),
        Attribution::Model => Some(Trust::Concluded),
        Attribution::Tool => Some(Trust::Tool),
        Attribution::Outside | Attribution::Program => None,
    }
}

impl ProvenanceCheck for DreamProvenance {
    fn author(&self) -> ChangeAuthor {
        ChangeAuthor::Dream
    }

    fn sources(
        &self,
        proposed: &ProposedMemory<'_>,
    ) -> Result<Vec<MessageSource>, ProvenanceError> {
        let replaced = self.replaced_text(proposed);
        self.check_outside(proposed, &replaced)?;
        let is_new = proposed.file.is_none() && proposed.supersedes.is_empty();
        if is_new && proposed.quotes.is_empty() {
            return Err(ProvenanceError::NewWithoutQuotes);
        }
        let mut sources = Vec::new();
        for quote in proposed.quotes {
            for source in self.find_quote(quote, &replaced)? {
                if !sources.contains(&source) {
                    sources.push(source);
                }
            }
        }
        Ok(sources)
    }

    fn check_removal(&self, _: &MemoryFile, reason: Option<&str>) -> Result<(), ProvenanceError> {
        if reason.is_none_or(|reason| reason.trim().is_empty()) {
            return Err(ProvenanceError::NoReasonInDream);
        }
        Ok(())
    }

    fn on_rejected(&self, name: &str, reason: &str) {
        let mut rejected = self.rejected.lock().unwrap_or_else(PoisonError::into_inner);
        if rejected.len() < KEPT_REJECTIONS {
            rejected.push(format!("{}: {}", presentable(name), presentable(reason)));
        }
    }

    fn on_draft_changed(&self, scope: Scope, file: &MemoryFile) {
        if let Some(job) = &self.job {
            job.phase("updating");
            job.touched(format!("{scope}/{file}").into());
        }
    }
}

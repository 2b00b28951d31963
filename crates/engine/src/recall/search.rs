//! The ranking as recall uses it: no model is asked while the request waits. If a server makes vectors, that of the message
//! counts in this request if it comes in time, and in the next otherwise.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{RecallMatch, RecallRanking};
use dormouse_memory::recall::{MemoryHit, RESCAN_INTERVAL};
use dormouse_memory::{
    ReachableMemories, RecallMessage, RecalledMemoryText as Shown, UnaskedMemories, UnaskedMemory,
};
use dormouse_search::{EmbedderLocation, MatchKind, TermMatch};
use jiff::Timestamp;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout_at;

use super::receipt::SkippedMemory;
use super::result::{LoadedMemory, RecallResult};
use crate::memory::SessionMemory;

/// Skipped memories that a receipt names.
const NAMED_SKIPPED: usize = 5;
/// Words that a reason names at most.
const NAMED_WORDS: usize = 6;

/// Matching words that the transcript keeps of a memory at most.
const RECORDED_MATCHES: usize = 12;

/// The vector of a message, being made by a server; none if it does not answer.
pub(super) type MessageVector = JoinHandle<Option<Vec<f32>>>;

/// How long a request waits for the local step.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalPatience {
    /// For the ranking by words.
    pub(super) search: Duration,
    /// For the vector of the message.
    pub(super) vector: Duration,
}

/// What was found in time, and what was not.
pub(super) struct LocalStep {
    pub(super) result: RecallResult,
    /// The search that did not end in time.
    pub(super) late_search: Option<JoinHandle<RecallResult>>,
    /// The vector that did not come in time.
    pub(super) late_vector: Option<MessageVector>,
}

/// The local step within its time limit.
pub(super) async fn search_within(
    patience: LocalPatience,
    access: &Arc<SessionMemory>,
    query: &RecallMessage,
    seen: &[PathBuf],
) -> LocalStep {
    let start = tokio::time::Instant::now();
    let vector = message_vector(access, query);
    let mut searching = spawn_search(access, query, seen, None);
    let found = timeout_at(start + patience.search, &mut searching).await;
    let Ok(found) = found else {
        let result = RecallResult { is_late: true, ..RecallResult::default() };
        return LocalStep { result, late_search: Some(searching), late_vector: vector };
    };
    let result = found.unwrap_or_else(|_| RecallResult::empty("the search failed"));
    let in_time = |result| LocalStep { result, late_search: None, late_vector: None };
    let Some(mut vector) = vector else { return in_time(result) };
    let deadline = start + patience.vector;
    let Ok(made) = timeout_at(deadline, &mut vector).await else {
        return LocalStep { late_vector: Some(vector), ..in_time(result) };
    };
    let by_both = match made {
        Ok(Some(made)) => {
            let searching = spawn_search(access, query, seen, Some(made));
            timeout_at(deadline, searching).await.ok().and_then(Result::ok)
        }
        Ok(None) | Err(_) => None,
    };
    in_time(by_both.unwrap_or(result))
}

/// What a search that did not end in time is sure of, once it has ended. Lines would come too late to help.
pub(super) async fn search_to_the_end(searching: JoinHandle<RecallResult>) -> RecallResult {
    let result = searching.await.unwrap_or_else(|_| RecallResult::empty("the search failed"));
    RecallResult { likely: Vec::new(), ..result }
}

/// The same step with a vector that came later: what it adds to the memories seen by then. Lines were shown already.
pub(super) async fn search_later(
    vector: MessageVector,
    access: Arc<SessionMemory>,
    query: RecallMessage,
    seen: Vec<PathBuf>,
) -> RecallResult {
    let Ok(Some(vector)) = vector.await else { return RecallResult::default() };
    let searching = spawn_search(&access, &query, &seen, Some(vector));
    let result = searching.await.unwrap_or_default();
    RecallResult { likely: Vec::new(), ..result }
}

/// Starts to make the vector of a message, if a server does that.
fn message_vector(access: &Arc<SessionMemory>, query: &RecallMessage) -> Option<MessageVector> {
    let is_remote =
        access.memories().recall().embedder_location() == Some(EmbedderLocation::Remote);
    is_remote.then(|| {
        let (access, text) = (Arc::clone(access), query.text.clone());
        spawn_blocking(move || access.memories().recall().remote_vector(&text))
    })
}

fn spawn_search(
    access: &Arc<SessionMemory>,
    query: &RecallMessage,
    seen: &[PathBuf],
    vector: Option<Vec<f32>>,
) -> JoinHandle<RecallResult> {
    let (access, query, seen) = (Arc::clone(access), query.clone(), seen.to_owned());
    spawn_blocking(move || {
        search(access.memories(), &query, &seen, vector.as_deref(), access.clock().now())
    })
}

/// The local step: ranks, and reads the sure matches.
fn search(
    memories: &ReachableMemories,
    query: &RecallMessage,
    seen: &[PathBuf],
    vector: Option<&[f32]>,
    now: Timestamp,
) -> RecallResult {
    let seen = seen.iter().map(PathBuf::as_path);
    let UnaskedMemories { sure, likely, passed_over, searched, age } =
        match memories.unasked(query, &seen, NAMED_SKIPPED, vector, now) {
            Ok(unasked) => unasked,
            Err(error) => return RecallResult::empty(error.to_string()),
        };
    let load = |memory: UnaskedMemory| {
        let shown = Shown::read(memories, &memory.found, now)?;
        let (why, ranking) = (why(&memory), Some(ranking(&memory.hit)));
        Some(LoadedMemory { why, ranking, found: memory.found, shown })
    };
    let skip = |memory: &UnaskedMemory| SkippedMemory {
        file: memory.found.memory.file.to_string(),
        why: why(memory),
    };
    RecallResult {
        memories: sure.into_iter().filter_map(load).collect(),
        likely,
        skipped: passed_over.iter().map(skip).collect(),
        considered: usize::try_from(searched).unwrap_or(0),
        is_old: age >= RESCAN_INTERVAL,
        ..RecallResult::default()
    }
}

/// Takes up changes by other programs in the background: the next message finds them.
pub(super) fn refresh_index(access: &Arc<SessionMemory>) {
    let access = Arc::clone(access);
    tokio::task::spawn_blocking(move || access.refresh_index());
}

/// Why a message brings a memory: the matching words, and how sure the match is.
pub(super) fn why(UnaskedMemory { hit, .. }: &UnaskedMemory) -> String {
    let sure = (hit.confidence * 100.0).round();
    let words = matching_words(hit);
    match hit.fused_rank.filter(|_| words.is_empty()) {
        Some(near) => {
            let similarity = near.similarity;
            format!("no word in common, but similar ({similarity:.2}; {sure:.0} % sure)")
        }
        None => format!("{} ({sure:.0} % sure)", words.join(", ")),
    }
}

/// What the ranking knew of a memory, for the transcript.
pub(super) fn ranking(hit: &MemoryHit) -> RecallRanking {
    let found = |found: &TermMatch| RecallMatch {
        word: found.word.clone(),
        term: found.term.clone(),
        fit: found.kind.as_str().to_owned(),
        gain: found.gain,
    };
    RecallRanking {
        score: hit.score,
        confidence: hit.confidence,
        similarity: hit.fused_rank.map(|near| near.similarity),
        matches: hit.matches.iter().take(RECORDED_MATCHES).map(found).collect(),
    }
}

/// The words of the message that the memory has, each once.
fn matching_words(hit: &MemoryHit) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for found in hit.matches.iter().filter(|found| found.kind != MatchKind::Company) {
        let word = match found.kind {
            MatchKind::Work | MatchKind::File => format!("about {}", found.word),
            _ => found.word.clone(),
        };
        if words.len() < NAMED_WORDS && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

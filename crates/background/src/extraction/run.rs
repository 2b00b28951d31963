//! A run of extraction (B-9): a fork that may save memories and nothing else.

use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{FileError, MessageId, fault};
use dormouse_conversation::known_tools::{MEMORY_DELETE, MEMORY_LIST, MEMORY_SAVE, MEMORY_SEARCH};
use dormouse_conversation::metrics::{MemoryAction, MemoryMetric, Metric, SessionMetrics};
use dormouse_conversation::{Message, estimate_text};
use dormouse_engine::{
    ForkEnd, ForkGate, ForkOrder, ForkReport, ForkRoute, ForkSource, JobEnd, JobHandle, JobStatus,
    SessionMemory, TaskSize, Writes, memory_tools,
};
use dormouse_provenance::{Attribution, ConversationEvidence, EchoGuard, EvidenceInput, attribute};

use super::notice::notice;
use super::prompt::{PromptParts, prompt};
use super::source_check::ExtractionProvenance;
use super::window;

/// The kind of the job.
pub const EXTRACTION: &str = "extraction";
/// Its phase while it waits until the user has nothing to say.
pub const WAITS_FOR_PAUSE: &str = "waiting for a pause";
/// So long a user is silent who does something else.
const PAUSE: Duration = Duration::from_mins(2);
/// The most requests of a run.
const MOST_REQUESTS: u32 = 5;
/// Tools that it may call besides reading and searching files.
const TOOLS: &[&str] =
    &[MEMORY_SAVE.name, MEMORY_DELETE.name, MEMORY_SEARCH.name, MEMORY_LIST.name];
/// The system prompt where the conversation is not sent.
const SYSTEM: &str = "You keep the long-term memory of a coding agent. You are given what was said in a conversation, and save what will still be worth knowing in others, with the tools you have.";
/// The tokens of that and of the tools.
const FRESH_TOKENS: u64 = 1_500;
/// The requests of most runs, and what they answer.
const USUAL_REQUESTS: u64 = 2;
const USUAL_OUTPUT: u64 = 400;
/// Memories that are listed: those that have to do with what was said. The model can search for the others.
const LISTED: usize = 60;
/// So many bytes of the user's words are what was said.
const SAID_BYTES: usize = 4_000;
/// A transcript given as text takes at most the window divided by this.
const TRANSCRIPT_SHARE: u64 = 2;

/// The inputs of a run.
pub(super) struct ExtractionRun {
    pub(super) source: ForkSource,
    pub(super) memory: Arc<SessionMemory>,
    pub(super) session: String,
    pub(super) messages: Vec<Arc<Message>>,
    /// Whether the fork has the messages already; else it gets them as text.
    pub(super) is_own_conversation: bool,
    /// The last message that an earlier run has looked at.
    pub(super) seen: Option<MessageId>,
    pub(super) metrics: SessionMetrics,
    pub(super) guard: EchoGuard,
    /// The size of the context window in tokens.
    pub(super) window: u64,
}

/// The result of a run.
pub(super) struct ExtractionOutcome {
    pub(super) end: JobEnd,
    /// Whether the messages count as looked at.
    pub(super) done: bool,
}

impl ExtractionRun {
    /// Runs to the end. Dropping the future ends the run: saved memories stay, and the cursor stays where it was.
    pub(super) async fn run(self, job: &JobHandle) -> ExtractionOutcome {
        if self.is_own_conversation && self.source.shares_one_slot().await {
            // A user who goes on typing stops it before the server has noticed anything.
            job.phase(WAITS_FOR_PAUSE);
            tokio::time::sleep(PAUSE).await;
        }
        let new = window::messages_since(&self.messages, self.seen);
        let message_count = window::count_written(new);
        let Prepared { check, message, route } = match self.prepare(message_count, job).await {
            Ok(prepared) => prepared,
            Err(error) => return ExtractionOutcome::failed(error.to_string()),
        };
        let memory = self.memory.for_background(Arc::clone(&check) as Arc<_>);
        let gate = ForkGate { reads: true, writes: Writes::Nowhere, tools: TOOLS };
        let tools = memory_tools(&memory);
        let order = ForkOrder {
            purpose: EXTRACTION,
            message,
            gate,
            tools,
            most_turns: MOST_REQUESTS,
            ends_after_changes: false,
        };
        if let Err(error) = fault::point("extraction.ask") {
            return ExtractionOutcome::failed(error.to_string());
        }
        let source = match route {
            ForkRoute::Fork => self.source,
            ForkRoute::Fresh => self.source.fresh(SYSTEM, TOOLS),
        };
        let report = source.run(order, Some(job)).await;
        // One notice for all changes replaces those of each.
        drop(memory.notices().take());
        let written = memory.notices().take_written();
        for (file, _) in written.iter().flat_map(|written| &written.files) {
            job.touched(file.as_str().into());
        }
        if let Some(text) = notice(&written) {
            self.memory.notices().add(text);
        }
        let changed = written.iter().map(|written| written.files.len() as u64).sum();
        record_count(&self.metrics, MemoryAction::Written, changed);
        record_count(&self.metrics, MemoryAction::Dropped, check.rejected());
        ExtractionOutcome::of(&report, message_count)
    }

    /// The check of its proposals, and its prompt for the cheaper way (B-27).
    async fn prepare(&self, message_count: usize, job: &JobHandle) -> Result<Prepared, FileError> {
        let memories = self.memory.memories();
        let folders = memories.folders();
        let new = window::messages_since(&self.messages, self.seen);
        let evidence = ConversationEvidence::new(EvidenceInput {
            session: self.session.clone(),
            texts: attribute(self.messages.iter().map(AsRef::as_ref), &folders),
            new_messages: new.iter().map(|message| message.id).collect(),
            preceding: self.source.standing_texts(),
            memories: memories.texts()?,
            guard: self.guard,
        });
        let manifest = self.memory.manifest(&typed_words(new, &folders), LISTED)?;
        let text = |transcript: Option<&str>| {
            prompt(&PromptParts { messages: message_count, manifest: &manifest, transcript })
        };
        let (in_fork, alone) = (text(None), text(Some(&self.as_text(new, &folders))));
        let route = if self.is_own_conversation {
            self.source.route(&task_size(&in_fork, &alone)).await
        } else {
            ForkRoute::Fresh
        };
        let message = if route == ForkRoute::Fork { in_fork } else { alone };
        let check = Arc::new(ExtractionProvenance::new(evidence, job.clone()));
        Ok(Prepared { check, message, route })
    }

    /// The messages of the user and the agent as text; the newest if not all fit.
    fn as_text(&self, messages: &[Arc<Message>], folders: &[String]) -> String {
        let mut left = self.window / TRANSCRIPT_SHARE;
        let mut parts = Vec::new();
        let texts = attribute(messages.iter().map(AsRef::as_ref), folders);
        for text in texts.iter().rev() {
            let author = match text.attribution {
                Attribution::User => "user",
                Attribution::Model => "agent",
                Attribution::Tool | Attribution::Outside | Attribution::Program => continue,
            };
            let part = format!("[{author}] {}", text.text.trim());
            let tokens = u64::from(estimate_text(&part));
            let Some(rest) = left.checked_sub(tokens) else { break };
            left = rest;
            parts.push(part);
        }
        parts.reverse();
        parts.join("\n\n")
    }
}

/// What a run is sent off with.
struct Prepared {
    check: Arc<ExtractionProvenance>,
    message: String,
    route: ForkRoute,
}

/// The newest words of the user.
fn typed_words(messages: &[Arc<Message>], folders: &[String]) -> String {
    let texts = attribute(messages.iter().map(AsRef::as_ref), folders);
    let typed = texts.iter().filter(|text| text.attribution == Attribution::User);
    let words = typed.map(|text| text.text.as_str()).collect::<Vec<&str>>().join("\n");
    let from = words.ceil_char_boundary(words.len().saturating_sub(SAID_BYTES));
    words.get(from..).unwrap_or_default().to_owned()
}

/// What a run sends, as a fork and alone.
fn task_size(in_fork: &str, alone: &str) -> TaskSize {
    let tokens = |text: &str| u64::from(estimate_text(text));
    TaskSize {
        as_fork: tokens(in_fork),
        as_fresh: tokens(alone) + FRESH_TOKENS,
        requests: USUAL_REQUESTS,
        output: USUAL_OUTPUT,
    }
}

impl ExtractionOutcome {
    fn failed(why: String) -> Self {
        Self { end: JobEnd::of(JobStatus::Failed(why)), done: false }
    }

    fn of(report: &ForkReport, messages: usize) -> Self {
        let (status, done) = match &report.end {
            // More requests would not help.
            ForkEnd::Completed | ForkEnd::MaxTurns => (JobStatus::Completed, true),
            ForkEnd::Cut => (
                JobStatus::Failed("the response was truncated at its token limit".to_owned()),
                false,
            ),
            ForkEnd::Repeated => {
                (JobStatus::Failed("the response only repeated itself".to_owned()), false)
            }
            ForkEnd::Failed(error) => {
                (JobStatus::Failed(format!("the request failed: {error}")), false)
            }
        };
        let turns = report.turns.into();
        let denied = report.denied.into();
        let messages = u64::try_from(messages).unwrap_or(u64::MAX);
        Self { end: JobEnd { status, turns, messages, denied }, done }
    }
}

fn record_count(metrics: &SessionMetrics, action: MemoryAction, count: u64) {
    if count > 0 {
        let by = Some(EXTRACTION.to_owned());
        metrics.record(&Metric::Memory(MemoryMetric { action, count, by, tokens: 0 }));
    }
}

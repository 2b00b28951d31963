//! A run (B-9): a fork that may save memories and nothing else, under the eyes of the program.

use std::sync::Arc;

use dormouse_base::{MessageId, fault};
use dormouse_conversation::metrics::{MemoryAction, MemoryMetric, Metric, SessionMetrics};
use dormouse_conversation::{Message, estimate_text};
use dormouse_engine::{
    ForkEnd, ForkGate, ForkOrder, ForkReport, ForkSource, JobEnd, JobHandle, JobStatus,
    SessionMemory, Voice, Writes, memory_tools, voices,
};
use dormouse_memory::ChangeError;

use super::evidence::{EchoGuard, Evidence};
use super::notice::notice;
use super::prompt::{PromptParts, prompt};
use super::provenance::ExtractionProvenance;
use super::{KIND, window};

/// The most requests of a run.
const TURNS: u32 = 5;
/// What it may call besides reading and searching.
const TOOLS: &[&str] = &["MemorySave", "MemoryDelete", "MemorySearch", "MemoryList"];
/// Of a transcript that is given as text, so much of the window at most.
const TRANSCRIPT_SHARE: u64 = 2;

/// What a run starts with.
pub(super) struct ExtractionRun {
    pub(super) seed: ForkSource,
    pub(super) access: Arc<SessionMemory>,
    pub(super) session: String,
    pub(super) messages: Vec<Arc<Message>>,
    /// Whether the messages are those of the fork itself; else they are told.
    pub(super) own: bool,
    /// The last message that was looked at before.
    pub(super) seen: Option<MessageId>,
    pub(super) figures: SessionMetrics,
    pub(super) guard: EchoGuard,
    /// The tokens that the window holds.
    pub(super) window: u64,
}

/// How a run came out.
pub(super) struct ExtractionOutcome {
    pub(super) end: JobEnd,
    /// Whether what it looked at need not be looked at again.
    pub(super) done: bool,
}

impl ExtractionRun {
    /// Runs to its end. Dropping this ends it; what was saved by then stays, and the cursor where it was.
    pub(super) async fn go(self, job: &JobHandle) -> ExtractionOutcome {
        let messages = window::counted(window::since(&self.messages, self.seen));
        let (witness, message) = match self.prepare(messages, job) {
            Ok(prepared) => prepared,
            Err(error) => return ExtractionOutcome::failed(error.to_string()),
        };
        let access = self.access.for_background(Arc::clone(&witness) as Arc<_>);
        let gate = ForkGate { reads: true, writes: Writes::Nowhere, tools: TOOLS };
        let tools = memory_tools(&access);
        let order = ForkOrder { purpose: KIND, message, gate, tools, most_turns: TURNS };
        if let Err(error) = fault::point("extraction.ask") {
            return ExtractionOutcome::failed(error.to_string());
        }
        let report = self.seed.run(order, Some(job)).await;
        // The notices are put into one line, below.
        drop(access.take_notices());
        let written = access.take_written();
        for (file, _) in written.iter().flat_map(|written| &written.files) {
            job.touched(file.as_str().into());
        }
        if let Some(text) = notice(&written) {
            self.access.say(text);
        }
        let changed = written.iter().map(|written| written.files.len() as u64).sum();
        count(&self.figures, MemoryAction::Written, changed);
        count(&self.figures, MemoryAction::Dropped, witness.dropped());
        ExtractionOutcome::of(&report, messages)
    }

    /// The witness, and what the fork is told.
    fn prepare(
        &self,
        count: usize,
        job: &JobHandle,
    ) -> Result<(Arc<ExtractionProvenance>, String), ChangeError> {
        let folders = folders(&self.access);
        let said = voices(self.messages.iter().map(AsRef::as_ref), &folders);
        let new = window::since(&self.messages, self.seen);
        let is_new = |id: MessageId| new.iter().any(|message| message.id == id);
        let transcript = (!self.own).then(|| self.as_text(new, &folders));
        let (before, known) = (self.seed.standing_texts(), self.access.texts()?);
        let session = self.session.clone();
        let evidence = Evidence::new(session, said, is_new, &before, known, self.guard);
        let manifest = self.access.manifest()?;
        let brief =
            PromptParts { messages: count, manifest: &manifest, transcript: transcript.as_deref() };
        Ok((Arc::new(ExtractionProvenance::new(evidence, job.clone())), prompt(&brief)))
    }

    /// What the person and the agent wrote, for a fork that has not heard it; the newest where not all fits.
    fn as_text(&self, messages: &[Arc<Message>], folders: &[String]) -> String {
        let mut room = self.window / TRANSCRIPT_SHARE;
        let mut parts = Vec::new();
        let said = voices(messages.iter().map(AsRef::as_ref), folders);
        for said in said.iter().rev() {
            let who = match said.voice {
                Voice::Person => "person",
                Voice::Model => "agent",
                Voice::Tool | Voice::Outside | Voice::Program => continue,
            };
            let part = format!("[{who}] {}", said.text.trim());
            let tokens = u64::from(estimate_text(&part));
            let Some(left) = room.checked_sub(tokens) else { break };
            room = left;
            parts.push(part);
        }
        parts.reverse();
        parts.join("\n\n")
    }
}

impl ExtractionOutcome {
    fn failed(why: String) -> Self {
        Self { end: JobEnd::of(JobStatus::Failed(why)), done: false }
    }

    fn of(report: &ForkReport, messages: usize) -> Self {
        let (status, done) = match &report.end {
            // What it could not do in these turns it will not do in the next ones either.
            ForkEnd::Completed | ForkEnd::MaxTurns => (JobStatus::Completed, true),
            ForkEnd::Cut => {
                (JobStatus::Failed("the answer reached its token limit".to_owned()), false)
            }
            ForkEnd::Failed(error) => {
                (JobStatus::Failed(format!("the model could not be asked: {error}")), false)
            }
        };
        let (turns, denied) = (report.turns.into(), report.denied.into());
        let messages = u64::try_from(messages).unwrap_or(u64::MAX);
        Self { end: JobEnd { status, turns, messages, denied }, done }
    }
}

fn count(figures: &SessionMetrics, action: MemoryAction, count: u64) {
    if count > 0 {
        let by = Some(KIND.to_owned());
        figures.record(&Metric::Memory(MemoryMetric { action, count, by, tokens: 0 }));
    }
}

/// The memory directories, as paths in calls name them.
pub(super) fn folders(access: &SessionMemory) -> Vec<String> {
    access.stores().iter().map(|store| store.dir().path().display().to_string()).collect()
}

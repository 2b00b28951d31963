//! The job that runs extraction: queued transcripts first, then the session, then the newest turn that ended meanwhile.

use std::sync::Arc;

use dormouse_base::Dir;
use dormouse_conversation::transcript::PendingTranscript;
use dormouse_engine::{JobEnd, JobHandle, JobStatus};

use super::cursor::Cursor;
use super::queue::{QueuedTranscript, TranscriptQueue};
use super::run::{ExtractionOutcome, ExtractionRun};
use super::state::{RunningMark, SharedState};

/// Queued transcripts to work through.
pub(super) struct QueuedRuns {
    pub(super) queue: TranscriptQueue,
    pub(super) queued: Vec<PendingTranscript>,
    /// A run of the current session; those of the transcripts differ in their messages only.
    pub(super) template: ExtractionRun,
}

impl QueuedRuns {
    async fn run_all(self, job: &JobHandle) -> JobEnd {
        let mut end = JobEnd::of(JobStatus::Skipped);
        for waiting in self.queued {
            let path = waiting.transcript_path.display();
            let outcome = match self.queue.open(&waiting) {
                Err(error) => {
                    job.said(&format!("{path}: {error}"));
                    None
                }
                Ok(None) => {
                    job.said(&format!("{path}: nothing new"));
                    None
                }
                Ok(Some(transcript)) => Some(run_one(&self.template, transcript, job).await),
            };
            let failed = outcome.as_ref().is_some_and(|outcome| !outcome.done);
            if let Some(outcome) = outcome {
                end = outcome.end;
            }
            // A transcript whose run failed stays in the queue.
            if !failed && let Err(error) = self.queue.remove(&waiting) {
                job.said(&format!("{path} stays in the queue: {error}"));
            }
        }
        end
    }
}

async fn run_one(
    template: &ExtractionRun,
    transcript: QueuedTranscript,
    job: &JobHandle,
) -> ExtractionOutcome {
    let QueuedTranscript { messages, seen, session, cursor_file } = transcript;
    let last = messages.last().map(|message| message.id);
    let run = ExtractionRun {
        source: template.source.clone(),
        memory: Arc::clone(&template.memory),
        session,
        messages,
        is_own_conversation: false,
        seen,
        metrics: template.metrics.clone(),
        guard: template.guard,
        window: template.window,
    };
    let outcome = run.run(job).await;
    if outcome.done
        && let Err(error) = cursor_file.write(Cursor { seen: last, due: false })
    {
        job.said(&error.to_string());
    }
    outcome
}

/// Runs until no run is left.
pub(super) async fn work(
    queued: Option<QueuedRuns>,
    session: Dir,
    state: SharedState,
    job: JobHandle,
) -> JobEnd {
    let mut running = RunningMark::new(state.clone(), session.path().to_owned());
    let mut end = match queued {
        Some(queued) => queued.run_all(&job).await,
        None => JobEnd::of(JobStatus::Skipped),
    };
    loop {
        let next = {
            let mut state = state.lock();
            state.turns = 0;
            let next =
                state.next.take().map(|next| ExtractionRun { seen: state.cursor.seen, ..next });
            if next.is_some() {
                let due = Cursor { due: true, ..state.cursor };
                // If this fails, a run that dies with the process is not made up for.
                let _not_made_up_for = state.move_cursor(&session, due);
            } else {
                running.end(&mut state);
            }
            next
        };
        let Some(run) = next else { return end };
        job.phase("starting");
        let last = run.messages.last().map(|message| message.id);
        let outcome = run.run(&job).await;
        end = outcome.end;
        if outcome.done {
            let moved = state.lock().move_cursor(&session, Cursor { seen: last, due: false });
            if let Err(error) = moved {
                job.said(&format!("the position in the session could not be saved: {error}"));
            }
        }
    }
}

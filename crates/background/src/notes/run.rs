//! A run that updates the notes (B-15): a fork that may change that one file and nothing else.

use std::sync::Arc;

use dormouse_base::Dir;
use dormouse_context::compact::notes::{fill, length_warning};
use dormouse_conversation::metrics::{BreakerMetric, BreakerState, Metric, SessionMetrics};
use dormouse_conversation::{Budget, estimate_text};
use dormouse_engine::{
    ForkEnd, ForkGate, ForkOrder, ForkReport, ForkSource, JobEnd, JobHandle, JobStatus, Writes,
};
use tokio_util::sync::CancellationToken;

use super::config::NotesConfig;
use super::files::{CurrentNotes, NotesError, NotesFiles};
use super::state::{MOST_FAILURES, SharedNotesState};
use super::thresholds::NotesReach;

/// The kind of the job.
pub const SESSION_NOTES: &str = "session_notes";
/// The prompt asks for all edits in one response; some models make one at a time.
const MOST_REQUESTS: u32 = 4;
/// The section that every run has to update.
const CURRENT_STATE: &str = "# Current State";

/// The inputs of a run.
pub(super) struct NotesRun {
    pub(super) source: ForkSource,
    pub(super) reach: NotesReach,
    /// The tokens of a request with the whole conversation.
    pub(super) prompt_tokens: u64,
    pub(super) budget: Budget,
    pub(super) config: Arc<NotesConfig>,
    pub(super) session: Dir,
    pub(super) state: SharedNotesState,
    pub(super) metrics: SessionMetrics,
}

impl NotesRun {
    /// Runs to the end. Dropping the future leaves the notes as they were.
    pub(super) async fn run(self, job: JobHandle) -> JobEnd {
        let files = NotesFiles::of(&self.session);
        let Self { source, reach, prompt_tokens, budget, config, session, state, metrics } = self;
        let messages = u64::try_from(source.messages().len()).unwrap_or(u64::MAX);
        let mut end = match prepare(&files, &config, &source, &budget) {
            Ok((_, prompt)) if !fits(prompt_tokens, &prompt, &budget) => {
                job.said("the conversation and the notes do not fit into one request");
                restore(&files, &job);
                JobEnd::of(JobStatus::Skipped)
            }
            Ok((before, prompt)) => {
                let unfinished = RestoreOnDrop { files: &files, cancel: job.cancel.clone() };
                let report = source.run(order(&files, prompt), Some(&job)).await;
                let outcome = check_result(&files, &before, &report, &job).and_then(|()| {
                    // A reader gets the notes with their reach, or those before.
                    let _locked = state.lock();
                    Ok(files.keep(&reach)?)
                });
                drop(unfinished);
                job_end(outcome, &report)
            }
            Err(error) => JobEnd::of(JobStatus::Failed(error.to_string())),
        };
        end.messages = messages;
        if state.lock().count_end(session.path(), &end.status) {
            job.said(&format!(
                "failed {MOST_FAILURES} times in a row; not tried again in this session"
            ));
            let name = SESSION_NOTES.to_owned();
            let state = BreakerState::Open;
            metrics.record(&Metric::Breaker(BreakerMetric { name, state }));
        }
        end
    }
}

/// Prepares the notes for the fork to edit, and makes its prompt.
fn prepare(
    files: &NotesFiles,
    config: &NotesConfig,
    source: &ForkSource,
    budget: &Budget,
) -> Result<(CurrentNotes, String), NotesError> {
    let (before, file) = files.open(&config.template)?;
    let path = files.path();
    let shown = path.display().to_string();
    let mut prompt = fill(&config.prompt, &[("notesPath", &shown), ("currentNotes", &before.text)]);
    if let Some(warning) = length_warning(&before.text, budget) {
        prompt = format!("{}\n\n{warning}", prompt.trim_end());
    }
    source.has_read(path, &file, before.text.clone());
    Ok((before, prompt))
}

/// Whether the request leaves room for a response.
fn fits(sent: u64, prompt: &str, budget: &Budget) -> bool {
    sent.saturating_add(u64::from(estimate_text(prompt))) < u64::from(budget.blocking)
}

fn order(files: &NotesFiles, message: String) -> ForkOrder {
    let gate = ForkGate { reads: false, writes: Writes::File(files.path()), tools: &[] };
    ForkOrder {
        purpose: SESSION_NOTES,
        message,
        gate,
        tools: Vec::new(),
        most_turns: MOST_REQUESTS,
        ends_after_changes: true,
    }
}

/// Why the result of a run is not kept.
#[derive(Debug, thiserror::Error)]
enum NotesRunError {
    #[error("the request failed: {0}")]
    RequestFailed(String),
    #[error("the response was truncated at its token limit")]
    Truncated,
    #[error(transparent)]
    Notes(#[from] NotesError),
}

/// Fails if the result of a fork cannot be kept.
fn check_result(
    files: &NotesFiles,
    before: &CurrentNotes,
    report: &ForkReport,
    job: &JobHandle,
) -> Result<(), NotesRunError> {
    match &report.end {
        ForkEnd::Completed | ForkEnd::MaxTurns => {}
        ForkEnd::Cut => return Err(NotesRunError::Truncated),
        ForkEnd::Failed(error) => return Err(NotesRunError::RequestFailed(error.to_string())),
    }
    let after = files.changed(before)?;
    if section(&before.text, CURRENT_STATE) == section(&after, CURRENT_STATE) {
        job.said("the section Current State was not updated");
    }
    Ok(())
}

/// The lines from a heading to the next.
fn section<'a>(notes: &'a str, heading: &str) -> Vec<&'a str> {
    let below = notes.lines().skip_while(|line| line.trim_end() != heading);
    below.skip(1).take_while(|line| !line.starts_with("# ")).collect()
}

fn job_end(outcome: Result<(), NotesRunError>, report: &ForkReport) -> JobEnd {
    let status = match outcome {
        Ok(()) => JobStatus::Completed,
        Err(why) => JobStatus::Failed(why.to_string()),
    };
    JobEnd { status, turns: report.turns.into(), messages: 0, denied: report.denied.into() }
}

fn restore(files: &NotesFiles, job: &JobHandle) {
    if let Err(error) = files.restore() {
        job.said(&error.to_string());
    }
}

/// Restores the notes when it is dropped, unless they were kept by then.
struct RestoreOnDrop<'s> {
    files: &'s NotesFiles,
    cancel: CancellationToken,
}

impl Drop for RestoreOnDrop<'_> {
    fn drop(&mut self) {
        // An edit in progress must not land after the restore.
        self.cancel.cancel();
        // If it fails, readers still get the notes from before the run.
        let _restored_later = self.files.restore();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let notes = "# Title\n_t_\nx\n# Current State\n_s_\n- a\n## b\n\n# Next\n_n_\n- c\n";
        assert_eq!(section(notes, CURRENT_STATE), ["_s_", "- a", "## b", ""]);
        assert!(section(notes, "# None").is_empty());
    }
}

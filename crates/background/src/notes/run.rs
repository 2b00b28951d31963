//! A run that updates the notes (B-15): a fork that may change that one file and nothing else.

use std::sync::Arc;

use dormouse_base::Dir;
use dormouse_context::compact::notes::{fill, length_warning};
use dormouse_conversation::metrics::{BreakerMetric, BreakerState, Metric, SessionMetrics};
use dormouse_conversation::{Budget, PromptSize, estimate_text};
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
                let form = NotesForm::of(&budget);
                let source = source.with_longest_answer(form.longest_answer(&budget));
                let report = source.run(form.order(&files, prompt), Some(&job)).await;
                let written = form.write(&files, &before, &report);
                let outcome =
                    written.and_then(|()| check_result(&files, &before, &job)).and_then(|()| {
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
    let values = [("notesPath", shown.as_str()), ("currentNotes", &before.text)];
    let mut prompt = match NotesForm::of(budget) {
        NotesForm::Edits => fill(&config.prompt, &values),
        NotesForm::Plain => plain_prompt(&before.text, budget),
    };
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

/// How the model gives its notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotesForm {
    /// It edits the file.
    Edits,
    /// It answers with plain text, once, and the program writes the file: for small windows, whose models lose themselves in edits.
    Plain,
}

impl NotesForm {
    fn of(budget: &Budget) -> Self {
        match budget.prompt.size {
            PromptSize::Full => Self::Edits,
            PromptSize::Short => Self::Plain,
        }
    }

    fn longest_answer(self, budget: &Budget) -> Option<u32> {
        (self == Self::Plain).then_some(budget.notes.tokens)
    }

    fn order(self, files: &NotesFiles, message: String) -> ForkOrder {
        let (gate, most_turns) = match self {
            Self::Edits => {
                let writes = Writes::File(files.path());
                (ForkGate { reads: false, writes, tools: &[] }, MOST_REQUESTS)
            }
            Self::Plain => (ForkGate::nothing(), 1),
        };
        ForkOrder {
            purpose: SESSION_NOTES,
            message,
            gate,
            tools: Vec::new(),
            most_turns,
            ends_after_changes: true,
        }
    }

    /// Fails if the fork did not do its task; a plain answer becomes the notes.
    fn write(
        self,
        files: &NotesFiles,
        before: &CurrentNotes,
        report: &ForkReport,
    ) -> Result<(), NotesRunError> {
        match (&report.end, self) {
            // A plain answer is ended where it has no more room: what it says until there counts.
            (ForkEnd::Completed | ForkEnd::MaxTurns, _) | (ForkEnd::Cut, Self::Plain) => {}
            (ForkEnd::Cut, Self::Edits) => return Err(NotesRunError::Truncated),
            (ForkEnd::Repeated, _) => return Err(NotesRunError::Repeated),
            (ForkEnd::Failed(error), _) => {
                return Err(NotesRunError::RequestFailed(error.to_string()));
            }
        }
        match self {
            Self::Edits => Ok(()),
            Self::Plain => Ok(files.write_plain(before, CURRENT_STATE, &report.text)?),
        }
    }
}

/// The task in a small window.
fn plain_prompt(notes: &str, budget: &Budget) -> String {
    let words = budget.notes.tokens / 2;
    format!(
        "This message comes from the program, not from the user. Do not call any tool. Write notes on the conversation above, in at most {words} words of plain text, so that the work can go on with them alone: what the user asked for, what was done and found (files, commands, results, errors, word for word), what is still open, and the next step. Say each thing once. The notes so far:\n\n{notes}"
    )
}

/// Why the result of a run is not kept.
#[derive(Debug, thiserror::Error)]
enum NotesRunError {
    #[error("the request failed: {0}")]
    RequestFailed(String),
    #[error("the response was truncated at its token limit")]
    Truncated,
    #[error("the response only repeated itself")]
    Repeated,
    #[error(transparent)]
    Notes(#[from] NotesError),
}

/// Fails if the result of a fork cannot be kept.
fn check_result(
    files: &NotesFiles,
    before: &CurrentNotes,
    job: &JobHandle,
) -> Result<(), NotesRunError> {
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

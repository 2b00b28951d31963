//! A run that brings the notes up to date (B-15): a fork that may change that one file and nothing else.

use std::sync::{Arc, Mutex};

use dormouse_base::Dir;
use dormouse_context::compact::notes::{fill, length_warning};
use dormouse_conversation::metrics::{BreakerMetric, BreakerState, Metric, SessionMetrics};
use dormouse_conversation::{Budget, estimate_text};
use dormouse_engine::{
    ForkEnd, ForkGate, ForkOrder, ForkReport, ForkSource, JobEnd, JobHandle, JobStatus, Writes,
};
use tokio_util::sync::CancellationToken;

use super::files::{CurrentNotes, NotesFiles};
use super::thresholds::NotesReach;
use super::{FAILURES, KIND, NotesConfig, NotesError, State, lock};

/// The prompt asks for all edits in one answer; some models make one at a time.
const TURNS: u32 = 4;
/// The section that every run brings up to date.
const CURRENT_STATE: &str = "# Current State";

/// What a run starts with.
pub(super) struct NotesRun {
    pub(super) seed: ForkSource,
    pub(super) mark: NotesReach,
    pub(super) budget: Budget,
    pub(super) config: Arc<NotesConfig>,
    pub(super) session: Dir,
    pub(super) state: Arc<Mutex<State>>,
    pub(super) figures: SessionMetrics,
}

impl NotesRun {
    /// Runs to the end. Dropping this leaves the notes as they were.
    pub(super) async fn work(self, job: JobHandle) -> JobEnd {
        let files = NotesFiles::of(&self.session);
        let Self { seed, mark, budget, config, session, state, figures } = self;
        let messages = u64::try_from(seed.messages().len()).unwrap_or(u64::MAX);
        let mut end = match prepare(&files, &config, &seed, &budget) {
            Ok((_, prompt)) if !fits(&mark, &prompt, &budget) => {
                job.said("the conversation and the notes do not fit into one request");
                restore(&files, &job);
                JobEnd::of(JobStatus::Skipped)
            }
            Ok((before, prompt)) => {
                let running = Unfinished { files: &files, cancel: job.cancel.clone() };
                let report = seed.run(order(&files, prompt), Some(&job)).await;
                let outcome = judge(&files, &before, &report, &job).and_then(|()| {
                    // Whoever asks for the notes gets those with this reach, or those before.
                    let _held = lock(&state);
                    Ok(files.keep(&mark)?)
                });
                drop(running);
                ended(outcome, &report)
            }
            Err(error) => JobEnd::of(JobStatus::Failed(error.to_string())),
        };
        end.messages = messages;
        if lock(&state).has_ended(session.path(), &end.status) {
            job.said(&format!(
                "it failed {FAILURES} times in a row and is not tried again in this session"
            ));
            let (name, state) = (KIND.to_owned(), BreakerState::Open);
            figures.record(&Metric::Breaker(BreakerMetric { name, state }));
        }
        end
    }
}

/// The notes are there to be changed, the fork knows what stands in them, and this is what it is told.
fn prepare(
    files: &NotesFiles,
    config: &NotesConfig,
    seed: &ForkSource,
    budget: &Budget,
) -> Result<(CurrentNotes, String), NotesError> {
    let (before, file) = files.open(&config.template)?;
    let path = files.path();
    let shown = path.display().to_string();
    let mut prompt = fill(&config.prompt, &[("notesPath", &shown), ("currentNotes", &before.text)]);
    if let Some(warning) = length_warning(&before.text, budget) {
        prompt = format!("{}\n\n{warning}", prompt.trim_end());
    }
    seed.has_read(path, &file, before.text.clone());
    Ok((before, prompt))
}

/// Whether the request would leave room for an answer.
fn fits(mark: &NotesReach, prompt: &str, budget: &Budget) -> bool {
    mark.tokens.saturating_add(u64::from(estimate_text(prompt))) < u64::from(budget.blocking)
}

fn order(files: &NotesFiles, message: String) -> ForkOrder {
    let gate = ForkGate { reads: false, writes: Writes::File(files.path()), tools: &[] };
    ForkOrder { purpose: KIND, message, gate, tools: Vec::new(), most_turns: TURNS }
}

/// Why a run does not count.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("the model could not be asked: {0}")]
    Unanswered(String),
    #[error("the answer reached its token limit")]
    Cut,
    #[error(transparent)]
    Notes(#[from] NotesError),
}

/// Whether what a fork has made of the notes can be kept.
fn judge(
    files: &NotesFiles,
    before: &CurrentNotes,
    report: &ForkReport,
    job: &JobHandle,
) -> Result<(), Refused> {
    match &report.end {
        ForkEnd::Completed | ForkEnd::MaxTurns => {}
        ForkEnd::Cut => return Err(Refused::Cut),
        ForkEnd::Failed(error) => return Err(Refused::Unanswered(error.to_string())),
    }
    let after = files.changed(before)?;
    if section(&before.text, CURRENT_STATE) == section(&after, CURRENT_STATE) {
        job.said("the section Current State was not brought up to date");
    }
    Ok(())
}

/// The lines from a heading to the next.
fn section<'a>(notes: &'a str, heading: &str) -> Vec<&'a str> {
    let below = notes.lines().skip_while(|line| line.trim_end() != heading);
    below.skip(1).take_while(|line| !line.starts_with("# ")).collect()
}

fn ended(outcome: Result<(), Refused>, report: &ForkReport) -> JobEnd {
    let status = match outcome {
        Ok(()) => JobStatus::Completed,
        Err(why) => JobStatus::Failed(why.to_string()),
    };
    let (turns, denied) = (report.turns.into(), report.denied.into());
    JobEnd { status, turns, messages: 0, denied }
}

fn restore(files: &NotesFiles, job: &JobHandle) {
    if let Err(error) = files.restore() {
        job.said(&error.to_string());
    }
}

/// Puts the notes back when it goes, unless they were kept by then.
struct Unfinished<'s> {
    files: &'s NotesFiles,
    cancel: CancellationToken,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        // An edit that is on its way to the disk must not come behind this.
        self.cancel.cancel();
        // Where it fails, the next to read the notes takes what stood before all the same.
        let _left_for_the_next = self.files.restore();
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

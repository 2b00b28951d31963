//! Running a prepared subagent to its end: progress display, cancellation, and the text of its result.

use std::sync::Arc;

use dormouse_base::AgentId;
use dormouse_context::{Fragment, SubagentResult};
use dormouse_engine::{
    AgentEnd, EngineError, EngineEvent, EngineNotice, IncomingMessage, JobEnd, JobStatus,
    TurnContext, TurnEnd, TurnReport,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::fork_sequence::ForkPosition;
use crate::format::{format_call, result_footer};
use crate::preparation::{PreparedSubagent, SubagentStart};
use crate::progress::ProgressSummaries;
use crate::progress_output::ProgressOutput;
use crate::registry::SubagentRegistry;
use crate::run_record::remove_record;
use crate::runs::{RunStatus, SubagentRun};
use crate::spawner::SubagentSpawner;

/// The outcome of a run.
pub(crate) struct SubagentOutcome {
    /// The result for the parent conversation.
    pub(crate) text: String,
    pub(crate) is_error: bool,
    status: RunStatus,
    requests: u32,
}

impl SubagentOutcome {
    /// Returns the result as a message to the parent conversation.
    pub(crate) fn to_message(&self, run: &SubagentRun) -> IncomingMessage {
        let fragment = SubagentResult {
            name: run.name.clone(),
            task: run.description.clone(),
            failed: self.is_error,
            text: self.text.clone(),
            transcript: run.transcript.display().to_string(),
        };
        let end = match self.status {
            RunStatus::Failed(_) => AgentEnd::Failed,
            RunStatus::Stopped | RunStatus::Interrupted => AgentEnd::Stopped,
            RunStatus::Running | RunStatus::Done => AgentEnd::Done,
        };
        let (name, task) = (run.name.clone(), run.description.clone());
        IncomingMessage {
            id: run.id.to_string(),
            block: fragment.to_block(),
            shown: Some(EngineNotice::AgentEnded { name, end, task }),
        }
    }

    pub(crate) fn job_end(&self) -> JobEnd {
        let status = match &self.status {
            RunStatus::Running | RunStatus::Done => JobStatus::Completed,
            RunStatus::Failed(reason) => JobStatus::Failed(reason.clone()),
            RunStatus::Stopped | RunStatus::Interrupted => JobStatus::Killed,
        };
        JobEnd { turns: u64::from(self.requests), ..JobEnd::of(status) }
    }
}

/// Runs a subagent until it finishes, is interrupted, or is stopped by name.
pub(crate) async fn run_subagent(
    registry: &Arc<SubagentRegistry>,
    prepared: PreparedSubagent,
    cancel: &CancellationToken,
    output: ProgressOutput,
) -> SubagentOutcome {
    let PreparedSubagent {
        mut engine,
        spawner,
        start,
        surroundings,
        max_turns,
        run,
        task,
        worktree,
        servers,
        remarks,
        background: _,
    } = prepared;
    let _close = CloseOnDrop(spawner);
    let interrupt = CancellationToken::new();
    let mut observer =
        EventObserver { registry, id: run.id, output: output.clone(), streaming: None };
    let prompt = match start {
        SubagentStart::Prompt(task) => Some(task),
        SubagentStart::Forked(ForkPosition::First(streaming)) => {
            observer.streaming = Some(streaming);
            None
        }
        SubagentStart::Forked(ForkPosition::Later(mut first_streaming)) => {
            // An error means that the first fork has ended: continue without waiting.
            let first = first_streaming.wait_for(|streaming| *streaming);
            tokio::select! {
                () = cancel.cancelled() => {}
                _ = first => {}
            }
            None
        }
    };
    let mut sink = |event: EngineEvent| observer.observe(event);
    let mut context = TurnContext::new(&interrupt, &mut sink);
    let turn = async {
        match &prompt {
            Some(task) => engine.run_turn(task, &surroundings, max_turns, &mut context).await,
            None => engine.run_on(max_turns, &mut context).await,
        }
    };
    let result = {
        let mut summaries = ProgressSummaries::new(registry, run.id, &task, &output);
        tokio::pin!(turn);
        loop {
            tokio::select! {
                biased;
                result = &mut turn => break result,
                () = cancel.cancelled(), if !interrupt.is_cancelled() => interrupt.cancel(),
                () = run.stop.cancelled(), if !interrupt.is_cancelled() => interrupt.cancel(),
                () = summaries.next() => {}
            }
        }
    };
    if let Some(servers) = servers {
        servers.close().await;
    }
    let worktree = match worktree {
        Some(worktree) => Some(worktree.close().await),
        None => None,
    };
    let remarks: Vec<String> = remarks.into_iter().chain(worktree).collect();
    record_outcome(registry, run.id, &result, &remarks)
}

/// Closes a subagent's spawner also when the run is dropped.
struct CloseOnDrop(Arc<SubagentSpawner>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Updates the run in the registry and writes the result text.
fn record_outcome(
    registry: &SubagentRegistry,
    id: AgentId,
    result: &Result<TurnReport, EngineError>,
    remarks: &[String],
) -> SubagentOutcome {
    let (status, answer, requests) = match result {
        Ok(report) => {
            registry.runs.update(id, |run| {
                run.requests = report.requests;
                run.usage = report.usage;
                run.cost_usd = report.cost_usd;
            });
            (status_of(&report.end), report.answer.clone(), report.requests)
        }
        Err(error) => (RunStatus::Failed(error.to_string()), String::new(), 0),
    };
    registry.runs.update(id, |run| {
        run.status = status.clone();
        run.activity.text = String::new();
    });
    let run = registry.runs.get(id);
    if let Some(run) = &run {
        remove_record(&run.transcript);
    }
    let footer = run.map(|run| result_footer(&run, remarks)).unwrap_or_default();
    let answer = match answer.trim() {
        "" => "The agent ended without saying anything.".to_owned(),
        answer => answer.to_owned(),
    };
    let introduction = match (&status, result.as_ref().map(|report| &report.end)) {
        (RunStatus::Failed(reason), _) => {
            format!("The agent failed: {reason}\n\nWhat it said last: ")
        }
        (RunStatus::Stopped, _) => "The agent was stopped. What it said last: ".to_owned(),
        (_, Ok(TurnEnd::MaxTurns)) => {
            "The agent used up its turns before it was done. What it said last: ".to_owned()
        }
        (_, Ok(TurnEnd::Cut)) => "The agent's answer was cut at its token limit: ".to_owned(),
        _ => String::new(),
    };
    let is_error = matches!(status, RunStatus::Failed(_));
    SubagentOutcome {
        text: format!("{introduction}{answer}\n\n{footer}"),
        is_error,
        status,
        requests,
    }
}

fn status_of(end: &TurnEnd) -> RunStatus {
    match end {
        TurnEnd::Completed | TurnEnd::Cut | TurnEnd::MaxTurns => RunStatus::Done,
        TurnEnd::Interrupted => RunStatus::Stopped,
        TurnEnd::Refused => RunStatus::Failed("the model refused to answer".to_owned()),
        TurnEnd::Empty => RunStatus::Failed("the model returned an empty response".to_owned()),
        TurnEnd::MaxCost => RunStatus::Failed("cost limit reached".to_owned()),
        TurnEnd::Repeating(tool) => {
            RunStatus::Failed(format!("it made the same {tool} call again and again"))
        }
        TurnEnd::Halted(reason) | TurnEnd::Blocked(reason) => {
            RunStatus::Failed(format!("stopped by a hook: {reason}"))
        }
        TurnEnd::NoPrompt(reason) => RunStatus::Failed(reason.clone()),
        TurnEnd::Failed(error) => RunStatus::Failed(error.to_string()),
    }
}

/// Records and displays the events of a subagent.
struct EventObserver<'a> {
    registry: &'a SubagentRegistry,
    id: AgentId,
    output: ProgressOutput,
    /// Signals the start of the response stream to later forks.
    streaming: Option<watch::Sender<bool>>,
}

impl EventObserver<'_> {
    fn observe(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Answering => {
                if let Some(streaming) = self.streaming.take() {
                    streaming.send_replace(true);
                }
            }
            EngineEvent::ToolStarted { name, input, .. } => {
                let call = format_call(&name, &input);
                self.output.show_activity(&call);
                self.registry.runs.update(self.id, |run| run.activity.add_call(call));
            }
            // Messages of hooks to the user.
            EngineEvent::Notice(notice) => self.output.show_activity(&notice.to_string()),
            EngineEvent::Message(message) => {
                let text = message.text();
                if message.response.is_some() {
                    self.registry.runs.update(self.id, |run| run.requests += 1);
                    self.output.show_text(&text);
                }
            }
            _ => {}
        }
    }
}

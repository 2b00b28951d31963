//! An agent at work: its conversation runs to its end, is watched on the way, and its result is put into words.

use std::sync::Arc;

use dormouse_base::AgentId;
use dormouse_context::{Fragment, SubagentResult};
use dormouse_engine::{
    EngineError, EngineEvent, IncomingMessage, JobEnd, JobHandle, JobStatus, TurnContext, TurnEnd,
    TurnReport,
};
use dormouse_tools::{CallContext, CommandProgress};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::format::{footer, format_call};
use crate::preparation::{PreparedSubagent, SubagentStart};
use crate::progress::ProgressSummaries;
use crate::registry::SubagentRegistry;
use crate::runs::{RunStatus, SubagentRun};
use crate::spawner::{ForkPosition, SubagentSpawner};

/// Who is shown what an agent does.
#[derive(Clone)]
pub(crate) enum ProgressOutput {
    Nobody,
    Call(Arc<dyn CommandProgress>),
    Job(JobHandle),
}

impl ProgressOutput {
    pub(crate) fn of_call(context: &CallContext) -> Self {
        context.progress.clone().map_or(Self::Nobody, Self::Call)
    }

    pub(crate) fn of_job(job: &JobHandle) -> Self {
        Self::Job(job.clone())
    }

    pub(crate) fn does(&self, what: &str) {
        match self {
            Self::Nobody => {}
            Self::Call(progress) => progress.printed(&format!("{what}\n")),
            Self::Job(job) => job.phase(what),
        }
    }

    fn said(&self, text: &str) {
        if let Self::Job(job) = self {
            job.said(text);
        }
    }
}

/// How an agent ended.
pub(crate) struct SubagentOutcome {
    /// What whoever started it reads.
    pub(crate) text: String,
    pub(crate) is_error: bool,
    status: RunStatus,
    requests: u32,
}

impl SubagentOutcome {
    /// As a message to the conversation above.
    pub(crate) fn arrival(&self, run: &SubagentRun) -> IncomingMessage {
        let fragment = SubagentResult {
            name: run.name.clone(),
            task: run.description.clone(),
            failed: self.is_error,
            text: self.text.clone(),
            transcript: run.transcript.display().to_string(),
        };
        let how = match self.status {
            RunStatus::Failed(_) => "failed",
            RunStatus::Stopped => "was stopped",
            RunStatus::Running | RunStatus::Done => "is done",
        };
        IncomingMessage {
            id: run.id.to_string(),
            block: fragment.to_block(),
            shown: format!("agent {} {how}: {}", run.name, run.description),
        }
    }

    pub(crate) fn job_end(&self) -> JobEnd {
        let status = match &self.status {
            RunStatus::Running | RunStatus::Done => JobStatus::Completed,
            RunStatus::Failed(why) => JobStatus::Failed(why.clone()),
            RunStatus::Stopped => JobStatus::Killed,
        };
        JobEnd { turns: u64::from(self.requests), ..JobEnd::of(status) }
    }
}

/// Works until it is done, is interrupted, or is stopped by name.
pub(crate) async fn work(
    registry: &Arc<SubagentRegistry>,
    prepared: PreparedSubagent,
    cancel: &CancellationToken,
    watcher: ProgressOutput,
) -> SubagentOutcome {
    let PreparedSubagent {
        mut engine,
        spawner,
        opening,
        surroundings,
        max_turns,
        run,
        task,
        worktree,
        servers,
        remarks,
        background: _,
    } = prepared;
    let _closing = CloseOnDrop(spawner);
    let interrupt = CancellationToken::new();
    let mut eyes = EventObserver { registry, id: run.id, watcher: watcher.clone(), begun: None };
    let prompt = match opening {
        SubagentStart::Prompt(task) => Some(task),
        SubagentStart::Forked(ForkPosition::First(begun)) => {
            eyes.begun = Some(begun);
            None
        }
        SubagentStart::Forked(ForkPosition::Later(mut begun)) => {
            // If the one ahead is gone, nobody says so any more.
            let ahead = begun.wait_for(|begun| *begun);
            tokio::select! {
                () = cancel.cancelled() => {}
                _ = ahead => {}
            }
            None
        }
    };
    let mut sink = |event: EngineEvent| eyes.see(event);
    let mut context = TurnContext::new(&interrupt, &mut sink);
    let turn = async {
        match &prompt {
            Some(task) => engine.run_turn(task, &surroundings, max_turns, &mut context).await,
            None => engine.run_on(max_turns, &mut context).await,
        }
    };
    let result = {
        let mut summaries = ProgressSummaries::of(registry, run.id, &task, &watcher);
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
    close(registry, run.id, &result, &remarks)
}

/// However the work ends, what it holds is let go.
struct CloseOnDrop(Arc<SubagentSpawner>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Writes down how it went, and puts it into words.
fn close(
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
        run.doing = String::new();
    });
    let run = registry.runs.of(id);
    let footer = run.map(|run| footer(&run, remarks)).unwrap_or_default();
    let answer = match answer.trim() {
        "" => "The agent ended without saying anything.".to_owned(),
        answer => answer.to_owned(),
    };
    let how = match (&status, result.as_ref().map(|report| &report.end)) {
        (RunStatus::Failed(why), _) => format!("The agent failed: {why}\n\nWhat it said last: "),
        (RunStatus::Stopped, _) => "The agent was stopped. What it said last: ".to_owned(),
        (_, Ok(TurnEnd::MaxTurns)) => {
            "The agent used up its turns before it was done. What it said last: ".to_owned()
        }
        (_, Ok(TurnEnd::Cut)) => "The agent's answer was cut at its token limit: ".to_owned(),
        _ => String::new(),
    };
    let is_error = matches!(status, RunStatus::Failed(_));
    SubagentOutcome { text: format!("{how}{answer}\n\n{footer}"), is_error, status, requests }
}

fn status_of(end: &TurnEnd) -> RunStatus {
    match end {
        TurnEnd::Completed | TurnEnd::Cut | TurnEnd::MaxTurns => RunStatus::Done,
        TurnEnd::Interrupted => RunStatus::Stopped,
        TurnEnd::Refused => RunStatus::Failed("the model declined to answer".to_owned()),
        TurnEnd::Empty => RunStatus::Failed("the model gave an empty answer".to_owned()),
        TurnEnd::MaxCost => RunStatus::Failed("what may be spent was spent".to_owned()),
        TurnEnd::Halted(why) | TurnEnd::Blocked(why) => {
            RunStatus::Failed(format!("a hook ended it: {why}"))
        }
        TurnEnd::Failed(error) => RunStatus::Failed(error.to_string()),
    }
}

/// Sees what an agent does.
struct EventObserver<'a> {
    registry: &'a SubagentRegistry,
    id: AgentId,
    watcher: ProgressOutput,
    /// Told when its stream has begun, where others wait for that.
    begun: Option<watch::Sender<bool>>,
}

impl EventObserver<'_> {
    fn see(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::Answering => {
                if let Some(begun) = self.begun.take() {
                    begun.send_replace(true);
                }
            }
            EngineEvent::ToolStarted { name, input, .. } => {
                let line = format_call(&name, &input);
                self.watcher.does(&line);
                self.registry.runs.update(self.id, |run| run.called(line));
            }
            // What hooks have to say to the person.
            EngineEvent::Notice(said) => self.watcher.does(&said),
            EngineEvent::Message(message) => {
                let text = message.text();
                if message.response.is_some() {
                    self.registry.runs.update(self.id, |run| run.requests += 1);
                    self.watcher.said(&text);
                }
            }
            _ => {}
        }
    }
}

//! The step itself.

use std::time::Duration;

use dormouse_conversation::{Block, StopReason, ToolUseId, Usage};
use dormouse_model::{CacheTtl, ModelError, Price, StreamEvent, cost_usd};
use dormouse_tools::{ResponseState, ToolClass};

use super::partial_response::PartialResponse;
use super::{StepOutput, TurnAction, TurnEvent};
use crate::TurnEnd;
use crate::compact::Recovery;

/// Notes in the place of an answer that did not come.
const NO_ANSWER_INTERRUPTED: &str = "[no answer: the user interrupted before one came]";
const NO_ANSWER_FAILED: &str = "[no answer: the request failed]";
const NO_ANSWER_SPENT: &str = "[no answer: what may be spent was spent]";
const NO_ANSWER_EMPTY: &str = "[no answer: the model said nothing]";

/// A request that is too long is made shorter so often: the first time the server may not say by how much.
const MOST_SHORTENINGS: usize = 3;

/// What does not get better by itself is tried this often in a row.
const MOST_IN_A_ROW: u32 = 5;

/// Where a turn stands.
#[derive(Debug)]
enum Phase {
    /// A request is out, its answer is coming in.
    Answering(PartialResponse),
    /// A request failed; another try follows.
    Waiting,
    /// A request was refused for this; something is done about it.
    Mending(ModelError),
    /// The answer is complete, its tools run.
    Running(PartialResponse),
    /// Over.
    Ended,
}

/// What may still be spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CostBudget {
    pub(crate) left_usd: f64,
    pub(crate) price: Price,
    pub(crate) ttl: CacheTtl,
}

impl CostBudget {
    fn is_empty_after(&self, usage: &Usage) -> bool {
        cost_usd(usage, self.price, self.ttl) >= self.left_usd
    }
}

/// A turn: from the person's message to the end of the model's work on it.
#[derive(Debug)]
pub(crate) struct TurnState {
    phase: Phase,
    max_requests: Option<u32>,
    purse: Option<CostBudget>,
    requests: u32,
    retries: u32,
    /// Answers in a row that broke off after a call was started.
    broken: u32,
    /// Times in a row that the server asked to go on.
    pauses: u32,
    usage: Usage,
    /// Why there is to be no further request.
    halt: Option<String>,
    /// What was done already about this request.
    tried: Vec<Recovery>,
    /// Whether spans of the conversation may be waiting to be folded.
    folds: bool,
}

impl TurnState {
    pub(crate) fn new(max_requests: Option<u32>) -> Self {
        Self {
            phase: Phase::Waiting,
            max_requests,
            purse: None,
            requests: 0,
            retries: 0,
            broken: 0,
            pauses: 0,
            usage: Usage::default(),
            halt: None,
            tried: Vec::new(),
            folds: false,
        }
    }

    /// A request that is too long has what is staged folded first.
    pub(crate) fn folding(self, folds: bool) -> Self {
        Self { folds, ..self }
    }

    /// No further request once this is spent.
    pub(crate) fn paid_from(self, purse: Option<CostBudget>) -> Self {
        Self { purse, ..self }
    }

    /// What is left may have become less meanwhile.
    pub(crate) fn pays_from(&mut self, purse: Option<CostBudget>) {
        self.purse = purse;
    }

    fn is_spent(&self) -> bool {
        self.purse.is_some_and(|purse| purse.is_empty_after(&self.usage))
    }

    pub(crate) fn requests(&self) -> u32 {
        self.requests
    }

    /// How often the request that is out was tried again.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }

    /// What to do about an event.
    pub(crate) fn step(&mut self, event: TurnEvent) -> Vec<TurnAction> {
        match (std::mem::replace(&mut self.phase, Phase::Ended), event) {
            (Phase::Ended, _) => Vec::new(),
            (_, TurnEvent::Begin) | (Phase::Waiting, TurnEvent::Retry) if self.is_spent() => {
                vec![TurnAction::CommitClosing(NO_ANSWER_SPENT), TurnAction::End(TurnEnd::MaxCost)]
            }
            (_, TurnEvent::Begin) => self.request(),
            (Phase::Waiting, TurnEvent::Retry) => {
                self.phase = Phase::Answering(PartialResponse::new());
                vec![TurnAction::Send]
            }
            (Phase::Answering(answer), TurnEvent::Stream(event, class)) => {
                self.stream(answer, event, class)
            }
            (Phase::Answering(answer), TurnEvent::Failed(error, delay)) => {
                self.failed(answer, error, delay)
            }
            (Phase::Answering(answer), TurnEvent::ToolDone { id, block, halt }) => {
                self.halt = self.halt.take().or(halt);
                self.tool_done(answer, &id, block, Later::Answering)
            }
            (Phase::Running(answer), TurnEvent::ToolDone { id, block, halt }) => {
                self.halt = self.halt.take().or(halt);
                self.tool_done(answer, &id, block, Later::Running)
            }
            (Phase::Answering(answer), TurnEvent::Interrupt) => {
                self.usage = self.usage.plus(answer.response.usage);
                interrupt_answer(answer)
            }
            (Phase::Running(answer), TurnEvent::Interrupt) => interrupt_tools(answer),
            (Phase::Mending(error), TurnEvent::Mended(helped)) => self.mended(error, helped),
            (Phase::Answering(_), TurnEvent::Full(error)) => {
                vec![
                    TurnAction::CommitClosing(NO_ANSWER_FAILED),
                    TurnAction::End(TurnEnd::Failed(error)),
                ]
            }
            (Phase::Waiting | Phase::Mending(_), TurnEvent::Interrupt) => {
                vec![
                    TurnAction::CommitClosing(NO_ANSWER_INTERRUPTED),
                    TurnAction::End(TurnEnd::Interrupted),
                ]
            }
            // An event that came too late changes nothing.
            (
                phase,
                TurnEvent::Stream(..)
                | TurnEvent::Failed(..)
                | TurnEvent::Full(_)
                | TurnEvent::Mended(_)
                | TurnEvent::Retry
                | TurnEvent::ToolDone { .. },
            ) => {
                self.phase = phase;
                Vec::new()
            }
        }
    }

    /// The next request, or the end if there may be none.
    fn request(&mut self) -> Vec<TurnAction> {
        if let Some(why) = self.halt.take() {
            return vec![TurnAction::End(TurnEnd::Halted(why))];
        }
        if self.max_requests.is_some_and(|most| self.requests >= most) {
            return vec![TurnAction::End(TurnEnd::MaxTurns)];
        }
        if self.is_spent() {
            return vec![TurnAction::End(TurnEnd::MaxCost)];
        }
        self.requests += 1;
        self.retries = 0;
        self.tried.clear();
        self.phase = Phase::Answering(PartialResponse::new());
        vec![TurnAction::Send]
    }

    fn stream(
        &mut self,
        mut answer: PartialResponse,
        event: StreamEvent,
        class: Option<ToolClass>,
    ) -> Vec<TurnAction> {
        let effects = match event {
            StreamEvent::Started { id, model, usage } => {
                answer.response.id = id;
                answer.response.model = model;
                answer.response.usage = usage;
                Vec::new()
            }
            StreamEvent::Text(text) => {
                answer.open_text.push_str(&text);
                vec![TurnAction::Tell(StepOutput::Text(text))]
            }
            StreamEvent::Thinking(text) => vec![TurnAction::Tell(StepOutput::Thinking(text))],
            // The driver writes it down.
            StreamEvent::Cleared(_) => Vec::new(),
            StreamEvent::Block(block) => block_complete(&mut answer, block, class),
            StreamEvent::Finished { stop_reason, usage } => {
                answer.response.stop_reason = stop_reason;
                answer.response.usage = usage;
                self.usage = self.usage.plus(usage);
                return self.finished(answer);
            }
        };
        self.phase = Phase::Answering(answer);
        effects
    }

    /// The answer is whole.
    fn finished(&mut self, mut answer: PartialResponse) -> Vec<TurnAction> {
        let mut effects = vec![TurnAction::DropAnswer];
        let overflow = answer.stopped_by(&StopReason::ContextWindowExceeded);
        self.broken = 0;
        if overflow && !answer.has_started_calls() {
            let error = window_exceeded();
            if let Some(mend) = self.remedy(&error) {
                return self.take_back(&answer, error, mend);
            }
        }
        if answer.blocks.is_empty() {
            effects.push(TurnAction::CommitClosing(NO_ANSWER_EMPTY));
            effects.push(TurnAction::End(match answer.response.stop_reason {
                _ if overflow => TurnEnd::Failed(window_exceeded()),
                Some(StopReason::Refusal) => TurnEnd::Refused,
                Some(StopReason::MaxTokens) => TurnEnd::Cut,
                _ => TurnEnd::Empty,
            }));
            return effects;
        }
        effects.push(TurnAction::CommitAnswer(answer.response.clone(), answer.blocks.clone()));
        if overflow {
            effects.extend(close_calls(&mut answer));
            effects.push(TurnAction::End(TurnEnd::Failed(window_exceeded())));
            return effects;
        }
        if answer.has_calls() {
            self.pauses = 0;
            effects.extend(self.run_tools(answer));
            return effects;
        }
        match answer.response.stop_reason {
            Some(StopReason::PauseTurn) => effects.extend(self.go_on()),
            Some(StopReason::MaxTokens) => effects.push(TurnAction::End(TurnEnd::Cut)),
            Some(StopReason::Refusal) => effects.push(TurnAction::End(TurnEnd::Refused)),
            Some(
                StopReason::EndTurn
                | StopReason::ToolUse
                | StopReason::StopSequence
                | StopReason::ContextWindowExceeded
                | StopReason::Other(_),
            )
            | None => effects.push(TurnAction::End(TurnEnd::Completed)),
        }
        effects
    }

    /// The server asked to send its answer back; one that asks for ever is not obeyed for ever.
    fn go_on(&mut self) -> Vec<TurnAction> {
        self.pauses += 1;
        if self.pauses <= MOST_IN_A_ROW {
            return self.request();
        }
        let message = format!("the server paused its answer {MOST_IN_A_ROW} times in a row");
        vec![TurnAction::End(TurnEnd::Failed(ModelError::InvalidRequest { status: 200, message }))]
    }

    /// Starts what may start; when all is done, the next request.
    fn run_tools(&mut self, mut answer: PartialResponse) -> Vec<TurnAction> {
        if answer.all_done() {
            let (results, _) = answer.take_results();
            let mut effects = vec![TurnAction::CommitResults(results)];
            effects.extend(self.request());
            return effects;
        }
        let effects = answer
            .start_calls(ResponseState::Complete)
            .into_iter()
            .map(TurnAction::StartTool)
            .collect();
        self.phase = Phase::Running(answer);
        effects
    }

    fn tool_done(
        &mut self,
        mut answer: PartialResponse,
        id: &ToolUseId,
        block: Block,
        later: Later,
    ) -> Vec<TurnAction> {
        let mut effects = Vec::new();
        if let Some(name) = answer.finish_call(id, block.clone()) {
            effects.push(TurnAction::RecordResult(block.clone()));
            effects.push(TurnAction::Tell(StepOutput::ToolFinished {
                id: id.clone(),
                name,
                result: block,
            }));
        }
        match later {
            Later::Running => effects.extend(self.run_tools(answer)),
            Later::Answering => {
                effects.extend(
                    answer
                        .start_calls(ResponseState::Streaming)
                        .into_iter()
                        .map(TurnAction::StartTool),
                );
                self.phase = Phase::Answering(answer);
            }
        }
        effects
    }

    /// What may help against an error and was not tried yet.
    fn remedy(&self, error: &ModelError) -> Option<Recovery> {
        let remedies = match error {
            ModelError::TooLong { .. } if self.folds && !self.tried.contains(&Recovery::Folds) => {
                return Some(Recovery::Folds);
            }
            ModelError::TooLong { used, limit, .. } => {
                let tried = self.tried.iter().filter(|mend| matches!(mend, Recovery::Room { .. }));
                let mend = Recovery::Room { used: *used, limit: *limit };
                return (tried.count() < MOST_SHORTENINGS).then_some(mend);
            }
            ModelError::RequestTooLarge(_) => vec![Recovery::Media, Recovery::Bytes],
            ModelError::ThinkingRefused(_) => vec![Recovery::Thinking, Recovery::AllThinking],
            _ => Vec::new(),
        };
        remedies.into_iter().find(|mend| !self.tried.contains(mend))
    }

    /// The request is held back until something was done about what the server refused.
    fn take_back(
        &mut self,
        answer: &PartialResponse,
        error: ModelError,
        mend: Recovery,
    ) -> Vec<TurnAction> {
        self.tried.push(mend);
        self.phase = Phase::Mending(error);
        let mut effects = withdraw(answer);
        effects.push(TurnAction::Recovery(mend));
        effects
    }

    fn mended(&mut self, error: ModelError, helped: bool) -> Vec<TurnAction> {
        if helped {
            self.phase = Phase::Answering(PartialResponse::new());
            return vec![TurnAction::Send];
        }
        // What could not be made shorter now can not be a moment later.
        let again = matches!(self.tried.last(), Some(Recovery::Room { .. }));
        let other = |mend: &Recovery| !again || !matches!(mend, Recovery::Room { .. });
        if let Some(mend) = self.remedy(&error).filter(other) {
            return self.take_back(&PartialResponse::new(), error, mend);
        }
        vec![TurnAction::CommitClosing(NO_ANSWER_FAILED), TurnAction::End(TurnEnd::Failed(error))]
    }

    /// The answer broke off, or never came.
    fn failed(
        &mut self,
        mut answer: PartialResponse,
        error: ModelError,
        delay: Option<Duration>,
    ) -> Vec<TurnAction> {
        // What was counted before it broke off was paid for.
        self.usage = self.usage.plus(answer.response.usage);
        if answer.has_started_calls() {
            // Asking again would run the calls twice: what is whole counts, the rest does not.
            self.broken += 1;
            answer.open_text.clear();
            let mut effects = vec![
                TurnAction::DropAnswer,
                TurnAction::Tell(StepOutput::Notice(format!(
                    "{error}; going on with the calls that were complete"
                ))),
                TurnAction::CommitAnswer(answer.response.clone(), answer.blocks.clone()),
            ];
            if self.broken > MOST_IN_A_ROW {
                effects.push(TurnAction::StopTools);
                effects.extend(close_calls(&mut answer));
                effects.push(TurnAction::End(TurnEnd::Failed(error)));
            } else {
                effects.extend(self.run_tools(answer));
            }
            return effects;
        }
        if let Some(mend) = self.remedy(&error) {
            return self.take_back(&answer, error, mend);
        }
        let mut effects = withdraw(&answer);
        match delay {
            Some(delay) => {
                self.retries += 1;
                effects.push(TurnAction::Tell(StepOutput::Retrying {
                    error,
                    delay,
                    retry: self.retries,
                }));
                effects.push(TurnAction::Wait(delay));
                self.phase = Phase::Waiting;
            }
            None => {
                effects.push(TurnAction::CommitClosing(NO_ANSWER_FAILED));
                effects.push(TurnAction::End(TurnEnd::Failed(error)));
            }
        }
        effects
    }
}

/// Nothing of the answer counts.
fn withdraw(answer: &PartialResponse) -> Vec<TurnAction> {
    let mut effects = vec![TurnAction::DropAnswer];
    if !answer.blocks.is_empty() {
        effects.push(TurnAction::RecordWithdrawn);
    }
    if !answer.blocks.is_empty() || !answer.open_text.is_empty() {
        effects.push(TurnAction::Tell(StepOutput::Withdrawn));
    }
    effects
}

/// Where a turn goes on after a tool has answered.
#[derive(Clone, Copy)]
enum Later {
    Answering,
    Running,
}

fn block_complete(
    answer: &mut PartialResponse,
    block: Block,
    class: Option<ToolClass>,
) -> Vec<TurnAction> {
    if !answer.add(&block, class) {
        return Vec::new();
    }
    let mut effects = vec![TurnAction::RecordBlock(answer.response.clone(), block)];
    effects.extend(
        answer.start_calls(ResponseState::Streaming).into_iter().map(TurnAction::StartTool),
    );
    effects
}

fn interrupt_answer(mut answer: PartialResponse) -> Vec<TurnAction> {
    let mut effects = vec![TurnAction::DropAnswer];
    if let Some(block) = answer.close_text() {
        effects.push(TurnAction::RecordBlock(answer.response.clone(), block));
    }
    if answer.blocks.is_empty() {
        effects.push(TurnAction::CommitClosing(NO_ANSWER_INTERRUPTED));
        effects.push(TurnAction::End(TurnEnd::Interrupted));
        return effects;
    }
    effects.push(TurnAction::CommitAnswer(answer.response.clone(), answer.blocks.clone()));
    effects.extend(interrupt_tools(answer));
    effects
}

fn interrupt_tools(mut answer: PartialResponse) -> Vec<TurnAction> {
    let mut effects = vec![TurnAction::StopTools];
    effects.extend(close_calls(&mut answer));
    effects.push(TurnAction::End(TurnEnd::Interrupted));
    effects
}

/// Every open call gets its result.
fn close_calls(answer: &mut PartialResponse) -> Vec<TurnAction> {
    if !answer.has_calls() {
        return Vec::new();
    }
    let (results, closed) = answer.take_results();
    let mut effects: Vec<TurnAction> = closed.into_iter().map(TurnAction::RecordResult).collect();
    effects.push(TurnAction::CommitResults(results));
    effects
}

fn window_exceeded() -> ModelError {
    ModelError::TooLong {
        used: None,
        limit: None,
        message: "the model stopped because its context window is full".to_owned(),
    }
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;

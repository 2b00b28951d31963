//! The step itself.

use std::time::Duration;

use dormouse_conversation::{Block, StopReason, ToolUseId, Usage};
use dormouse_model::{CacheTtl, ModelError, Price, StreamEvent, cost_usd};
use dormouse_tools::{ResponseState, ToolClass};

use super::answer::Answer;
use super::{Effect, Event, Told};
use crate::TurnEnd;
use crate::compact::Mend;

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
    Answering(Answer),
    /// A request failed; another try follows.
    Waiting,
    /// A request was refused for this; something is done about it.
    Mending(ModelError),
    /// The answer is complete, its tools run.
    Running(Answer),
    /// Over.
    Ended,
}

/// What may still be spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purse {
    pub(crate) left_usd: f64,
    pub(crate) price: Price,
    pub(crate) ttl: CacheTtl,
}

impl Purse {
    fn is_empty_after(&self, usage: &Usage) -> bool {
        cost_usd(usage, self.price, self.ttl) >= self.left_usd
    }
}

/// A turn: from the person's message to the end of the model's work on it.
#[derive(Debug)]
pub(crate) struct Turn {
    phase: Phase,
    max_requests: Option<u32>,
    purse: Option<Purse>,
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
    tried: Vec<Mend>,
    /// Whether spans of the conversation may be waiting to be folded.
    folds: bool,
}

impl Turn {
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
    pub(crate) fn paid_from(self, purse: Option<Purse>) -> Self {
        Self { purse, ..self }
    }

    /// What is left may have become less meanwhile.
    pub(crate) fn pays_from(&mut self, purse: Option<Purse>) {
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
    pub(crate) fn step(&mut self, event: Event) -> Vec<Effect> {
        match (std::mem::replace(&mut self.phase, Phase::Ended), event) {
            (Phase::Ended, _) => Vec::new(),
            (_, Event::Begin) | (Phase::Waiting, Event::Retry) if self.is_spent() => {
                vec![Effect::CommitClosing(NO_ANSWER_SPENT), Effect::End(TurnEnd::MaxCost)]
            }
            (_, Event::Begin) => self.request(),
            (Phase::Waiting, Event::Retry) => {
                self.phase = Phase::Answering(Answer::new());
                vec![Effect::Send]
            }
            (Phase::Answering(answer), Event::Stream(event, class)) => {
                self.stream(answer, event, class)
            }
            (Phase::Answering(answer), Event::Failed(error, delay)) => {
                self.failed(answer, error, delay)
            }
            (Phase::Answering(answer), Event::ToolDone { id, block, halt }) => {
                self.halt = self.halt.take().or(halt);
                self.tool_done(answer, &id, block, Later::Answering)
            }
            (Phase::Running(answer), Event::ToolDone { id, block, halt }) => {
                self.halt = self.halt.take().or(halt);
                self.tool_done(answer, &id, block, Later::Running)
            }
            (Phase::Answering(answer), Event::Interrupt) => {
                self.usage = self.usage.plus(answer.response.usage);
                interrupt_answer(answer)
            }
            (Phase::Running(answer), Event::Interrupt) => interrupt_tools(answer),
            (Phase::Mending(error), Event::Mended(helped)) => self.mended(error, helped),
            (Phase::Answering(_), Event::Full(error)) => {
                vec![Effect::CommitClosing(NO_ANSWER_FAILED), Effect::End(TurnEnd::Failed(error))]
            }
            (Phase::Waiting | Phase::Mending(_), Event::Interrupt) => {
                vec![
                    Effect::CommitClosing(NO_ANSWER_INTERRUPTED),
                    Effect::End(TurnEnd::Interrupted),
                ]
            }
            // An event that came too late changes nothing.
            (
                phase,
                Event::Stream(..)
                | Event::Failed(..)
                | Event::Full(_)
                | Event::Mended(_)
                | Event::Retry
                | Event::ToolDone { .. },
            ) => {
                self.phase = phase;
                Vec::new()
            }
        }
    }

    /// The next request, or the end if there may be none.
    fn request(&mut self) -> Vec<Effect> {
        if let Some(why) = self.halt.take() {
            return vec![Effect::End(TurnEnd::Halted(why))];
        }
        if self.max_requests.is_some_and(|most| self.requests >= most) {
            return vec![Effect::End(TurnEnd::MaxTurns)];
        }
        if self.is_spent() {
            return vec![Effect::End(TurnEnd::MaxCost)];
        }
        self.requests += 1;
        self.retries = 0;
        self.tried.clear();
        self.phase = Phase::Answering(Answer::new());
        vec![Effect::Send]
    }

    fn stream(
        &mut self,
        mut answer: Answer,
        event: StreamEvent,
        class: Option<ToolClass>,
    ) -> Vec<Effect> {
        let effects = match event {
            StreamEvent::Started { id, model, usage } => {
                answer.response.id = id;
                answer.response.model = model;
                answer.response.usage = usage;
                Vec::new()
            }
            StreamEvent::Text(text) => {
                answer.open_text.push_str(&text);
                vec![Effect::Tell(Told::Text(text))]
            }
            StreamEvent::Thinking(text) => vec![Effect::Tell(Told::Thinking(text))],
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
    fn finished(&mut self, mut answer: Answer) -> Vec<Effect> {
        let mut effects = vec![Effect::DropAnswer];
        let overflow = answer.stopped_by(&StopReason::ContextWindowExceeded);
        self.broken = 0;
        if overflow && !answer.has_started_calls() {
            let error = window_exceeded();
            if let Some(mend) = self.remedy(&error) {
                return self.take_back(&answer, error, mend);
            }
        }
        if answer.blocks.is_empty() {
            effects.push(Effect::CommitClosing(NO_ANSWER_EMPTY));
            effects.push(Effect::End(match answer.response.stop_reason {
                _ if overflow => TurnEnd::Failed(window_exceeded()),
                Some(StopReason::Refusal) => TurnEnd::Refused,
                Some(StopReason::MaxTokens) => TurnEnd::Cut,
                _ => TurnEnd::Empty,
            }));
            return effects;
        }
        effects.push(Effect::CommitAnswer(answer.response.clone(), answer.blocks.clone()));
        if overflow {
            effects.extend(close_calls(&mut answer));
            effects.push(Effect::End(TurnEnd::Failed(window_exceeded())));
            return effects;
        }
        if answer.has_calls() {
            self.pauses = 0;
            effects.extend(self.run_tools(answer));
            return effects;
        }
        match answer.response.stop_reason {
            Some(StopReason::PauseTurn) => effects.extend(self.go_on()),
            Some(StopReason::MaxTokens) => effects.push(Effect::End(TurnEnd::Cut)),
            Some(StopReason::Refusal) => effects.push(Effect::End(TurnEnd::Refused)),
            Some(
                StopReason::EndTurn
                | StopReason::ToolUse
                | StopReason::StopSequence
                | StopReason::ContextWindowExceeded
                | StopReason::Other(_),
            )
            | None => effects.push(Effect::End(TurnEnd::Completed)),
        }
        effects
    }

    /// The server asked to send its answer back; one that asks for ever is not obeyed for ever.
    fn go_on(&mut self) -> Vec<Effect> {
        self.pauses += 1;
        if self.pauses <= MOST_IN_A_ROW {
            return self.request();
        }
        let message = format!("the server paused its answer {MOST_IN_A_ROW} times in a row");
        vec![Effect::End(TurnEnd::Failed(ModelError::InvalidRequest { status: 200, message }))]
    }

    /// Starts what may start; when all is done, the next request.
    fn run_tools(&mut self, mut answer: Answer) -> Vec<Effect> {
        if answer.all_done() {
            let (results, _) = answer.take_results();
            let mut effects = vec![Effect::CommitResults(results)];
            effects.extend(self.request());
            return effects;
        }
        let effects = answer
            .start_calls(ResponseState::Complete)
            .into_iter()
            .map(Effect::StartTool)
            .collect();
        self.phase = Phase::Running(answer);
        effects
    }

    fn tool_done(
        &mut self,
        mut answer: Answer,
        id: &ToolUseId,
        block: Block,
        later: Later,
    ) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some(name) = answer.finish_call(id, block.clone()) {
            effects.push(Effect::RecordResult(block.clone()));
            effects.push(Effect::Tell(Told::ToolFinished { id: id.clone(), name, result: block }));
        }
        match later {
            Later::Running => effects.extend(self.run_tools(answer)),
            Later::Answering => {
                effects.extend(
                    answer.start_calls(ResponseState::Streaming).into_iter().map(Effect::StartTool),
                );
                self.phase = Phase::Answering(answer);
            }
        }
        effects
    }

    /// What may help against an error and was not tried yet.
    fn remedy(&self, error: &ModelError) -> Option<Mend> {
        let remedies = match error {
            ModelError::TooLong { .. } if self.folds && !self.tried.contains(&Mend::Folds) => {
                return Some(Mend::Folds);
            }
            ModelError::TooLong { used, limit, .. } => {
                let tried = self.tried.iter().filter(|mend| matches!(mend, Mend::Room { .. }));
                let mend = Mend::Room { used: *used, limit: *limit };
                return (tried.count() < MOST_SHORTENINGS).then_some(mend);
            }
            ModelError::RequestTooLarge(_) => vec![Mend::Media, Mend::Bytes],
            ModelError::ThinkingRefused(_) => vec![Mend::Thinking, Mend::AllThinking],
            _ => Vec::new(),
        };
        remedies.into_iter().find(|mend| !self.tried.contains(mend))
    }

    /// The request is held back until something was done about what the server refused.
    fn take_back(&mut self, answer: &Answer, error: ModelError, mend: Mend) -> Vec<Effect> {
        self.tried.push(mend);
        self.phase = Phase::Mending(error);
        let mut effects = withdraw(answer);
        effects.push(Effect::Mend(mend));
        effects
    }

    fn mended(&mut self, error: ModelError, helped: bool) -> Vec<Effect> {
        if helped {
            self.phase = Phase::Answering(Answer::new());
            return vec![Effect::Send];
        }
        // What could not be made shorter now can not be a moment later.
        let again = matches!(self.tried.last(), Some(Mend::Room { .. }));
        let other = |mend: &Mend| !again || !matches!(mend, Mend::Room { .. });
        if let Some(mend) = self.remedy(&error).filter(other) {
            return self.take_back(&Answer::new(), error, mend);
        }
        vec![Effect::CommitClosing(NO_ANSWER_FAILED), Effect::End(TurnEnd::Failed(error))]
    }

    /// The answer broke off, or never came.
    fn failed(
        &mut self,
        mut answer: Answer,
        error: ModelError,
        delay: Option<Duration>,
    ) -> Vec<Effect> {
        // What was counted before it broke off was paid for.
        self.usage = self.usage.plus(answer.response.usage);
        if answer.has_started_calls() {
            // Asking again would run the calls twice: what is whole counts, the rest does not.
            self.broken += 1;
            answer.open_text.clear();
            let mut effects = vec![
                Effect::DropAnswer,
                Effect::Tell(Told::Notice(format!(
                    "{error}; going on with the calls that were complete"
                ))),
                Effect::CommitAnswer(answer.response.clone(), answer.blocks.clone()),
            ];
            if self.broken > MOST_IN_A_ROW {
                effects.push(Effect::StopTools);
                effects.extend(close_calls(&mut answer));
                effects.push(Effect::End(TurnEnd::Failed(error)));
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
                effects.push(Effect::Tell(Told::Retrying { error, delay, retry: self.retries }));
                effects.push(Effect::Wait(delay));
                self.phase = Phase::Waiting;
            }
            None => {
                effects.push(Effect::CommitClosing(NO_ANSWER_FAILED));
                effects.push(Effect::End(TurnEnd::Failed(error)));
            }
        }
        effects
    }
}

/// Nothing of the answer counts.
fn withdraw(answer: &Answer) -> Vec<Effect> {
    let mut effects = vec![Effect::DropAnswer];
    if !answer.blocks.is_empty() {
        effects.push(Effect::RecordWithdrawn);
    }
    if !answer.blocks.is_empty() || !answer.open_text.is_empty() {
        effects.push(Effect::Tell(Told::Withdrawn));
    }
    effects
}

/// Where a turn goes on after a tool has answered.
#[derive(Clone, Copy)]
enum Later {
    Answering,
    Running,
}

fn block_complete(answer: &mut Answer, block: Block, class: Option<ToolClass>) -> Vec<Effect> {
    if !answer.add(&block, class) {
        return Vec::new();
    }
    let mut effects = vec![Effect::RecordBlock(answer.response.clone(), block)];
    effects.extend(answer.start_calls(ResponseState::Streaming).into_iter().map(Effect::StartTool));
    effects
}

fn interrupt_answer(mut answer: Answer) -> Vec<Effect> {
    let mut effects = vec![Effect::DropAnswer];
    if let Some(block) = answer.close_text() {
        effects.push(Effect::RecordBlock(answer.response.clone(), block));
    }
    if answer.blocks.is_empty() {
        effects.push(Effect::CommitClosing(NO_ANSWER_INTERRUPTED));
        effects.push(Effect::End(TurnEnd::Interrupted));
        return effects;
    }
    effects.push(Effect::CommitAnswer(answer.response.clone(), answer.blocks.clone()));
    effects.extend(interrupt_tools(answer));
    effects
}

fn interrupt_tools(mut answer: Answer) -> Vec<Effect> {
    let mut effects = vec![Effect::StopTools];
    effects.extend(close_calls(&mut answer));
    effects.push(Effect::End(TurnEnd::Interrupted));
    effects
}

/// Every open call gets its result.
fn close_calls(answer: &mut Answer) -> Vec<Effect> {
    if !answer.has_calls() {
        return Vec::new();
    }
    let (results, closed) = answer.take_results();
    let mut effects: Vec<Effect> = closed.into_iter().map(Effect::RecordResult).collect();
    effects.push(Effect::CommitResults(results));
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

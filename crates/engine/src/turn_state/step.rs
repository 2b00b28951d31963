//! The step: what follows from an event.

use std::time::Duration;

use dormouse_conversation::{Block, StopReason, ToolUseId, without_imitated_reminders};
use dormouse_model::{ModelError, StreamEvent};
use dormouse_tools::{ResponseState, ToolClass};

use super::action::{StepOutput, TurnAction, TurnEvent};
use super::action_lists::{
    block_complete, close_calls, commit_results, interrupt_tools, show, window_exceeded, withdraw,
};
use super::next_step::NextStep;
use super::partial_response::{INTERRUPTED_MARK, PartialResponse};
use super::recovery::Recovery;
use super::result_notes::ResultNotes;
use crate::event::TurnEnd;
use crate::spending::{NO_RESPONSE_MAX_COST, TurnAccount};

/// Notes in the place of a missing response.
const NO_ANSWER_INTERRUPTED: &str = "[no answer: the user interrupted before one came]";
const NO_ANSWER_FAILED: &str = "[no answer: the request failed]";
const NO_ANSWER_EMPTY: &str = "[no answer: the model said nothing]";

/// How often in a row a response may be paused, or break off after a call was started.
const MOST_IN_A_ROW: u32 = 5;

/// The phase of a turn.
#[derive(Debug)]
enum Phase {
    /// A request was sent, its response is coming in.
    Responding(PartialResponse),
    /// A request failed; a retry follows.
    Waiting,
    /// A request was refused with this error; a recovery is tried.
    Recovering(ModelError),
    /// The response is complete, its calls run.
    Running(PartialResponse),
    /// The results are being added to the history.
    Committing,
    Ended,
}

/// A turn: from the user's prompt to the end of the model's work on it.
#[derive(Debug)]
pub(crate) struct TurnState {
    phase: Phase,
    max_requests: Option<u32>,
    account: TurnAccount,
    requests: u32,
    retries: u32,
    /// Responses in a row that broke off after a call was started.
    broken: u32,
    /// Responses in a row that the server paused.
    pauses: u32,
    /// The model's last text.
    answer: String,
    /// Whether the text continues in the next response.
    is_paused: bool,
    /// Why the turn ends before the next request.
    halt: Option<String>,
    notes: ResultNotes,
    /// Recoveries that were tried for this request.
    tried: Vec<Recovery>,
    /// Whether summarized spans may be waiting to be folded.
    folds: bool,
}

impl TurnState {
    pub(crate) fn new(max_requests: Option<u32>) -> Self {
        Self {
            phase: Phase::Waiting,
            max_requests,
            account: TurnAccount::default(),
            requests: 0,
            retries: 0,
            broken: 0,
            pauses: 0,
            answer: String::new(),
            is_paused: false,
            halt: None,
            notes: ResultNotes::default(),
            tried: Vec::new(),
            folds: false,
        }
    }

    /// Whether a request that is too long is recovered by folding first.
    pub(crate) fn folding(self, folds: bool) -> Self {
        Self { folds, ..self }
    }

    /// With the account of its cost.
    pub(crate) fn with_account(self, account: TurnAccount) -> Self {
        Self { account, ..self }
    }

    /// What its requests used and cost.
    pub(crate) fn account(&mut self) -> &mut TurnAccount {
        &mut self.account
    }

    /// The conversation was compacted: what the model asks again it may have forgotten.
    pub(crate) fn forget_calls(&mut self) {
        self.notes.forget();
    }

    /// Whether the same call, made again and again, ends the turn, and what results say about the next step.
    pub(crate) fn noting_results(self, ends: bool, next_step: Option<NextStep>) -> Self {
        Self { notes: ResultNotes::new(ends, next_step), ..self }
    }

    /// The end of the turn if the cost limit is reached.
    fn cost_limit_end(&self) -> Option<TurnEnd> {
        self.account.is_limit_reached().then_some(TurnEnd::MaxCost)
    }

    pub(crate) fn requests(&self) -> u32 {
        self.requests
    }

    /// How often the current request was retried.
    pub(crate) fn retries(&self) -> u32 {
        self.retries
    }

    /// The model's last text.
    pub(crate) fn take_answer(&mut self) -> String {
        std::mem::take(&mut self.answer)
    }

    /// The actions that follow from an event.
    pub(crate) fn step(&mut self, event: TurnEvent) -> Vec<TurnAction> {
        match (std::mem::replace(&mut self.phase, Phase::Ended), event) {
            (Phase::Ended, _) => Vec::new(),
            (_, TurnEvent::Begin) | (Phase::Waiting, TurnEvent::Retry)
                if let Some(end) = self.cost_limit_end() =>
            {
                vec![TurnAction::CommitClosing(NO_RESPONSE_MAX_COST), TurnAction::End(end)]
            }
            (_, TurnEvent::Begin) => self.request(),
            (Phase::Waiting, TurnEvent::Retry) => {
                self.phase = Phase::Responding(PartialResponse::new());
                vec![TurnAction::Send]
            }
            (Phase::Responding(response), TurnEvent::Stream(event, class)) => {
                self.stream(response, event, class)
            }
            (Phase::Responding(response), TurnEvent::Failed(error, delay)) => {
                self.failed(response, error, delay)
            }
            (Phase::Responding(response), TurnEvent::ToolDone { id, block, halt }) => {
                self.halt = self.halt.take().or(halt);
                self.tool_done(response, &id, block, Later::Responding)
            }
            (Phase::Running(response), TurnEvent::ToolDone { id, block, halt }) => {
                self.halt = self.halt.take().or(halt);
                self.tool_done(response, &id, block, Later::Running)
            }
            (Phase::Responding(response), TurnEvent::Interrupt) => {
                self.account.count(response.response.usage);
                self.interrupt_response(response)
            }
            (Phase::Committing, TurnEvent::RoundCommitted { halt }) => {
                self.halt = self.halt.take().or(halt);
                self.request()
            }
            (Phase::Committing, TurnEvent::Interrupt) => {
                vec![TurnAction::End(TurnEnd::Interrupted)]
            }
            (Phase::Running(response), TurnEvent::Interrupt) => interrupt_tools(response),
            (Phase::Recovering(error), TurnEvent::Recovered { helped, interrupted }) => {
                self.recovered(error, helped, interrupted)
            }
            (Phase::Responding(_), TurnEvent::WindowFull(error)) => {
                vec![
                    TurnAction::CommitClosing(NO_ANSWER_FAILED),
                    TurnAction::End(TurnEnd::Failed(error)),
                ]
            }
            (Phase::Waiting | Phase::Recovering(_), TurnEvent::Interrupt) => {
                vec![
                    TurnAction::CommitClosing(NO_ANSWER_INTERRUPTED),
                    TurnAction::End(TurnEnd::Interrupted),
                ]
            }
            // An event that comes too late changes nothing.
            (
                phase,
                TurnEvent::Stream(..)
                | TurnEvent::Failed(..)
                | TurnEvent::WindowFull(_)
                | TurnEvent::Recovered { .. }
                | TurnEvent::Retry
                | TurnEvent::RoundCommitted { .. }
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
        if let Some(tool) = self.notes.repeated_tool() {
            return vec![TurnAction::End(TurnEnd::Repeating(tool))];
        }
        if self.max_requests.is_some_and(|most| self.requests >= most) {
            return vec![TurnAction::End(TurnEnd::MaxTurns)];
        }
        if let Some(end) = self.cost_limit_end() {
            return vec![TurnAction::End(end)];
        }
        self.requests += 1;
        self.retries = 0;
        self.tried.clear();
        self.phase = Phase::Responding(PartialResponse::new());
        vec![TurnAction::Send]
    }

    fn stream(
        &mut self,
        mut response: PartialResponse,
        event: StreamEvent,
        class: Option<ToolClass>,
    ) -> Vec<TurnAction> {
        let mut actions = Vec::new();
        if !std::mem::replace(&mut response.has_begun, true) {
            actions.push(TurnAction::Emit(StepOutput::ResponseStarted));
        }
        actions.extend(match event {
            StreamEvent::Started { id, model, usage } => {
                response.response.id = id;
                response.response.model = model;
                response.response.usage = usage;
                Vec::new()
            }
            StreamEvent::Text(text) => show(response.add_text(&text)),
            StreamEvent::Thinking(text) => vec![TurnAction::Emit(StepOutput::Thinking(text))],
            StreamEvent::Cleared(cleared) => vec![TurnAction::RecordCleared(cleared)],
            StreamEvent::Block(block) => block_complete(&mut response, block, class),
            StreamEvent::Finished { stop_reason, usage } => {
                response.response.stop_reason = stop_reason;
                response.response.usage = usage;
                self.account.count(usage);
                actions.extend(self.finished(response));
                return actions;
            }
        });
        self.phase = Phase::Responding(response);
        actions
    }

    /// The response is complete.
    fn finished(&mut self, mut response: PartialResponse) -> Vec<TurnAction> {
        let mut actions = vec![TurnAction::DropResponse];
        let overflow = response.stopped_by(&StopReason::ContextWindowExceeded);
        self.broken = 0;
        if overflow && !response.has_started_calls() {
            let error = window_exceeded();
            if let Some(recovery) = self.untried_recovery(&error) {
                return self.recover(&response, error, recovery);
            }
        }
        if response.blocks.is_empty() {
            actions.push(TurnAction::CommitClosing(NO_ANSWER_EMPTY));
            actions.push(TurnAction::End(match response.response.stop_reason {
                _ if overflow => TurnEnd::Failed(window_exceeded()),
                Some(StopReason::Refusal) => TurnEnd::Refused,
                Some(StopReason::MaxTokens) => TurnEnd::Cut,
                _ => TurnEnd::Empty,
            }));
            return actions;
        }
        actions.extend(self.commit_response(&response));
        if overflow {
            actions.extend(close_calls(&mut response));
            actions.push(TurnAction::End(TurnEnd::Failed(window_exceeded())));
            return actions;
        }
        if response.has_calls() {
            self.pauses = 0;
            actions.extend(self.run_tools(response));
            return actions;
        }
        match response.response.stop_reason {
            Some(StopReason::PauseTurn) => actions.extend(self.continue_paused()),
            Some(StopReason::MaxTokens) => actions.push(TurnAction::End(TurnEnd::Cut)),
            Some(StopReason::Refusal) => actions.push(TurnAction::End(TurnEnd::Refused)),
            Some(
                StopReason::EndTurn
                | StopReason::ToolUse
                | StopReason::StopSequence
                | StopReason::ContextWindowExceeded
                | StopReason::Other(_),
            )
            | None => actions.push(TurnAction::End(TurnEnd::Completed)),
        }
        actions
    }

    /// The server asks to continue a paused response, a few times in a row at most.
    fn continue_paused(&mut self) -> Vec<TurnAction> {
        self.pauses += 1;
        if self.pauses <= MOST_IN_A_ROW {
            return self.request();
        }
        let message = format!("the server paused its response {MOST_IN_A_ROW} times in a row");
        vec![TurnAction::End(TurnEnd::Failed(ModelError::InvalidRequest { status: 200, message }))]
    }

    /// Starts the calls that may start; when all are done, their results are committed.
    fn run_tools(&mut self, mut response: PartialResponse) -> Vec<TurnAction> {
        if response.all_done() {
            self.notes.count(&response);
            let (results, _) = response.take_results();
            self.phase = Phase::Committing;
            return commit_results(results);
        }
        let actions = response
            .start_calls(ResponseState::Complete)
            .into_iter()
            .map(TurnAction::StartTool)
            .collect();
        self.phase = Phase::Running(response);
        actions
    }

    fn tool_done(
        &mut self,
        mut response: PartialResponse,
        id: &ToolUseId,
        block: Block,
        later: Later,
    ) -> Vec<TurnAction> {
        let mut actions = Vec::new();
        let noted = self.notes.add_to(&response, id, block.clone());
        if let Some(name) = response.finish_call(id, noted.clone()) {
            actions.push(TurnAction::RecordResult(noted));
            actions.push(TurnAction::Emit(StepOutput::ToolFinished {
                id: id.clone(),
                name,
                result: block,
            }));
        }
        match later {
            Later::Running => actions.extend(self.run_tools(response)),
            Later::Responding => {
                actions.extend(
                    response
                        .start_calls(ResponseState::Streaming)
                        .into_iter()
                        .map(TurnAction::StartTool),
                );
                self.phase = Phase::Responding(response);
            }
        }
        actions
    }

    fn untried_recovery(&self, error: &ModelError) -> Option<Recovery> {
        Recovery::untried(error, self.folds, &self.tried)
    }

    /// Withdraws the response and tries a recovery before the request is sent again.
    fn recover(
        &mut self,
        response: &PartialResponse,
        error: ModelError,
        recovery: Recovery,
    ) -> Vec<TurnAction> {
        self.tried.push(recovery);
        self.phase = Phase::Recovering(error);
        let mut actions = withdraw(response);
        actions.push(TurnAction::Recover(recovery));
        actions
    }

    fn recovered(&mut self, error: ModelError, helped: bool, interrupted: bool) -> Vec<TurnAction> {
        if interrupted && !helped {
            let note = TurnAction::CommitClosing(NO_ANSWER_INTERRUPTED);
            return vec![note, TurnAction::End(TurnEnd::Interrupted)];
        }
        if helped {
            self.phase = Phase::Responding(PartialResponse::new());
            return vec![TurnAction::Send];
        }
        // A request that could not be made shorter now cannot be later.
        let again = matches!(self.tried.last(), Some(Recovery::Room { .. }));
        let other = |recovery: &Recovery| !again || !matches!(recovery, Recovery::Room { .. });
        if let Some(recovery) = self.untried_recovery(&error).filter(other) {
            return self.recover(&PartialResponse::new(), error, recovery);
        }
        vec![TurnAction::CommitClosing(NO_ANSWER_FAILED), TurnAction::End(TurnEnd::Failed(error))]
    }

    /// Adds a response to the history, and keeps its text: the last one is the answer of the turn.
    fn commit_response(&mut self, response: &PartialResponse) -> Vec<TurnAction> {
        let texts: Vec<String> = response.blocks.iter().filter_map(Block::as_text).collect();
        let text = without_imitated_reminders(&texts.join("\n"));
        if !text.is_empty() {
            if !std::mem::take(&mut self.is_paused) {
                self.answer.clear();
            }
            self.answer.push_str(text.trim_end_matches(INTERRUPTED_MARK).trim_end());
        }
        self.is_paused = response.stopped_by(&StopReason::PauseTurn);
        let (parts, blocks) = (response.response.clone(), response.blocks.clone());
        let mut actions = vec![TurnAction::CommitResponse(parts, blocks)];
        if !response.has_calls() {
            actions.push(TurnAction::NotifyIdle { turn_end: true });
        }
        actions
    }

    fn interrupt_response(&mut self, mut response: PartialResponse) -> Vec<TurnAction> {
        let mut actions = show(response.rest_of_text());
        actions.push(TurnAction::DropResponse);
        if let Some(block) = response.close_text() {
            actions.push(TurnAction::RecordBlock(response.response.clone(), block));
        }
        if response.blocks.is_empty() {
            actions.push(TurnAction::CommitClosing(NO_ANSWER_INTERRUPTED));
            actions.push(TurnAction::End(TurnEnd::Interrupted));
            return actions;
        }
        actions.extend(self.commit_response(&response));
        actions.extend(interrupt_tools(response));
        actions
    }

    /// The response broke off, or never came.
    fn failed(
        &mut self,
        mut response: PartialResponse,
        error: ModelError,
        delay: Option<Duration>,
    ) -> Vec<TurnAction> {
        // Tokens that were counted before it broke off were paid for.
        self.account.count(response.response.usage);
        if response.has_started_calls() {
            // Another request would run the calls twice: complete blocks count, the rest does not.
            self.broken += 1;
            response.open_text.clear();
            let mut actions = vec![
                TurnAction::DropResponse,
                TurnAction::Emit(StepOutput::Notice(
                    format!("{error}; going on with the calls that were complete").into(),
                )),
            ];
            actions.extend(self.commit_response(&response));
            if self.broken > MOST_IN_A_ROW {
                actions.push(TurnAction::StopTools);
                actions.extend(close_calls(&mut response));
                actions.push(TurnAction::End(TurnEnd::Failed(error)));
            } else {
                actions.extend(self.run_tools(response));
            }
            return actions;
        }
        if let Some(recovery) = self.untried_recovery(&error) {
            return self.recover(&response, error, recovery);
        }
        let mut actions = withdraw(&response);
        match delay {
            Some(delay) => {
                self.retries += 1;
                actions.push(TurnAction::Emit(StepOutput::Retrying {
                    error,
                    delay,
                    retry: self.retries,
                }));
                actions.push(TurnAction::Wait(delay));
                self.phase = Phase::Waiting;
            }
            None => {
                actions.push(TurnAction::CommitClosing(NO_ANSWER_FAILED));
                actions.push(TurnAction::End(TurnEnd::Failed(error)));
            }
        }
        actions
    }
}

/// The phase to continue in after a call is done.
#[derive(Clone, Copy)]
enum Later {
    Responding,
    Running,
}

#[cfg(test)]
#[path = "step_tests.rs"]
mod tests;

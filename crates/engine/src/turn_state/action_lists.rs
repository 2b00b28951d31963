//! Actions that follow from one fact, whatever the turn does next.

use dormouse_conversation::Block;
use dormouse_model::ModelError;
use dormouse_tools::{ResponseState, ToolClass};

use super::action::{StepOutput, TurnAction};
use super::partial_response::PartialResponse;
use crate::event::TurnEnd;
use crate::search_notice::search_notice;

/// Nothing of the response counts.
pub(super) fn withdraw(response: &PartialResponse) -> Vec<TurnAction> {
    let mut actions = vec![TurnAction::DropResponse];
    if !response.blocks.is_empty() {
        actions.push(TurnAction::RecordWithdrawn);
    }
    if !response.blocks.is_empty() || !response.open_text.is_empty() {
        actions.push(TurnAction::Emit(StepOutput::Withdrawn));
    }
    actions
}

/// Shows text of the response, if there is any.
pub(super) fn show(text: String) -> Vec<TurnAction> {
    if text.is_empty() { Vec::new() } else { vec![TurnAction::Emit(StepOutput::Text(text))] }
}

pub(super) fn block_complete(
    response: &mut PartialResponse,
    block: Block,
    class: Option<ToolClass>,
) -> Vec<TurnAction> {
    let mut actions = show(response.rest_of_text());
    if !response.add(&block, class) {
        return actions;
    }
    let notice = search_notice(&block).map(|notice| TurnAction::Emit(StepOutput::Notice(notice)));
    actions.push(TurnAction::RecordBlock(response.response.clone(), block));
    actions.extend(notice);
    actions.extend(
        response.start_calls(ResponseState::Streaming).into_iter().map(TurnAction::StartTool),
    );
    actions
}

pub(super) fn interrupt_tools(mut response: PartialResponse) -> Vec<TurnAction> {
    let mut actions = vec![TurnAction::StopTools];
    actions.extend(close_calls(&mut response));
    actions.push(TurnAction::End(TurnEnd::Interrupted));
    actions
}

/// Every open call gets its result.
pub(super) fn close_calls(response: &mut PartialResponse) -> Vec<TurnAction> {
    if !response.has_calls() {
        return Vec::new();
    }
    let (results, closed) = response.take_results();
    let mut actions: Vec<TurnAction> = closed.into_iter().map(TurnAction::RecordResult).collect();
    actions.extend(commit_results(results));
    actions
}

pub(super) fn commit_results(results: Vec<Block>) -> Vec<TurnAction> {
    vec![TurnAction::CommitResults(results), TurnAction::NotifyIdle { turn_end: false }]
}

pub(super) fn window_exceeded() -> ModelError {
    ModelError::TooLong {
        used: None,
        limit: None,
        message: "the model stopped because its context window is full".to_owned(),
    }
}

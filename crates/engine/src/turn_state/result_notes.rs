//! What the program writes behind results: what to do next, and that the model has seen them.

use dormouse_conversation::{Block, ToolUseId};

use super::next_step::NextStep;
use super::partial_response::PartialResponse;
use super::repetition::Repetition;

/// What is known of a turn's results so far. Notes on a result say nothing about whether it is new.
#[derive(Debug, Default)]
pub(super) struct ResultNotes {
    repetition: Repetition,
    next_step: Option<NextStep>,
}

impl ResultNotes {
    pub(super) fn new(ends_repetition: bool, next_step: Option<NextStep>) -> Self {
        Self { repetition: Repetition::new(ends_repetition), next_step }
    }

    /// The result of a call with its notes.
    pub(super) fn add_to(
        &mut self,
        response: &PartialResponse,
        id: &ToolUseId,
        result: Block,
    ) -> Block {
        let seen = self.repetition.note(response, id, &result);
        let next = self.next_step.as_mut().zip(response.call(id));
        let next = next.and_then(|(next, call)| next.note(call, &result));
        let notes = next.into_iter().chain(seen);
        notes.fold(result, |result, note| note.behind(id, &result).unwrap_or(result))
    }

    /// Counts a round of calls that all have results.
    pub(super) fn count(&mut self, response: &PartialResponse) {
        self.repetition.count(response);
    }

    /// The model has forgotten what it called.
    pub(super) fn forget(&mut self) {
        self.repetition.forget();
    }

    /// The tool whose call was made too often.
    pub(super) fn repeated_tool(&self) -> Option<String> {
        self.repetition.tool()
    }
}

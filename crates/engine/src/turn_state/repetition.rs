//! Notices that the model makes the same call again and gets the same result again.
//!
//! The model is told so with the second result, and the third ends the turn. Calls of one response are not repetitions of
//! each other: the model had not seen a result yet.

use dormouse_conversation::known_tools::BASH_OUTPUT;
use dormouse_conversation::{Block, ResultContent, ToolUseId};

use super::partial_response::{PartialResponse, PendingCall};

/// Ends a result that the model has seen before.
const NOTE: &str = "[You did exactly this, with the same result. It will not change: answer, or do something else.]";

/// How often in a row a call may have the same result.
const MOST_TIMES: u32 = 3;

/// A call, and what came of it.
#[derive(Debug)]
struct MadeCall {
    call: PendingCall,
    outcome: Option<Outcome>,
}

/// The content of a result without our note, and whether it is an error.
type Outcome = (Vec<Block>, bool);

impl MadeCall {
    fn is_made_by(&self, call: &PendingCall) -> bool {
        let input =
            |call: &PendingCall| call.block.field("input").map(|input| input.get().to_owned());
        // A running command is asked for its output until there is some.
        call.name != BASH_OUTPUT.name
            && call.name == self.call.name
            && input(call) == input(&self.call)
    }
}

/// The last call of the rounds so far.
#[derive(Debug, Default)]
pub(super) struct Repetition {
    /// Whether repetitions count.
    is_on: bool,
    last: Option<MadeCall>,
    /// How many rounds in a row had only this call, with this result.
    times: u32,
}

impl Repetition {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    /// The model has forgotten what it called.
    pub(super) fn forget(&mut self) {
        *self = Self::new(self.is_on);
    }

    /// The result of a call, with a note if the call and its result are those of the round before.
    pub(super) fn note(&self, response: &PartialResponse, id: &ToolUseId, result: Block) -> Block {
        let is_same = self.is_on
            && self.last.as_ref().is_some_and(|last| {
                let until = response.calls().position(|(call, _)| call.id == *id);
                let mut calls = response.calls().take(until.map_or(0, |last| last + 1));
                calls.all(|(call, _)| last.is_made_by(call)) && outcome(&result) == last.outcome
            });
        let content = match result.result_content() {
            Some(content) if is_same => content,
            _ => return result,
        };
        let content = match content {
            ResultContent::Text(text) => ResultContent::Text(format!("{text}\n\n{NOTE}")),
            ResultContent::Blocks(mut blocks) => {
                blocks.push(Block::text(NOTE));
                ResultContent::Blocks(blocks)
            }
        };
        Block::tool_result(id, &content, result.is_error())
    }

    /// Counts a round of calls that all have results.
    pub(super) fn count(&mut self, response: &PartialResponse) {
        let is_same = self.last.as_ref().is_some_and(|last| {
            response.calls().all(|(call, result)| {
                last.is_made_by(call) && result.and_then(outcome) == last.outcome
            })
        });
        self.times = if is_same { self.times + 1 } else { 1 };
        self.last = response.calls().last().map(|(call, result)| MadeCall {
            call: call.clone(),
            outcome: result.and_then(outcome),
        });
    }

    /// The tool whose call was made too often.
    pub(super) fn tool(&self) -> Option<String> {
        let last = self.last.as_ref().filter(|_| self.is_on && self.times >= MOST_TIMES)?;
        Some(last.call.name.clone())
    }
}

fn outcome(result: &Block) -> Option<Outcome> {
    let content = match result.result_content()? {
        ResultContent::Text(text) => {
            let unnoted = text.strip_suffix(NOTE).and_then(|text| text.strip_suffix("\n\n"));
            vec![Block::text(unnoted.unwrap_or(&text))]
        }
        ResultContent::Blocks(mut blocks) => {
            blocks.pop_if(|block| block.as_text().as_deref() == Some(NOTE));
            blocks
        }
    };
    Some((content, result.is_error()))
}

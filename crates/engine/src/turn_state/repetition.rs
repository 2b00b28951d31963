//! Notices that the model makes the same calls again and gets the same results again, and nothing new in between: one call over
//! and over, or several in a circle.
//!
//! The model is told so with the second result, and the third ends the turn. Calls of one response are not repetitions of
//! each other: the model had not seen a result yet.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use dormouse_conversation::known_tools::BASH_OUTPUT;
use dormouse_conversation::{Block, ResultContent, ToolUseId};

use super::partial_response::{PartialResponse, PendingCall};
use crate::note_text::{NoteText, without_notes};

/// How often a call may have the same result, with nothing new in between.
const MOST_TIMES: u32 = 3;

/// A call of this turn, and what came of it.
#[derive(Debug)]
struct MadeCall {
    tool: String,
    call: u64,
    outcome: u64,
    /// In how many rounds since a call last had a new result.
    times: u32,
}

/// The calls of the rounds so far.
#[derive(Debug, Default)]
pub(super) struct Repetition {
    /// Whether repetitions count.
    is_on: bool,
    made: Vec<MadeCall>,
}

impl Repetition {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, made: Vec::new() }
    }

    /// The model has forgotten what it called.
    pub(super) fn forget(&mut self) {
        self.made.clear();
    }

    /// What a call's result has to say if the model has seen it, and nothing new since.
    pub(super) fn note(
        &self,
        response: &PartialResponse,
        id: &ToolUseId,
        result: &Block,
    ) -> Option<NoteText> {
        let until = response.calls().position(|(call, _)| call.id == *id);
        let calls = response.calls().take(until.map_or(0, |last| last + 1));
        let calls: Vec<u64> = calls.map(|(call, _)| digest(call).unwrap_or_default()).collect();
        let again = |call: &u64| self.made.iter().find(|made| made.call == *call && made.times > 0);
        let is_same = self.is_on
            && calls.iter().all(|call| again(call).is_some())
            && calls.last().and_then(again).is_some_and(|made| outcome(result) == made.outcome);
        is_same.then_some(NoteText::Seen)
    }

    /// Counts a round of calls that all have results.
    pub(super) fn count(&mut self, response: &PartialResponse) {
        let mut round: Vec<MadeCall> = Vec::new();
        let mut is_new = false;
        for (call, result) in response.calls() {
            let Some((number, result)) = digest(call).zip(result) else {
                is_new = true;
                continue;
            };
            let outcome = outcome(result);
            if round.iter().all(|made| made.call != number) {
                round.push(MadeCall { tool: call.name.clone(), call: number, outcome, times: 1 });
            }
        }
        let is_known = |made: &MadeCall| {
            self.made.iter().any(|one| one.call == made.call && one.outcome == made.outcome)
        };
        if is_new || !round.iter().all(is_known) {
            for made in &mut self.made {
                made.times = 0;
            }
        }
        for made in round {
            match self.made.iter_mut().find(|one| one.call == made.call) {
                Some(one) if one.outcome == made.outcome => one.times += 1,
                Some(one) => *one = made,
                None => self.made.push(made),
            }
        }
    }

    /// The tool whose call was made too often.
    pub(super) fn tool(&self) -> Option<String> {
        let made = self.made.iter().find(|made| self.is_on && made.times >= MOST_TIMES)?;
        Some(made.tool.clone())
    }
}

/// Whether a result says that the model has seen it.
pub(crate) fn is_known_result(result: &Block) -> bool {
    NoteText::Seen.ends(result)
}

/// What a call and its repetitions share. None for a running command that is asked for its output: until there is some, that is
/// no repetition.
fn digest(call: &PendingCall) -> Option<u64> {
    call.block.call_digest().filter(|_| call.name != BASH_OUTPUT.name)
}

/// What a result shares with the same result, with our notes or without.
fn outcome(result: &Block) -> u64 {
    let mut hasher = DefaultHasher::new();
    result.is_error().hash(&mut hasher);
    match without_notes(result).result_content() {
        Some(ResultContent::Text(text)) => text.hash(&mut hasher),
        Some(ResultContent::Blocks(blocks)) => {
            for block in &blocks {
                block.raw().hash(&mut hasher);
            }
        }
        None => {}
    }
    hasher.finish()
}

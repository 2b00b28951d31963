//! Requests that share nothing with the conversation: extraction by itself, and the choice of memories for recall. The small
//! model gets them where there is one.

use dormouse_conversation::Usage;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{Attended, Reply, output_tokens};
use serde_json::Value;

use super::coder::{is_first_of_fork, texts};
use super::ledger::Ledger;
use super::memories::{choose, extract};

/// As the emulated server counts them.
const BYTES_PER_TOKEN: usize = 4;

impl Ledger {
    /// None of it is cached.
    pub(super) fn attend_small(&mut self, body: &[u8], told: Option<&str>) -> Attended {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        let messages = request.get("messages").and_then(Value::as_array);
        let last = messages.and_then(|messages| messages.last()).cloned().unwrap_or_default();
        let turn = match told {
            None => choose(texts(&last).first().copied().unwrap_or_default()),
            Some(told) if is_first_of_fork(&last) => extract(told, &mut self.coder.saved_up_to),
            Some(_) => ScriptedTurn::new().text("Saved."),
        };
        let input_tokens = u64::try_from(body.len() / BYTES_PER_TOKEN).unwrap_or(0);
        let usage = Usage { input_tokens, output_tokens: output_tokens(&turn), ..Usage::default() };
        match told {
            None => self.counts.calls.recall.add(usage),
            Some(_) => self.counts.calls.small.add(usage),
        }
        Attended { usage, reply: Reply::Turn(turn), applied: None }
    }
}

//! The scripted model in this process: it plays a script through the same decoder as a server's stream.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use dormouse_conversation::Usage;
use futures_util::StreamExt;

use crate::ModelError;
use crate::answering::{Answering, Decoder};
use crate::body::Wire;
use crate::script::{Frame, Turn, anthropic_events};

/// The name the scripted model goes by.
const NAME: &str = "scripted";
/// Bytes to a token: the scripted model counts as the estimate does.
const BYTES_PER_TOKEN: usize = 4;

/// A model that says what it was told to say.
pub struct ScriptedModel {
    turns: Mutex<(usize, std::vec::IntoIter<Turn>)>,
}

impl ScriptedModel {
    /// Plays these turns, one a request.
    pub fn new(turns: Vec<Turn>) -> Self {
        Self { turns: Mutex::new((0, turns.into_iter())) }
    }

    pub(crate) fn send(&self, body: &[u8]) -> Result<Answering, ModelError> {
        let (number, turn) = {
            let mut turns = self.turns.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            turns.0 += 1;
            (turns.0, turns.1.next())
        };
        let turn = turn.ok_or_else(|| ModelError::InvalidRequest {
            status: 400,
            message: "the script has come to its end".to_owned(),
        })?;
        let tokens = |bytes: usize| u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(0);
        let frame = Frame {
            message_id: format!("msg_scripted_{number}"),
            model: NAME.to_owned(),
            usage: Usage {
                input_tokens: tokens(body.len()),
                output_tokens: 20,
                ..Usage::default()
            },
        };
        let events = anthropic_events(&turn, &frame);
        let pieces = events.into_iter().map(|event| Ok(Bytes::from(event.to_sse())));
        let bytes = futures_util::stream::iter(pieces).boxed();
        Ok(Answering::new(bytes, Decoder::new(Wire::Anthropic), Duration::from_mins(1), None))
    }
}

//! The scripted model in this process: it plays a script through the same decoder as a server's stream.

use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use dormouse_conversation::Usage;
use futures_util::StreamExt;

use crate::error::ModelError;
use crate::response_stream::{Decoder, ResponseStream};
use crate::script::{ResponseFrame, ScriptedTurn, anthropic_events};
use crate::wire_format::WireFormat;

/// The name the scripted model goes by.
const NAME: &str = "scripted";
/// Bytes to a token: the scripted model counts as the estimate does.
const BYTES_PER_TOKEN: usize = 4;

/// What the model says to a request, given its bytes; none if the script has come to its end.
type Answer = Box<dyn FnMut(&[u8]) -> Option<ScriptedTurn> + Send>;

/// A model that says what it was told to say.
pub struct ScriptedModel {
    /// How many requests there were, and who answers.
    state: Mutex<(usize, Answer)>,
}

impl ScriptedModel {
    /// Plays these turns, one a request.
    pub fn new(turns: Vec<ScriptedTurn>) -> Self {
        let mut turns = turns.into_iter();
        Self::answering(move |_| turns.next())
    }

    /// Says what a function makes of each request.
    pub fn answering(answer: impl FnMut(&[u8]) -> Option<ScriptedTurn> + Send + 'static) -> Self {
        Self { state: Mutex::new((0, Box::new(answer))) }
    }

    pub(crate) fn send(&self, body: &[u8]) -> Result<ResponseStream, ModelError> {
        let (number, turn) = {
            let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            state.0 += 1;
            let turn = (state.1)(body);
            (state.0, turn)
        };
        let turn = turn.ok_or_else(|| ModelError::InvalidRequest {
            status: 400,
            message: "the script has come to its end".to_owned(),
        })?;
        let tokens = |bytes: usize| u64::try_from(bytes / BYTES_PER_TOKEN).unwrap_or(0);
        let frame = ResponseFrame {
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
        Ok(ResponseStream::new(
            bytes,
            Decoder::new(WireFormat::Anthropic),
            Duration::from_mins(1),
            None,
        ))
    }
}

//! JSON-RPC over standard input and output: one message per line, both sides ask and answer.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use crate::wiring::print;
use crate::wiring::stdin_lines::stdin_lines;

use super::protocol::ClientCapabilities;

/// A message from the editor. Which fields are there says what it is.
#[derive(Debug, Deserialize)]
pub(super) struct IncomingRpc {
    pub(super) id: Option<Value>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
    result: Option<Value>,
    error: Option<Value>,
}

/// Why a request is not met.
#[derive(Debug)]
pub(super) struct RpcRefusal {
    code: i32,
    message: String,
}

impl RpcRefusal {
    /// The parameters, or the state of a session, do not allow it.
    pub(super) fn because(reason: &(impl ToString + ?Sized)) -> Self {
        Self { code: -32602, message: reason.to_string() }
    }

    pub(super) fn unknown_method(method: &str) -> Self {
        Self { code: -32601, message: format!("there is no method `{method}`") }
    }
}

/// Why the editor did not do what it was asked for.
#[derive(Debug, Error)]
pub(super) enum EditorRefusal {
    /// The editor is gone, or the session not open.
    #[error("the editor is not connected")]
    Closed,
    #[error("interrupted")]
    Cancelled,
    /// The editor says why not.
    #[error("{0}")]
    Refused(String),
    #[error("the editor's answer is not understood: {0}")]
    Answer(#[from] serde_json::Error),
}

/// The editor at the other end.
#[derive(Default)]
pub(super) struct Editor {
    /// What it offers, from `initialize`.
    offered: OnceLock<ClientCapabilities>,
    questions: Mutex<OpenQuestions>,
}

/// Requests of ours that wait for their answer, by number.
#[derive(Default)]
struct OpenQuestions {
    last: u64,
    /// The editor is gone: nobody answers any more.
    is_closed: bool,
    waiting: HashMap<u64, oneshot::Sender<Result<Value, EditorRefusal>>>,
}

/// Tells the editor something.
pub(super) fn notify(method: &str, params: &impl Serialize) {
    send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

/// Answers a request of the editor.
pub(super) fn respond(id: &Value, answer: Result<Value, RpcRefusal>) {
    send(&match answer {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(RpcRefusal { code, message }) => {
            json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
        }
    });
}

impl Editor {
    /// Keeps what the editor offers.
    pub(super) fn initialized(&self, offered: ClientCapabilities) {
        self.offered.get_or_init(|| offered);
    }

    pub(super) fn offered(&self) -> ClientCapabilities {
        self.offered.get().copied().unwrap_or_default()
    }

    /// Asks the editor. Dropped, the question is forgotten.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<T, EditorRefusal> {
        let (answer, answered) = oneshot::channel();
        let id = {
            let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
            if questions.is_closed {
                return Err(EditorRefusal::Closed);
            }
            questions.last += 1;
            let id = questions.last;
            questions.waiting.insert(id, answer);
            id
        };
        send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answer = answered.await.map_err(|_| EditorRefusal::Closed)??;
        Ok(serde_json::from_value(answer)?)
    }

    /// The editor is gone: open questions stay unanswered.
    pub(super) fn closed(&self) {
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        questions.is_closed = true;
        questions.waiting.clear();
    }

    /// Passes on the editor's answer to a question.
    pub(super) fn answered(&self, message: IncomingRpc) {
        let Some(id) = message.id.as_ref().and_then(Value::as_u64) else { return };
        let mut questions = self.questions.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting = questions.waiting.remove(&id);
        drop(questions);
        if let Some(waiting) = waiting {
            // Whoever asked may have been interrupted.
            let _interrupted = waiting.send(match message.error {
                Some(error) => Err(EditorRefusal::Refused(error_text(&error))),
                // Where nothing is to be said, `null` is an answer.
                None => Ok(message.result.unwrap_or_default()),
            });
        }
    }
}

/// What an error says.
fn error_text(error: &Value) -> String {
    let text = error.get("message").and_then(Value::as_str).unwrap_or("an error");
    match error.get("data") {
        None | Some(Value::Null) => text.to_owned(),
        Some(Value::String(data)) => format!("{text}: {data}"),
        Some(data) => format!("{text}: {data}"),
    }
}

fn send(message: &Value) {
    print::data_line(&message.to_string());
}

/// The messages of the editor, as they arrive; a line that is none is answered with an error. Ends with standard input.
pub(super) fn messages() -> UnboundedReceiver<IncomingRpc> {
    stdin_lines(|_, line| {
        let parsed = line.map_err(|error| error.to_string());
        let parsed = parsed
            .and_then(|line| serde_json::from_slice(&line).map_err(|error| error.to_string()));
        parsed
            .map_err(|error| {
                let error = json!({"code": -32700, "message": error});
                send(&json!({"jsonrpc": "2.0", "id": null, "error": error}));
            })
            .ok()
    })
}

//! What the other program asks for: answered at once, or queued until the turn is over.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use dormouse_permissions::{PermissionGate, PermissionMode};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use crate::args::PermissionModeArgument;
use crate::wiring::permission_modes::modes_up_to;
use crate::wiring::session_start::ActiveSession;

use super::output::{OutputPrinter, print_request_answer};
use super::stop_signals::StopSignals;
use super::stream_asker::StreamAsker;
use super::stream_input::{self, ControlRequest, InputLine, InvalidLine, MessageLine, UserContent};

/// What waits for the end of the turn.
pub(super) enum Queued {
    Message(UserContent),
    Model { request_id: String, model: String },
}

/// The lines of the other program, in their order.
pub(super) struct StreamRequests {
    lines: UnboundedReceiver<Result<InputLine, InvalidLine>>,
    asker: Arc<StreamAsker>,
    queue: VecDeque<Queued>,
    is_open: bool,
    gate: PermissionGate,
    /// The permission mode at the start.
    most_allowed: PermissionMode,
    /// What `initialize` is told.
    about: Value,
}

impl StreamRequests {
    /// Reads standard input from now on. `first` is the prompt of the command line, which may be empty.
    pub(super) fn new(asker: Arc<StreamAsker>, session: &ActiveSession, first: String) -> Self {
        let engine = &session.engine;
        let first = (!first.trim().is_empty()).then_some(Queued::Message(UserContent::Text(first)));
        Self {
            lines: stream_input::lines(),
            asker,
            queue: first.into_iter().collect(),
            is_open: true,
            gate: session.gate.clone(),
            most_allowed: session.gate.mode(),
            about: json!({
                "session_id": engine.conversation().session().to_string(),
                "version": env!("CARGO_PKG_VERSION"),
                "model": engine.model().name,
            }),
        }
    }

    /// Another model answers from now on.
    pub(super) fn model_changed(&mut self, model: &str) {
        if let Some(known) = self.about.get_mut("model") {
            *known = Value::from(model);
        }
    }

    /// What is next to be done; none when standard input has ended or a signal came.
    pub(super) async fn next(
        &mut self,
        printer: &Mutex<OutputPrinter>,
        stop: &mut StopSignals,
    ) -> Option<Queued> {
        let idle = CancellationToken::new();
        loop {
            if let Some(next) = self.queue.pop_front() {
                return Some(next);
            }
            if !self.is_open {
                return None;
            }
            tokio::select! {
                () = self.take_next(printer, &idle) => {}
                () = stop.next() => return None,
            }
        }
    }

    /// Deals with the next line; waits for ever after the last one.
    pub(super) async fn take_next(
        &mut self,
        printer: &Mutex<OutputPrinter>,
        interrupt: &CancellationToken,
    ) {
        if !self.is_open {
            return std::future::pending().await;
        }
        match self.lines.recv().await {
            Some(Ok(line)) => self.take(line, printer, interrupt),
            Some(Err(InvalidLine { number, error, request_id })) => match request_id {
                Some(id) => print_request_answer(&id, Err(&error)),
                None => {
                    let said = format!("line {number} of the input was not understood: {error}");
                    notice(printer, said);
                }
            },
            None => {
                self.is_open = false;
                self.asker.deny_all();
            }
        }
    }

    fn take(
        &mut self,
        line: InputLine,
        printer: &Mutex<OutputPrinter>,
        interrupt: &CancellationToken,
    ) {
        match line {
            InputLine::User { message: MessageLine { content } } => {
                self.queue.push_back(Queued::Message(content));
            }
            InputLine::ControlResponse { response } => {
                if !self.asker.answer(response) {
                    notice(printer, "an answer came for a request that is not open".to_owned());
                }
            }
            InputLine::ControlRequest { request_id, request } => match request {
                ControlRequest::SetModel { model } => {
                    self.queue.push_back(Queued::Model { request_id, model });
                }
                ControlRequest::Interrupt => {
                    interrupt.cancel();
                    print_request_answer(&request_id, Ok(&json!({})));
                }
                ControlRequest::SetPermissionMode { mode } => match self.set_mode(&mode) {
                    Ok(()) => print_request_answer(&request_id, Ok(&json!({ "mode": mode }))),
                    Err(error) => print_request_answer(&request_id, Err(&error)),
                },
                ControlRequest::Initialize { hooks, agents } => {
                    let is_empty = |value: &Value| {
                        value.is_null()
                            || value.as_object().is_some_and(serde_json::Map::is_empty)
                            || value.as_array().is_some_and(Vec::is_empty)
                    };
                    if is_empty(&hooks) && is_empty(&agents) {
                        print_request_answer(&request_id, Ok(&self.about));
                    } else {
                        let error = "hooks and agents cannot be brought over the stream; use `--settings` and files in `.dormouse/agents`";
                        print_request_answer(&request_id, Err(error));
                    }
                }
            },
        }
    }

    /// Changes the permission mode, unless the new one allows more than the one at the start.
    fn set_mode(&self, name: &str) -> Result<(), String> {
        let mode = PermissionModeArgument::from_str(name, true).map_err(|_| {
            format!("there is no permission mode `{name}`; use default, acceptEdits or plan")
        })?;
        let mode = PermissionMode::from(mode);
        if !modes_up_to(self.most_allowed).contains(&mode) {
            return Err(format!(
                "`{name}` allows more than the run was started with; start it with --permission-mode {name}"
            ));
        }
        self.gate.set_mode(mode);
        Ok(())
    }
}

fn notice(printer: &Mutex<OutputPrinter>, text: String) {
    printer.lock().unwrap_or_else(PoisonError::into_inner).notice("invalid_input", text);
}

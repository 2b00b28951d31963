//! What the server answers a request with: a turn, played whole or with a fault, or a refusal.

use std::time::Duration;

use dormouse_model::WireFormat;
use dormouse_model::script::{ScriptedTurn, WireEvent};
use serde_json::json;

use crate::error_body::ErrorBody;
use crate::framing::Framing;
use crate::gate::Gate;

/// One answer of the server.
#[derive(Debug, Clone)]
pub enum Reply {
    /// A streamed answer.
    Turn(ScriptedTurn),
    /// A streamed answer in which something happens; made by the methods of [`Reply`].
    Altered(ScriptedTurn, Alterations),
    /// A refusal.
    Error {
        /// The HTTP status.
        status: u16,
        /// More headers.
        headers: Vec<(String, String)>,
        /// The body.
        body: ErrorBody,
    },
    /// An error inside a stream that began well.
    MidStreamError {
        /// How many events come before it.
        after_events: usize,
        /// The error's type.
        error_type: String,
        /// What it says.
        message: String,
    },
    /// Another reply, of which nothing is sent for a while.
    SlowHeaders(Duration, Box<Reply>),
}

impl From<ScriptedTurn> for Reply {
    fn from(turn: ScriptedTurn) -> Self {
        Self::Turn(turn)
    }
}

/// How a stream ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum End {
    /// The body is complete as HTTP sees it; the connection stays open.
    #[default]
    Close,
    /// The connection is closed in the middle of the body.
    Fin,
    /// The connection is reset.
    Reset,
    /// Not another byte until the server is dropped.
    Hang,
}

/// What happens to a streamed answer.
#[derive(Debug, Clone, Default)]
pub struct Alterations {
    gates: Vec<(usize, Gate)>,
    stop_after: Option<usize>,
    cut_inside: Option<usize>,
    end: End,
    overrides: Vec<(usize, String)>,
    without_end: bool,
    end_twice: bool,
    pub(crate) headers: Vec<(String, String)>,
}

/// What may happen to a streamed answer. Events count from 0; what a framing puts between them does
/// not count.
impl Reply {
    /// Stops after so many events until the gate is opened.
    #[must_use]
    pub fn gate_after(self, n_events: usize, gate: &Gate) -> Self {
        self.altered(|alterations| alterations.gates.push((n_events, gate.clone())))
    }

    /// Sends no more than so many events, then ends as [`Reply::then`] says.
    #[must_use]
    pub fn stop_after(self, n_events: usize) -> Self {
        self.altered(|alterations| alterations.stop_after = Some(n_events))
    }

    /// Sends half of the bytes of this event, then ends as [`Reply::then`] says.
    #[must_use]
    pub fn cut_inside_event(self, event: usize) -> Self {
        self.altered(|alterations| alterations.cut_inside = Some(event))
    }

    /// How the stream ends.
    #[must_use]
    pub fn then(self, end: End) -> Self {
        self.altered(|alterations| alterations.end = end)
    }

    /// Replaces an event's data.
    #[must_use]
    pub fn event_override(self, event: usize, data: impl Into<String>) -> Self {
        self.altered(|alterations| alterations.overrides.push((event, data.into())))
    }

    /// Leaves out `message_stop` or `[DONE]`.
    #[must_use]
    pub fn without_end(self) -> Self {
        self.altered(|alterations| alterations.without_end = true)
    }

    /// Says `message_stop` or `[DONE]` twice.
    #[must_use]
    pub fn end_twice(self) -> Self {
        self.altered(|alterations| alterations.end_twice = true)
    }

    /// Sends nothing for a while.
    #[must_use]
    pub fn slow(self, wait: Duration) -> Self {
        Self::SlowHeaders(wait, Box::new(self))
    }

    pub(crate) fn altered(self, change: impl FnOnce(&mut Alterations)) -> Self {
        match self {
            Self::Turn(turn) => Self::Altered(turn, Alterations::default()).altered(change),
            Self::Altered(turn, mut alterations) => {
                change(&mut alterations);
                Self::Altered(turn, alterations)
            }
            Self::SlowHeaders(wait, inner) => {
                Self::SlowHeaders(wait, Box::new(inner.altered(change)))
            }
            Self::Error { .. } | Self::MidStreamError { .. } => {
                panic!("only a streamed turn can be altered")
            }
        }
    }

    /// The turn that is streamed, if any.
    pub(crate) fn streamed(&self) -> Option<ScriptedTurn> {
        match self {
            Self::Turn(turn) | Self::Altered(turn, _) => Some(turn.clone()),
            // Long enough for the error to come in the middle.
            Self::MidStreamError { after_events, .. } => {
                Some(ScriptedTurn::new().text("said before ".repeat(*after_events + 1)))
            }
            Self::SlowHeaders(_, inner) => inner.streamed(),
            Self::Error { .. } => None,
        }
    }
}

/// A step of playing a stream.
#[derive(Debug)]
pub(crate) enum PlaybackStep {
    /// One piece, written and flushed by itself.
    Write(Vec<u8>),
    /// Stop here.
    Wait(Gate),
    /// The end.
    Finish(End),
}

/// The error event of a stream.
pub(crate) fn error_event(wire: WireFormat, kind: &str, message: &str) -> WireEvent {
    match wire {
        WireFormat::Anthropic => WireEvent {
            name: "error",
            data: json!({"type": "error", "error": {"type": kind, "message": message}}).to_string(),
        },
        WireFormat::OpenAi => WireEvent {
            name: "",
            data: json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
                .to_string(),
        },
    }
}

/// The steps of a stream, and what the script asks of it that it has no place for.
pub(crate) fn steps(
    mut events: Vec<WireEvent>,
    alterations: &Alterations,
    framing: Framing,
    wire: WireFormat,
) -> (Vec<PlaybackStep>, Vec<String>) {
    let mut problems = Vec::new();
    if alterations.without_end {
        events.pop();
    }
    if alterations.end_twice {
        events.extend(events.last().cloned());
    }
    for (index, data) in &alterations.overrides {
        match events.get_mut(*index) {
            Some(event) => event.data.clone_from(data),
            None => problems.push(format!("event_override({index}): no such event")),
        }
    }
    for (index, _) in &alterations.gates {
        if *index > events.len() {
            problems.push(format!("gate_after({index}): there are only {} events", events.len()));
        }
    }
    for index in alterations.cut_inside.iter().chain(&alterations.stop_after) {
        if *index >= events.len() {
            problems.push(format!("cut or stop at event {index} of {}", events.len()));
        }
    }
    (played(&events, alterations, framing, wire), problems)
}

fn played(
    events: &[WireEvent],
    alterations: &Alterations,
    framing: Framing,
    wire: WireFormat,
) -> Vec<PlaybackStep> {
    let mut steps = Vec::new();
    let mut pending: Vec<Vec<u8>> = Vec::new();
    let flush = |pending: &mut Vec<Vec<u8>>, steps: &mut Vec<PlaybackStep>| {
        steps.extend(framing.pieces(pending).into_iter().map(PlaybackStep::Write));
        pending.clear();
    };
    for index in 0..=events.len() {
        for (_, gate) in alterations.gates.iter().filter(|(after, _)| *after == index) {
            flush(&mut pending, &mut steps);
            steps.push(PlaybackStep::Wait(gate.clone()));
        }
        let Some(event) = events.get(index) else { break };
        if alterations.stop_after == Some(index) {
            break;
        }
        let (mut bytes, event) = framing.render(event, index == 0, wire);
        let cut = alterations.cut_inside == Some(index);
        bytes.extend_from_slice(if cut { &event[..event.len() / 2] } else { &event });
        pending.push(bytes);
        if cut {
            break;
        }
    }
    flush(&mut pending, &mut steps);
    steps.push(PlaybackStep::Finish(alterations.end));
    steps
}

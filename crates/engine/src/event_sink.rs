//! The event sink of a turn, and `TurnContext`, which carries it and the user's interrupt through the whole turn.

use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::event::EngineEvent;
use crate::notice::EngineNotice;

/// Receives the events of a turn.
pub type EventSink<'a> = dyn FnMut(EngineEvent) + Send + 'a;

/// The interrupt and the event sink of a turn.
pub struct TurnContext<'a> {
    interrupt: &'a CancellationToken,
    sink: &'a mut EventSink<'a>,
    steering: Option<&'a Steering>,
}

/// Messages that the user sends while a turn runs. They go with the turn's next request, after the results of its calls; what
/// is left at the end of the turn was not sent.
#[derive(Debug, Default)]
pub struct Steering(Mutex<Vec<String>>);

impl Steering {
    /// Adds messages.
    pub fn send(&self, texts: Vec<String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(texts);
    }

    /// Takes the messages that were not sent yet.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<'a> TurnContext<'a> {
    /// A turn that ends when `interrupt` is cancelled and reports to `sink`.
    pub fn new(interrupt: &'a CancellationToken, sink: &'a mut EventSink<'a>) -> Self {
        Self { interrupt, sink, steering: None }
    }

    /// The user may send messages while the turn runs.
    #[must_use]
    pub fn with_steering(self, steering: &'a Steering) -> Self {
        Self { steering: Some(steering), ..self }
    }

    /// The messages that the user has sent since the last request.
    pub(crate) fn steered(&self) -> Vec<String> {
        self.steering.map(Steering::take).unwrap_or_default()
    }

    /// The user's interrupt.
    pub fn interrupt(&self) -> &'a CancellationToken {
        self.interrupt
    }

    /// Whether the user has interrupted.
    pub fn is_interrupted(&self) -> bool {
        self.interrupt.is_cancelled()
    }

    /// Reports an event.
    pub fn emit(&mut self, event: EngineEvent) {
        (self.sink)(event);
    }

    /// Reports something the user should know.
    pub fn notice(&mut self, notice: impl Into<EngineNotice>) {
        self.emit(EngineEvent::Notice(notice.into()));
    }

    /// The sink alone, for functions that only report.
    pub fn sink(&mut self) -> &mut EventSink<'a> {
        self.sink
    }
}

//! The event sink of a turn, and `TurnContext`, which carries it and the user's interrupt through the whole turn.

use tokio_util::sync::CancellationToken;

use crate::event::EngineEvent;

/// Receives the events of a turn.
pub type EventSink<'a> = dyn FnMut(EngineEvent) + Send + 'a;

/// The interrupt and the event sink of a turn.
pub struct TurnContext<'a> {
    interrupt: &'a CancellationToken,
    sink: &'a mut EventSink<'a>,
}

impl<'a> TurnContext<'a> {
    /// A turn that ends when `interrupt` is cancelled and reports to `sink`.
    pub fn new(interrupt: &'a CancellationToken, sink: &'a mut EventSink<'a>) -> Self {
        Self { interrupt, sink }
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
    pub fn notice(&mut self, text: impl Into<String>) {
        self.emit(EngineEvent::Notice(text.into()));
    }

    /// The sink alone, for functions that only report.
    pub fn sink(&mut self) -> &mut EventSink<'a> {
        self.sink
    }
}

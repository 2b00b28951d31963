//! Process signals in interactive mode.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::wiring::exit::Failure;

/// The signals that are handled.
#[derive(Debug)]
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
    resume: Signal,
}

/// What a signal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// Stop the turn.
    Interrupt,
    /// End the program.
    Terminate,
    /// The program was stopped and continues: another program had the terminal.
    Resumed,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::failed(anyhow::anyhow!("cannot listen for signals: {error}"))
            })
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
            resume: listen(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> SignalAction {
        tokio::select! {
            _ = self.interrupt.recv() => SignalAction::Interrupt,
            _ = self.terminate.recv() => SignalAction::Terminate,
            _ = self.hangup.recv() => SignalAction::Terminate,
            _ = self.resume.recv() => SignalAction::Resumed,
        }
    }
}

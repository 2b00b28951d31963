//! Process signals in interactive mode.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::wiring::exit::Failure;

/// How long a signal may take from the kernel to here.
const ON_ITS_WAY: Duration = Duration::from_millis(100);

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

    /// Forgets that the program goes on: it has stopped itself, and knows.
    pub(crate) async fn skip_resumed(&mut self) {
        // The signal may still be on its way.
        let _none = tokio::time::timeout(ON_ITS_WAY, self.resume.recv()).await;
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

//! What the system tells the program while it talks.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::wiring::exit::Failure;

/// The signals that are listened for.
#[derive(Debug)]
pub(crate) struct Signals {
    ctrl_c: Signal,
    end: Signal,
    hung_up: Signal,
    go_on: Signal,
}

/// What a signal means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// Stop what is being done.
    Interrupt,
    /// End.
    Leave,
    /// The program was stopped and goes on: somebody else had the terminal.
    Back,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::failed(anyhow::anyhow!("can not listen for signals: {error}"))
            })
        };
        Ok(Self {
            ctrl_c: listen(SignalKind::interrupt())?,
            end: listen(SignalKind::terminate())?,
            hung_up: listen(SignalKind::hangup())?,
            go_on: listen(SignalKind::from_raw(rustix::process::Signal::CONT.as_raw()))?,
        })
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Told {
        tokio::select! {
            _ = self.ctrl_c.recv() => Told::Interrupt,
            _ = self.end.recv() => Told::Leave,
            _ = self.hung_up.recv() => Told::Leave,
            _ = self.go_on.recv() => Told::Back,
        }
    }
}

//! The signals that end a headless run in order: Ctrl-C, SIGTERM, SIGHUP.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::wiring::exit::Failure;

/// Listens from its creation on.
pub(super) struct StopSignals([Signal; 3]);

impl StopSignals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind).map_err(|error| {
                Failure::failed(anyhow::anyhow!("cannot listen for signals: {error}"))
            })
        };
        let interrupt = listen(SignalKind::interrupt())?;
        Ok(Self([interrupt, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?]))
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

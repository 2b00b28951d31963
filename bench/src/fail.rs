//! Ending a run that cannot go on.

/// Ends the run with a message for the user.
pub(crate) fn fail(message: &str) -> ! {
    clap::Error::raw(clap::error::ErrorKind::Io, format!("{message}\n")).exit()
}

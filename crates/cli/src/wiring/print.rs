//! What a person sees: data on standard output, everything else on standard error.
//!
//! Text from models, servers and files is made printable first where it meets a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use dormouse_base::printable;

use crate::wiring::exit::Failure;

/// Why data could not be written, if that happened.
static LOST: OnceLock<String> = OnceLock::new();

/// Writes data to standard output. A reader that has gone away is no error: there is nobody to tell.
/// Anything else is, and is kept for the end: see [`lost`].
pub(crate) fn data(text: &str) {
    write(&if io::stdout().is_terminal() { printable(text) } else { text.into() });
}

/// Writes to the terminal as it is: what steers it is ours, and all else was made printable.
pub(crate) fn terminal(text: &str) {
    write(text);
}

fn write(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        // The first reason is the one to tell.
        let _known = LOST.set(error.to_string());
    }
}

/// Why data was lost, if it was.
pub(crate) fn lost() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes a line of data.
pub(crate) fn data_line(text: &str) {
    data(&format!("{text}\n"));
}

/// Writes a line for the person, beside the data.
pub(crate) fn note(text: &str) {
    let mut out = io::stderr().lock();
    let _gone = writeln!(out, "{}", printable(text));
}

/// What the engine has to say before there is an answer to print.
pub(crate) fn notice(event: dormouse_engine::EngineEvent) {
    if let dormouse_engine::EngineEvent::Notice(said) = event {
        note(&format!("note: {said}"));
    }
}

/// Says what went wrong and what to do.
pub(crate) fn failure(failure: &Failure) {
    note(&format!("error: {}", failure.message()));
    for hint in failure.hints() {
        note(&format!("hint: {hint}"));
    }
}

/// Whether a person is reading standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

//! Terminal output: data on standard output, everything else on standard error.
//!
//! Text from models, servers and files is made printable before it is written to a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

use dormouse_base::{Environment, printable};
use dormouse_memory::FileDiff;
use dormouse_tui::live::{LiveRow, rewrapped, wrapped_rows};
use dormouse_tui::style::Style;
use serde::Serialize;

use crate::message_catalog::msg;
use crate::terminal::color::ColorMode;
use crate::terminal::diff::unified_diff;
use crate::terminal::tty;
use crate::wiring::engine_notice::notice_text;
use crate::wiring::exit::Failure;

/// The first error of writing data.
static WRITE_ERROR: OnceLock<String> = OnceLock::new();

/// Writes data to standard output. A closed pipe is not an error; any other error is kept for [`write_error`].
pub(crate) fn data(text: &str) {
    write(&if io::stdout().is_terminal() { printable(text) } else { text.into() });
}

fn write(text: &str) {
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        let _known = WRITE_ERROR.set(error.to_string());
    }
}

/// The first error of writing data, if there was one.
pub(crate) fn write_error() -> Option<&'static str> {
    WRITE_ERROR.get().map(String::as_str)
}

/// Writes a line of data.
pub(crate) fn data_line(text: &str) {
    data(&format!("{text}\n"));
}

/// Writes a line of data; on a terminal, wrapped between words, with further rows indented by so many columns.
pub(crate) fn wrapped_data_line(text: &str, indent: usize) {
    if !is_terminal() {
        return data_line(text);
    }
    for row in wrapped_rows(&printable(text), Style::PLAIN, tty::columns(), indent) {
        data_line(&row_text(&row));
    }
}

/// Writes a notice to standard error; on a terminal, wrapped between words.
pub(crate) fn note(text: &str) {
    let text = printable(text);
    let text = if io::stderr().is_terminal() { wrapped(&text) } else { text.into_owned() };
    let mut out = io::stderr().lock();
    let _gone = writeln!(out, "{text}");
}

/// The text in rows of the terminal's width.
fn wrapped(text: &str) -> String {
    let line = |line: &str| {
        let rows = rewrapped(&vec![(line.to_owned(), Style::PLAIN)], tty::columns());
        rows.iter().map(row_text).collect::<Vec<_>>().join("\n")
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn row_text(row: &LiveRow) -> String {
    row.iter().map(|(text, _)| text.as_str()).collect()
}

/// Prints a notice of the engine outside a turn.
pub(crate) fn notice(event: dormouse_engine::EngineEvent) {
    if let dormouse_engine::EngineEvent::Notice(notice) = event {
        note(&msg!("note-line", text = notice_text(&notice)));
    }
}

/// Prints an error with its hints.
pub(crate) fn failure(failure: &Failure) {
    note(&msg!("error-line", text = failure.message()));
    for hint in failure.hints() {
        note(&msg!("hint-line", text = hint.as_str()));
    }
}

/// Whether standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// A failure, for programs: they find JSON on standard output whatever happens.
#[derive(Serialize)]
struct Failed<'a> {
    error: String,
    kind: &'static str,
    hints: &'a [String],
}

/// Prints an error as JSON.
pub(crate) fn json_failure(failure: &Failure) {
    let (kind, hints) = (failure.kind(), failure.hints());
    // A struct of texts always serializes.
    let _printed = json(&Failed { error: failure.message(), kind, hints });
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    data_line(&serde_json::to_string_pretty(value).map_err(Failure::failed)?);
    Ok(())
}

/// Writes text for the terminal: its control sequences are ours, everything else was made printable.
pub(crate) fn rendered(text: &str) {
    write(text);
}

/// Prints what a change does to a file, as a unified diff.
pub(crate) fn file_diff(diff: &FileDiff, environment: &Environment) {
    let color = ColorMode::for_stdout(environment);
    let text = unified_diff(diff, color);
    match color {
        ColorMode::Plain => data(&text),
        ColorMode::Colored => rendered(&text),
    }
}

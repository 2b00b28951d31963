//! The long haul: one process of the program, thousands of turns with tools, a window that is far too small for
//! them. What must hold ends the run when it does not: no request over the window, no change of what was sent
//! that was not announced, no word of the person's lost. What it costs is a table, with each layer switched in
//! turn.

mod announced;
mod coder;
mod errand;
mod haul;
mod ledger;
mod project;
mod rows;
mod table;
mod transcript;
mod words;

use std::path::{Path, PathBuf};

use haul::{Order, Outcome};
use rows::{ENDLESS, Pace, ROWS, Row, RowWindow};

/// How long the session is, and in what.
#[derive(Debug, Clone)]
pub(crate) struct Length {
    pub(crate) turns: usize,
    pub(crate) window: u32,
    /// A debug build, for the rows with pauses; without one they are left out.
    pub(crate) debug_binary: Option<PathBuf>,
    /// Only rows whose names hold one of these; all, where there is none.
    pub(crate) only: Vec<String>,
}

/// Runs the rows, and gives the tables; or what broke in which row.
pub(crate) fn run(binary: &Path, length: &Length) -> Result<String, String> {
    let mut outcomes: Vec<(&Row, Outcome)> = Vec::new();
    let wanted = |row: &&Row| {
        length.only.is_empty() || length.only.iter().any(|part| row.name.contains(part.as_str()))
    };
    for row in ROWS.iter().filter(wanted) {
        let window = match row.window {
            RowWindow::AsGiven => length.window,
            RowWindow::Endless => ENDLESS,
        };
        let binary = match row.pace {
            Pace::Steady => binary,
            Pace::WithPauses => match &length.debug_binary {
                Some(debug) => debug,
                None => continue,
            },
        };
        let (turns, variables) = (length.turns, row.variables());
        let order = Order { binary, turns, window, variables, pace: row.pace };
        let outcome = haul::run(&order).map_err(|broke| format!("{}: {broke}", row.name))?;
        if outcome.counts.refused > 0 && row.makes_room_ahead() {
            return Err(format!("{}: {} requests overflowed", row.name, outcome.counts.refused));
        }
        println!("{}", table::line(row.name, &outcome));
        outcomes.push((row, outcome));
    }
    Ok(table::render(&outcomes, length))
}

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
use std::sync::{Mutex, PoisonError};

use haul::{Order, Outcome};
use rows::{ENDLESS, Pace, ROWS, Row, RowWindow};

/// How long the session is, and in what.
#[derive(Debug, Clone)]
pub(crate) struct Length {
    /// As shipped, and with everything off.
    pub(crate) turns: usize,
    /// In the other rows; where that differs, as shipped too.
    pub(crate) other_turns: usize,
    pub(crate) window: u32,
    /// A debug build, for the rows with pauses; without one they are left out.
    pub(crate) debug_binary: Option<PathBuf>,
    /// Only rows whose names hold one of these; all, where there is none.
    pub(crate) only: Vec<String>,
    /// So many rows are run side by side.
    pub(crate) at_once: usize,
}

impl Length {
    /// The rows that are run, each with its turns; the longest first.
    fn rows(&self) -> Vec<(&'static Row, usize)> {
        let only = |row: &&Row| {
            self.only.is_empty() || self.only.iter().any(|part| row.name.contains(part.as_str()))
        };
        let can = |row: &&Row| row.pace == Pace::Steady || self.debug_binary.is_some();
        let rows: Vec<&Row> = ROWS.iter().filter(only).filter(can).collect();
        let with = |turns| move |row: &&'static Row| (*row, turns);
        let mut whole: Vec<_> =
            rows.iter().filter(|row| row.is_whole()).map(with(self.turns)).collect();
        let again = rows.iter().filter(|row| row.is_as_shipped() && self.turns != self.other_turns);
        whole.extend(again.map(with(self.other_turns)));
        whole.extend(rows.iter().filter(|row| !row.is_whole()).map(with(self.other_turns)));
        whole
    }
}

/// Runs the rows, and gives the tables; or what broke in which row.
pub(crate) fn run(binary: &Path, length: &Length) -> Result<String, String> {
    let rows = length.rows();
    let waiting = Mutex::new(rows.iter().enumerate());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let worker = || {
        let mut done = Vec::new();
        while let Some((place, (row, turns))) = next() {
            done.push((place, *row, run_row(binary, row, *turns, length)?));
        }
        Ok::<_, String>(done)
    };
    let mut outcomes = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..length.at_once).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            outcomes.extend(worker.join().map_err(|_| "a row panicked, see above".to_owned())??);
        }
        Ok::<_, String>(())
    })?;
    outcomes.sort_by_key(|(place, _, _)| *place);
    let outcomes: Vec<_> = outcomes
        .into_iter()
        .map(|(_, row, outcome): (usize, &Row, Outcome)| (row, outcome))
        .collect();
    Ok(table::render(&outcomes, length))
}

fn run_row(binary: &Path, row: &Row, turns: usize, length: &Length) -> Result<Outcome, String> {
    let window = match row.window {
        RowWindow::AsGiven => length.window,
        RowWindow::Endless => ENDLESS,
    };
    let binary = match (&row.pace, &length.debug_binary) {
        (Pace::WithPauses, Some(debug)) => debug,
        (Pace::WithPauses | Pace::Steady, _) => binary,
    };
    let (variables, reading) = (row.variables(), row.reading());
    let order = Order { binary, turns, window, variables, pace: row.pace, reading };
    let outcome = haul::run(&order).map_err(|broke| format!("{}: {broke}", row.name))?;
    if outcome.counts.refused > 0 && row.makes_room_ahead() {
        return Err(format!("{}: {} requests overflowed", row.name, outcome.counts.refused));
    }
    println!("{}", table::line(row.name, &outcome));
    Ok(outcome)
}

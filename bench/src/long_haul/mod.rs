//! The long haul: one process of the program, thousands of turns with tools, a window that is far too small for
//! them. What must hold ends the run when it does not: no request over the window, no change of what was sent
//! that was not announced, no word of the person's lost. What it costs is a table, with each layer switched in
//! turn.

mod agents;
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

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// Whether the model hands some of its work to agents.
    pub(crate) agents: bool,
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

/// What came of all rows.
pub(crate) struct Report {
    /// The tables of those that came to their end.
    pub(crate) tables: String,
    /// What broke, in which row.
    pub(crate) broken: Vec<String>,
}

/// Runs the rows. One that breaks does not cost the others their figures.
pub(crate) fn run(binary: &Path, length: &Length) -> Report {
    let rows = length.rows();
    let waiting = Mutex::new(rows.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let worker = || {
        while let Some((place, (row, turns))) = lock(&waiting).next() {
            let run = AssertUnwindSafe(|| run_row(binary, row, *turns, length));
            let panicked = || Err(format!("{}: it panicked, see above", row.name));
            let outcome = catch_unwind(run).unwrap_or_else(|_| panicked());
            lock(&done).push((place, *row, outcome));
        }
    };
    std::thread::scope(|scope| {
        (0..length.at_once).for_each(|_| drop(scope.spawn(worker)));
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(place, _, _)| *place);
    let (mut outcomes, mut broken) = (Vec::new(), Vec::new());
    for (_, row, outcome) in done {
        match outcome {
            Ok(outcome) => outcomes.push((row, outcome)),
            Err(why) => broken.push(why),
        }
    }
    Report { tables: table::render(&outcomes, length), broken }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    let agents = length.agents;
    let order = Order { binary, turns, window, variables, pace: row.pace, reading, agents };
    let outcome = haul::run(&order).map_err(|broke| format!("{}: {broke}", row.name))?;
    if outcome.counts.refused > 0 && row.makes_room_ahead() {
        return Err(format!("{}: {} requests overflowed", row.name, outcome.counts.refused));
    }
    println!("{}", table::line(row.name, &outcome));
    Ok(outcome)
}

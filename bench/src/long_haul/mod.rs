//! The long haul: one process of the program, thousands of turns with tools, a window that is far too small for
//! them. What must hold ends the run when it does not: no request over the window, no change of what was sent
//! that was not announced, no word of the user's lost. What it costs is a table, with each layer switched in
//! turn.

mod agent_requests;
mod agent_script;
mod agents;
mod announced;
mod coder;
mod errand;
mod figures;
mod haul;
mod ledger;
mod length;
mod memories;
mod project;
mod rows;
mod small_model;
mod small_requests;
mod table;
mod transcript;
mod words;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

pub(crate) use length::Length;

use anyhow::{Context, Result, bail};

use self::haul::{HaulOutcome, Order};
use self::rows::{ENDLESS, HaulRow, Pace, RowWindow};
use crate::lock::lock;

/// What came of all rows.
pub(crate) struct HaulReport {
    /// The tables of those that came to their end.
    pub(crate) tables: String,
    /// What broke, in which row.
    pub(crate) broken: Vec<String>,
}

/// Runs the rows. One that breaks does not cost the others their figures.
pub(crate) fn run(binary: &Path, length: &Length) -> HaulReport {
    let rows = length.rows();
    let waiting = Mutex::new(rows.iter().enumerate());
    let done = Mutex::new(Vec::new());
    let worker = || {
        while let Some((place, (row, turns))) = lock(&waiting).next() {
            let run = AssertUnwindSafe(|| run_row(binary, row, *turns, length));
            let panicked = || Err(anyhow::anyhow!("{}: it panicked, see above", row.name));
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
            Err(error) => broken.push(format!("{error:#}")),
        }
    }
    HaulReport { tables: table::render(&outcomes, length), broken }
}

fn run_row(binary: &Path, row: &HaulRow, turns: usize, length: &Length) -> Result<HaulOutcome> {
    let window = match row.window {
        RowWindow::AsGiven => length.window,
        RowWindow::Endless => ENDLESS,
    };
    let binary = match (&row.pace, &length.clock_binary) {
        (Pace::WithPauses, Some(movable)) => movable,
        (Pace::WithPauses | Pace::Steady, _) => binary,
    };
    let (variables, reading) = (row.variables(), row.reading());
    let dream_every = row.dreams().then_some(length.dream_every);
    let has_cache = length.has_cache;
    let model = length.model.clone();
    let pace = row.pace;
    let order =
        Order { binary, turns, model, window, variables, pace, reading, dream_every, has_cache };
    let outcome = haul::run(&order).context(row.name)?;
    if outcome.counts.refused > 0 && row.makes_room_ahead() {
        bail!("{}: {} requests overflowed", row.name, outcome.counts.refused);
    }
    println!("{}", table::line(row.name, &outcome, &length.model));
    Ok(outcome)
}

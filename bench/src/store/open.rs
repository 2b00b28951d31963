//! Opening a directory that was never seen, which writes all of it into the history; and again.

use super::plant::Planted;
use super::{FEW, MANY};
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};

const FIRST_RUNS: usize = 5;
const RUNS: usize = 25;

/// Measures both sizes.
pub(super) fn run() -> BenchSection {
    let mut section = BenchSection::new(
        "open",
        format!(
            "`Store::open` on a directory that was made by others: for the first time (everything goes into \
             the history; {FIRST_RUNS} runs, each with a new state folder) and again ({RUNS} runs); \
             and `Store::notice`, which looks for changes by other programs ({RUNS} runs). Medians."
        ),
    );
    for count in [FEW, MANY] {
        section.add(measure(count));
    }
    section
}

fn measure(count: usize) -> Vec<BenchFigure> {
    let planted = Planted::of(count);
    let [mut first, mut again, mut noticed] = [(); 3].map(|()| Samples::default());
    for run in 0..FIRST_RUNS {
        drop(first.time(|| planted.store(&format!("state-{run}"))));
    }
    for _ in 0..RUNS {
        let store = again.time(|| planted.store("state-0"));
        noticed
            .time(|| store.history().record_external_changes())
            .expect("a look at the directory");
    }
    vec![
        BenchFigure::median(format!("{count} memories, the first time"), &first),
        BenchFigure::median(format!("{count} memories, again"), &again),
        BenchFigure::median(format!("{count} memories, a look for outside changes"), &noticed),
    ]
}

//! What recall costs a turn: from spawning the binary to its first request, with it and without.

use std::path::Path;

use crate::measure::Samples;
use crate::recall_speed::{Language, fill};
use crate::report::{BenchFigure, BenchSection, FigureUnit};
use crate::world::BenchWorld;

const MEMORIES: u64 = 10_000;
const WARM_UPS: usize = 5;
const RUNS: usize = 40;
/// What a request may wait for it, in milliseconds.
const AIM: f64 = 10.0;

/// Measures it among 10,000 memories, whose index is there.
pub(crate) fn run(binary: &Path) -> BenchSection {
    let (mut with, mut without) = (BenchWorld::new(binary), BenchWorld::new(binary));
    for (world, recall) in [(&mut with, "1"), (&mut without, "0")] {
        world.home.set_env("DORMOUSE_RECALL", recall);
        fill(&world.home.dormouse_home().join("memory"), MEMORIES);
    }
    let mut questions = Language::new(5);
    // The first question makes the index.
    let mut command = with.binary();
    command.args(["recall", &questions.question(), "--json"]);
    BenchWorld::run(command);
    let (mut on, mut off) = (Samples::default(), Samples::default());
    for round in 0..WARM_UPS + RUNS {
        let question = questions.question();
        let (time_with, _) = with.ask(&["-p", &question]);
        let (time_without, _) = without.ask(&["-p", &question]);
        if round >= WARM_UPS {
            on.add(time_with);
            off.add(time_without);
        }
    }
    let mut section = BenchSection::new(
        "recall before the first request",
        format!(
            "From spawning `dormouse -p QUESTION` to the arrival of its first POST at a server on the loopback \
             interface, with {MEMORIES} memories in the user's directory and their index on disk; recall on and off, \
             alternating, {RUNS} runs each after {WARM_UPS} warm-ups, medians."
        ),
    );
    let more = on.median() - off.median();
    section.add([
        BenchFigure::median("recall off", &off),
        BenchFigure::median("recall on", &on),
        BenchFigure::new("recall on, above off", more, FigureUnit::Milliseconds).aim_below(AIM),
    ]);
    section
}

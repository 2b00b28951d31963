//! How long it takes from spawning the binary to its first request, beside `git --version`.

use std::path::Path;

use dormouse_base::names;

use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};
use crate::world::BenchWorld;

const WARM_UPS: usize = 5;
const RUNS: usize = 60;
/// As many times as long as `git --version` it may take.
const AIM: f64 = 5.0;

/// Measures it in a plain folder and in a repository.
pub(crate) fn run(binary: &Path) -> BenchSection {
    let plain = BenchWorld::new(binary);
    let repository = BenchWorld::with_repository(binary);
    let mut told = BenchWorld::new(binary);
    told.home.set_env(names::CONTEXT_WINDOW, "200000");

    let mut git = Samples::default();
    let mut version = Samples::default();
    let mut in_plain = Samples::default();
    let mut in_repository = Samples::default();
    let mut in_told = Samples::default();
    for round in 0..WARM_UPS + RUNS {
        let mut command = plain.home.command("git");
        command.arg("--version");
        let git_time = BenchWorld::run(command);
        let (plain_time, _) = plain.ask(&["-p", "hi"]);
        let (repository_time, _) = repository.ask(&["-p", "hi"]);
        let (told_time, _) = told.ask(&["-p", "hi"]);
        let mut command = plain.binary();
        command.arg("--version");
        let version_time = BenchWorld::run(command);
        if round >= WARM_UPS {
            git.add(git_time);
            in_plain.add(plain_time);
            in_repository.add(repository_time);
            in_told.add(told_time);
            version.add(version_time);
        }
    }

    let mut section = BenchSection::new(
        "start",
        format!(
            "From spawning `dormouse -p hi` to the arrival of its first POST at a server on the \
             loopback interface, beside `git --version` from spawn to exit; hermetic home, \
             alternating, {RUNS} runs each after {WARM_UPS} warm-ups, medians."
        ),
    );
    section.add([
        BenchFigure::median("`git --version`", &git),
        BenchFigure::median("plain folder", &in_plain),
        BenchFigure::ratio("plain folder, to `git --version`", &in_plain, &git).aim_below(AIM),
        BenchFigure::median("git repository", &in_repository),
        BenchFigure::ratio("git repository, to `git --version`", &in_repository, &git)
            .aim_below(AIM),
        BenchFigure::median("plain folder, window set: no question about the model", &in_told),
        BenchFigure::median("`dormouse --version`, spawn to exit", &version),
    ]);
    section
}

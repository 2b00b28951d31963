//! How long it takes from spawning the binary to its first request, and to answer `--version`, beside `git --version`; and,
//! where another build is given, beside that one.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::measure::Samples;
use crate::recall_speed::fill;
use crate::report::{BenchFigure, BenchSection};
use crate::world::{BenchWorld, PROMPT};

const WARM_UPS: usize = 5;
const RUNS: usize = 60;
/// Of homes that are new each time, and of worlds that are large.
const FEW_RUNS: usize = 20;
/// As many times as long as `git --version` the first request may take.
const AIM: f64 = 5.0;
/// As many times as long `dormouse --version` may take.
const VERSION_AIM: f64 = 1.3;
const MANY_MEMORIES: u64 = 10_000;

/// Measures it in a repository of 1,000 files with 100 memories that match; beside it a new home, many memories, TLS.
pub(crate) fn run(binary: &Path, against: Option<&Path>) -> BenchSection {
    let mut section = BenchSection::new(
        "start",
        format!(
            "From spawning `dormouse -p PROMPT` to the arrival of its first POST at a server on the loopback interface, beside \
             `git --version` from spawn to exit, in a repository of 1,000 files with 100 memories that match, in a home that was \
             used before unless it says otherwise; alternating, {RUNS} runs each ({FEW_RUNS} in other worlds) after {WARM_UPS} \
             warm-ups, medians."
        ),
    );
    ordinary(&mut section, binary, against);
    others(&mut section, binary);
    section
}

fn ordinary(section: &mut BenchSection, binary: &Path, against: Option<&Path>) {
    let world = BenchWorld::ordinary(binary);
    let other = against.map(BenchWorld::ordinary);
    let [mut git, mut version, mut first, mut other_version, mut other_first] =
        std::array::from_fn(|_| Samples::default());
    for round in 0..WARM_UPS + RUNS {
        let counts = round >= WARM_UPS;
        let keep = |samples: &mut Samples, time: Duration| {
            if counts {
                samples.add(time);
            }
        };
        keep(&mut git, BenchWorld::run(git_version(&world)));
        keep(&mut version, BenchWorld::run(its_version(&world)));
        keep(&mut first, world.ask(&["-p", PROMPT]).0);
        if let Some(other) = &other {
            keep(&mut other_version, BenchWorld::run(its_version(other)));
            keep(&mut other_first, other.ask(&["-p", PROMPT]).0);
        }
    }
    section.add([
        BenchFigure::median("`git --version`", &git),
        BenchFigure::median("first request", &first),
        BenchFigure::ratio("first request, to `git --version`", &first, &git).aim_below(AIM),
        BenchFigure::median("`dormouse --version`", &version),
        BenchFigure::ratio("`dormouse --version`, to `git --version`", &version, &git)
            .aim_below(VERSION_AIM),
    ]);
    if other.is_some() {
        section.add([
            BenchFigure::ratio("first request, to the other build", &first, &other_first),
            BenchFigure::ratio("`--version`, to the other build", &version, &other_version),
        ]);
    }
}

/// A plain folder, homes that are new, many memories, TLS; each beside `git --version` in the same rounds.
fn others(section: &mut BenchSection, binary: &Path) {
    let plain = BenchWorld::new(binary);
    alternating(section, "first request, plain folder", &plain, |world| {
        world.ask(&["-p", PROMPT]).0
    });

    let new = BenchWorld::ordinary(binary);
    alternating(section, "first request, a new home", &new, |world| {
        fs::remove_dir_all(world.home.dormouse_home()).expect("its folder can be removed");
        world.add_matching_memories();
        world.ask(&["-p", PROMPT]).0
    });

    let many = BenchWorld::ordinary(binary);
    fill(&many.home.dormouse_home().join("memory"), MANY_MEMORIES);
    let mut recall = many.binary();
    // Makes the index.
    recall.args(["recall", PROMPT, "--json"]);
    BenchWorld::run(recall);
    alternating(section, "first request, 10,000 memories", &many, |world| {
        world.ask(&["-p", PROMPT]).0
    });

    let encrypted = BenchWorld::with_tls(binary);
    alternating(section, "first request, https with system certificates", &encrypted, |world| {
        world.ask(&["-p", PROMPT]).0
    });
}

fn alternating(
    section: &mut BenchSection,
    name: &str,
    world: &BenchWorld,
    time: impl Fn(&BenchWorld) -> Duration,
) {
    let (mut git, mut first) = (Samples::default(), Samples::default());
    for round in 0..WARM_UPS + FEW_RUNS {
        let (git_time, first_time) = (BenchWorld::run(git_version(world)), time(world));
        if round >= WARM_UPS {
            git.add(git_time);
            first.add(first_time);
        }
    }
    section.add([
        BenchFigure::median(name, &first),
        BenchFigure::ratio(format!("{name}, to `git --version`"), &first, &git),
    ]);
}

fn git_version(world: &BenchWorld) -> Command {
    let mut command = world.home.command("git");
    command.arg("--version");
    command
}

fn its_version(world: &BenchWorld) -> Command {
    let mut command = world.binary();
    command.arg("--version");
    command
}

//! A scan beside `ls -R` and `cat` of the same files.

use std::process::Command;

use dormouse_base::Dir;
use dormouse_memory::{ScanCache, scan};

use super::MANY;
use super::plant::Planted;
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};
use crate::world::BenchWorld;

const USUAL: usize = 200;
const RUNS: usize = 25;
const WARM_UPS: usize = 2;
/// In milliseconds.
const AIM_USUAL_WARM: f64 = 2.0;
const AIM_MANY_COLD: f64 = 60.0;

/// Measures both sizes.
pub(super) fn run() -> BenchSection {
    let mut section = BenchSection::new(
        "scan",
        format!(
            "Memories of 0.6 to 1.2 kB in one folder, half of them with lists in their frontmatter. \
             `scan` in this process on one thread, \
             with what the last scan remembered (again) and without (anew), beside `ls -R` of the folder and \
             `cat` of all files from spawn to exit (which includes their start, the first figure); \
             alternating, {RUNS} runs each after {WARM_UPS} warm-ups, medians. \
             The system has the files in its memory; our own cache is empty where it says anew."
        ),
    );
    let mut start = Samples::default();
    (0..RUNS).for_each(|_| start.add(BenchWorld::run(Command::new("true"))));
    section.add([BenchFigure::median("`true`", &start)]);
    for count in [USUAL, MANY] {
        section.add(measure(count));
    }
    section
}

fn measure(count: usize) -> Vec<BenchFigure> {
    let planted = Planted::of(count);
    let dir = Dir::open(planted.folder()).expect("the folder is there");
    let look = |cache: &mut ScanCache| {
        let found = scan(&dir, &[], cache).expect("a scan");
        assert_eq!(found.memories.len(), count);
        found
    };
    let mut cache = ScanCache::default();
    let [mut anew, mut again, mut listed, mut read] = [(); 4].map(|()| Samples::default());
    for run in 0..WARM_UPS + RUNS {
        let times = [list(&planted), concatenate(&planted)];
        if run < WARM_UPS {
            look(&mut cache);
            continue;
        }
        listed.add(times[0]);
        read.add(times[1]);
        let mut empty = ScanCache::default();
        drop((anew.time(|| look(&mut empty)), empty));
        drop(again.time(|| look(&mut cache)));
    }
    let usual = count == USUAL;
    let again_figure = BenchFigure::median(format!("{count} files, again"), &again);
    let anew_figure = BenchFigure::median(format!("{count} files, anew"), &anew);
    vec![
        if usual { again_figure.aim_below(AIM_USUAL_WARM) } else { again_figure },
        if usual { anew_figure } else { anew_figure.aim_below(AIM_MANY_COLD) },
        BenchFigure::median(format!("{count} files, `ls -R`"), &listed),
        BenchFigure::median(format!("{count} files, `cat`"), &read),
        BenchFigure::ratio(format!("{count} files, again to `ls -R`"), &again, &listed),
        BenchFigure::ratio(format!("{count} files, anew to `cat`"), &anew, &read),
    ]
}

fn list(planted: &Planted) -> std::time::Duration {
    let mut command = Command::new("ls");
    command.arg("-R").arg(planted.folder());
    BenchWorld::run(command)
}

fn concatenate(planted: &Planted) -> std::time::Duration {
    let mut command = Command::new("cat");
    let names = planted.files().iter().filter_map(|file| file.file_name());
    command.current_dir(planted.folder()).args(names);
    BenchWorld::run(command)
}

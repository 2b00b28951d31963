//! Anchors looked at again, beside a bare question to the file system for each file.

use std::fs;
use std::path::Path;

use dormouse_base::Dir;
use dormouse_memory::{Anchor, AnchorCache, Freshness, check_anchors, extract_anchors};

use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection};

const ANCHORS: usize = 1_000;
const RUNS: usize = 40;
/// In milliseconds.
const AIM: f64 = 10.0;

/// Measures 1,000 of them.
pub(super) fn run() -> BenchSection {
    let project = tempfile::tempdir().expect("a temporary folder");
    let dir = Dir::open(project.path()).expect("the folder is there");
    let anchors: Vec<Anchor> =
        (0..ANCHORS).map(|number| plant(project.path(), &dir, number)).collect();
    let check = |cache: &mut AnchorCache| {
        let states = check_anchors(&dir, &anchors, cache);
        assert!(states.iter().all(|state| *state == Freshness::Fresh));
    };
    let mut cache = AnchorCache::default();
    check(&mut cache);
    let [mut warm, mut cold, mut bare] = [(); 3].map(|()| Samples::default());
    for _ in 0..RUNS {
        warm.time(|| check(&mut cache));
        cold.time(|| check(&mut AnchorCache::default()));
        bare.time(|| ask(project.path(), &anchors));
    }
    let mut section = BenchSection::new(
        "anchors",
        format!(
            "{ANCHORS} anchors with symbols, each in a file of its own of 2 kB, three folders deep, all fresh: \
             looked at again, looked at for the first time, and a bare `std::fs::metadata` of each file; \
             {RUNS} runs, alternating, medians."
        ),
    );
    section.add([
        BenchFigure::median(format!("{ANCHORS} anchors, again"), &warm).aim_below(AIM),
        BenchFigure::median(format!("{ANCHORS} anchors, the first time"), &cold),
        BenchFigure::median(format!("{ANCHORS} times `std::fs::metadata`"), &bare),
        BenchFigure::ratio("again, to `std::fs::metadata`", &warm, &bare),
    ]);
    section
}

fn plant(root: &Path, dir: &Dir, number: usize) -> Anchor {
    let folder = format!("crates/part_{}/src", number % 40);
    fs::create_dir_all(root.join(&folder)).expect("a folder can be made");
    let path = format!("{folder}/file_{number}.rs");
    let text = format!("fn find_{number}() {{}}\n").repeat(100);
    fs::write(root.join(&path), text).expect("a file can be written");
    let said = format!("`find_{number}` in `{path}` is slow");
    let anchors = extract_anchors(&said, dir, Some("abcdef0"));
    anchors.into_iter().next().expect("an anchor")
}

fn ask(root: &Path, anchors: &[Anchor]) {
    for anchor in anchors {
        let found = fs::symlink_metadata(root.join(&anchor.path));
        assert!(std::hint::black_box(found).is_ok());
    }
}

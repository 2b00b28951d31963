//! A save with everything that belongs to it, beside the bare writing and flushing of the same files.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use dormouse_memory::{
    ChangeAuthor, ChangeOrigin, ChangeOutcome, MemoryType, MessageSource, NewMemory, Store, Trust,
};

use super::plant::Planted;
use super::{FEW, MANY, VERY_MANY};
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const RUNS: usize = 40;
const RUNS_AFTER_OTHERS: usize = 10;
const WARM_UPS: usize = 3;
/// In milliseconds.
const AIM: f64 = 10.0;
/// As a ratio, to the bytes and to a save among few.
const RATIO_AIM: f64 = 2.0;

/// A longer index grows in place, in bytes.
const LONG_INDEX: usize = 64 * 1024;

/// Measures all sizes.
pub(super) fn run() -> BenchSection {
    let mut section = BenchSection::new(
        "save",
        format!(
            "The model saves a new memory: lock, guard, secrets, provenance, policy, history (flushed), file, \
             index, heads. Beside it what the disk alone takes, with bytes of the same number: a line \
             appended and flushed, two files written, flushed and renamed (a line appended and flushed instead of \
             the second where the index is long), their folder flushed; and the same without any flush. Alternating, {RUNS} runs each after {WARM_UPS} warm-ups, medians. \
             Then {RUNS_AFTER_OTHERS} saves each after another program added a line to `MEMORY.md`."
        ),
    );
    let mut among_few = None;
    for count in [FEW, MANY, VERY_MANY] {
        let (saved, figures) = measure(count);
        section.add(figures);
        let few = among_few.get_or_insert_with(|| saved.clone());
        if count != FEW {
            let name = format!("a save among {count} to one among {FEW}");
            section.add([BenchFigure::ratio(name, &saved, few).aim_below(RATIO_AIM)]);
        }
    }
    section
}

fn measure(count: usize) -> (Samples, Vec<BenchFigure>) {
    let planted = Planted::of(count);
    let store = planted.store("state");
    let bare = Bare::in_folder(planted.beside());
    let [mut saved, mut flushed, mut unflushed] = [(); 3].map(|()| Samples::default());
    for run in 0..WARM_UPS + RUNS {
        let mut warm_up = [(); 3].map(|()| Samples::default());
        let [save, with, without] = if run < WARM_UPS {
            warm_up.each_mut()
        } else {
            [&mut saved, &mut flushed, &mut unflushed]
        };
        save.time(|| save_one(&store, run));
        let index = fs::read(planted.folder().join("MEMORY.md")).expect("an index");
        with.time(|| bare.write(&index, Flush::Each));
        without.time(|| bare.write(&index, Flush::Never));
    }
    let mut after_others = Samples::default();
    for run in 0..RUNS_AFTER_OTHERS {
        add_by_hand(&planted.folder(), run);
        after_others.time(|| save_one(&store, WARM_UPS + RUNS + run));
    }
    let flushes = flushed.median() - unflushed.median();
    let figures = vec![
        BenchFigure::median(format!("a save among {count}"), &saved).aim_below(AIM),
        BenchFigure::median(
            format!("the same bytes, written and flushed, among {count}"),
            &flushed,
        ),
        BenchFigure::median(format!("the same bytes, written only, among {count}"), &unflushed),
        BenchFigure::ratio(
            format!("a save to bytes written and flushed, among {count}"),
            &saved,
            &flushed,
        )
        .aim_below(RATIO_AIM),
        BenchFigure::new(
            format!("share of the flushes in a save, among {count}"),
            flushes / saved.median() * 100.0,
            FigureUnit::Percent,
        ),
        BenchFigure::new(
            format!("a save without its flushes, among {count}"),
            saved.median() - flushes,
            FigureUnit::Milliseconds,
        ),
        BenchFigure::median(
            format!("a save after another program changed the index, among {count}"),
            &after_others,
        ),
    ];
    (saved, figures)
}

/// What another program does between two saves.
fn add_by_hand(folder: &Path, number: usize) {
    let mut index = File::options().append(true).open(folder.join("MEMORY.md")).expect("an index");
    writeln!(index, "- [By hand {number}](by-hand-{number}.md)").expect("an index can be written");
}

fn save_one(store: &Store, number: usize) {
    let message = MessageSource {
        session: "0193b0a4-0000-7000-8000-000000000000".into(),
        message: format!("0193b0a5-0000-7000-8000-{number:012}"),
        trust: Trust::Typed,
    };
    let by = ChangeOrigin::new(ChangeAuthor::Model, "the user said so").from_message(message);
    let body = "The tests need the database of the day before. ".repeat(12);
    let memory = NewMemory::new(&format!("Saved number {number}"), "what the tests need", &body)
        .with_kind(MemoryType::Project);
    let outcome = store.change(&by, |plan| plan.save(&memory).map(drop));
    assert!(matches!(outcome, Ok(ChangeOutcome::Written(_))), "{outcome:?}");
}

/// Whether to wait for the disk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flush {
    Each,
    Never,
}

/// The least that a save does to the disk.
struct Bare {
    folder: PathBuf,
}

impl Bare {
    fn in_folder(beside: &Path) -> Self {
        let folder = beside.join("bare");
        fs::create_dir(&folder).expect("a folder can be made");
        Self { folder }
    }

    fn write(&self, index: &[u8], flush: Flush) {
        self.append("log", &[b'x'; 1_500], flush);
        self.replace("memory.md", &[b'x'; 800], flush);
        if index.len() > LONG_INDEX {
            self.append("index.md", &[b'x'; 80], flush);
        } else {
            self.replace("index.md", index, flush);
        }
        if flush == Flush::Each {
            let folder = File::open(&self.folder).expect("a folder can be opened");
            folder.sync_all().expect("a folder can be flushed");
        }
    }

    fn append(&self, name: &str, bytes: &[u8], flush: Flush) {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(self.folder.join(name))
            .expect("a file can be opened");
        file.write_all(bytes).expect("a file can be written");
        if flush == Flush::Each {
            file.sync_data().expect("a file can be flushed");
        }
    }

    fn replace(&self, name: &str, bytes: &[u8], flush: Flush) {
        let temporary = self.folder.join("temporary");
        let mut file = File::create(&temporary).expect("a file can be made");
        file.write_all(bytes).expect("a file can be written");
        if flush == Flush::Each {
            file.sync_all().expect("a file can be flushed");
        }
        fs::rename(&temporary, self.folder.join(name)).expect("a file can be renamed");
    }
}

//! Whether the numbers of the ranking are those of the questions they were chosen on: they are chosen again on
//! one half of the collections and measured on the other.

use super::data::{Collection, DataFile};
use super::directory::{DEPTH, Directory};
use super::quality::Quality;
use super::threshold::{self, Threshold};
use dormouse_search::RankTuning;

const SATURATION: [f64; 3] = [0.6, 0.9, 1.2];
const LENGTH: [f64; 3] = [0.2, 0.4, 0.75];
const COMPANY: [f64; 3] = [0.0, 0.3, 0.5];
const COVERAGE: [f64; 6] = [0.30, 0.36, 0.42, 0.48, 0.54, 0.60];
/// Percent of foreign questions that may put anything in, as the mean of all files.
const FOREIGN: f64 = 2.0;

/// Every second collection is of the one half, the others of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Even,
    Odd,
}

const HALVES: [Half; 2] = [Half::Even, Half::Odd];

impl Half {
    fn has(self, place: usize) -> bool {
        place.is_multiple_of(2) == (self == Self::Even)
    }

    fn other(self) -> Self {
        if self == Self::Even { Self::Odd } else { Self::Even }
    }

    fn name(self) -> &'static str {
        if self == Self::Even { "first" } else { "second" }
    }
}

/// A file, its collections as directories.
struct Opened {
    file: DataFile,
    directories: Vec<Directory>,
}

impl Opened {
    fn new(file: DataFile) -> Self {
        let directories = file.collections.iter().map(Directory::new).collect();
        Self { file, directories }
    }

    fn tune(&mut self, tuning: RankTuning) {
        for directory in &mut self.directories {
            directory.tune(tuning);
        }
    }

    /// R@5 of a half, in percent.
    fn found(&self, half: Half) -> f64 {
        let mut quality = Quality::default();
        for (collection, directory) in self.of(half) {
            for question in collection.questions() {
                quality.add(question, &directory.ranked(&question.text, DEPTH), collection);
            }
        }
        let [recall_5, ..] = quality.all.percent();
        recall_5
    }

    fn of(&self, half: Half) -> impl Iterator<Item = (&Collection, &Directory)> {
        let all = self.file.collections.iter().zip(&self.directories).enumerate();
        all.filter(move |(place, _)| half.has(*place)).map(|(_, both)| both)
    }

    fn threshold(&self, half: Half) -> Threshold {
        threshold::of_some(&self.file.collections, &self.directories, |place| half.has(place))
    }
}

/// The two halves of each file, measured by several choices of numbers.
pub(crate) fn run(files: Vec<DataFile>) -> String {
    let several = files.into_iter().filter(|file| file.collections.len() > 1);
    let mut files: Vec<Opened> = several.map(Opened::new).collect();
    let chosen = HALVES.map(|half| choose(&mut files, half));
    let [first, second] = chosen;
    let of = |half: Half| if half == Half::Even { first } else { second };
    let mut text = heading(&chosen);
    for file in &mut files {
        for half in HALVES {
            let columns = [RankTuning::default(), of(half.other()), of(half)].map(|tuning| {
                file.tune(tuning);
                (file.found(half), file.threshold(half))
            });
            text.push_str(&row(&file.file.name, half, &columns));
        }
    }
    text
}

/// The numbers that do best on a half: first those of the order, then the threshold.
fn choose(files: &mut [Opened], half: Half) -> RankTuning {
    let mut best = (f64::MIN, RankTuning::default());
    for saturation in SATURATION {
        for length in LENGTH {
            for company in COMPANY {
                let tuning = RankTuning { saturation, length, company, ..RankTuning::default() };
                let found = mean(files, tuning, |file| file.found(half));
                if found > best.0 {
                    best = (found, tuning);
                }
            }
        }
    }
    let order = best.1;
    best.0 = f64::MIN;
    for coverage in COVERAGE {
        let tuning = RankTuning { coverage, ..order };
        let foreign = |file: &Opened| file.threshold(half).foreign_share().unwrap_or(0.0);
        if mean(files, tuning, foreign) > FOREIGN {
            continue;
        }
        let put_in = mean(files, tuning, |file| file.threshold(half).gold_share());
        if put_in > best.0 {
            best = (put_in, tuning);
        }
    }
    best.1
}

fn mean(files: &mut [Opened], tuning: RankTuning, of: impl Fn(&Opened) -> f64) -> f64 {
    let mut sum = 0.0;
    for file in files.iter_mut() {
        file.tune(tuning);
        sum += of(file);
    }
    sum / super::quality::ratio(files.len().max(1), 1)
}

fn heading(chosen: &[RankTuning; 2]) -> String {
    let numbers = |tuning: &RankTuning| {
        format!(
            "saturation {}, length {}, company {}, coverage {}",
            tuning.saturation, tuning.length, tuning.company, tuning.coverage
        )
    };
    let [first, second] = chosen;
    format!(
        "\nHeld out: the numbers of the ranking, chosen anew on one half of the collections (every second one) and measured on the \
         other. Per cell: R@5, questions of their own that put in an answer, foreign questions that put in anything, in percent. \
         *Shipped* was chosen on both halves; *other half* is the figure to believe; *same half* is what choosing on the \
         very questions would give. Chosen on the first half: {}; on the second: {}; shipped: {}. Weights of name and description \
         are not among them: the documents have neither.\n\n| File | Half | shipped | other half | same half |\n| --- | --- | --- | --- | --- |\n",
        numbers(first),
        numbers(second),
        numbers(&RankTuning::default()),
    )
}

fn row(name: &str, half: Half, columns: &[(f64, Threshold); 3]) -> String {
    let cell = |(found, threshold): &(f64, Threshold)| {
        let foreign =
            threshold.foreign_share().map_or("–".to_owned(), |share| format!("{share:.1}"));
        format!("{found:.1} / {:.1} / {foreign}", threshold.gold_share())
    };
    let [shipped, other, same] = columns.each_ref().map(cell);
    format!("| {name} | {} | {shipped} | {other} | {same} |\n", half.name())
}

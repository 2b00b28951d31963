//! Whether the numbers of the ranking are those of the questions they were chosen on: they are chosen again on
//! one half of the collections and measured on the other.

use std::collections::BTreeMap;

use super::data::{Collection, DataFile};
use super::directory::{DEPTH, Directory, SmallStore};
use super::embeddings::VectorModel;
use super::learn::{Lesson, learn};
use super::quality::Quality;
use super::threshold::{self, Threshold};
use super::unasked::{self, Unasked};
use dormouse_search::RankTuning;

const SATURATION: [f64; 3] = [0.6, 0.9, 1.2];
const LENGTH: [f64; 3] = [0.2, 0.4, 0.75];
const COMPANY: [f64; 3] = [0.0, 0.3, 0.5];

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
struct Opened<'a> {
    file: &'a DataFile,
    directories: Vec<Directory>,
    small: Vec<Vec<SmallStore>>,
}

impl<'a> Opened<'a> {
    fn new(file: &'a DataFile, vectors: Option<&VectorModel>) -> Self {
        let directories = Directory::all(file, vectors);
        Self { file, directories, small: Directory::small(file) }
    }

    /// Whether a collection is of this half. What is for practice is of both: nothing is measured on it.
    fn has(&self, half: Half, place: usize) -> bool {
        self.file.practice.is_some() || half.has(place)
    }

    fn tune(&mut self, tuning: &RankTuning) {
        let small = self.small.iter_mut().flatten().map(|store| &mut store.directory);
        for directory in self.directories.iter_mut().chain(small) {
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
        all.filter(move |(place, _)| self.has(half, *place)).map(|(_, both)| both)
    }

    fn threshold(&self, half: Half) -> Threshold {
        threshold::of_some(&self.file.collections, &self.directories, |place| half.has(place))
    }
}

/// The two halves of each file, measured with what was chosen on either.
pub(crate) fn run(files: &[DataFile], vectors: Option<&VectorModel>) -> String {
    let several = files.iter().filter(|file| file.collections.len() > 1);
    let mut files: Vec<Opened<'_>> = several.map(|file| Opened::new(file, vectors)).collect();
    let chosen = HALVES.map(|half| choose(&mut files, half));
    let [first, second] = chosen;
    let of = |half: Half| if half == Half::Even { first } else { second };
    let mut text = heading(&chosen, vectors.is_some());
    for file in files.iter_mut().filter(|file| file.file.practice.is_none()) {
        for half in HALVES {
            let columns = [RankTuning::default(), of(half.other()), of(half)].map(|tuning| {
                file.tune(&tuning);
                (file.found(half), file.threshold(half))
            });
            text.push_str(&row(&file.file.name, half, &columns));
        }
    }
    text.push_str(UNASKED);
    text.push_str(unasked::HEADING);
    let mut by_category: BTreeMap<String, Unasked> = BTreeMap::new();
    for file in &mut files {
        let has_none =
            file.file.collections.iter().any(|collection| collection.unrelated().next().is_some());
        if file.file.practice.is_some() || !has_none {
            continue;
        }
        let mut figures = unasked::ByCategory::new();
        for half in HALVES {
            file.tune(&of(half.other()));
            for (category, found) in
                unasked::measure(file.file, &file.directories, |at| half.has(at))
            {
                for known in [&mut figures, &mut by_category] {
                    let known = known.entry(category.clone()).or_default();
                    *known = known.plus(found);
                }
            }
        }
        for (category, it) in &figures {
            text.push_str(&it.row(&file.file.name, category));
        }
    }
    for (category, it) in &by_category {
        text.push_str(&it.row("both languages", category));
    }
    text
}

const UNASKED: &str = "\nUnasked, held out: each half with the order and the confidence that were chosen and learned on the \
     other half; 95 % intervals.\n\n";

/// What does best on a half: first the numbers of the order, then how sure a match is.
fn choose(files: &mut [Opened<'_>], half: Half) -> RankTuning {
    let mut best = (f64::MIN, RankTuning::default());
    for saturation in SATURATION {
        for length in LENGTH {
            for company in COMPANY {
                let tuning = RankTuning { saturation, length, company, ..RankTuning::default() };
                let found = mean(files, &tuning, |file| file.found(half));
                if found > best.0 {
                    best = (found, tuning);
                }
            }
        }
    }
    let order = best.1;
    for file in files.iter_mut() {
        file.tune(&order);
    }
    let of_half = |place: usize| half.has(place);
    // What is for practice is measured on neither half.
    let all = |_| true;
    let lessons: Vec<Lesson<'_>> = files
        .iter()
        .map(|opened| Lesson {
            file: opened.file,
            directories: &opened.directories,
            small: &opened.small,
            half: if opened.file.practice.is_some() { &all } else { &of_half },
        })
        .collect();
    let learned = learn(&lessons);
    RankTuning { by_words: learned, by_vectors: learned, ..order }
}

fn mean(files: &mut [Opened<'_>], tuning: &RankTuning, of: impl Fn(&Opened<'_>) -> f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for file in files.iter_mut().filter(|file| !file.directories.is_empty()) {
        file.tune(tuning);
        sum += of(file);
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

fn heading(chosen: &[RankTuning; 2], with_vectors: bool) -> String {
    let vectors = if with_vectors { ", with vectors" } else { ", by words" };
    let numbers = |tuning: &RankTuning| {
        format!(
            "saturation {}, length {}, company {}",
            tuning.saturation, tuning.length, tuning.company
        )
    };
    let [first, second] = chosen;
    format!(
        "\nHeld out{vectors}: the numbers of the ranking, chosen anew on one half of the collections (every second one) and on what is for practice, and measured on the \
         other half. Per cell: R@5, questions of their own that put in an answer, foreign questions that put in anything, in percent. \
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

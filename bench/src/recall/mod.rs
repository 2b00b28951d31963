//! How well memories are found: collections of memories with questions, whose answers are known.
//!
//! Every collection becomes a memory directory on disk, and the shipped ranking is asked as the program asks
//! it. Beside it, on the same texts in the same run: BM25 over plain words, BM25 over stems and pairs of
//! characters, and the order that counting matches with `grep -c` gives.

pub(crate) mod baseline;
pub(crate) mod data;
pub(crate) mod directory;
mod embeddings;
mod halves;
mod learn;
mod plain;
mod quality;
mod rarity;
mod report;
mod threshold;
pub(crate) mod unasked;
mod wording;

use std::path::PathBuf;

use baseline::{Bm25, GrepBaseline, Tokens};
use data::{Collection, DataFile};
use directory::Directory;
pub(crate) use plain::PlainPairs;
use quality::{Quality, Ranked};
pub(crate) use report::RecallReport;
use report::{FileReport, RecallRow};

pub(crate) use embeddings::{VectorModel, open_endpoint};

/// Reads files and measures them.
pub(crate) struct RecallBench<'a> {
    files: Vec<DataFile>,
    vectors: Option<&'a VectorModel>,
}

impl<'a> RecallBench<'a> {
    pub(crate) fn read(files: &[PathBuf], vectors: Option<&'a VectorModel>) -> Self {
        if files.is_empty() {
            crate::fail::fail(
                "recall needs files to measure on; bench/FORMAT.md says how they look",
            );
        }
        Self { files: files.iter().flat_map(|file| DataFile::read(file)).collect(), vectors }
    }

    /// Measures all files but those for practice, as the program is.
    pub(crate) fn run(&self) -> RecallReport {
        let measured: Vec<&DataFile> =
            self.files.iter().filter(|file| file.practice.is_none()).collect();
        let report = |file: &&DataFile| FileReport {
            elsewhere: elsewhere(&measured, file),
            ..measure(file, self.vectors)
        };
        RecallReport { files: measured.iter().map(report).collect() }
    }

    /// What was chosen and learned, done again on halves of the files and measured on the others.
    pub(crate) fn halves(&self) -> String {
        let mut text = halves::run(&self.files, None);
        if self.vectors.is_some() {
            text.push_str(&halves::run(&self.files, self.vectors));
        }
        text
    }

    /// How sure a match is, learned from all files: constants for the program.
    pub(crate) fn learn(&self) -> String {
        let learned = |vectors| self.with_lessons(vectors, learn::learn);
        let mut text = learn::source("WORDS", &learned(None));
        if self.vectors.is_some() {
            text.push_str(&learn::source("VECTORS", &learned(self.vectors)));
        }
        text
    }

    /// What the words of messages tell, learned from the files for practice: the list of the program.
    pub(crate) fn learn_wording(&self) -> String {
        let examples = wording::examples(self.files.iter(), |_| true);
        if examples.is_empty() {
            crate::fail::fail(
                "the wording is learned from files for practice, such as bench/practice/projects.json; none was named",
            );
        }
        wording::source(&examples)
    }

    /// What is learned from, as lines of JSON.
    pub(crate) fn samples(&self) -> String {
        self.with_lessons(self.vectors, learn::samples_json)
    }

    fn with_lessons<T>(
        &self,
        vectors: Option<&VectorModel>,
        use_them: impl FnOnce(&[learn::Lesson<'_>]) -> T,
    ) -> T {
        let open = |file| Directory::all(file, vectors);
        let directories: Vec<Vec<Directory>> = self.files.iter().map(open).collect();
        let small: Vec<_> = self.files.iter().map(Directory::small).collect();
        let lessons = self.files.iter().zip(directories.iter().zip(&small)).map(
            |(file, (directories, small))| learn::Lesson {
                file,
                directories,
                small,
                half: &|_| true,
            },
        );
        use_them(&lessons.collect::<Vec<_>>())
    }
}

/// How rare words are, counted in these files: the list of the program.
pub(crate) fn learn_rarity(files: &[PathBuf]) -> String {
    rarity::source(files)
}

/// The questions of a file on the memories of all others in its language.
fn elsewhere(files: &[&DataFile], asking: &DataFile) -> Vec<(String, f64)> {
    let others = files.iter().filter(|other| other.name != asking.name);
    others
        .filter(|other| other.language == asking.language && !other.shares_with(asking))
        .filter_map(|other| {
            let directories: Vec<Directory> =
                other.collections.iter().map(Directory::new).collect();
            let share = threshold::elsewhere(&asking.collections, &directories)?;
            Some((other.name.clone(), share))
        })
        .collect()
}

fn measure(file: &DataFile, vectors: Option<&VectorModel>) -> FileReport {
    let directories = Directory::all(file, None);
    let mut rows = baselines(&file.collections);
    rows.push(ours(report::OURS, &file.collections, &directories));
    let with_vectors = vectors.map(|vectors| Directory::all(file, Some(vectors)));
    rows.extend(with_vectors.as_ref().map(|it| ours(report::WITH_VECTORS, &file.collections, it)));
    if file.collections.len() > 1 {
        let poured = data::poured(&file.collections);
        rows.extend(baselines(std::slice::from_ref(&poured)).into_iter().map(RecallRow::poured));
        let (all, directory) = (std::slice::from_ref(&poured), [Directory::new(&poured)]);
        rows.push(ours(report::OURS, all, &directory).poured());
        rows.extend(vectors.map(|vectors| {
            let directory = [Directory::with_vectors(&poured, &vectors.model)];
            ours(report::WITH_VECTORS, all, &directory).poured()
        }));
    }
    let thresholds = std::iter::once((report::OURS, &directories))
        .chain(with_vectors.as_ref().map(|it| (report::WITH_VECTORS, it)))
        .map(|(system, it)| (system, threshold::measure(&file.collections, it)))
        .collect();
    let unasked = std::iter::once(("", &directories))
        .chain(with_vectors.as_ref().map(|it| (", with vectors", it)))
        .map(|(system, it)| (system, unasked::measure(file, it, |_| true)))
        .collect();
    let behind = [0, 1, 3].map(|sentences| {
        threshold::behind(&file.collections, &directories, sentences, &file.language)
    });
    FileReport { name: file.name.clone(), rows, thresholds, behind, unasked, elsewhere: Vec::new() }
}

/// The shipped ranking on each collection.
fn ours(system: &'static str, collections: &[Collection], directories: &[Directory]) -> RecallRow {
    let mut quality = Quality::default();
    for (collection, directory) in collections.iter().zip(directories) {
        for question in collection.questions() {
            quality.add(question, &directory.ranked(&question.text, directory::DEPTH), collection);
        }
    }
    RecallRow { system, poured: false, quality }
}

fn baselines(collections: &[Collection]) -> Vec<RecallRow> {
    vec![
        row("grep -c", collections, |collection| {
            let grep = GrepBaseline::new(collection);
            move |question: &str| grep.ranked(question)
        }),
        row("BM25, plain words", collections, |collection| {
            let index = Bm25::new(collection, Tokens::Plain);
            move |question: &str| index.ranked(question)
        }),
        row(report::STEMMED, collections, |collection| {
            let index = Bm25::new(collection, Tokens::Stemmed);
            move |question: &str| index.ranked(question)
        }),
    ]
}

/// A system on all collections; `make` makes one that ranks a collection.
fn row<R: Fn(&str) -> Ranked>(
    system: &'static str,
    collections: &[Collection],
    make: impl Fn(&Collection) -> R,
) -> RecallRow {
    let mut quality = Quality::default();
    for collection in collections {
        let ranked = make(collection);
        for question in collection.questions() {
            quality.add(question, &ranked(&question.text), collection);
        }
    }
    RecallRow { system, poured: false, quality }
}

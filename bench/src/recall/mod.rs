//! How well memories are found: collections of memories with questions, whose answers are known.
//!
//! Every collection becomes a memory directory on disk, and the shipped ranking is asked as the program asks
//! it. Beside it, on the same texts in the same run: BM25 over plain words, BM25 over stems and pairs of
//! characters, and the order that counting matches with `grep -c` gives.

mod baseline;
mod data;
mod directory;
mod halves;
mod quality;
mod report;
mod threshold;

use dormouse_search::{Embedder, WordVectors};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use baseline::{Bm25, GrepBaseline, Tokens};
use data::{Collection, DataFile};
use directory::Directory;
use quality::{Quality, Ranked};
pub(crate) use report::RecallReport;
use report::{FileReport, RecallRow};
use tempfile::TempDir;

/// Word vectors, made ready in a folder of their own.
pub(crate) struct WordVectorFile {
    model: Arc<dyn Embedder>,
    _folder: TempDir,
}

impl WordVectorFile {
    pub(crate) fn read(path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ready = WordVectors::prepare(path, folder.path())
            .and_then(|_| WordVectors::open(path, folder.path()));
        match ready {
            Ok(model) => Self { model: Arc::new(model), _folder: folder },
            Err(error) => crate::fail::fail(&error.to_string()),
        }
    }
}

/// Measures all files.
pub(crate) fn run(files: &[PathBuf], vectors: Option<&WordVectorFile>) -> RecallReport {
    if files.is_empty() {
        crate::fail::fail("recall needs files to measure on; bench/FORMAT.md says how they look");
    }
    let files: Vec<DataFile> = files.iter().map(|file| DataFile::read(file)).collect();
    let mut reports: Vec<FileReport> = files.iter().map(|file| measure(file, vectors)).collect();
    for (place, report) in reports.iter_mut().enumerate() {
        report.elsewhere = elsewhere(&files, place);
    }
    RecallReport { files: reports }
}

/// The numbers of the ranking, chosen on halves of the files.
pub(crate) fn halves(files: &[PathBuf]) -> String {
    halves::run(files.iter().map(|file| DataFile::read(file)).collect())
}

/// The questions of a file on the memories of all others in its language, which the end of its name tells.
fn elsewhere(files: &[DataFile], place: usize) -> Vec<(String, f64)> {
    let Some(asking) = files.get(place) else { return Vec::new() };
    let language = |file: &DataFile| file.name.rsplit('-').next().map(str::to_owned);
    let others = files.iter().filter(|other| other.name != asking.name);
    others
        .filter(|other| language(other) == language(asking) && !other.shares_with(asking))
        .filter_map(|other| {
            let directories: Vec<Directory> =
                other.collections.iter().map(Directory::new).collect();
            let share = threshold::elsewhere(&asking.collections, &directories)?;
            Some((other.name.clone(), share))
        })
        .collect()
}

fn measure(file: &DataFile, vectors: Option<&WordVectorFile>) -> FileReport {
    let directories: Vec<Directory> = file.collections.iter().map(Directory::new).collect();
    let mut rows = baselines(&file.collections);
    rows.push(ours(report::OURS, &file.collections, &directories));
    let with_vectors = vectors.map(|vectors| {
        let open = |collection| Directory::with_vectors(collection, &vectors.model);
        file.collections.iter().map(open).collect::<Vec<_>>()
    });
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
    FileReport { name: file.name.clone(), rows, thresholds, elsewhere: Vec::new() }
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

//! How well memories are found: collections of memories with questions, whose answers are known.
//!
//! Every collection becomes a memory directory on disk, and the shipped ranking is asked as the program asks
//! it. Beside it, on the same texts in the same run: BM25 over plain words, BM25 over stems and pairs of
//! characters, and the order that counting matches with `grep -c` gives.

mod baseline;
mod data;
mod directory;
mod quality;
mod report;
mod threshold;

use std::path::PathBuf;

use baseline::{Bm25, Grep, Tokens};
use data::{Collection, DataFile};
use directory::Directory;
use quality::{Quality, Ranked};
pub(crate) use report::Report;
use report::{FileReport, Row};

/// How deep a ranking is looked at.
const DEPTH: usize = 50;

/// Measures all files.
pub(crate) fn run(files: &[PathBuf]) -> Report {
    if files.is_empty() {
        crate::fail("recall needs files to measure on; bench/FORMAT.md says how they look");
    }
    Report { files: files.iter().map(|file| measure(&DataFile::read(file))).collect() }
}

fn measure(file: &DataFile) -> FileReport {
    let directories: Vec<Directory> = file.collections.iter().map(Directory::new).collect();
    let mut rows = baselines(&file.collections);
    let own = file.collections.iter().zip(&directories);
    let mut ranking = Quality::default();
    for (collection, directory) in own {
        for question in collection.questions() {
            ranking.add(question, &directory.ranked(&question.text, DEPTH), collection);
        }
    }
    rows.push(Row { system: "dormouse recall", poured: false, quality: ranking });
    if file.collections.len() > 1 {
        let poured = data::poured(&file.collections);
        rows.extend(baselines(std::slice::from_ref(&poured)).into_iter().map(Row::poured));
        let directory = Directory::new(&poured);
        let mut quality = Quality::default();
        for question in poured.questions() {
            quality.add(question, &directory.ranked(&question.text, DEPTH), &poured);
        }
        rows.push(Row { system: "dormouse recall", poured: true, quality });
    }
    let threshold = threshold::measure(&file.collections, &directories);
    FileReport { name: file.name.clone(), rows, threshold }
}

fn baselines(collections: &[Collection]) -> Vec<Row> {
    vec![
        row("grep -c", collections, |collection| {
            let grep = Grep::new(collection);
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
) -> Row {
    let mut quality = Quality::default();
    for collection in collections {
        let ranked = make(collection);
        for question in collection.questions() {
            quality.add(question, &ranked(&question.text), collection);
        }
    }
    Row { system, poured: false, quality }
}

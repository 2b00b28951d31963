//! How many documents of developers' text have a word: the list that the program begins with, before it knows a user's memories.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use dormouse_search::{Tokenizer, is_unspaced, share_letter};

use super::data::{self, Collection, DataFile};
use super::quality::ratio;

/// Consecutive texts become a document of about so many different terms, as a memory has.
const DOCUMENT: usize = 50;
/// Terms in fewer documents of a file than these may be names of one project.
const LEAST_DOCUMENTS: usize = 3;
const LONGEST_TERM: usize = 24;

/// Documents, and those with each term.
#[derive(Default)]
struct Counts {
    documents: usize,
    terms: BTreeMap<String, usize>,
}

/// The counts of one file: scripts with spaces, and those without.
#[derive(Default)]
struct FileCounts {
    spaced: Counts,
    unspaced: Counts,
}

impl FileCounts {
    fn add(&mut self, terms: BTreeSet<String>) {
        let unspaced = terms.iter().filter(|term| is_of_unspaced(term)).count();
        let is_mostly_unspaced = unspaced * 2 > terms.len();
        let counts = if is_mostly_unspaced { &mut self.unspaced } else { &mut self.spaced };
        counts.documents += 1;
        for term in terms.into_iter().filter(|term| is_of_unspaced(term) == is_mostly_unspaced) {
            *counts.terms.entry(term).or_default() += 1;
        }
    }
}

fn is_of_unspaced(term: &str) -> bool {
    term.starts_with(is_unspaced)
}

/// The list of the program, from files of collections and of texts, a line each, in columns after the first. Every file counts the same.
pub(super) fn source(paths: &[PathBuf]) -> String {
    let tokenizer = Tokenizer::new();
    let files: Vec<FileCounts> = paths.iter().map(|path| counts(&tokenizer, path)).collect();
    let spaced = shares(files.iter().map(|file| &file.spaced));
    let unspaced = shares(files.iter().map(|file| &file.unspaced));
    let listed: BTreeMap<String, char> = spaced
        .into_iter()
        .chain(unspaced)
        .filter_map(|(term, share)| Some((term, share_letter(share)?)))
        .collect();
    let mut text = format!(
        "# How rare {} words and pairs of characters are in developers' text: `a` in all documents, each further letter in about 0.7 times as many.\n",
        listed.len()
    );
    for (term, letter) in listed {
        let _ = writeln!(text, "{term} {letter}");
    }
    text
}

fn counts(tokenizer: &Tokenizer, path: &Path) -> FileCounts {
    let mut counts = FileCounts::default();
    if path.is_dir() || path.to_string_lossy().contains(".json") {
        let files = DataFile::read(path);
        for document in files.iter().flat_map(|file| &file.collections).flat_map(Collection::texts)
        {
            let mut terms = BTreeSet::new();
            add_terms(tokenizer, &document, &mut terms);
            counts.add(terms);
        }
        return counts;
    }
    let text = data::text(path);
    let columns = text.lines().map(|line| line.split('\t').count()).max().unwrap_or(0);
    for column in 1..columns {
        let mut terms = BTreeSet::new();
        for cell in text.lines().filter_map(|line| line.split('\t').nth(column)) {
            add_terms(tokenizer, cell, &mut terms);
            if terms.len() >= DOCUMENT {
                counts.add(std::mem::take(&mut terms));
            }
        }
    }
    counts
}

fn add_terms(tokenizer: &Tokenizer, text: &str, terms: &mut BTreeSet<String>) {
    tokenizer.each_term(text, |term| {
        if term.len() <= LONGEST_TERM {
            terms.insert(term.to_owned());
        }
    });
}

/// The mean share of the documents of a file that have each term.
fn shares<'a>(files: impl Iterator<Item = &'a Counts>) -> BTreeMap<String, f64> {
    let files: Vec<&Counts> = files.filter(|file| file.documents > 0).collect();
    let mut shares: BTreeMap<String, f64> = BTreeMap::new();
    for file in &files {
        for (term, documents) in file.terms.iter().filter(|(_, it)| **it >= LEAST_DOCUMENTS) {
            let share = ratio(*documents, file.documents) / ratio(files.len(), 1);
            *shares.entry(term.clone()).or_default() += share;
        }
    }
    shares
}

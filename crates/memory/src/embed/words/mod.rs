//! A file of word vectors: `word v1 v2 …` a line, the commonest word first, as many tools write and read it. A
//! text is the mean of its words, common words counting less.
//!
//! The text file is read once, by a command, into a form in which a word is found with three small reads. So the
//! vectors take no memory worth mentioning and nothing is loaded on the way to an answer; in exchange the
//! prepared file takes a byte for each number, about an eighth of the text.

mod prepare;
mod table;

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use dormouse_base::{Dir, FileError, RelPath};
use thiserror::Error;

use super::{EmbedError, Embedder, Fingerprint, Reach};
use crate::rank::{Piece, pieces};
pub use prepare::Prepared;
use table::Table;

/// The share of a text's words that has to be known: a text in another language has few, by chance.
const ENOUGH: f64 = 0.5;
/// More than this loses more by what is vaguely alike than it gains (`recall` bench).
const WEIGHT: f64 = 0.3;
/// The longest word of a script without spaces, in characters.
const LONGEST_RUN: usize = 6;

/// Why a file of word vectors can not be used.
#[derive(Debug, Error)]
pub enum WordFileError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was not made ready, or has changed since.
    #[error(
        "the word vectors in {} are not prepared, or have changed since; `dormouse memory embed` prepares them", .0.display()
    )]
    NotPrepared(PathBuf),
    /// A line is not what it should be.
    #[error("{}, line {line}: {problem}; a line is a word and its numbers, with spaces between them", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// The text file as it is from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Source {
    size: u64,
    /// In nanoseconds since 1970.
    modified: u64,
}

impl Source {
    fn of(path: &Path) -> Result<Self, FileError> {
        let unreadable =
            |error| FileError::new(dormouse_base::FileAction::Read, path.to_owned(), error);
        let about = std::fs::metadata(path).map_err(unreadable)?;
        let since = about.modified().map_err(unreadable)?.duration_since(UNIX_EPOCH);
        let modified = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
        Ok(Self { size: about.len(), modified })
    }
}

/// Word vectors, ready.
pub struct WordVectors {
    table: Table,
    weight: f64,
}

impl WordVectors {
    /// Opens what [`WordVectors::prepare`] made of a file. `cache` is the folder of what can be derived anew.
    pub fn open(path: &Path, cache: &Path) -> Result<Self, WordFileError> {
        let source = Source::of(path)?;
        let not_prepared = || WordFileError::NotPrepared(path.to_owned());
        let folder = Dir::open(cache.join("words")).map_err(|_| not_prepared())?;
        let name = prepared_name(path).ok_or_else(not_prepared)?;
        let file = folder.open_file(&name).map_err(|_| not_prepared())?;
        let table = Table::open(file, source).ok_or_else(not_prepared)?;
        Ok(Self { table, weight: WEIGHT })
    }

    /// The same, counting as much as this beside words.
    #[must_use]
    pub fn weighing(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// Reads a file of word vectors and makes it ready. Of a longer one the first 500,000 words are taken.
    pub fn prepare(path: &Path, cache: &Path) -> Result<Prepared, WordFileError> {
        let folder = Dir::create(cache.join("words"))?;
        let Some(name) = prepared_name(path) else {
            return Err(WordFileError::NotPrepared(path.to_owned()));
        };
        prepare::prepare(path, &folder, &name)
    }

    /// The sum of the vectors of a text's words, and which share of the words is known.
    fn read(&self, text: &str) -> (Vec<f32>, f64) {
        let mut reading = Reading {
            table: &self.table,
            sum: vec![0.0; self.table.dimension()],
            known: 0.0,
            all: 0.0,
            was_unknown: false,
        };
        pieces(text, |piece| match piece {
            Piece::Word { text, .. } => reading.word(text),
            Piece::Part { text } => reading.part(text),
            Piece::Run { text } => reading.run(text),
        });
        let share = if reading.all > 0.0 { reading.known / reading.all } else { 0.0 };
        (reading.sum, share)
    }
}

fn prepared_name(path: &Path) -> Option<RelPath> {
    let full = path.canonicalize().ok()?;
    let hash = blake3::hash(full.as_os_str().as_encoded_bytes()).to_hex();
    RelPath::new(hash.get(..16)?).ok()
}

struct Reading<'a> {
    table: &'a Table,
    sum: Vec<f32>,
    known: f64,
    all: f64,
    /// Whether the word before was not known: then its parts stand for it.
    was_unknown: bool,
}

impl Reading<'_> {
    fn word(&mut self, word: &str) {
        self.all += 1.0;
        let found = self.table.add(word, &mut self.sum);
        self.known += if found { 1.0 } else { 0.0 };
        self.was_unknown = !found;
    }

    /// A part of an identifier that is no word as a whole: a known one makes it known, once.
    fn part(&mut self, part: &str) {
        if self.was_unknown && self.table.add(part, &mut self.sum) {
            self.known = (self.known + 1.0).min(self.all);
        }
    }

    /// The longest words first. A single character is in many files by chance: it makes nothing known.
    fn run(&mut self, run: &str) {
        let characters: Vec<char> = run.chars().collect();
        let mut rest = characters.as_slice();
        while let [_, others @ ..] = rest {
            let longest = LONGEST_RUN.min(rest.len());
            let taken = (2..=longest).rev().find(|length| {
                let word: String = rest.iter().take(*length).collect();
                self.table.add(&word, &mut self.sum)
            });
            let weight = f64::from(u32::try_from(taken.unwrap_or(1)).unwrap_or(1)) / 2.0;
            self.all += weight;
            self.known += if taken.is_some() { weight } else { 0.0 };
            rest = taken.map_or(others, |length| rest.get(length..).unwrap_or_default());
        }
    }
}

impl Embedder for WordVectors {
    fn fingerprint(&self) -> Fingerprint {
        self.table.fingerprint()
    }

    fn reach(&self) -> Reach {
        Reach::Here
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn knows(&self, text: &str) -> bool {
        let (sum, share) = self.read(text);
        share >= ENOUGH && sum.iter().any(|value| *value != 0.0)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.read(text).0).collect())
    }
}

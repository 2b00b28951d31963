//! A model from a file of word vectors: `word v1 v2 …` per line, the most common word first, as many tools write it. The
//! vector of a text is the mean of its words, common words counting less.
//!
//! A command converts the text file once into a form where a word is found with three small reads. So the vectors take
//! almost no memory and nothing is loaded during a query; the prepared file takes one byte per number, about an eighth of
//! the text.

use std::path::Path;

use dormouse_base::{Dir, RelPath};

use super::prepare::{self, PreparedWordVectors};
use super::source::{WordFileError, WordFileStamp};
use super::table::WordTable;
use crate::embed::embedder::{EmbedError, Embedder, EmbedderLocation, ModelFingerprint};
use crate::words::{TextPiece, split_text};

/// Share of the words of a text that must be known: a text in another language has few, by chance.
const ENOUGH: f64 = 0.5;
/// A higher weight loses more by vaguely similar documents than it gains (`recall` benchmark).
const WEIGHT: f64 = 0.3;
/// Longest word of a script without spaces, in characters.
const LONGEST_RUN: usize = 6;

/// An embedding model from prepared word vectors.
pub struct WordVectors {
    table: WordTable,
    weight: f64,
}

impl WordVectors {
    /// Opens a file that was prepared with [`WordVectors::prepare`] in the same cache folder.
    pub fn open(path: &Path, cache: &Path) -> Result<Self, WordFileError> {
        let source = WordFileStamp::of(path)?;
        let not_prepared = || WordFileError::NotPrepared(path.to_owned());
        let folder = Dir::open(cache.join("words")).map_err(|_| not_prepared())?;
        let name = prepared_name(path).ok_or_else(not_prepared)?;
        let file = folder.open_file(&name).map_err(|_| not_prepared())?;
        let table = WordTable::open(file, source).ok_or_else(not_prepared)?;
        Ok(Self { table, weight: WEIGHT })
    }

    /// Sets [`Embedder::weight`].
    #[must_use]
    pub fn with_weight(self, weight: f64) -> Self {
        Self { weight, ..self }
    }

    /// Converts a file of word vectors, up to 500,000 words, for [`WordVectors::open`].
    pub fn prepare(path: &Path, cache: &Path) -> Result<PreparedWordVectors, WordFileError> {
        let folder = Dir::create(cache.join("words"))?;
        let Some(name) = prepared_name(path) else {
            return Err(WordFileError::NotPrepared(path.to_owned()));
        };
        prepare::prepare(path, &folder, &name)
    }

    /// Sum of the vectors of the words of a text, and the share of known words.
    fn read(&self, text: &str) -> (Vec<f32>, f64) {
        let mut reading = Reading {
            table: &self.table,
            sum: vec![0.0; self.table.dimension()],
            known: 0.0,
            all: 0.0,
            was_unknown: false,
        };
        split_text(text, |piece| match piece {
            TextPiece::Word { text, .. } => reading.word(text),
            TextPiece::Part { text } => reading.part(text),
            TextPiece::Run { text } => reading.run(text),
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
    table: &'a WordTable,
    sum: Vec<f32>,
    known: f64,
    all: f64,
    /// Whether the preceding word was unknown: then its parts are used.
    was_unknown: bool,
}

impl Reading<'_> {
    fn word(&mut self, word: &str) {
        self.all += 1.0;
        let found = self.table.add(word, &mut self.sum);
        self.known += if found { 1.0 } else { 0.0 };
        self.was_unknown = !found;
    }

    /// Adds a part of an unknown identifier; a known part makes the identifier known, once.
    fn part(&mut self, part: &str) {
        if self.was_unknown && self.table.add(part, &mut self.sum) {
            self.known = (self.known + 1.0).min(self.all);
        }
    }

    /// Adds the words of a run, longest first. Single characters are ignored: many files have them by chance.
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
    fn fingerprint(&self) -> ModelFingerprint {
        self.table.fingerprint()
    }

    fn location(&self) -> EmbedderLocation {
        EmbedderLocation::Local
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn supports(&self, text: &str) -> bool {
        let (sum, share) = self.read(text);
        share >= ENOUGH && sum.iter().any(|value| *value != 0.0)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.read(text).0).collect())
    }
}

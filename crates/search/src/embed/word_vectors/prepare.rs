//! Converts the text file of word vectors into a table.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use dormouse_base::{Dir, Durability, FileAction, FileError, RelPath, Replacement};

use super::source::{WordFileError, WordFileStamp};
use super::table::{STARTS, TableHead, key, prefix};
use crate::embed::bytes::count;
use crate::embed::embedder::ModelFingerprint;
use crate::words::{TextPiece, split_text};

/// Rarer words are ignored.
const MOST_WORDS: usize = 500_000;
/// Longest line, far more than a thousand numbers need.
const LONGEST_LINE: u64 = 64 * 1024;
/// Share of all words at which a common word counts half.
const HALF_WEIGHT: f64 = 1e-3;

/// Size of a prepared file of word vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreparedWordVectors {
    /// Number of words.
    pub words: usize,
    /// Numbers per vector.
    pub dimension: usize,
    /// Size of the prepared file.
    pub bytes: usize,
}

/// Words in file order, the most common first.
#[derive(Default)]
struct Gathered {
    places: HashMap<u64, u32>,
    /// Numbers of all words, concatenated.
    values: Vec<f32>,
    dimension: usize,
}

pub(super) fn prepare(
    path: &Path,
    folder: &Dir,
    name: &RelPath,
) -> Result<PreparedWordVectors, WordFileError> {
    let source = WordFileStamp::of(path)?;
    let (gathered, hash) = read(path)?;
    let words = gathered.places.len();
    if words == 0 {
        let problem = "no words in the file".to_owned();
        return Err(WordFileError::Line { path: path.to_owned(), line: 1, problem });
    }
    let head = TableHead {
        words: count(words),
        dimension: count(gathered.dimension),
        source,
        fingerprint: ModelFingerprint::of(&["word vectors 1", &hash]),
    };
    let bytes = encode(&head, gathered);
    let replacement = Replacement { durability: Durability::Unsynced, ..Replacement::new(&bytes) };
    folder.replace_with(name, &replacement)?;
    let dimension = usize::try_from(head.dimension).unwrap_or(0);
    Ok(PreparedWordVectors { words, dimension, bytes: bytes.len() })
}

/// Reads the words and a hash of the file.
fn read(path: &Path) -> Result<(Gathered, String), WordFileError> {
    let unreadable = |error| FileError::new(FileAction::Read, path.to_owned(), error);
    let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
    let mut gathered = Gathered::default();
    let mut hasher = blake3::Hasher::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let limited = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut line);
        if limited.map_err(unreadable)? == 0 || gathered.places.len() >= MOST_WORDS {
            break;
        }
        hasher.update(&line);
        let added = gathered.add(&String::from_utf8_lossy(&line), number == 1);
        added.map_err(|problem| WordFileError::Line {
            path: path.to_owned(),
            line: number,
            problem,
        })?;
    }
    Ok((gathered, hasher.finalize().to_hex().to_string()))
}

impl Gathered {
    /// Adds a line. The first may hold the number of words and of numbers.
    fn add(&mut self, line: &str, is_first: bool) -> Result<(), String> {
        let mut parts = line.split_ascii_whitespace();
        let Some(word) = parts.next() else { return Ok(()) };
        let values = parts.map(str::parse).collect::<Result<Vec<f32>, _>>();
        let values = match values {
            Ok(values) if is_first && values.len() == 1 => return Ok(()),
            Ok(values) => values,
            // Some tools write words with a space in them, which no text is split into.
            Err(_) if self.dimension > 0 => return Ok(()),
            Err(_) => return Err("not all values after the word are numbers".to_owned()),
        };
        if self.dimension == 0 {
            self.dimension = values.len();
        }
        if values.is_empty() || values.len() != self.dimension {
            return Err(format!("{} numbers, expected {}", values.len(), self.dimension));
        }
        if !values.iter().all(|value| value.is_finite()) {
            return Err("a value is not a finite number".to_owned());
        }
        // The most common spelling of a word is used for all.
        if let Some(key) = single_word(word).as_deref().map(key)
            && !self.places.contains_key(&key)
        {
            self.places.insert(key, count(self.places.len()));
            self.values.extend(values);
        }
        Ok(())
    }
}

/// The word as texts are split into; `None` for punctuation and for words that would be split.
fn single_word(word: &str) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    split_text(word, |piece| match piece {
        TextPiece::Word { text, .. } | TextPiece::Run { text } => found.push(text.to_owned()),
        TextPiece::Part { .. } => {}
    });
    (found.len() == 1).then(|| found.pop()).flatten()
}

fn encode(head: &TableHead, gathered: Gathered) -> Vec<u8> {
    let mut keys: Vec<(u64, u32)> = gathered.places.into_iter().collect();
    keys.sort_unstable();
    let mut bytes = head.encode();
    let mut row = 0;
    for start in (0_u64..).take(STARTS) {
        while keys.get(row).is_some_and(|(key, _)| prefix(*key) < start) {
            row += 1;
        }
        bytes.extend_from_slice(&count(row).to_le_bytes());
    }
    for (key, _) in &keys {
        bytes.extend_from_slice(&key.to_le_bytes());
    }
    let mean = mean(&gathered.values, gathered.dimension);
    let sum_of_shares: f64 = (1..=head.words).map(|rank| 1.0 / f64::from(rank)).sum();
    for (_, place) in keys {
        let at = usize::try_from(place).unwrap_or(usize::MAX).saturating_mul(gathered.dimension);
        let end = at.saturating_add(gathered.dimension);
        let values = gathered.values.get(at..end).unwrap_or_default();
        // Frequency by position in the list (Zipf's law).
        let share = 1.0 / (f64::from(place) + 1.0) / sum_of_shares;
        put(&mut bytes, values, &mean, HALF_WEIGHT / (HALF_WEIGHT + share));
    }
    bytes
}

/// The mean vector, which is subtracted because it does not distinguish texts.
fn mean(values: &[f32], dimension: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f64; dimension];
    let mut rows = 0.0_f64;
    for row in values.chunks_exact(dimension.max(1)) {
        rows += 1.0;
        sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    #[expect(clippy::cast_possible_truncation, reason = "a mean of such numbers")]
    let mean = sum.into_iter().map(|sum| (sum / rows.max(1.0)) as f32).collect();
    mean
}

#[expect(clippy::cast_possible_truncation, reason = "weights, and steps between -127 and 127")]
fn put(bytes: &mut Vec<u8>, values: &[f32], mean: &[f32], weight: f64) {
    let moved: Vec<f32> = values.iter().zip(mean).map(|(value, mean)| value - mean).collect();
    let most = moved.iter().fold(f32::MIN_POSITIVE, |most, value| most.max(value.abs()));
    let factor = most / 127.0 * weight as f32;
    bytes.extend_from_slice(&factor.to_le_bytes());
    bytes.extend(moved.iter().map(|value| ((value / most * 127.0).round() as i8).cast_unsigned()));
}

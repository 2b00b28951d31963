//! The stored vectors of one collection: a cache next to its index.
//!
//! One byte array: header, a column for each fact about a document, one for each fact about a vector, a checksum. Documents
//! are sorted by file as in the index, so that both can be read in parallel; the vectors of a document are adjacent, that of
//! its whole text first. Damaged bytes and vectors of another model are ignored.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use dormouse_base::{Dir, Durability, FileError, RelPath, Replacement};

use super::bytes::{ByteReader, count, number};
use super::embedder::ModelFingerprint;
use super::vector::{Vector, VectorBytes};

const FILE: &str = "vectors";
const MAGIC: &[u8; 8] = b"DORMVECT";
const VERSION: u32 = 2;
const CHECK: usize = 32;
const HEAD: usize = 8 + 4 + 32 + 4 + 4 + 4 + 4;
/// Hash of a text.
pub(super) type TextId = [u8; 16];

/// Modification time and size of a file: tells whether it may have changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileStamp {
    /// In nanoseconds since 1970.
    pub modified: i64,
    /// In bytes.
    pub size: u64,
}

/// The entry of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VectorRow {
    pub(super) stamp: FileStamp,
    pub(super) text: TextId,
    /// Of its whole text, then of its sentences; none if the model does not support its language.
    pub(super) vectors: Vec<Vector>,
}

/// Vectors as stored on disk.
#[derive(Debug)]
pub(crate) struct StoredVectors {
    bytes: Vec<u8>,
    rows: usize,
    dimension: usize,
    /// End of each column: stamps, text ids, ends of vectors, ends of file names, file names, lengths, vectors.
    ends: [usize; 7],
    /// Computed when it is first needed.
    spread: OnceLock<SimilaritySpread>,
}

/// How similar two documents of a collection are: what is usual for a model, and so what a similarity means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SimilaritySpread {
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl Default for SimilaritySpread {
    fn default() -> Self {
        Self { mean: 0.0, deviation: 1.0 }
    }
}

/// Number of documents from which the spread is computed.
const SPREAD_SAMPLE: usize = 48;
/// Lowest deviation: identical documents do not make every other one infinitely similar.
const LEAST_DEVIATION: f64 = 0.01;

impl SimilaritySpread {
    /// A similarity in deviations above the mean.
    pub(crate) fn standardized(self, similarity: f64) -> f64 {
        (similarity - self.mean) / self.deviation
    }

    fn of(sample: &[StoredVector<'_>]) -> Self {
        let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (index, a) in sample.iter().enumerate() {
            let Some(a) = a.whole().and_then(VectorBytes::to_vector) else { continue };
            for b in sample.iter().skip(index + 1).filter_map(StoredVector::whole) {
                let similarity = a.similarity(b);
                count += 1.0;
                sum += similarity;
                squares += similarity * similarity;
            }
        }
        if count < 1.0 {
            return Self::default();
        }
        let mean = sum / count;
        let deviation = (squares / count - mean * mean).max(0.0).sqrt().max(LEAST_DEVIATION);
        Self { mean, deviation }
    }
}

impl StoredVectors {
    /// Opens stored bytes; `None` if they are damaged or of another model.
    fn open(bytes: Vec<u8>, fingerprint: ModelFingerprint) -> Option<Self> {
        let body = bytes.get(..bytes.len().checked_sub(CHECK)?)?;
        let mut front = ByteReader(body);
        let is_ours = front.array::<8>()? == *MAGIC
            && front.number()? == VERSION
            && front.array::<32>()? == fingerprint.0;
        if !is_ours || bytes.get(body.len()..)? != blake3::hash(body).as_bytes() {
            return None;
        }
        let [rows, vectors, dimension, files] =
            [front.number()?, front.number()?, front.number()?, front.number()?]
                .map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let mut ends = [HEAD; 7];
        let mut end = HEAD;
        let of_rows = [16, 16, 4, 4].map(|width| rows.checked_mul(width));
        let of_vectors = [4, dimension].map(|width| vectors.checked_mul(width));
        let sizes = of_rows.into_iter().chain([Some(files)]).chain(of_vectors);
        for (place, size) in ends.iter_mut().zip(sizes) {
            end = end.checked_add(size?)?;
            *place = end;
        }
        (end == body.len()).then_some(Self {
            bytes,
            rows,
            dimension,
            ends,
            spread: OnceLock::new(),
        })
    }

    fn column(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(at).copied().unwrap_or(HEAD);
        self.bytes.get(start.copied().unwrap_or(HEAD)..end).unwrap_or_default()
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of rows.
    pub(crate) fn count(&self) -> usize {
        self.rows
    }

    /// How similar two of the documents are, from a sample.
    pub(crate) fn spread(&self) -> SimilaritySpread {
        *self.spread.get_or_init(|| {
            let step = self.rows.div_ceil(SPREAD_SAMPLE).max(1);
            SimilaritySpread::of(&self.rows().step_by(step).collect::<Vec<_>>())
        })
    }

    /// All rows, sorted by file.
    pub(crate) fn rows(&self) -> impl Iterator<Item = StoredVector<'_>> {
        let columns = [0, 1, 2, 3, 4, 5, 6].map(|at| self.column(at));
        (0..self.rows).filter_map(move |row| {
            let [stamps, texts, vector_ends, file_ends, files, lengths, steps] = columns;
            let vectors = range(vector_ends, row)?;
            let of_vectors = |width: usize| {
                Some(vectors.start.checked_mul(width)?..vectors.end.checked_mul(width)?)
            };
            Some(StoredVector {
                file: std::str::from_utf8(files.get(range(file_ends, row)?)?).ok()?,
                stamp: FileStamp {
                    modified: i64::from_le_bytes(number::<8>(stamps, row * 2)?),
                    size: u64::from_le_bytes(number::<8>(stamps, row * 2 + 1)?),
                },
                text: number::<16>(texts, row)?,
                lengths: lengths.get(of_vectors(4)?)?,
                steps: steps.get(of_vectors(self.dimension)?)?,
            })
        })
    }
}

/// What belongs to a row, by a column that says where each row ends.
fn range(ends: &[u8], row: usize) -> Option<Range<usize>> {
    let end = |row: usize| usize::try_from(u32::from_le_bytes(number::<4>(ends, row)?)).ok();
    let start = if row == 0 { 0 } else { end(row - 1)? };
    Some(start..end(row)?)
}

/// One stored row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredVector<'a> {
    pub(crate) file: &'a str,
    pub(crate) stamp: FileStamp,
    pub(super) text: TextId,
    lengths: &'a [u8],
    steps: &'a [u8],
}

impl<'a> StoredVector<'a> {
    /// The vectors of the whole text and of the sentences.
    fn vectors(&self) -> impl Iterator<Item = VectorBytes<'a>> + use<'a> {
        let lengths =
            self.lengths.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
        let dimension = self.steps.len() / lengths.len().max(1);
        let steps = self.steps.chunks_exact(dimension.max(1));
        let all = lengths.zip(steps).map(|(length, steps)| VectorBytes { steps, length });
        // Also refuses what is no number.
        all.filter(|vector| vector.length > 0.0)
    }

    /// The vector of the whole text; `None` if the model does not support its language.
    pub(crate) fn whole(&self) -> Option<VectorBytes<'a>> {
        self.vectors().next()
    }

    /// Similarity of a document that is this similar as a whole: half of it is that of its most similar sentence.
    pub(crate) fn similarity(&self, query: &Vector, whole: f64) -> f64 {
        let of_sentences = self.vectors().skip(1).map(|vector| query.similarity(vector));
        let best = of_sentences.reduce(f64::max).unwrap_or(whole);
        f64::midpoint(whole, best)
    }

    pub(super) fn to_row(self) -> VectorRow {
        let vectors = self.vectors().filter_map(VectorBytes::to_vector).collect();
        VectorRow { stamp: self.stamp, text: self.text, vectors }
    }
}

fn encode(rows: &BTreeMap<String, VectorRow>, fingerprint: ModelFingerprint) -> Vec<u8> {
    let vectors = || rows.values().flat_map(|row| &row.vectors);
    let dimension = vectors().next().map_or(0, Vector::dimension);
    let files: usize = rows.keys().map(String::len).sum();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&fingerprint.0);
    for length in [rows.len(), vectors().count(), dimension, files] {
        bytes.extend_from_slice(&count(length).to_le_bytes());
    }
    for row in rows.values() {
        bytes.extend_from_slice(&row.stamp.modified.to_le_bytes());
        bytes.extend_from_slice(&row.stamp.size.to_le_bytes());
    }
    for row in rows.values() {
        bytes.extend_from_slice(&row.text);
    }
    push_ends(&mut bytes, rows.values().map(|row| row.vectors.len()));
    push_ends(&mut bytes, rows.keys().map(String::len));
    for file in rows.keys() {
        bytes.extend_from_slice(file.as_bytes());
    }
    for vector in vectors() {
        bytes.extend_from_slice(&vector.length().to_le_bytes());
    }
    for vector in vectors() {
        bytes.extend(vector.bytes());
    }
    let check = blake3::hash(&bytes);
    bytes.extend_from_slice(check.as_bytes());
    bytes
}

/// Adds a column that says where each row ends.
fn push_ends(bytes: &mut Vec<u8>, lengths: impl Iterator<Item = usize>) {
    let mut end = 0;
    for length in lengths {
        end += length;
        bytes.extend_from_slice(&count(end).to_le_bytes());
    }
}

/// Modification time and size of the vector file.
type Stamp = (SystemTime, u64);

/// The vector file of a collection, read again when it has changed.
#[derive(Debug)]
pub struct VectorFile {
    folder: Dir,
    held: Mutex<Option<(Stamp, Option<Arc<StoredVectors>>)>>,
}

impl VectorFile {
    /// The file in a cache folder; it need not exist.
    pub fn new(folder: Dir) -> Self {
        Self { folder, held: Mutex::default() }
    }

    pub(super) fn folder(&self) -> &Dir {
        &self.folder
    }

    fn stamp(&self) -> Option<Stamp> {
        let entry = self.folder.entry(&RelPath::new(FILE).ok()?).ok()?;
        Some((entry.modified, entry.size))
    }

    /// Reads the vectors of a model; `None` if there are none or they are damaged.
    pub(crate) fn read(&self, fingerprint: ModelFingerprint) -> Option<Arc<StoredVectors>> {
        // Read the stamp first: a file that is replaced during reading has another one afterwards.
        let stamp = self.stamp()?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, stored)) = &*held
            && *known == stamp
        {
            return stored.clone();
        }
        let bytes = self.folder.read(&RelPath::new(FILE).ok()?).ok()?;
        let stored = StoredVectors::open(bytes, fingerprint).map(Arc::new);
        *held = Some((stamp, stored.clone()));
        stored
    }

    /// Removes all vectors, if there are any.
    pub fn remove(&self) -> Result<(), FileError> {
        let Ok(path) = RelPath::new(FILE) else { return Ok(()) };
        match self.folder.remove_file(&path) {
            Err(error) if !error.is_not_found() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Replaces all vectors.
    pub(super) fn write(
        &self,
        rows: &BTreeMap<String, VectorRow>,
        fingerprint: ModelFingerprint,
    ) -> Result<(), FileError> {
        let Ok(path) = RelPath::new(FILE) else { return Ok(()) };
        let bytes = encode(rows, fingerprint);
        let replacement =
            Replacement { durability: Durability::Unsynced, ..Replacement::new(&bytes) };
        self.folder.replace_with(&path, &replacement)
    }
}

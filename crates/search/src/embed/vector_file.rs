//! The stored vectors of one collection: a cache next to its index.
//!
//! One byte array: header, a column for each fact about a document, the vectors, a checksum. Documents are sorted by
//! file as in the index, so that both can be read in parallel. Damaged bytes and vectors of another model are ignored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use dormouse_base::{Dir, Durability, FileError, RelPath, Replacement};

use super::bytes::{ByteReader, count, number};
use super::embedder::ModelFingerprint;
use super::vector::{Vector, VectorBytes};

const FILE: &str = "vectors";
const MAGIC: &[u8; 8] = b"DORMVECT";
const VERSION: u32 = 1;
const CHECK: usize = 32;
const HEAD: usize = 8 + 4 + 32 + 4 + 4 + 4;
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

/// The entry of a document. Without a vector, the model does not support its language.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct VectorRow {
    pub(super) stamp: FileStamp,
    pub(super) text: TextId,
    pub(super) vector: Option<Vector>,
}

/// Vectors as stored on disk.
#[derive(Debug)]
pub(crate) struct StoredVectors {
    bytes: Vec<u8>,
    rows: usize,
    dimension: usize,
    /// End of each column: stamps, text ids, lengths, ends of file names, file names, vectors.
    ends: [usize; 6],
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
            let Some(a) = a.to_row().vector else { continue };
            for b in sample.iter().skip(index + 1).filter_map(|row| row.vector) {
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
        let [rows, dimension, files] = [front.number()?, front.number()?, front.number()?]
            .map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let mut ends = [HEAD; 6];
        let mut end = HEAD;
        let sizes = [rows.checked_mul(16), rows.checked_mul(16), rows.checked_mul(4)];
        let more = [rows.checked_mul(4), Some(files), rows.checked_mul(dimension)];
        for (place, size) in ends.iter_mut().zip(sizes.into_iter().chain(more)) {
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
        let columns = [0, 1, 2, 3, 4, 5].map(|at| self.column(at));
        (0..self.rows).filter_map(move |row| {
            let [stamps, texts, lengths, file_ends, files, vectors] = columns;
            let end_of =
                |row: usize| usize::try_from(u32::from_le_bytes(number::<4>(file_ends, row)?)).ok();
            let start = if row == 0 { 0 } else { end_of(row - 1)? };
            let length = f32::from_le_bytes(number::<4>(lengths, row)?);
            let at = row.checked_mul(self.dimension)?;
            let steps = vectors.get(at..at.checked_add(self.dimension)?)?;
            Some(StoredVector {
                file: std::str::from_utf8(files.get(start..end_of(row)?)?).ok()?,
                stamp: FileStamp {
                    modified: i64::from_le_bytes(number::<8>(stamps, row * 2)?),
                    size: u64::from_le_bytes(number::<8>(stamps, row * 2 + 1)?),
                },
                text: number::<16>(texts, row)?,
                vector: (length > 0.0).then_some(VectorBytes { steps, length }),
            })
        })
    }
}

/// One stored row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredVector<'a> {
    pub(crate) file: &'a str,
    pub(crate) stamp: FileStamp,
    pub(super) text: TextId,
    pub(crate) vector: Option<VectorBytes<'a>>,
}

impl StoredVector<'_> {
    pub(super) fn to_row(self) -> VectorRow {
        let vector = self.vector.and_then(|vector| {
            let steps: Vec<f32> =
                vector.steps.iter().map(|step| f32::from(step.cast_signed())).collect();
            Vector::new(&steps)
        });
        VectorRow { stamp: self.stamp, text: self.text, vector }
    }
}

fn encode(rows: &BTreeMap<String, VectorRow>, fingerprint: ModelFingerprint) -> Vec<u8> {
    let dimension = rows.values().find_map(|row| row.vector.as_ref()).map_or(0, Vector::dimension);
    let files: usize = rows.keys().map(String::len).sum();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&fingerprint.0);
    for length in [rows.len(), dimension, files] {
        bytes.extend_from_slice(&count(length).to_le_bytes());
    }
    for row in rows.values() {
        bytes.extend_from_slice(&row.stamp.modified.to_le_bytes());
        bytes.extend_from_slice(&row.stamp.size.to_le_bytes());
    }
    for row in rows.values() {
        bytes.extend_from_slice(&row.text);
    }
    for row in rows.values() {
        let length = row.vector.as_ref().map_or(0.0, Vector::length);
        bytes.extend_from_slice(&length.to_le_bytes());
    }
    let mut end = 0;
    for file in rows.keys() {
        end += file.len();
        bytes.extend_from_slice(&count(end).to_le_bytes());
    }
    for file in rows.keys() {
        bytes.extend_from_slice(file.as_bytes());
    }
    for row in rows.values() {
        match &row.vector {
            Some(vector) => bytes.extend(vector.bytes()),
            None => bytes.extend(std::iter::repeat_n(0, dimension)),
        }
    }
    let check = blake3::hash(&bytes);
    bytes.extend_from_slice(check.as_bytes());
    bytes
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

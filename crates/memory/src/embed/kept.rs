//! The vectors of one memory directory, kept beside its index: a cache, as that is.
//!
//! One piece of bytes: head, a column for each fact about a memory, the vectors, a checksum. Memories are in the
//! order of their files, as in the index, so that the two are walked side by side. Bytes that are not what was
//! written, or that another model's vectors are in, are as good as none.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use dormouse_base::{Dir, Durability, FileError, RelPath, Replacement};

use super::bytes::{Front, count, number};
use super::{Fingerprint, Ray, Vector};

const FILE: &str = "vectors";
const MAGIC: &[u8; 8] = b"DORMVECT";
const VERSION: u32 = 1;
const CHECK: usize = 32;
const HEAD: usize = 8 + 4 + 32 + 4 + 4 + 4;
/// What tells one text from another.
pub(super) type TextId = [u8; 16];

/// A memory's file from outside, as the index knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) modified: i64,
    pub(crate) size: u64,
}

/// What is kept of a memory. Without a vector: the model does not know its language.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) seen: Seen,
    pub(super) text: TextId,
    pub(super) vector: Option<Vector>,
}

/// Vectors as they were written.
#[derive(Debug)]
pub(crate) struct Kept {
    bytes: Vec<u8>,
    rows: usize,
    dimension: usize,
    /// Where each column ends: stamps, text ids, lengths, ends of file names, file names, vectors.
    ends: [usize; 6],
}

impl Kept {
    /// Takes bytes as they were written; none if they are not, or are another model's.
    fn open(bytes: Vec<u8>, fingerprint: Fingerprint) -> Option<Self> {
        let body = bytes.get(..bytes.len().checked_sub(CHECK)?)?;
        let mut front = Front(body);
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
        (end == body.len()).then_some(Self { bytes, rows, dimension, ends })
    }

    fn column(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(at).copied().unwrap_or(HEAD);
        self.bytes.get(start.copied().unwrap_or(HEAD)..end).unwrap_or_default()
    }

    /// How many numbers its vectors have.
    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    /// All rows, in the order of their files.
    pub(crate) fn rows(&self) -> impl Iterator<Item = KeptRow<'_>> {
        let columns = [0, 1, 2, 3, 4, 5].map(|at| self.column(at));
        (0..self.rows).filter_map(move |row| {
            let [stamps, texts, lengths, file_ends, files, vectors] = columns;
            let end_of =
                |row: usize| usize::try_from(u32::from_le_bytes(number::<4>(file_ends, row)?)).ok();
            let start = if row == 0 { 0 } else { end_of(row - 1)? };
            let length = f32::from_le_bytes(number::<4>(lengths, row)?);
            let at = row.checked_mul(self.dimension)?;
            let steps = vectors.get(at..at.checked_add(self.dimension)?)?;
            Some(KeptRow {
                file: std::str::from_utf8(files.get(start..end_of(row)?)?).ok()?,
                seen: Seen {
                    modified: i64::from_le_bytes(number::<8>(stamps, row * 2)?),
                    size: u64::from_le_bytes(number::<8>(stamps, row * 2 + 1)?),
                },
                text: number::<16>(texts, row)?,
                ray: (length > 0.0).then_some(Ray { steps, length }),
            })
        })
    }
}

/// A memory of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptRow<'a> {
    pub(crate) file: &'a str,
    pub(crate) seen: Seen,
    pub(super) text: TextId,
    pub(crate) ray: Option<Ray<'a>>,
}

impl KeptRow<'_> {
    pub(super) fn to_row(self) -> Row {
        let vector = self.ray.and_then(|ray| {
            let steps: Vec<f32> =
                ray.steps.iter().map(|step| f32::from(step.cast_signed())).collect();
            Vector::new(&steps)
        });
        Row { seen: self.seen, text: self.text, vector }
    }
}

fn encode(rows: &BTreeMap<String, Row>, fingerprint: Fingerprint) -> Vec<u8> {
    let dimension = rows.values().find_map(|row| row.vector.as_ref()).map_or(0, Vector::dimension);
    let files: usize = rows.keys().map(String::len).sum();
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(&fingerprint.0);
    for length in [rows.len(), dimension, files] {
        bytes.extend_from_slice(&count(length).to_le_bytes());
    }
    for row in rows.values() {
        bytes.extend_from_slice(&row.seen.modified.to_le_bytes());
        bytes.extend_from_slice(&row.seen.size.to_le_bytes());
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

/// When a file was written, and how long it is: another one has another stamp.
type Stamp = (SystemTime, u64);

/// The file of them, read again when somebody has written it.
#[derive(Debug)]
pub(crate) struct VectorsFile {
    folder: Dir,
    held: Mutex<Option<(Stamp, Option<Arc<Kept>>)>>,
}

impl VectorsFile {
    pub(crate) fn new(folder: Dir) -> Self {
        Self { folder, held: Mutex::default() }
    }

    pub(super) fn folder(&self) -> &Dir {
        &self.folder
    }

    fn stamp(&self) -> Option<Stamp> {
        let entry = self.folder.entry(&RelPath::new(FILE).ok()?).ok()?;
        Some((entry.modified, entry.size))
    }

    /// The vectors of a model; none if there are none, or they are damaged.
    pub(crate) fn read(&self, fingerprint: Fingerprint) -> Option<Arc<Kept>> {
        // The stamp comes first: a file that is replaced while it is read has another one afterwards.
        let stamp = self.stamp()?;
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, kept)) = &*held
            && *known == stamp
        {
            return kept.clone();
        }
        let bytes = self.folder.read(&RelPath::new(FILE).ok()?).ok()?;
        let kept = Kept::open(bytes, fingerprint).map(Arc::new);
        *held = Some((stamp, kept.clone()));
        kept
    }

    /// Removes them; there may be none.
    pub(crate) fn remove(&self) -> Result<(), FileError> {
        let Ok(path) = RelPath::new(FILE) else { return Ok(()) };
        match self.folder.remove_file(&path) {
            Err(error) if !error.is_not_found() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Writes them anew. A cache that can not be written is said by whoever looks for it.
    pub(super) fn write(
        &self,
        rows: &BTreeMap<String, Row>,
        fingerprint: Fingerprint,
    ) -> Result<(), FileError> {
        let Ok(path) = RelPath::new(FILE) else { return Ok(()) };
        let bytes = encode(rows, fingerprint);
        let hasty = Replacement { durability: Durability::Unsynced, ..Replacement::new(&bytes) };
        self.folder.replace_with(&path, &hasty)
    }
}

//! Makes missing vectors, by a command or in the background, never while a query waits.
//!
//! One process at a time; others use the existing vectors. Vectors made before a failure are kept, and a document whose
//! text is unchanged is not given to the model again.

use std::collections::BTreeMap;

use dormouse_base::{FileError, Lock, LockError, RelPath};
use thiserror::Error;

use super::embedder::{EmbedError, Embedder, check_vectors};
use super::embedding_text::EmbeddingTexts;
use super::vector::Vector;
use super::vector_file::{FileStamp, StoredVectors, TextId, VectorFile, VectorRow};

const LOCK: &str = "vectors.lock";
/// Number of texts per call of the model.
const BATCH: usize = 32;
/// Vectors are written after this many documents, or this fraction of all.
const WRITE_AFTER: usize = 256;
const WRITE_SHARE: usize = 8;

/// How many documents have vectors.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VectorCounts {
    /// Documents that models may see.
    pub documents: usize,
    /// Documents with a vector.
    pub with_vector: usize,
    /// Documents whose vectors this call made.
    pub new: usize,
    /// Documents in a language that the model does not support.
    pub unsupported: usize,
    /// Collections whose vectors another process is making.
    pub busy: usize,
}

impl VectorCounts {
    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents + other.documents,
            with_vector: self.with_vector + other.with_vector,
            new: self.new + other.new,
            unsupported: self.unsupported + other.unsupported,
            busy: self.busy + other.busy,
        }
    }

    /// Documents without a vector that the model supports.
    pub fn missing(self) -> usize {
        self.documents.saturating_sub(self.with_vector + self.unsupported)
    }

    fn count(rows: &BTreeMap<String, VectorRow>, documents: usize) -> Self {
        let with_vector = rows.values().filter(|row| !row.vectors.is_empty()).count();
        Self { documents, with_vector, unsupported: rows.len() - with_vector, ..Self::default() }
    }
}

/// Why vectors could not be made.
#[derive(Debug, Error)]
pub enum VectorFillError {
    /// No model is configured.
    #[error("no embedding model is configured")]
    NoModel,
    /// No cache folder.
    #[error("there is no cache folder for vectors")]
    NoCache,
    /// The model failed.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A document or the cache could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Makes the vectors of one collection.
pub struct VectorFiller<'a> {
    /// The current texts of a document; `None` if it cannot be read now.
    pub read_texts: &'a dyn Fn(&str, FileStamp) -> Option<EmbeddingTexts>,
    /// Where the vectors are stored.
    pub file: &'a VectorFile,
    /// The model.
    pub embedder: &'a dyn Embedder,
}

/// A document without a vector.
struct Missing {
    file: String,
    stamp: FileStamp,
    id: TextId,
    /// The whole, and the sentences that the model supports.
    texts: Vec<String>,
}

impl VectorFiller<'_> {
    /// Counts documents with vectors, without making any.
    pub fn count(&self, current: &BTreeMap<String, FileStamp>) -> VectorCounts {
        let mut rows = self.rows();
        rows.retain(|file, row| current.get(file) == Some(&row.stamp));
        VectorCounts::count(&rows, current.len())
    }

    /// Makes the vectors of at most `most` of the current documents.
    pub fn fill(
        &self,
        current: &BTreeMap<String, FileStamp>,
        most: usize,
    ) -> Result<VectorCounts, VectorFillError> {
        let Ok(lock) = RelPath::new(LOCK) else { return Err(VectorFillError::NoCache) };
        let _lock = match Lock::try_acquire(self.file.folder(), &lock) {
            Ok(lock) => lock,
            Err(LockError::Held { .. }) => {
                return Ok(VectorCounts { busy: 1, ..self.count(current) });
            }
            Err(LockError::File(error)) => return Err(error.into()),
        };
        let rows = self.rows();
        let dimension = dimension(&rows);
        match self.fill_from(rows, dimension, current, most) {
            // Another model answers under the same name: the old vectors are useless.
            Err(VectorFillError::Embed(EmbedError::Dimension { expected, .. }))
                if Some(expected) == dimension =>
            {
                self.fill_from(BTreeMap::new(), None, current, most)
            }
            done => done,
        }
    }

    fn rows(&self) -> BTreeMap<String, VectorRow> {
        let kept = self.file.read(self.embedder.fingerprint());
        let rows = kept.iter().flat_map(|kept| StoredVectors::rows(kept));
        rows.map(|row| (row.file.to_owned(), row.to_row())).collect()
    }

    fn fill_from(
        &self,
        mut rows: BTreeMap<String, VectorRow>,
        mut dimension: Option<usize>,
        current: &BTreeMap<String, FileStamp>,
        most: usize,
    ) -> Result<VectorCounts, VectorFillError> {
        let before = rows.len();
        rows.retain(|file, _| current.contains_key(file));
        let mut changed = rows.len() != before;
        let mut missing = Vec::new();
        for (file, stamp) in current {
            if rows.get(file).is_some_and(|row| row.stamp == *stamp) {
                continue;
            }
            changed = true;
            missing.extend(self.check(file, *stamp, &mut rows));
            if missing.len() >= most {
                break;
            }
        }
        let mut new = 0;
        let mut unwritten = 0;
        let often = WRITE_AFTER.max(current.len() / WRITE_SHARE);
        for batch in batches(&missing) {
            match self.vectors(batch, dimension) {
                Ok(vectors) => {
                    dimension = dimension.or(vectors.first().map(Vector::dimension));
                    new += batch.len();
                    unwritten += batch.len();
                    add(&mut rows, batch, vectors);
                }
                // Keep the vectors made so far, unless they contradict the stored ones.
                Err(error) => {
                    if new > 0 {
                        self.write(&rows)?;
                    }
                    return Err(error.into());
                }
            }
            if unwritten >= often {
                self.write(&rows)?;
                unwritten = 0;
            }
        }
        if changed {
            self.write(&rows)?;
        }
        // Rows of documents that were not processed belong to an earlier text.
        rows.retain(|file, row| current.get(file) == Some(&row.stamp));
        Ok(VectorCounts { new, ..VectorCounts::count(&rows, current.len()) })
    }

    fn write(&self, rows: &BTreeMap<String, VectorRow>) -> Result<(), VectorFillError> {
        Ok(self.file.write(rows, self.embedder.fingerprint())?)
    }

    /// Checks a changed document; returns it if the model has to be asked.
    fn check(
        &self,
        file: &str,
        stamp: FileStamp,
        rows: &mut BTreeMap<String, VectorRow>,
    ) -> Option<Missing> {
        // A document that cannot be read now has no vector, and is tried again later.
        let texts = (self.read_texts)(file, stamp)?;
        let id = id_of(&texts);
        let EmbeddingTexts { whole, mut sentences } = texts;
        if let Some(row) = rows.get_mut(file).filter(|row| row.text == id) {
            row.stamp = stamp;
            return None;
        }
        if !self.embedder.supports(&whole) {
            rows.insert(file.to_owned(), VectorRow { stamp, text: id, vectors: Vec::new() });
            return None;
        }
        sentences.retain(|sentence| self.embedder.supports(sentence));
        let texts = std::iter::once(whole).chain(sentences).collect();
        Some(Missing { file: file.to_owned(), stamp, id, texts })
    }

    fn vectors(
        &self,
        batch: &[Missing],
        dimension: Option<usize>,
    ) -> Result<Vec<Vector>, EmbedError> {
        let texts: Vec<&str> =
            batch.iter().flat_map(|missing| &missing.texts).map(String::as_str).collect();
        check_vectors(self.embedder.embed(&texts)?, texts.len(), dimension)
    }
}

fn add(rows: &mut BTreeMap<String, VectorRow>, batch: &[Missing], vectors: Vec<Vector>) {
    let mut vectors = vectors.into_iter();
    for missing in batch {
        let vectors = vectors.by_ref().take(missing.texts.len()).collect();
        let row = VectorRow { stamp: missing.stamp, text: missing.id, vectors };
        rows.insert(missing.file.clone(), row);
    }
}

/// Documents that together have about as many texts as one call takes; one document is never in two.
fn batches(missing: &[Missing]) -> impl Iterator<Item = &[Missing]> {
    let mut rest = missing;
    std::iter::from_fn(move || {
        let mut texts = 0;
        let fits = |missing: &&Missing| {
            texts += missing.texts.len();
            texts <= BATCH
        };
        let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
        let (batch, after) = rest.split_at(count);
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

fn dimension(rows: &BTreeMap<String, VectorRow>) -> Option<usize> {
    rows.values().find_map(|row| row.vectors.first()).map(Vector::dimension)
}

fn id_of(texts: &EmbeddingTexts) -> TextId {
    let mut hasher = blake3::Hasher::new();
    for text in std::iter::once(&texts.whole).chain(&texts.sentences) {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    let mut id = TextId::default();
    let hash = hasher.finalize();
    id.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    id
}

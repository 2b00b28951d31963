//! Making the vectors that are missing: by a command or in the background, never while a question waits.
//!
//! One process at a time; the others go on with what is there. What was made before a failure is kept, and a
//! memory that only looks changed is not given to the model again.

use std::collections::BTreeMap;

use dormouse_base::{FileError, Lock, LockError, RelPath};
use thiserror::Error;

use super::kept::{Kept, Row, Seen, TextId, VectorsFile};
use super::{EmbedError, Embedder, Vector, checked};
use crate::{Entry, MemoryFile, Store};

const LOCK: &str = "vectors.lock";
/// How many texts are given to a model at once.
const BATCH: usize = 32;
/// What was made is written down after so many memories, or this share of all.
const WRITE_AFTER: usize = 256;
const WRITE_SHARE: usize = 8;
/// Small models read no more; and the beginning says what a memory is about.
const LONGEST_TEXT: usize = 2000;
/// Goes up when [`text_of`] changes: vectors of another text are as those of another model.
pub(super) const TEXT_VERSION: &str = "text 1";

/// How many memories have vectors now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// The memories there are, but for those in quarantine, which no model sees.
    pub memories: usize,
    /// Those with a vector.
    pub with_vector: usize,
    /// Of these, how many were made just now.
    pub new: usize,
    /// Those in a language that the model does not know.
    pub unknown: usize,
    /// Directories whose vectors another process is making.
    pub busy: usize,
}

impl Filled {
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            memories: self.memories + other.memories,
            with_vector: self.with_vector + other.with_vector,
            new: self.new + other.new,
            unknown: self.unknown + other.unknown,
            busy: self.busy + other.busy,
        }
    }

    /// Memories that have none yet.
    pub fn missing(self) -> usize {
        self.memories.saturating_sub(self.with_vector + self.unknown)
    }

    fn count(rows: &BTreeMap<String, Row>, memories: usize) -> Self {
        let with_vector = rows.values().filter(|row| row.vector.is_some()).count();
        Self { memories, with_vector, unknown: rows.len() - with_vector, ..Self::default() }
    }
}

/// Why vectors could not be made.
#[derive(Debug, Error)]
pub enum FillError {
    /// No model is set up.
    #[error("no embedding model is set up")]
    NoModel,
    /// There is nowhere to keep them.
    #[error("there is no cache folder to keep vectors in")]
    NoCache,
    /// The model.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The memories, or the cache.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A memory as it is given to a model: what it is called, what it is about, and its beginning.
pub(crate) fn text_of(entry: &Entry, stem: &str) -> String {
    let header = &entry.header;
    let mut text = header.name.as_deref().unwrap_or(stem).to_owned();
    for part in header.description.as_deref().into_iter().chain([entry.body.trim()]) {
        text.push('\n');
        text.push_str(part);
    }
    let mut end = LONGEST_TEXT.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text
}

/// What is needed to make the vectors of a directory.
pub(crate) struct Filler<'a> {
    pub(crate) store: &'a Store,
    pub(crate) file: &'a VectorsFile,
    pub(crate) embedder: &'a dyn Embedder,
}

/// A memory that has no vector yet.
struct Missing {
    file: String,
    seen: Seen,
    id: TextId,
    text: String,
}

impl Filler<'_> {
    /// How many memories have vectors, without making any.
    pub(crate) fn count(&self, there: &BTreeMap<String, Seen>) -> Filled {
        let mut rows = self.rows();
        rows.retain(|file, row| there.get(file) == Some(&row.seen));
        Filled::count(&rows, there.len())
    }

    /// Makes at most so many vectors of the memories that are there.
    pub(crate) fn fill(
        &self,
        there: &BTreeMap<String, Seen>,
        most: usize,
    ) -> Result<Filled, FillError> {
        let Ok(lock) = RelPath::new(LOCK) else { return Err(FillError::NoCache) };
        let _lock = match Lock::try_acquire(self.file.folder(), &lock) {
            Ok(lock) => lock,
            Err(LockError::Held { .. }) => {
                return Ok(Filled { busy: 1, ..self.count(there) });
            }
            Err(LockError::File(error)) => return Err(error.into()),
        };
        let rows = self.rows();
        let dimension = dimension(&rows);
        match self.fill_from(rows, dimension, there, most) {
            // Another model answers by the same name: what the old one made is of no use any more.
            Err(FillError::Embed(EmbedError::Dimension { expected, .. }))
                if Some(expected) == dimension =>
            {
                self.fill_from(BTreeMap::new(), None, there, most)
            }
            done => done,
        }
    }

    fn rows(&self) -> BTreeMap<String, Row> {
        let kept = self.file.read(self.embedder.fingerprint());
        let rows = kept.iter().flat_map(|kept| Kept::rows(kept));
        rows.map(|row| (row.file.to_owned(), row.to_row())).collect()
    }

    fn fill_from(
        &self,
        mut rows: BTreeMap<String, Row>,
        mut dimension: Option<usize>,
        there: &BTreeMap<String, Seen>,
        most: usize,
    ) -> Result<Filled, FillError> {
        let before = rows.len();
        rows.retain(|file, _| there.contains_key(file));
        let mut changed = rows.len() != before;
        let mut missing = Vec::new();
        for (file, seen) in there {
            if rows.get(file).is_some_and(|row| row.seen == *seen) {
                continue;
            }
            changed = true;
            missing.extend(self.look(file, *seen, &mut rows));
            if missing.len() >= most {
                break;
            }
        }
        let (mut new, mut unwritten) = (0, 0);
        let often = WRITE_AFTER.max(there.len() / WRITE_SHARE);
        for batch in missing.chunks(BATCH) {
            match self.vectors(batch, dimension) {
                Ok(vectors) => {
                    dimension = dimension.or(vectors.first().map(Vector::dimension));
                    new += batch.len();
                    unwritten += batch.len();
                    add(&mut rows, batch, vectors);
                }
                // Before the error is told, what was made is kept; but not beside what it contradicts.
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
        // Rows of memories that there was no time for are of an earlier text.
        rows.retain(|file, row| there.get(file) == Some(&row.seen));
        Ok(Filled { new, ..Filled::count(&rows, there.len()) })
    }

    fn write(&self, rows: &BTreeMap<String, Row>) -> Result<(), FillError> {
        Ok(self.file.write(rows, self.embedder.fingerprint())?)
    }

    /// Looks at a memory that has changed; gives what the model has to be asked about.
    fn look(&self, file: &str, seen: Seen, rows: &mut BTreeMap<String, Row>) -> Option<Missing> {
        let name = MemoryFile::existing(file).ok()?;
        // What can not be read now has no vector, and is tried again another time.
        let (bytes, _) = self.store.read(&name).ok()?;
        let text = text_of(&Entry::read(&bytes, seen.size), name.stem());
        let id = id_of(&text);
        if let Some(row) = rows.get_mut(file).filter(|row| row.text == id) {
            row.seen = seen;
            return None;
        }
        if !self.embedder.knows(&text) {
            rows.insert(file.to_owned(), Row { seen, text: id, vector: None });
            return None;
        }
        Some(Missing { file: file.to_owned(), seen, id, text })
    }

    fn vectors(
        &self,
        batch: &[Missing],
        dimension: Option<usize>,
    ) -> Result<Vec<Vector>, EmbedError> {
        let texts: Vec<&str> = batch.iter().map(|missing| missing.text.as_str()).collect();
        checked(self.embedder.embed(&texts)?, texts.len(), dimension)
    }
}

fn add(rows: &mut BTreeMap<String, Row>, batch: &[Missing], vectors: Vec<Vector>) {
    for (missing, vector) in batch.iter().zip(vectors) {
        let row = Row { seen: missing.seen, text: missing.id, vector: Some(vector) };
        rows.insert(missing.file.clone(), row);
    }
}

fn dimension(rows: &BTreeMap<String, Row>) -> Option<usize> {
    rows.values().find_map(|row| row.vector.as_ref()).map(Vector::dimension)
}

fn id_of(text: &str) -> TextId {
    let mut id = TextId::default();
    let hash = blake3::hash(text.as_bytes());
    id.iter_mut().zip(hash.as_bytes()).for_each(|(to, from)| *to = *from);
    id
}

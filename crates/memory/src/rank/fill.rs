//! Vectors for the memories of all directories: how many there are, and making those that are missing.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::recall::Recall;
use super::segment::Marks;
use crate::embed::{FillError, Filled, Filler, Reach, Seen, VectorsFile};

impl Recall {
    /// Where the model for vectors works; none if there is none.
    pub fn vectors_from(&self) -> Option<Reach> {
        self.vectors.as_ref().map(|vectors| vectors.embedder.reach())
    }

    /// How many memories have vectors.
    pub fn count_vectors(&self, now: Timestamp) -> Result<Filled, FillError> {
        self.each(now, |filler, there| Ok(filler.count(there)))
    }

    /// Makes the vectors that are missing, at most so many in a directory. It takes its time: not for somebody
    /// who waits for an answer. What others have changed is to be looked for first ([`Recall::look`]).
    pub fn fill(&self, now: Timestamp, most: usize) -> Result<Filled, FillError> {
        self.each(now, |filler, there| filler.fill(there, most))
    }

    /// Forgets all vectors: those of a model that has changed behind its name.
    pub fn forget_vectors(&self) -> Result<(), FillError> {
        let files = self.vectors.iter().flat_map(|vectors| &vectors.files);
        Ok(files.flatten().try_for_each(VectorsFile::remove)?)
    }

    fn each(
        &self,
        now: Timestamp,
        mut of: impl FnMut(&Filler<'_>, &BTreeMap<String, Seen>) -> Result<Filled, FillError>,
    ) -> Result<Filled, FillError> {
        let vectors = self.vectors.as_ref().ok_or(FillError::NoModel)?;
        let mut there = vec![BTreeMap::new(); vectors.files.len()];
        let (view, _) = self.view(now)?;
        for (_, part) in view.parts() {
            let Some(there) = there.get_mut(part.shelf) else { continue };
            let segment = &part.segment;
            let hidden = |marks: Marks| marks.has(Marks::BLANK) || marks.has(Marks::QUARANTINED);
            for doc in part.live().filter(|doc| !hidden(segment.marks(*doc))) {
                let about = segment.about(doc);
                let seen = Seen { modified: about.modified, size: about.size };
                there.insert(segment.file(doc).to_owned(), seen);
            }
        }
        let mut all = Filled::default();
        for ((there, file), shelf) in there.iter().zip(&vectors.files).zip(0..) {
            let file = file.as_ref().ok_or(FillError::NoCache)?;
            let store = self.store(shelf).ok_or(FillError::NoCache)?;
            let filler = Filler { store, file, embedder: &*vectors.embedder };
            all = all.and(of(&filler, there)?);
        }
        Ok(all)
    }
}

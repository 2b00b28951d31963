//! Counting and making the vectors of memories.

use std::collections::BTreeMap;

use dormouse_search::{
    DocumentFlags, EmbedderLocation, EmbeddingTexts, FileStamp, VectorCounts, VectorFile,
    VectorFillError, VectorFiller,
};
use jiff::Timestamp;

use super::memory_search::MemorySearch;
use crate::entry::MemoryEntry;
use crate::names::MemoryFile;
use crate::store::Store;

impl MemorySearch {
    /// Where the embedding model runs; `None` if there is no model.
    pub fn embedder_location(&self) -> Option<EmbedderLocation> {
        self.ranker().embedder().map(dormouse_search::Embedder::location)
    }

    /// The vector of a text, from a server. None without one, for a script that it does not know, and if it does not
    /// answer. Slow: not while a turn waits.
    pub fn remote_vector(&self, text: &str) -> Option<Vec<f32>> {
        let embedder = self.ranker().embedder()?;
        let is_asked = embedder.location() == EmbedderLocation::Remote && embedder.supports(text);
        if !is_asked {
            return None;
        }
        embedder.embed_query(text).ok()?.pop()
    }

    /// Counts the memories with vectors.
    pub fn count_vectors(&self, now: Timestamp) -> Result<VectorCounts, VectorFillError> {
        self.for_each_store(now, |filler, current| Ok(filler.count(current)))
    }

    /// Makes missing vectors, of at most `most` memories per store. Slow: not while a turn waits. Call [`MemorySearch::rescan`]
    /// first to include changes by other programs.
    pub fn fill(&self, now: Timestamp, most: usize) -> Result<VectorCounts, VectorFillError> {
        self.for_each_store(now, |filler, current| filler.fill(current, most))
    }

    /// Deletes all vectors, for a model that has changed under its name.
    pub fn delete_vectors(&self) -> Result<(), VectorFillError> {
        Ok(self.ranker().vector_files().iter().flatten().try_for_each(VectorFile::remove)?)
    }

    fn for_each_store(
        &self,
        now: Timestamp,
        mut run: impl FnMut(
            &VectorFiller<'_>,
            &BTreeMap<String, FileStamp>,
        ) -> Result<VectorCounts, VectorFillError>,
    ) -> Result<VectorCounts, VectorFillError> {
        let embedder = self.ranker().embedder().ok_or(VectorFillError::NoModel)?;
        let files = self.ranker().vector_files();
        let mut total = VectorCounts::default();
        let documents = self.visible_documents(now, files.len())?;
        for ((current, file), store_index) in documents.iter().zip(files).zip(0..) {
            let file = file.as_ref().ok_or(VectorFillError::NoCache)?;
            let store = self.store(store_index).ok_or(VectorFillError::NoCache)?;
            let read_texts = |file: &str, stamp: FileStamp| texts_of(store, file, stamp);
            let filler = VectorFiller { read_texts: &read_texts, file, embedder };
            total = total.plus(run(&filler, current)?);
        }
        Ok(total)
    }

    /// The memories of each store that a model may see.
    fn visible_documents(
        &self,
        now: Timestamp,
        stores: usize,
    ) -> Result<Vec<BTreeMap<String, FileStamp>>, VectorFillError> {
        let mut documents = vec![BTreeMap::new(); stores];
        let (view, _) = self.view(now)?;
        for (_, part) in view.segments() {
            let Some(documents) = documents.get_mut(part.collection) else { continue };
            let segment = &part.segment;
            let hidden = |flags: DocumentFlags| {
                flags.has(DocumentFlags::BLANK) || flags.has(DocumentFlags::QUARANTINED)
            };
            for doc in part.live_docs().filter(|doc| !hidden(segment.flags(*doc))) {
                let info = segment.info(doc);
                let stamp = FileStamp { modified: info.modified, size: info.size };
                documents.insert(segment.file(doc).to_owned(), stamp);
            }
        }
        Ok(documents)
    }
}

fn texts_of(store: &Store, file: &str, stamp: FileStamp) -> Option<EmbeddingTexts> {
    let file = MemoryFile::existing(file).ok()?;
    let (bytes, _) = store.read(&file).ok()?;
    let entry = MemoryEntry::read(&bytes, stamp.size);
    let name = entry.header.name.as_deref().unwrap_or(file.stem());
    Some(EmbeddingTexts::of(name, entry.header.description.as_deref(), &entry.body))
}

//! The index of a directory at one moment.

use std::cmp::Ordering;
use std::sync::Arc;

use dormouse_search::{DeletedDocs, DocId, FileStamp, Segment};
use jiff::Timestamp;

use super::files_stamp::IndexFilesStamp;
use super::walk::indexed_stamp;
use crate::store::HistoryPosition;

/// The segments of a directory, and the position in its history that they include.
#[derive(Debug, Clone)]
pub(super) struct IndexState {
    pub(super) base: Arc<Segment>,
    pub(super) delta: Arc<Segment>,
    /// Memories of the base that were deleted or are in the delta.
    pub(super) deleted: Arc<DeletedDocs>,
    pub(super) position: HistoryPosition,
    /// When all files were last listed.
    pub(super) scanned: Timestamp,
    /// The files that this was read from or written to.
    pub(super) stamp: Option<IndexFilesStamp>,
}

impl IndexState {
    /// The stamp of a file as it was indexed; none if it is not in the index.
    pub(super) fn stamp_of(&self, file: &str) -> Option<FileStamp> {
        let in_delta = find(&self.delta, file).map(|doc| self.delta.info(doc));
        let in_base = || {
            let doc = find(&self.base, file).filter(|doc| !self.deleted.docs.contains(doc))?;
            Some(self.base.info(doc))
        };
        in_delta.or_else(in_base).map(indexed_stamp)
    }
}

/// The document of a file. Documents are sorted by file.
fn find(segment: &Segment, file: &str) -> Option<DocId> {
    let (mut low, mut high) = (0, segment.doc_count());
    while low < high {
        let middle = low + (high - low) / 2;
        match segment.file(DocId(middle)).cmp(file) {
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
            Ordering::Equal => return Some(DocId(middle)),
        }
    }
    None
}

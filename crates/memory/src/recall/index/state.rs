//! The index of a directory at one moment.

use std::sync::Arc;

use dormouse_search::{DeletedDocs, Segment};
use jiff::Timestamp;

use super::files_stamp::IndexFilesStamp;
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

//! The memory directory that a command works on.

use super::command_writer::CommandWriter;
use super::path::{PathTarget, ToolPath};
use crate::scan::Scan;
use crate::store::Store;

/// A memory directory while a command runs.
pub(super) struct CommandDirectory<'a> {
    pub(super) store: &'a Store,
    pub(super) writer: &'a dyn CommandWriter,
    /// The memories, without those in quarantine.
    pub(super) scan: Scan,
}

impl CommandDirectory<'_> {
    /// What a path refers to; `None` if it does not exist.
    pub(super) fn target(&self, path: &ToolPath) -> Option<PathTarget> {
        path.target(&self.scan, self.has_index())
    }

    pub(super) fn has_index(&self) -> bool {
        self.store.index_text().is_ok_and(|text| !text.is_empty())
    }
}

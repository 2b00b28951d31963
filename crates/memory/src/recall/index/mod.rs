//! The index of a memory directory, kept in sync with its files.

mod directory_index;
mod disk;
mod document;
mod document_fields;
mod files_stamp;
mod new_segment;
mod state;
mod walk;

pub(super) use directory_index::DirectoryIndex;

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;

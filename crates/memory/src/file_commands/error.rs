//! Why a file command failed.

use thiserror::Error;

use super::command_writer::ChangeNotMade;
use crate::names::MemoryFileError;
use crate::store::ChangeError;

/// Why a file command failed. The model reads the message; the documentation of the memory tool prescribes the words of
/// most of them.
#[derive(Debug, Error)]
pub enum MemoryCommandError {
    /// The input does not match the schema.
    #[error("Error: the input does not fit the memory tool: {0}")]
    Input(#[source] serde_json::Error),
    /// A path that does not begin with `/memories`.
    #[error("Path must start with /memories, got: {0}")]
    OutsideRoot(String),
    /// A path that leads out of `/memories`, or would after decoding.
    #[error("Path {0} would escape /memories directory")]
    Escapes(String),
    /// A path that cannot be the file name of a memory.
    #[error("Error: {0}")]
    Name(#[from] MemoryFileError),
    /// `view` of a path that does not exist.
    #[error("The path {0} does not exist. Please provide a valid path.")]
    NothingToView(String),
    /// `str_replace` in a file that does not exist.
    #[error("Error: The path {0} does not exist. Please provide a valid path.")]
    NothingToReplaceIn(String),
    /// Another command on a path that does not exist.
    #[error("Error: The path {0} does not exist")]
    Missing(String),
    /// An edit of a folder.
    #[error("Error: The path {0} is not a file.")]
    NotAFile(String),
    /// `create` of an existing file.
    #[error("Error: File {0} already exists")]
    FileExists(String),
    /// `rename` to an existing path.
    #[error("Error: The destination {0} already exists")]
    DestinationExists(String),
    /// `delete` of `/memories`.
    #[error("Cannot delete the /memories directory itself")]
    DeleteRoot,
    /// `rename` of `/memories`.
    #[error("Cannot rename the /memories directory itself")]
    RenameRoot,
    /// A change of `MEMORY.md`: the program keeps its lines.
    #[error("Error: {0} is the index, which is kept for you; change the memories themselves")]
    Index(String),
    /// The text to replace does not occur.
    #[error("No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")]
    NoOccurrence {
        /// The text.
        old: String,
        /// The path, as given.
        path: String,
    },
    /// The text to replace occurs more than once.
    #[error(
        "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. Please ensure it is \
         unique"
    )]
    SeveralOccurrences {
        /// The text.
        old: String,
        /// Numbers of the lines with an occurrence, separated by commas.
        lines: String,
    },
    /// A line number outside the file.
    #[error(
        "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, {last}]"
    )]
    InsertLine {
        /// The number, as given.
        line: i64,
        /// Number of lines of the file.
        last: usize,
    },
    /// More lines than can be numbered.
    #[error("File {0} exceeds maximum line limit of 999,999 lines.")]
    TooManyLines(String),
    /// A file cannot be read.
    #[error("Error: {0}")]
    Read(#[source] ChangeError),
    /// The change was not made.
    #[error("Error: {0}")]
    NotMade(#[from] ChangeNotMade),
}

//! What each turn of a session changed in the project's files.

use dormouse_base::RelPath;
use dormouse_checkpoint::{ContentStore, FileState, LoggedTurn, load_log};

use crate::error::ViewerError;
use crate::model::session_list::ViewedSession;

/// A file that a turn changed, as text before and after.
pub(crate) struct CheckpointFile {
    pub(crate) path: String,
    pub(crate) before: FileText,
    pub(crate) after: FileText,
}

/// What a checkpoint knows of a file.
pub(crate) enum FileText {
    /// It did not exist.
    Absent,
    /// Its text.
    Text(String),
    /// Its content was not kept, or is no text.
    Unknown,
}

/// A turn that changed files.
pub(crate) struct CheckpointTurn {
    pub(crate) turn: LoggedTurn,
    pub(crate) files: Vec<CheckpointFile>,
}

/// The turns of a session that changed files, the newest first.
pub(crate) fn checkpoints(named: &ViewedSession<'_>) -> Result<Vec<CheckpointTurn>, ViewerError> {
    let Ok(folder) = RelPath::new(named.session.to_string()) else { return Ok(Vec::new()) };
    let session = match named.source.folder.open_folder(&folder) {
        Ok(session) => session,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let contents = ContentStore::of_session(&session);
    let turns = load_log(&session)?.into_iter().rev().filter(|turn| !turn.changes.is_empty());
    let with_files = |turn: LoggedTurn| {
        let file = |change: &dormouse_checkpoint::LoggedChange| CheckpointFile {
            path: change.path.display().to_string(),
            before: text_of(&change.before, contents.as_ref()),
            after: change
                .after
                .as_ref()
                .map_or(FileText::Unknown, |after| text_of(after, contents.as_ref())),
        };
        CheckpointTurn { files: turn.changes.iter().map(file).collect(), turn }
    };
    Ok(turns.map(with_files).collect())
}

fn text_of(state: &FileState, contents: Option<&ContentStore>) -> FileText {
    if matches!(state, FileState::Absent) {
        return FileText::Absent;
    }
    let bytes = state.content().zip(contents).and_then(|(id, contents)| contents.get(id).ok());
    match bytes.map(String::from_utf8) {
        Some(Ok(text)) => FileText::Text(text),
        Some(Err(_)) | None => FileText::Unknown,
    }
}

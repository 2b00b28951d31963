//! The project's files through the editor, which has changes that are not saved yet.

use std::path::Path;
use std::sync::Arc;

use dormouse_tools::{EditorFiles, EditorWrite, EditorWriteError};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::connection::EditorRefusal;
use super::editor_link::EditorLink;
use super::protocol::{EditorFileText, FileCapabilities};

/// The files of the editor. Those outside of the project are not asked for.
pub(super) struct ClientFiles {
    pub(super) link: Arc<EditorLink>,
    pub(super) offered: FileCapabilities,
    /// Waits for the editor's answers, on threads that may block.
    pub(super) runtime: Handle,
}

impl ClientFiles {
    fn ask<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
        cancel: &CancellationToken,
    ) -> Result<T, EditorRefusal> {
        self.runtime.block_on(async {
            tokio::select! {
                answer = self.link.ask(method, params) => answer,
                () = cancel.cancelled() => Err(EditorRefusal::Cancelled),
            }
        })
    }
}

impl EditorFiles for ClientFiles {
    fn text(&self, path: &Path, cancel: &CancellationToken) -> Option<String> {
        let path = self.link.editor_path(path).filter(|_| self.offered.read_text_file)?;
        // An editor that refuses does not have the file: one that it ignores, for example.
        let text: Result<EditorFileText, _> =
            self.ask("fs/read_text_file", json!({"path": path}), cancel);
        text.ok().map(|text| text.content)
    }

    fn write(
        &self,
        path: &Path,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<EditorWrite, EditorWriteError> {
        let path = self.link.editor_path(path).filter(|_| self.offered.write_text_file);
        let Some(path) = path else { return Ok(EditorWrite::NotOffered) };
        let written: Result<Value, _> =
            self.ask("fs/write_text_file", json!({"path": path, "content": text}), cancel);
        written.map_err(|refusal| EditorWriteError(refusal.into()))?;
        Ok(EditorWrite::Written)
    }
}

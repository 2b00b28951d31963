//! What one session asks of the editor and shows in it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use dormouse_base::Project;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connection::{Editor, EditorRefusal, notify};
use super::protocol::{EditorUpdate, UpdateOf};

/// A session's way to the editor. Nothing passes before the session is open.
pub(super) struct EditorLink {
    editor: Arc<Editor>,
    /// Known once the session is open.
    session: OnceLock<String>,
    project: Project,
    /// The session's folder as the editor names it: perhaps by a link.
    named: PathBuf,
}

impl EditorLink {
    pub(super) fn new(editor: Arc<Editor>, project: Project, named: PathBuf) -> Self {
        Self { editor, session: OnceLock::new(), project, named }
    }

    /// Says which session it is.
    pub(super) fn opened_as(&self, session: &str) {
        self.session.get_or_init(|| session.to_owned());
    }

    pub(super) fn folder(&self) -> &Path {
        &self.project.folder
    }

    /// A file of the project as the editor names it; none for other files.
    pub(super) fn editor_path(&self, path: &Path) -> Option<PathBuf> {
        if let Ok(rest) = path.strip_prefix(&self.project.folder) {
            return Some(self.named.join(rest));
        }
        path.starts_with(&self.project.checkout).then(|| path.to_owned())
    }

    /// Asks the editor. The parameters are an object, to which the session is added.
    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        mut params: Value,
    ) -> Result<T, EditorRefusal> {
        let session = self.session.get().ok_or(EditorRefusal::Closed)?;
        if let Some(params) = params.as_object_mut() {
            params.insert("sessionId".to_owned(), Value::from(session.as_str()));
        }
        self.editor.ask(method, &params).await
    }

    /// Changes what the editor shows.
    pub(super) fn show(&self, update: EditorUpdate) {
        if let Some(session_id) = self.session.get() {
            notify("session/update", &UpdateOf { session_id, update });
        }
    }
}

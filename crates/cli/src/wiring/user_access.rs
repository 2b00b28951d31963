//! How a session reaches its user.

use std::sync::Arc;

use dormouse_tools::{Confirmer, EditorTools};

/// How a session reaches its user. The default is a run that reaches none.
#[derive(Default)]
pub(crate) struct UserAccess {
    /// Asks for permission; none where nobody is asked.
    pub(crate) confirmer: Option<Arc<dyn Confirmer>>,
    /// What goes through the user's editor.
    pub(crate) editor: EditorTools,
}

impl UserAccess {
    /// A user who is asked, without an editor.
    pub(crate) fn asking(confirmer: Arc<dyn Confirmer>) -> Self {
        Self { confirmer: Some(confirmer), editor: EditorTools::default() }
    }
}

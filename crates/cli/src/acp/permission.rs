//! Permission requests as the editor's own dialogs.

use std::path::PathBuf;
use std::sync::OnceLock;

use agent_client_protocol::v1::schema::{
    PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    SessionId, ToolCallUpdate, ToolCallUpdateFields,
};
use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer};
use futures_util::future::BoxFuture;

use crate::message_catalog::msg;
use crate::wiring::permission_reason::reason_text;

use super::editor_session::Editor;
use super::tool_updates::{described, diff};

const ONCE: &str = "once";
const ALWAYS: &str = "always";
const NO: &str = "no";

/// Asks in the editor. Without an answer, the call does not run.
pub(super) struct EditorAsker {
    editor: Editor,
    /// Known once the session is open; nothing is asked before.
    session: OnceLock<(SessionId, PathBuf)>,
}

impl EditorAsker {
    pub(super) fn new(editor: Editor) -> Self {
        Self { editor, session: OnceLock::new() }
    }

    /// Says which session asks, and its folder.
    pub(super) fn belongs_to(&self, session: SessionId, folder: PathBuf) {
        self.session.get_or_init(|| (session, folder));
    }
}

impl Confirmer for EditorAsker {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        Box::pin(async move {
            let unanswered = ConfirmationReply::No { said: None };
            let Some((session, folder)) = self.session.get() else { return unanswered };
            let call = described(
                question.call.as_ref().map_or("confirmation", |id| id.as_str()),
                &question.tool,
                question.input.get(),
                folder,
            );
            let mut content = vec![reason_text(&question.why).into()];
            content.extend(question.change.as_ref().map(|change| {
                diff(&change.path, Some(change.before.clone()), change.after.clone())
            }));
            let fields = ToolCallUpdateFields::new()
                .title(call.title)
                .kind(call.kind)
                .locations(call.locations)
                .raw_input(call.raw_input)
                .content(content);
            let options = vec![
                PermissionOption::new(ONCE, msg!("choice-yes"), PermissionOptionKind::AllowOnce),
                PermissionOption::new(
                    ALWAYS,
                    msg!("acp-always"),
                    PermissionOptionKind::AllowAlways,
                ),
                PermissionOption::new(NO, msg!("choice-no"), PermissionOptionKind::RejectOnce),
            ];
            let asked = ToolCallUpdate::new(call.tool_call_id, fields);
            let request = RequestPermissionRequest::new(session.clone(), asked, options);
            match self.editor.send_request(request).block_task().await {
                Ok(answer) => match answer.outcome {
                    RequestPermissionOutcome::Selected(chosen) => match &*chosen.option_id.0 {
                        ONCE => ConfirmationReply::Once,
                        ALWAYS => ConfirmationReply::Always,
                        _ => unanswered,
                    },
                    _ => unanswered,
                },
                Err(_) => unanswered,
            }
        })
    }
}

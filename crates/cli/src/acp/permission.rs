//! Permission requests as the editor's own dialogs.

use std::sync::Arc;

use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer};
use futures_util::future::BoxFuture;

use crate::message_catalog::msg;
use crate::wiring::permission_reason::reason_text;

use super::editor_link::EditorLink;
use super::protocol::{
    CallContent, PermissionAnswerMessage, PermissionChoice, PermissionOutcome, PermissionQuestion,
    ShownCall,
};
use super::tool_updates::{described, diff};

const ONCE: &str = "once";
const ALWAYS: &str = "always";
const NO: &str = "no";

/// Asks in the editor. Without an answer, the call does not run.
pub(super) struct EditorAsker {
    pub(super) link: Arc<EditorLink>,
}

/// What the user answered; no answer is a no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EditorAnswer {
    Once,
    Always,
    No,
}

/// Asks by a dialog that shows a call.
pub(super) async fn ask_permission(
    tool_call: ShownCall,
    always: String,
    link: &EditorLink,
) -> EditorAnswer {
    let choice = |option_id, name, kind| PermissionChoice { option_id, name, kind };
    let question = PermissionQuestion {
        tool_call,
        options: vec![
            choice(ONCE, msg!("choice-yes"), "allow_once"),
            choice(ALWAYS, always, "allow_always"),
            choice(NO, msg!("choice-no"), "reject_once"),
        ],
    };
    let question = serde_json::to_value(question).unwrap_or_default();
    match link.ask("session/request_permission", question).await {
        Ok(PermissionAnswerMessage { outcome: PermissionOutcome::Selected { option_id } }) => {
            match option_id.as_str() {
                ONCE => EditorAnswer::Once,
                ALWAYS => EditorAnswer::Always,
                _ => EditorAnswer::No,
            }
        }
        Ok(_) | Err(_) => EditorAnswer::No,
    }
}

impl Confirmer for EditorAsker {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        Box::pin(async move {
            let call = described(
                question.call.as_ref().map_or("confirmation", |id| id.as_str()),
                &question.tool,
                question.input.get(),
                self.link.folder(),
            );
            let mut content = vec![CallContent::text(reason_text(&question.why))];
            content.extend(question.change.as_ref().map(|change| {
                diff(&change.path, Some(change.before.clone()), change.after.clone())
            }));
            let call = ShownCall { content, ..call };
            match ask_permission(call, msg!("acp-always"), &self.link).await {
                EditorAnswer::Once => ConfirmationReply::Once,
                EditorAnswer::Always => ConfirmationReply::Always,
                EditorAnswer::No => ConfirmationReply::No { said: None },
            }
        })
    }
}

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

impl Confirmer for EditorAsker {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        Box::pin(async move {
            let unanswered = ConfirmationReply::No { said: None };
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
            let choice = |option_id, name, kind| PermissionChoice { option_id, name, kind };
            let question = PermissionQuestion {
                tool_call: ShownCall { content, ..call },
                options: vec![
                    choice(ONCE, msg!("choice-yes"), "allow_once"),
                    choice(ALWAYS, msg!("acp-always"), "allow_always"),
                    choice(NO, msg!("choice-no"), "reject_once"),
                ],
            };
            let question = serde_json::to_value(question).unwrap_or_default();
            match self.link.ask("session/request_permission", question).await {
                Ok(PermissionAnswerMessage {
                    outcome: PermissionOutcome::Selected { option_id },
                }) => match option_id.as_str() {
                    ONCE => ConfirmationReply::Once,
                    ALWAYS => ConfirmationReply::Always,
                    _ => unanswered,
                },
                Ok(_) | Err(_) => unanswered,
            }
        })
    }
}

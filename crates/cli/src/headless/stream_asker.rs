//! Permission requests over the stream: sent as `can_use_tool`, answered by the other program.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::IdSource;
use dormouse_tools::{ConfirmationReply, ConfirmationRequest, Confirmer, Grant};
use futures_util::future::BoxFuture;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::oneshot;

use super::output::{PermissionSuggestion, print_permission_request, print_withdrawn_request};
use super::stream_input::{ControlResponse, PermissionAnswer};

/// Asks the other program, and waits for its answers. A request that is not answered before its turn ends is withdrawn.
pub(super) struct StreamAsker {
    ids: Arc<dyn IdSource>,
    /// None once the other program has closed its end.
    open: Mutex<Option<HashMap<String, OpenRequest>>>,
}

struct OpenRequest {
    input: Box<RawValue>,
    reply: oneshot::Sender<ConfirmationReply>,
}

impl StreamAsker {
    pub(super) fn new(ids: Arc<dyn IdSource>) -> Self {
        Self { ids, open: Mutex::new(Some(HashMap::new())) }
    }

    fn take(&self, id: &str) -> Option<OpenRequest> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.remove(id)
    }

    /// Passes an answer on; false if there is no such open request.
    pub(super) fn answer(&self, response: ControlResponse) -> bool {
        let (id, answer) = match response {
            ControlResponse::Success { request_id, response } => (request_id, response),
            ControlResponse::Error { request_id, error } => {
                (request_id, PermissionAnswer::Deny { message: Some(error) })
            }
        };
        let Some(OpenRequest { input, reply }) = self.take(&id) else { return false };
        // The call may have been interrupted meanwhile.
        let _interrupted = reply.send(reply_for(answer, &input));
        true
    }

    /// The other program is gone: every open and every further request is denied.
    pub(super) fn deny_all(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Adds a request; false if nobody is there to answer it.
    fn add(&self, id: &str, request: OpenRequest) -> bool {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_mut().map(|open| open.insert(id.to_owned(), request)).is_some()
    }
}

/// What an answer means. Arguments are approved as they were shown: a changed call would be one that nothing has checked.
fn reply_for(answer: PermissionAnswer, shown: &RawValue) -> ConfirmationReply {
    match answer {
        PermissionAnswer::Allow { updated_input: None } => ConfirmationReply::Once,
        PermissionAnswer::Allow { updated_input: Some(changed) } => {
            if serde_json::from_str::<Value>(shown.get()).is_ok_and(|shown| shown == changed) {
                return ConfirmationReply::Once;
            }
            let said = "the call was approved with other arguments, which is not possible; call the tool with those";
            ConfirmationReply::No { said: Some(format!("{said}: {changed}")) }
        }
        PermissionAnswer::Deny { message } => {
            ConfirmationReply::No { said: message.filter(|message| !message.trim().is_empty()) }
        }
    }
}

/// An open request, withdrawn when it is dropped without an answer.
struct Withdrawal<'a> {
    asker: &'a StreamAsker,
    id: &'a str,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if self.asker.take(self.id).is_some() {
            print_withdrawn_request(self.id);
        }
    }
}

impl Confirmer for StreamAsker {
    fn ask(&self, question: ConfirmationRequest) -> BoxFuture<'_, ConfirmationReply> {
        Box::pin(async move {
            let id = self.ids.next().to_string();
            let (reply, answer) = oneshot::channel();
            let request = OpenRequest { input: question.input.clone(), reply };
            if !self.add(&id, request) {
                return ConfirmationReply::No { said: None };
            }
            let _withdrawal = Withdrawal { asker: self, id: &id };
            let suggestion = match &question.grant {
                Grant::Rule(rule) => Some(PermissionSuggestion::new(rule.to_string())),
                Grant::OutsideSandbox(_) | Grant::MemoryChanges | Grant::Edits => None,
            };
            print_permission_request(&id, &question, suggestion.as_slice());
            answer.await.unwrap_or(ConfirmationReply::No { said: None })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: &str) -> ConfirmationReply {
        let shown = RawValue::from_string(r#"{"command": "ls", "timeout": 5}"#.to_owned()).unwrap();
        reply_for(serde_json::from_str(answer).unwrap(), &shown)
    }

    #[test]
    fn only_what_was_shown_is_approved() {
        assert_eq!(reply(r#"{"behavior":"allow"}"#), ConfirmationReply::Once);
        let same = r#"{"behavior":"allow","updatedInput":{"timeout":5,"command":"ls"}}"#;
        assert_eq!(reply(same), ConfirmationReply::Once);
        let other = r#"{"behavior":"allow","updatedInput":{"command":"rm -rf ."}}"#;
        assert!(
            matches!(reply(other), ConfirmationReply::No { said: Some(said) } if said.contains("rm -rf"))
        );
        assert_eq!(
            reply(r#"{"behavior":"deny","message":"not now"}"#),
            ConfirmationReply::No { said: Some("not now".to_owned()) }
        );
    }
}

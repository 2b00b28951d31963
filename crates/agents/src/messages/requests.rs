//! The requests that an agent has made: a response counts only for one of them, from the agent that was asked.

use std::sync::{Mutex, PoisonError};

use super::{Address, AgentName, MessageContent, OutgoingMessage, RequestId};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    Shutdown,
    PlanApproval,
}

/// Whether a message answers a request that was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResponseStanding {
    /// It does, or it is no response at all.
    Expected,
    /// Nobody asked for it.
    Unexpected,
}

#[derive(Debug)]
struct OpenRequest {
    id: RequestId,
    kind: RequestKind,
    to: Address,
}

/// The requests of one agent that are not answered yet.
#[derive(Debug, Default)]
pub struct OpenRequests(Mutex<Vec<OpenRequest>>);

impl OpenRequests {
    /// Remembers a request that was sent; other messages are none.
    pub(crate) fn add(&self, to: &Address, content: &MessageContent) {
        if let Some((id, kind)) = request(content) {
            let request = OpenRequest { id: id.clone(), kind, to: to.clone() };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        }
    }

    /// Looks whether a message answers a request; a request that went to one agent is answered once.
    pub(crate) fn settle(&self, message: &OutgoingMessage) -> ResponseStanding {
        let Some((id, kind)) = response(&message.content) else {
            return ResponseStanding::Expected;
        };
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answers = |request: &OpenRequest| {
            request.id == *id && request.kind == kind && may_answer(&request.to, &message.from)
        };
        let Some(index) = open.iter().position(answers) else {
            return ResponseStanding::Unexpected;
        };
        if open.get(index).is_some_and(|request| matches!(request.to, Address::Agent(_))) {
            open.remove(index);
        }
        ResponseStanding::Expected
    }
}

/// Whoever listens at a socket has a name that the address does not tell.
fn may_answer(asked: &Address, from: &AgentName) -> bool {
    match asked {
        Address::Agent(name) => name == from,
        Address::All | Address::Socket(_) => true,
    }
}

/// The request that a message is.
pub(super) fn request(content: &MessageContent) -> Option<(&RequestId, RequestKind)> {
    match content {
        MessageContent::ShutdownRequest { request_id, .. } => {
            Some((request_id, RequestKind::Shutdown))
        }
        MessageContent::PlanApprovalRequest { request_id, .. } => {
            Some((request_id, RequestKind::PlanApproval))
        }
        MessageContent::Text { .. }
        | MessageContent::ShutdownResponse(_)
        | MessageContent::PlanApprovalResponse(_) => None,
    }
}

/// The request that a message answers.
pub(super) fn response(content: &MessageContent) -> Option<(&RequestId, RequestKind)> {
    match content {
        MessageContent::ShutdownResponse(response) => {
            Some((&response.request_id, RequestKind::Shutdown))
        }
        MessageContent::PlanApprovalResponse(response) => {
            Some((&response.request_id, RequestKind::PlanApproval))
        }
        MessageContent::Text { .. }
        | MessageContent::ShutdownRequest { .. }
        | MessageContent::PlanApprovalRequest { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{draft, name};
    use super::*;

    fn message(from: &str, json: &str) -> OutgoingMessage {
        let content = serde_json::from_str(json).unwrap();
        OutgoingMessage { content, ..draft(from, "text") }
    }

    #[test]
    fn a_response_counts_once_and_only_from_the_agent_that_was_asked() {
        let open = OpenRequests::default();
        let plan = r#"{"type":"plan_approval_request","request_id":"r1","plan":"1. look"}"#;
        let approves = r#"{"type":"plan_approval_response","request_id":"r1","approve":true}"#;
        let leaves = r#"{"type":"shutdown_response","request_id":"r1","approve":true}"#;
        assert_eq!(open.settle(&message("lead", approves)), ResponseStanding::Unexpected);
        open.add(&Address::Agent(name("lead")), &serde_json::from_str(plan).unwrap());
        for (from, json) in [("other", approves), ("lead", leaves)] {
            assert_eq!(open.settle(&message(from, json)), ResponseStanding::Unexpected, "{from}");
        }
        assert_eq!(open.settle(&draft("lead", "hi")), ResponseStanding::Expected);
        assert_eq!(open.settle(&message("lead", approves)), ResponseStanding::Expected);
        assert_eq!(open.settle(&message("lead", approves)), ResponseStanding::Unexpected);
    }
}

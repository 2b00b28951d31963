//! Conversion of messages to incoming messages of a conversation.

use dormouse_base::printable;
use dormouse_context::{AgentMessage, Fragment, UnreadableMessage};
use dormouse_engine::{IncomingMessage, IncomingMessageSource};

use super::requests::response;
use super::{
    MailboxLine, MailboxReader, MessageContent, RequestId, RequestResponse, ResponseStanding,
    SEND_MESSAGE, SenderReachability, SentMessage,
};

impl IncomingMessageSource for MailboxReader {
    fn take(&self) -> Vec<IncomingMessage> {
        match self.take_lines() {
            Ok(lines) => lines.iter().map(|line| incoming_line(self, line)).collect(),
            // The error may be temporary and no message is lost: report it once.
            Err(error) => {
                let problem = self.new_problem(error.to_string());
                problem
                    .map(|problem| unreadable(format!("mailbox-{}", self.name()), problem))
                    .into_iter()
                    .collect()
            }
        }
    }
}

fn incoming_line(reader: &MailboxReader, line: &MailboxLine) -> IncomingMessage {
    match &line.message {
        Ok(message) => incoming_message(message, reader.standing(&message.draft)),
        Err(error) => unreadable(line.id.clone(), format!("skipped an invalid line: {error}")),
    }
}

/// Converts a message.
pub(crate) fn incoming_message(
    message: &SentMessage,
    standing: ResponseStanding,
) -> IncomingMessage {
    let draft = &message.draft;
    let sender = draft.from.to_string();
    let summary = match standing {
        ResponseStanding::Expected => draft.content.summary(),
        ResponseStanding::Unexpected => "answers a request that is not known here".to_owned(),
    };
    let address = draft.reply_to.as_ref().map_or_else(|| sender.clone(), ToString::to_string);
    let (text, reply_instructions) = match response(&draft.content) {
        Some((id, _)) if standing == ResponseStanding::Unexpected => (Some(unexpected(id)), None),
        _ => parts(&draft.content, &address),
    };
    let reply_to = (draft.reach == SenderReachability::Answerable).then_some(address);
    let shown = Some(printable(&format!("{sender}: {summary}")).into_owned().into());
    let fragment = AgentMessage { sender, reply_to, summary, text, reply_instructions };
    IncomingMessage { id: message.id.to_string(), block: fragment.to_block(), shown }
}

/// What is told of a response that nobody asked for: not what it says, so that it cannot be taken for an approval.
fn unexpected(id: &RequestId) -> String {
    format!(
        "It answers the request {id}, which you did not make to this agent. It approves nothing."
    )
}

fn unreadable(id: String, problem: String) -> IncomingMessage {
    let shown = Some(printable(&format!("mailbox: {problem}")).into_owned().into());
    IncomingMessage { id, block: UnreadableMessage { problem }.to_block(), shown }
}

/// Returns the text of a message, and reply instructions for a request.
fn parts(content: &MessageContent, reply_to: &str) -> (Option<String>, Option<String>) {
    let instructions = |kind: &str, id: &dyn std::fmt::Display| {
        format!(
            "Answer with {SEND_MESSAGE} to `{reply_to}`, `message` being {{\"type\":\"{kind}\",\"request_id\":\"{id}\",\"approve\":true}}, or `false` with a `reason`."
        )
    };
    let answered = |response: &RequestResponse| {
        let reason = response.answer.reason().map(|reason| format!("\n{reason}"));
        format!("Your request {} was answered.{}", response.request_id, reason.unwrap_or_default())
    };
    match content {
        MessageContent::Text { text, .. } => (Some(text.to_string()), None),
        MessageContent::ShutdownRequest { request_id, reason } => (
            reason.as_ref().map(ToString::to_string),
            Some(instructions("shutdown_response", request_id)),
        ),
        MessageContent::PlanApprovalRequest { request_id, plan } => {
            (Some(plan.to_string()), Some(instructions("plan_approval_response", request_id)))
        }
        MessageContent::ShutdownResponse(response)
        | MessageContent::PlanApprovalResponse(response) => (Some(answered(response)), None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{name, router};
    use super::super::{ApprovalDecision, MessageText, OutgoingMessage, RequestId};
    use super::*;

    fn receive(content: MessageContent) -> IncomingMessage {
        let router = router();
        let room = router.open(&name("bob")).unwrap();
        let draft = OutgoingMessage {
            from: name("lead"),
            reply_to: None,
            reach: SenderReachability::Answerable,
            content,
        };
        router.send(&name("bob"), draft).unwrap();
        incoming_message(&room.take_messages().pop().unwrap(), ResponseStanding::Expected)
    }

    #[test]
    fn a_request_has_reply_instructions() {
        let request_id = RequestId::new("r7").unwrap();
        let arrival = receive(MessageContent::ShutdownRequest {
            request_id: request_id.clone(),
            reason: None,
        });
        assert_eq!(arrival.shown.unwrap().to_string(), "lead: asks to end the work");
        let text = arrival.block.as_text().unwrap();
        let answer = r#"{"type":"shutdown_response","request_id":"r7","approve":true}"#;
        assert!(text.contains(answer) && text.contains("to `lead`"), "{text}");
        let no = ApprovalDecision::Reject(MessageText::new("too risky").unwrap());
        let arrival = receive(MessageContent::PlanApprovalResponse(RequestResponse {
            request_id,
            answer: no,
        }));
        assert_eq!(arrival.shown.unwrap().to_string(), "lead: rejects the plan");
        assert!(arrival.block.as_text().unwrap().contains("too risky"));
    }
}

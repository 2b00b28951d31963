//! The tool that sends messages.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{IdSource, MessageId};
use dormouse_conversation::known_tools;
use dormouse_permissions::{Access, InternalAccess};
use dormouse_tools::{
    CallContext, ResultLimit, Tool, ToolClass, ToolError, ToolOutput, ToolSpec, parse_input,
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::socket::is_session_socket;
use super::{
    Address, ApprovalDecision, MessageContent, MessageSender, MessageSummary, MessageText,
    OpenRequests, RequestId,
};

/// The name of the tool.
pub const SEND_MESSAGE: &str = known_tools::SEND_MESSAGE.name;

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(SEND_MESSAGE),
    full: Cow::Borrowed(
        "Sends a message to another agent. It reads it at its next step; an answer comes to you by itself, as a message.\n\n\
         - `to` is the name of an agent, in this process or with a mailbox in this project; `*` for all agents of this process; \
         or `uds:` and the path of another session's socket, as a message from there names it.\n\
         - `message` is a text, and `summary` then says it in 5 to 10 words, for the user.\n\
         - Or `message` is an object, without `summary`:\n\
         \x20 - `{\"type\":\"shutdown_request\",\"reason\":…}` asks an agent to end.\n\
         \x20 - `{\"type\":\"shutdown_response\",\"request_id\":…,\"approve\":true}` agrees to end: finish this answer, then you are done. \
         With `false` and a `reason` you go on.\n\
         \x20 - `{\"type\":\"plan_approval_request\",\"plan\":…}` asks whoever leads whether a plan may be carried out; wait for the answer.\n\
         \x20 - `{\"type\":\"plan_approval_response\",\"request_id\":…,\"approve\":…,\"reason\":…}` answers that.\n\
         - Nobody but the named agent reads it; what you merely write in your answer reaches no agent.",
    ),
    short: Cow::Borrowed("Sends a message to another agent, by name."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""to":{"type":"string","description":"A name, `*`, or `uds:` and a path."},"#,
        r#""message":{"anyOf":[{"type":"string"},{"type":"object","properties":{"#,
        r#""type":{"type":"string","enum":["shutdown_request","shutdown_response","plan_approval_request","plan_approval_response"]},"#,
        r#""request_id":{"type":"string","description":"Of the request that is answered."},"#,
        r#""approve":{"type":"boolean"},"reason":{"type":"string"},"plan":{"type":"string"}"#,
        r#"},"required":["type"]}],"description":"The text, or one of the kinds."},"#,
        r#""summary":{"type":"string","description":"The text in 5 to 10 words."}"#,
        r#"},"required":["to","message"],"additionalProperties":false}"#,
    )),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: known_tools::SEND_MESSAGE.traits,
};

/// Whom a call names; the rest of its arguments is looked at when it is sent.
#[derive(Deserialize)]
struct Recipient {
    to: String,
}

/// Whether a recipient is a socket that no session of this program listens at, by its name.
fn is_foreign_socket(to: &str) -> bool {
    match to.parse() {
        Ok(Address::Socket(path)) => !is_session_socket(&path),
        Ok(_) | Err(_) => false,
    }
}

/// The shutdown request that an agent has agreed to, if any.
#[derive(Debug, Default)]
pub struct ShutdownAgreement(Mutex<Option<RequestId>>);

impl ShutdownAgreement {
    /// Returns the request.
    pub fn agreed(&self) -> Option<RequestId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn agree(&self, request: RequestId) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
    }
}

/// The tool of one agent.
pub struct SendMessage {
    routes: MessageSender,
    ids: Arc<dyn IdSource>,
    shutdown: Option<Arc<ShutdownAgreement>>,
    requests: Arc<OpenRequests>,
}

impl SendMessage {
    /// Creates the tool. The requests that it sends are remembered in `requests`, and an agreement to end in `shutdown`: none
    /// for a session, which ends only by its user.
    pub fn new(
        routes: MessageSender,
        ids: Arc<dyn IdSource>,
        requests: Arc<OpenRequests>,
        shutdown: Option<Arc<ShutdownAgreement>>,
    ) -> Self {
        Self { routes, ids, shutdown, requests }
    }

    async fn send(&self, input: &RawValue) -> Result<String, ToolError> {
        let input: Input = parse_input(input)?;
        let to: Address =
            input.to.parse().map_err(|error| ToolError::invalid(format!("`to`: {error}")))?;
        let content = self.content(input.message, input.summary.as_deref())?;
        let sent = self.routes.send(&to, content.clone()).await;
        let sent = sent.map_err(|error| ToolError::Failed { message: error.to_string() })?;
        self.requests.add(&to, &content);
        Ok(format!("{sent}{}", self.finish(content)))
    }

    fn content(
        &self,
        message: MessageInput,
        summary: Option<&str>,
    ) -> Result<MessageContent, ToolError> {
        let invalid = |field: &str, error: &dyn std::fmt::Display| {
            ToolError::invalid(format!("`{field}`: {error}"))
        };
        match message {
            MessageInput::Text(text) => Ok(MessageContent::Text {
                // The schema requires no summary and no number of words: one that does not fit is made to fit.
                summary: match summary.filter(|summary| !summary.trim().is_empty()) {
                    Some(summary) => {
                        MessageSummary::new(summary).or_else(|_| MessageSummary::of(summary))
                    }
                    None => MessageSummary::of(&text),
                }
                .map_err(|error| invalid("summary", &error))?,
                text: MessageText::new(&text).map_err(|error| invalid("message", &error))?,
            }),
            MessageInput::Kind(mut kind) => {
                self.add_request_id(&mut kind);
                serde_json::from_value(Value::Object(kind))
                    .map_err(|error| invalid("message", &error))
            }
        }
    }

    /// Adds an id to a request without one.
    fn add_request_id(&self, kind: &mut Map<String, Value>) {
        let asks = matches!(
            kind.get("type").and_then(Value::as_str),
            Some("shutdown_request" | "plan_approval_request")
        );
        if asks && !kind.contains_key("request_id") {
            let id = MessageId::generate(&*self.ids).to_string();
            kind.insert("request_id".to_owned(), Value::String(id));
        }
    }

    /// Records an agreement to shut down, and returns the rest of the tool result.
    fn finish(&self, content: MessageContent) -> String {
        match content {
            MessageContent::ShutdownRequest { request_id, .. }
            | MessageContent::PlanApprovalRequest { request_id, .. } => {
                format!("; the response will name the request {request_id}")
            }
            MessageContent::ShutdownResponse(response) => match response.answer {
                ApprovalDecision::Approve(_) => match &self.shutdown {
                    Some(shutdown) => {
                        shutdown.agree(response.request_id);
                        "; finish this answer, then you are done".to_owned()
                    }
                    None => "; the session itself ends when its user ends it".to_owned(),
                },
                ApprovalDecision::Reject(_) => String::new(),
            },
            MessageContent::Text { .. } | MessageContent::PlanApprovalResponse(_) => String::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    to: String,
    message: MessageInput,
    summary: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, or an object with a `type`, is expected")]
enum MessageInput {
    Text(String),
    Kind(Map<String, Value>),
}

impl Tool for SendMessage {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn access(&self, input: &RawValue, _: &Path) -> Access {
        // Another program's socket: whoever listens there may act on what it is sent.
        if parse_input::<Recipient>(input).is_ok_and(|named| is_foreign_socket(&named.to)) {
            return Access::Other;
        }
        Access::Internal(InternalAccess {
            reason: "sends a message to another agent of the same user",
            denied_in_plan_mode: None,
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        _: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.send(input).await.map(ToolOutput::text) })
    }
}

#[cfg(test)]
#[path = "tool_tests.rs"]
mod tests;

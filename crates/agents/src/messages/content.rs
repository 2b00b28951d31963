//! Message contents: a text, or a request or response about shutdown or plan approval (A-8). Other types are rejected.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The maximum size of a text.
const MAX_BYTES: usize = 32 * 1024;
/// The allowed number of words in a summary.
const SUMMARY_WORDS: std::ops::RangeInclusive<usize> = 5..=10;
const MAX_SUMMARY_CHARS: usize = 120;
/// The maximum length of a request id.
const MAX_ID_CHARS: usize = 64;

/// An invalid part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ContentError {
    /// An empty text.
    #[error("the text is empty")]
    Empty,
    /// A text over the size limit.
    #[error(
        "the text has {0} bytes; at most {MAX_BYTES} are allowed: put it in a file and send the path"
    )]
    TooLong(usize),
    /// A summary with too many or too few words.
    #[error("the summary has {0} words; give one line of 5 to 10 words")]
    SummaryWords(usize),
    /// A summary that is too long or has several lines.
    #[error("the summary is not one line of at most {MAX_SUMMARY_CHARS} characters")]
    SummaryLine,
    /// An invalid request id.
    #[error(
        "`request_id` is not 1 to {MAX_ID_CHARS} letters, digits, `-` and `_`; give the one of the request"
    )]
    RequestId,
    /// A rejection without a reason.
    #[error("a rejection needs a `reason`")]
    NoReason,
}

macro_rules! checked_text {
    ($name:ident) => {
        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl TryFrom<String> for $name {
            type Error = ContentError;
            fn try_from(text: String) -> Result<Self, ContentError> {
                Self::new(&text)
            }
        }
        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }
    };
}

/// The line shown to the user: 5 to 10 words, or fewer in scripts without spaces between words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageSummary(String);
checked_text!(MessageSummary);

impl MessageSummary {
    /// Checks a summary.
    pub fn new(text: &str) -> Result<Self, ContentError> {
        let words = text.split_whitespace().count();
        let few_is_fine = words > 0 && !text.is_ascii();
        if words > *SUMMARY_WORDS.end() || (words < *SUMMARY_WORDS.start() && !few_is_fine) {
            return Err(ContentError::SummaryWords(words));
        }
        if text.chars().any(char::is_control) || text.chars().count() > MAX_SUMMARY_CHARS {
            return Err(ContentError::SummaryLine);
        }
        Ok(Self(text.trim().to_owned()))
    }
}

impl MessageSummary {
    /// Makes a summary of the beginning of a text.
    pub fn of(text: &str) -> Result<Self, ContentError> {
        let words: Vec<&str> = text.split_whitespace().take(*SUMMARY_WORDS.end()).collect();
        let start = words.join(" ");
        let cut = |text: &str| {
            text.chars().filter(|c| !c.is_control()).take(MAX_SUMMARY_CHARS).collect::<String>()
        };
        let enough = words.len() >= *SUMMARY_WORDS.start();
        Self::new(&cut(&if enough { start } else { format!("a short message says: {start}") }))
    }
}

/// A text: a message, plan or reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MessageText(String);
checked_text!(MessageText);

impl MessageText {
    /// Checks a text.
    pub fn new(text: &str) -> Result<Self, ContentError> {
        if text.trim().is_empty() {
            return Err(ContentError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(ContentError::TooLong(text.len()));
        }
        Ok(Self(text.to_owned()))
    }
}

/// The id of a request, repeated in its response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RequestId(String);
checked_text!(RequestId);

impl RequestId {
    /// Checks an id.
    pub fn new(text: &str) -> Result<Self, ContentError> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        if text.is_empty() || text.len() > MAX_ID_CHARS || !text.chars().all(fits) {
            return Err(ContentError::RequestId);
        }
        Ok(Self(text.to_owned()))
    }
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalDecision {
    /// Approved, with an optional remark.
    Approve(Option<MessageText>),
    /// Rejected for this reason.
    Reject(MessageText),
}

/// A response to a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ResponseWire", into = "ResponseWire")]
pub struct RequestResponse {
    /// The request.
    pub request_id: RequestId,
    /// The decision.
    pub answer: ApprovalDecision,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResponseWire {
    request_id: RequestId,
    approve: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<MessageText>,
}

impl TryFrom<ResponseWire> for RequestResponse {
    type Error = ContentError;

    fn try_from(wire: ResponseWire) -> Result<Self, ContentError> {
        let answer = match (wire.approve, wire.reason) {
            (true, remark) => ApprovalDecision::Approve(remark),
            (false, Some(reason)) => ApprovalDecision::Reject(reason),
            (false, None) => return Err(ContentError::NoReason),
        };
        Ok(Self { request_id: wire.request_id, answer })
    }
}

impl From<RequestResponse> for ResponseWire {
    fn from(response: RequestResponse) -> Self {
        let (approve, reason) = match response.answer {
            ApprovalDecision::Approve(remark) => (true, remark),
            ApprovalDecision::Reject(reason) => (false, Some(reason)),
        };
        Self { request_id: response.request_id, approve, reason }
    }
}

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MessageContent {
    /// A text.
    Text {
        /// The line shown to the user.
        summary: MessageSummary,
        /// The text for the receiver.
        text: MessageText,
    },
    /// Asks the receiver to shut down.
    ShutdownRequest {
        /// The id for the response.
        request_id: RequestId,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<MessageText>,
    },
    /// Answers a shutdown request.
    ShutdownResponse(RequestResponse),
    /// Asks for approval of a plan.
    PlanApprovalRequest {
        /// The id for the response.
        request_id: RequestId,
        /// The plan.
        plan: MessageText,
    },
    /// Answers a plan approval request.
    PlanApprovalResponse(RequestResponse),
}

impl MessageContent {
    /// Whether it approves a plan.
    pub(crate) fn approves_plan(&self) -> bool {
        matches!(
            self,
            Self::PlanApprovalResponse(RequestResponse {
                answer: ApprovalDecision::Approve(_),
                ..
            })
        )
    }

    /// Returns the line shown to the user.
    pub fn summary(&self) -> String {
        match self {
            Self::Text { summary, .. } => summary.to_string(),
            Self::ShutdownRequest { .. } => "asks to end the work".to_owned(),
            Self::ShutdownResponse(response) => {
                response.answer.choose("agrees to end", "will not end yet")
            }
            Self::PlanApprovalRequest { .. } => "asks to approve a plan".to_owned(),
            Self::PlanApprovalResponse(response) => {
                response.answer.choose("approves the plan", "rejects the plan")
            }
        }
    }
}

impl ApprovalDecision {
    fn choose(&self, yes: &str, no: &str) -> String {
        match self {
            Self::Approve(_) => yes.to_owned(),
            Self::Reject(_) => no.to_owned(),
        }
    }

    /// Returns the reason or remark.
    pub fn reason(&self) -> Option<&MessageText> {
        match self {
            Self::Approve(remark) => remark.as_ref(),
            Self::Reject(reason) => Some(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<MessageContent, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn kinds_come_back_as_they_went() {
        for json in [
            r#"{"type":"text","summary":"one two three four five","text":"hi"}"#,
            r#"{"type":"shutdown_request","request_id":"r1"}"#,
            r#"{"type":"shutdown_request","request_id":"r1","reason":"done"}"#,
            r#"{"type":"shutdown_response","request_id":"r1","approve":true}"#,
            r#"{"type":"shutdown_response","request_id":"r1","approve":false,"reason":"busy"}"#,
            r#"{"type":"plan_approval_request","request_id":"r1","plan":"1. look"}"#,
            r#"{"type":"plan_approval_response","request_id":"r1","approve":true,"reason":"go"}"#,
        ] {
            assert_eq!(serde_json::to_string(&read(json).unwrap()).unwrap(), json);
        }
    }

    #[test]
    fn what_is_unknown_or_wrong_is_refused() {
        let check = |json: &str, why: &str| {
            let error = read(json).unwrap_err();
            assert!(error.contains(why), "{json}: {error}");
        };
        check(r#"{"type":"dance"}"#, "unknown variant `dance`");
        check(r#"{"text":"hi"}"#, "type");
        check(
            r#"{"type":"shutdown_response","request_id":"r","approve":false}"#,
            "needs a `reason`",
        );
        check(r#"{"type":"shutdown_response","request_id":"","approve":true}"#, "request_id");
        check(r#"{"type":"shutdown_request","request_id":"r","x":1}"#, "unknown field");
        check(
            r#"{"type":"shutdown_response","request_id":"r","approve":true,"x":1}"#,
            "unknown field",
        );
        check(r#"{"type":"text","summary":"too short","text":"hi"}"#, "2 words");
        check(r#"{"type":"text","summary":"one two three four five","text":" "}"#, "empty");
        let long = "x".repeat(MAX_BYTES + 1);
        assert_eq!(MessageText::new(&long), Err(ContentError::TooLong(MAX_BYTES + 1)));
    }

    #[test]
    fn summaries() {
        assert!(MessageSummary::new("a b c d e f g h i j").is_ok());
        assert_eq!(
            MessageSummary::new("a b c d e f g h i j k"),
            Err(ContentError::SummaryWords(11))
        );
        assert_eq!(MessageSummary::new(""), Err(ContentError::SummaryWords(0)));
        assert!(MessageSummary::new("测试全部通过").is_ok());
        assert_eq!(MessageSummary::new("a b c d\ne"), Err(ContentError::SummaryLine));
        let of = |text: &str| MessageSummary::of(text).unwrap().to_string();
        assert_eq!(of("the build\nis green again now"), "the build is green again now");
        assert_eq!(of("done"), "a short message says: done");
        let long = of(&"x".repeat(500));
        assert!(long.starts_with("a short message says: xxx") && long.len() == 120, "{long}");
        assert!(MessageSummary::of(&format!("{} a b c d e", "y".repeat(500))).is_err());
    }
}

//! Output formats of a headless run: text, one JSON object, or a stream of JSON lines.

use dormouse_base::printable;
use std::time::Duration;

use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Message, Role, Usage};
use dormouse_engine::{
    CompactionMethod, CompactionReport, EngineEvent, SubmittedPlan, TurnEnd, TurnReport,
};
use dormouse_model::ModelError;
use dormouse_tools::ConfirmationRequest;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::OutputFormat;
use crate::wiring::compaction_notice::compaction_notice;
use crate::wiring::exit::Failure;
use crate::wiring::print;

/// Prints engine events in an output format.
pub(crate) struct OutputPrinter {
    format: OutputFormat,
    session: String,
    model: String,
    /// Text was printed without a final line break.
    line_open: bool,
    verbose: bool,
    denials: Vec<DeniedCall>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
enum StreamLine<'a> {
    System {
        subtype: &'static str,
        session_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<&'static str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tools: Option<&'a [String]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        compact_metadata: Option<CompactMetadata>,
    },
    StreamEvent {
        session_id: &'a str,
        event: DeltaEvent<'a>,
    },
    User {
        session_id: &'a str,
        uuid: String,
        message: MessageBody<'a>,
    },
    Assistant {
        session_id: &'a str,
        uuid: String,
        message: MessageBody<'a>,
    },
    Result(RunResult<'a>),
    /// A question to the other program.
    ControlRequest {
        request_id: &'a str,
        request: PermissionRequest<'a>,
    },
    /// The question needs no answer any more.
    ControlCancelRequest {
        request_id: &'a str,
    },
    /// The answer to a request of the other program.
    ControlResponse {
        response: RequestAnswer<'a>,
    },
}

#[derive(Serialize)]
struct PermissionRequest<'a> {
    subtype: &'static str,
    tool_name: &'a str,
    input: &'a RawValue,
    decision_reason: &'a str,
    permission_suggestions: &'a [PermissionSuggestion],
}

/// A rule that would make the question unnecessary: for the command line or the settings, not for the answer.
#[derive(Serialize)]
pub(super) struct PermissionSuggestion {
    #[serde(rename = "type")]
    kind: &'static str,
    rule: String,
}

impl PermissionSuggestion {
    pub(super) fn new(rule: String) -> Self {
        Self { kind: "rule", rule }
    }
}

#[derive(Serialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
enum RequestAnswer<'a> {
    Success { request_id: &'a str, response: &'a serde_json::Value },
    Error { request_id: &'a str, error: &'a str },
}

/// Asks the other program whether a call may run.
pub(super) fn print_permission_request(
    request_id: &str,
    question: &ConfirmationRequest,
    suggestions: &[PermissionSuggestion],
) {
    let request = PermissionRequest {
        subtype: "can_use_tool",
        tool_name: &question.tool,
        input: &question.input,
        decision_reason: &question.why,
        permission_suggestions: suggestions,
    };
    print_json(&StreamLine::ControlRequest { request_id, request });
}

/// Says that a question needs no answer any more.
pub(super) fn print_withdrawn_request(request_id: &str) {
    print_json(&StreamLine::ControlCancelRequest { request_id });
}

/// Answers a request of the other program.
pub(super) fn print_request_answer(request_id: &str, answer: Result<&serde_json::Value, &str>) {
    let response = match answer {
        Ok(response) => RequestAnswer::Success { request_id, response },
        Err(error) => RequestAnswer::Error { request_id, error },
    };
    print_json(&StreamLine::ControlResponse { response });
}

/// The result of a compaction, with the field names of the stream format.
#[derive(Serialize)]
struct CompactMetadata {
    trigger: CompactionTrigger,
    pre_tokens: u64,
    post_tokens: u64,
    way: CompactionMethod,
    /// Why the session notes could not replace the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    without_notes: Option<String>,
}

#[derive(Serialize)]
struct DeltaEvent<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    delta: TextDelta<'a>,
}

#[derive(Serialize)]
struct TextDelta<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct MessageBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    role: Role,
    content: &'a [dormouse_conversation::Block],
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
}

/// Prints an error outside a turn as JSON: every run ends with a result.
pub(crate) fn failure(format: OutputFormat, failure: &Failure) {
    if format == OutputFormat::Text || failure.is_printed() || print::write_error().is_some() {
        return;
    }
    print_json(&StreamLine::Result(RunResult {
        subtype: "error",
        is_error: true,
        result: "",
        error: Some(failure.message()),
        error_kind: Some(failure.kind()),
        session_id: None,
        model: None,
        num_turns: 0,
        duration_ms: 0,
        usage: Usage::default(),
        total_cost_usd: None,
        permission_denials: &[],
    }));
}

/// The result of a run.
#[derive(Serialize)]
pub(crate) struct RunResult<'a> {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) result: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// A machine-readable kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_kind: Option<&'static str>,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) num_turns: u32,
    pub(crate) duration_ms: u64,
    pub(crate) usage: Usage,
    /// None where the model has no known price.
    pub(crate) total_cost_usd: Option<f64>,
    /// Tool calls that were denied.
    #[serde(skip_serializing_if = "<[DeniedCall]>::is_empty")]
    pub(crate) permission_denials: &'a [DeniedCall],
}

/// A denied tool call.
#[derive(Debug, Serialize)]
pub(crate) struct DeniedCall {
    #[serde(rename = "tool_name")]
    name: String,
    #[serde(rename = "tool_use_id")]
    id: String,
    #[serde(rename = "tool_input")]
    input: Box<RawValue>,
}

impl OutputPrinter {
    pub(crate) fn new(format: OutputFormat, session: String, model: String, verbose: bool) -> Self {
        Self { format, session, model, line_open: false, verbose, denials: Vec::new() }
    }

    /// Prints the first line of a stream: session, model, tools.
    pub(crate) fn begin(&self, folder: &str, tools: &[String]) {
        if self.format == OutputFormat::StreamJson {
            print_json(&StreamLine::System {
                subtype: "init",
                session_id: &self.session,
                version: Some(env!("CARGO_PKG_VERSION")),
                model: Some(&self.model),
                cwd: Some(folder),
                tools: Some(tools),
                message: None,
                compact_metadata: None,
            });
        }
    }

    /// Prints an event.
    pub(crate) fn event(&mut self, event: &EngineEvent) {
        match event {
            EngineEvent::Text(text) => self.text(text),
            EngineEvent::Message(message) => self.message(message),
            // In a pipe nothing was printed yet.
            EngineEvent::Withdrawn
                if self.format != OutputFormat::StreamJson && !self.line_open => {}
            EngineEvent::Withdrawn => {
                self.end_line();
                self.notice(
                    "withdrawn",
                    "partial response discarded; the request is retried".to_owned(),
                );
            }
            EngineEvent::Retrying { error, delay, retry, of } => self.notice(
                "retry",
                format!("{error}; retrying in {} s ({retry} of {of})", seconds(*delay)),
            ),
            EngineEvent::Recalled(receipt) if !receipt.has_news() => {}
            EngineEvent::Recalled(receipt) => self.notice("notice", receipt.line()),
            EngineEvent::Remembered(what) => {
                self.notice("notice", format!("memory: {what}; undo: `dormouse memory undo`"));
            }
            EngineEvent::Corrected(corrected) => {
                self.notice("notice", corrected.line("dormouse memory guard"));
            }
            EngineEvent::Planned(plan) => self.planned(plan),
            EngineEvent::Notice(notice) => self.notice("notice", notice.to_string()),
            EngineEvent::Compacted(report) => self.compacted(report),
            EngineEvent::ToolStarted { name, input, .. } if self.verbose => {
                self.end_line();
                print::note(&format!("· {name} {input}"));
            }
            EngineEvent::ToolFinished { name, is_error: true, .. } if self.verbose => {
                print::note(&format!("· {name} failed"));
            }
            EngineEvent::ToolDenied { id, name, input, why } => {
                self.denied(id.as_str(), name, input, why);
            }
            EngineEvent::ToolChanged { input, .. } if self.verbose => {
                print::note(&format!("· changed by a hook: {input}"));
            }
            EngineEvent::Answering
            | EngineEvent::Counted(_)
            | EngineEvent::Steered(_)
            // There is no terminal that is known to be the user's.
            | EngineEvent::TerminalSequence(_)
            | EngineEvent::ToolChanged { .. }
            | EngineEvent::Compacting(_)
            | EngineEvent::Thinking(_)
            | EngineEvent::ToolStarted { .. }
            | EngineEvent::ToolPrinted { .. }
            | EngineEvent::ToolFinished { .. } => {}
        }
    }

    /// On a terminal text is streamed; in a pipe only the final answer is printed.
    fn text(&mut self, text: &str) {
        match self.format {
            OutputFormat::Text if print::is_terminal() => {
                print::data(text);
                self.line_open = !text.ends_with('\n');
            }
            OutputFormat::StreamJson => {
                let delta = TextDelta { kind: "text_delta", text };
                let event = DeltaEvent { kind: "content_block_delta", delta };
                print_json(&StreamLine::StreamEvent { session_id: &self.session, event });
            }
            OutputFormat::Text | OutputFormat::Json => {}
        }
    }

    fn message(&mut self, message: &Message) {
        self.end_line();
        if self.format != OutputFormat::StreamJson {
            return;
        }
        let response = message.response.as_ref();
        let body = MessageBody {
            id: response.map(|response| response.id.as_str()),
            role: message.role,
            content: &message.blocks,
            model: response.map(|response| response.model.as_str()),
            stop_reason: response
                .and_then(|response| Some(response.stop_reason.as_ref()?.as_str())),
            usage: response.map(|response| response.usage),
        };
        let (session_id, uuid) = (self.session.as_str(), message.id.to_string());
        print_json(&match message.role {
            Role::User => StreamLine::User { session_id, uuid, message: body },
            Role::Assistant => StreamLine::Assistant { session_id, uuid, message: body },
        });
    }

    /// Prints a notice: to standard error, or as a line of the stream.
    pub(crate) fn notice(&mut self, subtype: &'static str, text: String) {
        if self.format == OutputFormat::StreamJson {
            print_json(&StreamLine::System {
                subtype,
                session_id: &self.session,
                version: None,
                model: None,
                cwd: None,
                tools: None,
                message: Some(text),
                compact_metadata: None,
            });
        } else {
            self.end_line();
            print::note(&format!("note: {text}"));
        }
    }

    fn compacted(&mut self, report: &CompactionReport) {
        if self.format != OutputFormat::StreamJson {
            return self.notice("notice", compaction_notice(report));
        }
        print_json(&StreamLine::System {
            subtype: "compact_boundary",
            session_id: &self.session,
            version: None,
            model: None,
            cwd: None,
            tools: None,
            message: Some(compaction_notice(report)),
            compact_metadata: Some(CompactMetadata {
                trigger: report.trigger,
                pre_tokens: report.before,
                post_tokens: report.after,
                way: report.way,
                without_notes: report.stepped_aside.as_ref().map(ToString::to_string),
            }),
        });
    }

    /// Shows a plan, which is the answer of the turn. In a pipe it is printed at the end.
    fn planned(&mut self, plan: &SubmittedPlan) {
        self.end_line();
        if self.format == OutputFormat::Text && print::is_terminal() {
            print::data_line(&printable(plan.text.trim_end()));
        }
        self.notice(
            "plan",
            format!(
                "nothing was changed; plan saved in {}; to carry it out: dormouse -p --continue \
                 --permission-mode acceptEdits \"carry out the plan\"",
                plan.path.display()
            ),
        );
    }

    /// Reports a denied call.
    fn denied(&mut self, id: &str, name: &str, input: &str, why: &str) {
        let input = RawValue::from_string(input.to_owned()).unwrap_or_default();
        self.denials.push(DeniedCall { name: name.to_owned(), id: id.to_owned(), input });
        self.end_line();
        print::note(&format!("note: {why}"));
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            print::data("\n");
        }
    }

    /// Prints the result of the run.
    pub(crate) fn end(&mut self, report: &TurnReport, duration: Duration) {
        self.end_line();
        match self.format {
            OutputFormat::Text if print::is_terminal() => {}
            OutputFormat::Text => {
                if !report.answer.is_empty() {
                    // Whatever reads the pipe may show it on a terminal.
                    print::data_line(&printable(report.answer.trim_end()));
                }
            }
            OutputFormat::Json | OutputFormat::StreamJson => {
                print_json(&StreamLine::Result(self.summary(report, duration)));
            }
        }
        self.denials.clear();
    }

    /// Another model answers from now on.
    pub(super) fn model_changed(&mut self, model: String) {
        self.model = model;
    }

    fn summary<'a>(&'a self, report: &'a TurnReport, duration: Duration) -> RunResult<'a> {
        let (subtype, error) = match &report.end {
            TurnEnd::Completed => ("success", None),
            TurnEnd::Cut => ("cut", None),
            TurnEnd::Refused => ("refused", None),
            TurnEnd::Empty => ("empty", None),
            TurnEnd::MaxTurns => ("max_turns", None),
            TurnEnd::MaxCost => ("max_cost", None),
            TurnEnd::Interrupted => ("interrupted", None),
            TurnEnd::Repeating(_) => ("repeating", None),
            TurnEnd::Halted(_) => ("halted", None),
            TurnEnd::Blocked(_) => ("blocked", None),
            TurnEnd::NoPrompt(_) => ("no_prompt", None),
            TurnEnd::Failed(error) => ("error", Some(error)),
        };
        RunResult {
            subtype,
            is_error: report.end != TurnEnd::Completed,
            result: &report.answer,
            error: error.map(ToString::to_string),
            error_kind: error.map(ModelError::kind),
            session_id: Some(&self.session),
            model: Some(&self.model),
            num_turns: report.requests,
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            usage: report.usage,
            total_cost_usd: report.cost_usd.map(to_millionths),
            permission_denials: &self.denials,
        }
    }
}

/// Rounds to a millionth of a dollar.
fn to_millionths(dollars: f64) -> f64 {
    (dollars * 1e6).round() / 1e6
}

fn seconds(delay: Duration) -> String {
    format!("{:.1}", delay.as_secs_f32())
}

fn print_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(line) => print::data_line(&line),
        Err(error) => print::note(&format!("error: cannot encode a line of output: {error}")),
    }
}

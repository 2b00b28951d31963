//! The three forms of an answer: text, one JSON object, a JSON object a line.

use std::time::Duration;

use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Message, Role, Usage};
use dormouse_engine::{
    CompactionMethod, CompactionReport, EngineEvent, SubmittedPlan, TurnEnd, TurnReport,
};
use dormouse_model::ModelError;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::OutputFormat;
use crate::wiring::exit::Failure;
use crate::wiring::print;

/// Prints what happens, in the form asked for.
pub(crate) struct Printer {
    format: OutputFormat,
    session: String,
    model: String,
    /// Text has been shown and its line is open.
    line_open: bool,
    verbose: bool,
    denials: Vec<Denial>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case", tag = "type")]
enum Line<'a> {
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
        message: Body<'a>,
    },
    Assistant {
        session_id: &'a str,
        uuid: String,
        message: Body<'a>,
    },
    Result(Summary<'a>),
}

/// What a compaction came to, with the names that programs know.
#[derive(Serialize)]
struct CompactMetadata {
    trigger: CompactionTrigger,
    pre_tokens: u64,
    post_tokens: u64,
    way: CompactionMethod,
    /// Why the session's notes did not stand for the summary.
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
struct Body<'a> {
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

/// A failure outside a turn, for programs: every run ends with a result.
pub(crate) fn failure(format: OutputFormat, failure: &Failure) {
    if format == OutputFormat::Text || failure.is_printed() || print::lost().is_some() {
        return;
    }
    print_json(&Line::Result(Summary {
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

/// The end of a run, in JSON.
#[derive(Serialize)]
pub(crate) struct Summary<'a> {
    pub(crate) subtype: &'static str,
    pub(crate) is_error: bool,
    pub(crate) result: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// A word for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_kind: Option<&'static str>,
    pub(crate) session_id: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) num_turns: u32,
    pub(crate) duration_ms: u64,
    pub(crate) usage: Usage,
    /// None where the model's price is not known.
    pub(crate) total_cost_usd: Option<f64>,
    /// Calls that were not allowed.
    #[serde(skip_serializing_if = "<[Denial]>::is_empty")]
    pub(crate) permission_denials: &'a [Denial],
}

/// A call that was not allowed.
#[derive(Debug, Serialize)]
pub(crate) struct Denial {
    #[serde(rename = "tool_name")]
    name: String,
    #[serde(rename = "tool_use_id")]
    id: String,
    #[serde(rename = "tool_input")]
    input: Box<RawValue>,
}

impl Printer {
    pub(crate) fn new(format: OutputFormat, session: String, model: String, verbose: bool) -> Self {
        Self { format, session, model, line_open: false, verbose, denials: Vec::new() }
    }

    /// The first line of a stream: what the session is.
    pub(crate) fn begin(&self, folder: &str, tools: &[String]) {
        if self.format == OutputFormat::StreamJson {
            print_json(&Line::System {
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

    /// Something happened.
    pub(crate) fn event(&mut self, event: &EngineEvent) {
        match event {
            EngineEvent::Text(text) => self.text(text),
            EngineEvent::Message(message) => self.message(message),
            // In a pipe nothing of it was shown.
            EngineEvent::Withdrawn
                if self.format != OutputFormat::StreamJson && !self.line_open => {}
            EngineEvent::Withdrawn => {
                self.end_line();
                self.notice(
                    "withdrawn",
                    "what came of this answer is withdrawn; it comes anew".to_owned(),
                );
            }
            EngineEvent::Retrying { error, delay, retry, of } => self.notice(
                "retry",
                format!("{error}; trying again in {} s ({retry} of {of})", shortly(*delay)),
            ),
            EngineEvent::Recalled(receipt) if receipt.recalled.is_empty() => {}
            EngineEvent::Recalled(receipt) => self.notice("notice", receipt.line()),
            EngineEvent::Remembered(what) => {
                self.notice(
                    "notice",
                    format!("memory: {what}; `dormouse memory undo` takes it back"),
                );
            }
            EngineEvent::Corrected(corrected) => {
                self.notice("notice", corrected.line("dormouse memory guard"));
            }
            EngineEvent::Planned(plan) => self.planned(plan),
            EngineEvent::Notice(text) => self.notice("notice", text.clone()),
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
            | EngineEvent::ToolChanged { .. }
            | EngineEvent::Compacting(_)
            | EngineEvent::Thinking(_)
            | EngineEvent::ToolStarted { .. }
            | EngineEvent::ToolPrinted { .. }
            | EngineEvent::ToolFinished { .. } => {}
        }
    }

    /// On a terminal text appears as it arrives; in a pipe only the answer itself counts, at the end.
    fn text(&mut self, text: &str) {
        match self.format {
            OutputFormat::Text if print::is_terminal() => {
                print::data(text);
                self.line_open = !text.ends_with('\n');
            }
            OutputFormat::StreamJson => {
                let delta = TextDelta { kind: "text_delta", text };
                let event = DeltaEvent { kind: "content_block_delta", delta };
                print_json(&Line::StreamEvent { session_id: &self.session, event });
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
        let body = Body {
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
            Role::User => Line::User { session_id, uuid, message: body },
            Role::Assistant => Line::Assistant { session_id, uuid, message: body },
        });
    }

    /// Worth knowing: on standard error, or a line of the stream.
    pub(crate) fn notice(&mut self, subtype: &'static str, text: String) {
        if self.format == OutputFormat::StreamJson {
            print_json(&Line::System {
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
            return self.notice("notice", report.to_string());
        }
        print_json(&Line::System {
            subtype: "compact_boundary",
            session_id: &self.session,
            version: None,
            model: None,
            cwd: None,
            tools: None,
            message: Some(report.to_string()),
            compact_metadata: Some(CompactMetadata {
                trigger: report.trigger,
                pre_tokens: report.before,
                post_tokens: report.after,
                way: report.way,
                without_notes: report.stepped_aside.as_ref().map(ToString::to_string),
            }),
        });
    }

    /// The plan is the answer. In a pipe it is printed as such, at the end.
    fn planned(&mut self, plan: &SubmittedPlan) {
        self.end_line();
        if self.format == OutputFormat::Text && print::is_terminal() {
            print::data_line(plan.text.trim_end());
        }
        self.notice(
            "plan",
            format!(
                "nothing was changed; the plan is kept in {}; to have it carried out: dormouse -p --continue \
                 --permission-mode acceptEdits \"carry out the plan\"",
                plan.path.display()
            ),
        );
    }

    /// Whoever reads the answer should know what it was made without.
    fn denied(&mut self, id: &str, name: &str, input: &str, why: &str) {
        let input = RawValue::from_string(input.to_owned()).unwrap_or_default();
        self.denials.push(Denial { name: name.to_owned(), id: id.to_owned(), input });
        self.end_line();
        print::note(&format!("note: {why}"));
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line_open) {
            print::data("\n");
        }
    }

    /// The end of the run.
    pub(crate) fn end(&mut self, report: &TurnReport, duration: Duration) {
        self.end_line();
        match self.format {
            OutputFormat::Text if print::is_terminal() => {}
            OutputFormat::Text => {
                if !report.answer.is_empty() {
                    print::data_line(report.answer.trim_end());
                }
            }
            OutputFormat::Json | OutputFormat::StreamJson => {
                print_json(&Line::Result(self.summary(report, duration)));
            }
        }
    }

    fn summary<'a>(&'a self, report: &'a TurnReport, duration: Duration) -> Summary<'a> {
        let (subtype, error) = match &report.end {
            TurnEnd::Completed => ("success", None),
            TurnEnd::Cut => ("cut", None),
            TurnEnd::Refused => ("refused", None),
            TurnEnd::Empty => ("empty", None),
            TurnEnd::MaxTurns => ("max_turns", None),
            TurnEnd::MaxCost => ("max_cost", None),
            TurnEnd::Interrupted => ("interrupted", None),
            TurnEnd::Halted(_) => ("halted", None),
            TurnEnd::Blocked(_) => ("blocked", None),
            TurnEnd::Failed(error) => ("error", Some(error)),
        };
        Summary {
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

/// What is beyond a millionth of a dollar is noise.
fn to_millionths(dollars: f64) -> f64 {
    (dollars * 1e6).round() / 1e6
}

fn shortly(delay: Duration) -> String {
    format!("{:.1}", delay.as_secs_f32())
}

fn print_json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(line) => print::data_line(&line),
        Err(error) => {
            print::note(&format!("error: a line of output could not be encoded: {error}"))
        }
    }
}

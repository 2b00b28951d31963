//! Plan mode in a session (L-33): the model is told of it, submits its plan with `ExitPlan`, and the user decides.
//!
//! Invariants: a plan is saved in the session's folder before the user is asked about it. Only the user changes the
//! mode. Neither the prefix nor the tools mention the mode: it is announced at the end of the conversation.

use std::borrow::Cow;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Dir, FileError, RelPath};
use dormouse_context::{Fragment, PlanMode};
use dormouse_conversation::known_tools::{EXIT_PLAN, MORE_TOOLS};
use dormouse_conversation::{Block, EnvironmentFacts, ToolDefinition};
use dormouse_permissions::{Access, InternalAccess, PermissionGate, PermissionMode};
use dormouse_tools::{
    CallContext, ConfirmationReply, ConfirmationRequest, Confirmer, Grant, ResultLimit, Tool,
    ToolClass, ToolError, ToolOutput, ToolSet, ToolSpec, parse_input,
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::conversation::Conversation;
use crate::error::EngineError;
use crate::event::{EngineEvent, TurnEnd, TurnReport};
use crate::event_sink::TurnContext;
use crate::submitted_plan::SubmittedPlan;

/// The fact that the model knows of plan mode.
const FACT: &str = "plan mode";
/// The file, in the session's own folder.
const FILE: &str = "plan.md";
/// The user reads the plan.
const MOST_BYTES: usize = 64 * 1024;

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(EXIT_PLAN.name),
    full: Cow::Borrowed(
        "Hands in the plan, in plan mode and nowhere else: the user reads it, and accepts it or says what to change.\n\n\
         - `plan` is the whole plan, in markdown: what is to be changed, in which files, in which order, and how it is checked.\n\
         - Call it when the plan is complete. Questions to the user come before it, in your answer.\n\
         - Nothing may be changed until the result says that the plan is accepted.\n\
         - Not for answers: where nothing is to be changed, just answer.",
    ),
    short: Cow::Borrowed("In plan mode: hands in the plan, for the user to accept."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""plan":{"type":"string","description":"The whole plan, in markdown."}"#,
        r#"},"required":["plan"],"additionalProperties":false}"#,
    )),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: EXIT_PLAN.traits,
};

/// The outcome of the last plan, until the turn has settled it.
#[derive(Debug)]
enum Outcome {
    /// There was no user to decide.
    Submitted(SubmittedPlan),
    /// The user accepted it: the model knows that plan mode is off.
    Accepted,
}

/// Plan mode and the submitted plan of a session.
#[derive(Debug)]
pub(crate) struct PlanState {
    gate: PermissionGate,
    confirmer: Option<Arc<dyn Confirmer>>,
    session: Dir,
    outcome: Mutex<Option<Outcome>>,
}

impl PlanState {
    pub(crate) fn new(
        gate: PermissionGate,
        confirmer: Option<Arc<dyn Confirmer>>,
        session: Dir,
    ) -> Arc<Self> {
        Arc::new(Self { gate, confirmer, session, outcome: Mutex::default() })
    }

    /// The tool `ExitPlan`.
    pub(crate) fn tool(self: &Arc<Self>) -> Arc<dyn Tool> {
        Arc::new(ExitPlan(Arc::clone(self)))
    }

    fn save(&self, text: String) -> Result<SubmittedPlan, FileError> {
        self.session.replace(&file(), text.as_bytes())?;
        Ok(SubmittedPlan { path: self.session.path().join(FILE), text })
    }

    /// The plan that was submitted last, in this process or before.
    pub(crate) fn submitted(&self) -> Option<SubmittedPlan> {
        let mut bytes = Vec::new();
        let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
        // Without a readable file there is no plan.
        self.session.open_file(&file()).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(SubmittedPlan { path: self.session.path().join(FILE), text })
    }

    /// The note that plan mode is on, or no longer, where the model does not know it (L-18), and the facts it knows
    /// from then on.
    pub(crate) fn mode_change(
        &self,
        announced: &EnvironmentFacts,
        offered: &[ToolDefinition],
        tools: &ToolSet,
    ) -> Option<(Block, EnvironmentFacts)> {
        let is_on = self.gate.mode() == PermissionMode::Plan;
        if is_on == announced.get(FACT).is_some() {
            return None;
        }
        let note = if is_on {
            // The tools say what can be called, the prefix what the model knows of.
            let is_known = |name| offered.iter().any(|tool| tool.name == name);
            let is_announced = || is_known(MORE_TOOLS.name) && tools.get(EXIT_PLAN.name).is_some();
            PlanMode::On { has_tool: is_known(EXIT_PLAN.name) || is_announced() }
        } else {
            PlanMode::Off { plan: self.submitted().map(|plan| plan.path.display().to_string()) }
        };
        Some((note.to_block(), with_mode(announced, is_on)))
    }

    /// What a plan makes of the turn in which it was submitted: without a user to decide, it is the answer.
    pub(crate) fn settle(
        &self,
        report: TurnReport,
        conversation: &mut Conversation,
        turn: &mut TurnContext<'_>,
    ) -> Result<TurnReport, EngineError> {
        match self.take_outcome() {
            None => Ok(report),
            Some(Outcome::Accepted) => {
                let facts = with_mode(conversation.announced(), false);
                conversation.record_announced(facts)?;
                Ok(report)
            }
            Some(Outcome::Submitted(plan)) => {
                let answer = plan.text.clone();
                turn.emit(EngineEvent::Planned(plan));
                Ok(TurnReport { end: TurnEnd::Completed, answer, ..report })
            }
        }
    }

    fn set_outcome(&self, outcome: Outcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    fn take_outcome(&self) -> Option<Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Without a user the plan is the answer, and the turn ends with it.
    fn submit_without_user(&self, plan: SubmittedPlan) -> ToolOutput {
        let text = "The plan is handed in. The user reads it after this run and decides then; nothing was changed.";
        self.set_outcome(Outcome::Submitted(plan));
        ToolOutput { halt: Some("a plan was handed in".to_owned()), ..ToolOutput::text(text) }
    }

    fn accept(&self, mode: PermissionMode, plan: &SubmittedPlan) -> ToolOutput {
        self.gate.set_mode(mode);
        self.set_outcome(Outcome::Accepted);
        let may = match mode {
            PermissionMode::AcceptEdits => "Edits in the working directory need no question.",
            PermissionMode::Default | PermissionMode::Plan | PermissionMode::Bypass => {
                "Edits and commands are asked about."
            }
        };
        ToolOutput::text(format!(
            "The user accepts the plan, and plan mode is off. {may} Carry it out now. It is kept in {}.",
            plan.path.display()
        ))
    }
}

fn declined(said: Option<String>) -> ToolOutput {
    let why = match said {
        Some(said) => format!("The user does not accept the plan as it is and says: {said}\n"),
        None => "The user does not accept the plan as it is. Ask what to change.\n".to_owned(),
    };
    ToolOutput::text(format!(
        "{why}Plan mode is still on; hand in the changed plan in the same way."
    ))
}

struct ExitPlan(Arc<PlanState>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    plan: String,
}

impl Tool for ExitPlan {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    fn access(&self, _: &RawValue, _: &Path) -> Access {
        Access::Internal(InternalAccess {
            reason: "it only submits a plan, which the user decides about",
            denied_in_plan_mode: None,
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let state = &self.0;
            let Input { plan } = parse_input(input)?;
            let text = checked(&plan, state.gate.mode())?;
            let plan = state
                .save(context.redactor.redact(&text))
                .map_err(|error| ToolError::Failed { message: error.to_string() })?;
            let Some(confirmer) = &state.confirmer else {
                return Ok(state.submit_without_user(plan));
            };
            let reply = tokio::select! {
                biased;
                () = context.cancel.cancelled() => return Err(ToolError::interrupted()),
                reply = confirmer.ask(question(input)) => reply,
            };
            Ok(match reply {
                ConfirmationReply::Once | ConfirmationReply::Rule(_) => {
                    state.accept(PermissionMode::Default, &plan)
                }
                ConfirmationReply::Always => state.accept(PermissionMode::AcceptEdits, &plan),
                ConfirmationReply::No { said } => declined(said),
            })
        })
    }
}

/// The plan, if plan mode is on and the text is usable.
fn checked(plan: &str, mode: PermissionMode) -> Result<String, ToolError> {
    if mode != PermissionMode::Plan {
        let message =
            "plan mode is not on, so there is no plan to hand in; do what was asked, or answer"
                .to_owned();
        return Err(ToolError::Failed { message });
    }
    let text = plan.trim();
    if text.is_empty() {
        return Err(ToolError::invalid("`plan`: is empty; write down what is to be done"));
    }
    if text.len() > MOST_BYTES {
        let length = text.len();
        return Err(ToolError::invalid(format!(
            "`plan`: has {length} bytes, and the user is to read it; {MOST_BYTES} are the most"
        )));
    }
    Ok(format!("{text}\n"))
}

fn question(input: &RawValue) -> ConfirmationRequest {
    ConfirmationRequest {
        call: None,
        tool: EXIT_PLAN.name.to_owned(),
        input: input.to_owned(),
        why: "nothing is changed before you accept the plan".to_owned(),
        change: None,
        grant: Grant::Edits,
    }
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn file() -> RelPath {
    RelPath::new(FILE).expect("a plain name")
}

/// Keeps what the model was told about plan mode among facts that do not know of it.
pub(crate) fn keep_announced_mode(
    facts: EnvironmentFacts,
    announced: &EnvironmentFacts,
) -> EnvironmentFacts {
    match announced.get(FACT) {
        Some(value) => facts.with(FACT, value),
        None => facts,
    }
}

fn with_mode(announced: &EnvironmentFacts, is_on: bool) -> EnvironmentFacts {
    let facts = announced.clone();
    if is_on { facts.with(FACT, "on") } else { facts.without(FACT) }
}

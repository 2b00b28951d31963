//! Plan mode in a session (L-33): the model is told of it, hands in its plan with `ExitPlan`, and the
//! person decides.
//!
//! Invariants: a plan is a file of the session before anybody is asked about it. The mode changes by the
//! person's word alone. Neither the prefix nor the tools say anything of the mode: it is told at the end.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Dir, FileError, RelPath};
use dormouse_context::{Fragment, PlanMode};
use dormouse_conversation::{EnvironmentFacts, MessageFlags};
use dormouse_permissions::{Access, InternalAccess, PermissionGate, PermissionMode};
use dormouse_tools::{
    CallContext, ConfirmationReply, ConfirmationRequest, Confirmer, ResultLimit, Tool, ToolClass,
    ToolError, ToolOutput, ToolSpec, ToolTraits, parse_input,
};
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Engine, EngineError, EngineEvent, TurnEnd, TurnReport};

/// The name the model calls it by.
const NAME: &str = "ExitPlan";
/// The fact by which it is remembered that the model knows of plan mode.
const FACT: &str = "plan mode";
/// The file, in the session's own folder.
const FILE: &str = "plan.md";
/// A plan is read by a person.
const MOST_BYTES: usize = 64 * 1024;

static SPEC: ToolSpec = ToolSpec {
    name: Cow::Borrowed(NAME),
    full: Cow::Borrowed(
        "Hands in the plan, in plan mode and nowhere else: the person reads it, and accepts it or says what to change.\n\n\
         - `plan` is the whole plan, in markdown: what is to be changed, in which files, in which order, and how it is checked.\n\
         - Call it when the plan is complete. Questions to the person come before it, in your answer.\n\
         - Nothing may be changed until the result says that the plan is accepted.\n\
         - Not for answers: where nothing is to be changed, just answer.",
    ),
    short: Cow::Borrowed("In plan mode: hands in the plan, for the person to accept."),
    schema: Cow::Borrowed(concat!(
        r#"{"type":"object","properties":{"#,
        r#""plan":{"type":"string","description":"The whole plan, in markdown."}"#,
        r#"},"required":["plan"],"additionalProperties":false}"#,
    )),
    class: ToolClass::Exclusive,
    limit: ResultLimit::OwnBound,
    traits: ToolTraits::DEFAULT,
};

/// A plan that was handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedPlan {
    /// Its file, in the session's own folder.
    pub path: PathBuf,
    /// What it says, in markdown.
    pub text: String,
}

/// What came of the last plan, until the turn has taken note of it.
#[derive(Debug)]
enum Outcome {
    /// Nobody was there to decide.
    HandedIn(SubmittedPlan),
    /// The person accepted it: the model knows that plan mode is over.
    Accepted,
}

/// Where plans are handed in.
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

    /// The tool that leads here.
    pub(crate) fn tool(self: &Arc<Self>) -> Arc<dyn Tool> {
        Arc::new(ExitPlan(Arc::clone(self)))
    }

    fn keep(&self, text: String) -> Result<SubmittedPlan, FileError> {
        self.session.replace(&file(), text.as_bytes())?;
        Ok(SubmittedPlan { path: self.session.path().join(FILE), text })
    }

    /// The plan that was handed in last, in this process or before.
    fn kept(&self) -> Option<SubmittedPlan> {
        let mut bytes = Vec::new();
        let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
        // Without the file there is no plan; one that can not be read is none either.
        self.session.open_file(&file()).ok()?.take(most).read_to_end(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(SubmittedPlan { path: self.session.path().join(FILE), text })
    }

    fn leave(&self, outcome: Outcome) {
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    fn take_outcome(&self) -> Option<Outcome> {
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Nobody is there: the plan is the answer, and the turn ends with it.
    fn hand_in(&self, plan: SubmittedPlan) -> ToolOutput {
        let text = "The plan is handed in. The person reads it after this run and decides then; nothing was changed.";
        self.leave(Outcome::HandedIn(plan));
        ToolOutput { halt: Some("a plan was handed in".to_owned()), ..ToolOutput::text(text) }
    }

    fn accept(&self, mode: PermissionMode, plan: &SubmittedPlan) -> ToolOutput {
        self.gate.set_mode(mode);
        self.leave(Outcome::Accepted);
        let may = match mode {
            PermissionMode::AcceptEdits => "Edits in the working directory need no question.",
            PermissionMode::Default | PermissionMode::Plan | PermissionMode::Bypass => {
                "Edits and commands are asked about."
            }
        };
        ToolOutput::text(format!(
            "The person accepts the plan, and plan mode is off. {may} Carry it out now. It is kept in {}.",
            plan.path.display()
        ))
    }
}

fn declined(said: Option<String>) -> ToolOutput {
    let why = match said {
        Some(said) => format!("The person does not accept the plan as it is and says: {said}\n"),
        None => "The person does not accept the plan as it is. Ask what to change.\n".to_owned(),
    };
    ToolOutput::text(format!(
        "{why}SubmittedPlan mode is still on; hand in the changed plan in the same way."
    ))
}

/// The tool. See the module.
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
            reason: "it only hands in a plan, which the person decides about",
            denied_in_plan_mode: None,
        })
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let desk = &self.0;
            let Input { plan } = parse_input(input)?;
            let text = checked(&plan, desk.gate.mode())?;
            let plan = desk
                .keep(context.redactor.redact(&text))
                .map_err(|error| ToolError::Failed { message: error.to_string() })?;
            let Some(confirmer) = &desk.confirmer else { return Ok(desk.hand_in(plan)) };
            let reply = tokio::select! {
                biased;
                () = context.cancel.cancelled() => return Err(ToolError::interrupted()),
                reply = confirmer.ask(question(input)) => reply,
            };
            Ok(match reply {
                ConfirmationReply::Once => desk.accept(PermissionMode::Default, &plan),
                ConfirmationReply::Always => desk.accept(PermissionMode::AcceptEdits, &plan),
                ConfirmationReply::No { said } => declined(said),
            })
        })
    }
}

/// The plan, if it is one and is asked for.
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
            "`plan`: has {length} bytes, and a person is to read it; {MOST_BYTES} are the most"
        )));
    }
    Ok(format!("{text}\n"))
}

fn question(input: &RawValue) -> ConfirmationRequest {
    ConfirmationRequest {
        tool: NAME.to_owned(),
        input: input.to_owned(),
        why: "nothing is changed before you accept the plan".to_owned(),
        change: None,
        rule: NAME.to_owned(),
    }
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn file() -> RelPath {
    RelPath::new(FILE).expect("a plain name")
}

impl Engine {
    /// The plan that was handed in last in this session.
    pub fn plan(&self) -> Option<SubmittedPlan> {
        self.own.plan.kept()
    }

    /// Whether the model was told that plan mode is on, as a fact among others: what is told of it is told
    /// by [`Engine::tell_mode`] alone.
    pub(crate) fn with_mode_as_told(&self, facts: EnvironmentFacts) -> EnvironmentFacts {
        match self.told.get(FACT) {
            Some(value) => facts.with(FACT, value),
            None => facts,
        }
    }

    /// Tells the model that plan mode is on, or is no longer, where it does not know (L-18).
    pub(crate) fn tell_mode(&mut self) -> Result<(), EngineError> {
        // An agent hands in no plan: what its gate lets it do it finds out.
        if self.config.subagent.is_some() {
            return Ok(());
        }
        let is_on = self.config.gate.mode() == PermissionMode::Plan;
        if is_on == self.told.get(FACT).is_some() {
            return Ok(());
        }
        let note = if is_on {
            PlanMode::On
        } else {
            PlanMode::Off { plan: self.plan().map(|plan| plan.path.display().to_string()) }
        };
        self.add_user(
            vec![note.to_block()],
            MessageFlags { meta: true, ..MessageFlags::default() },
        )?;
        self.mode_was_told(is_on)
    }

    fn mode_was_told(&mut self, is_on: bool) -> Result<(), EngineError> {
        let told = self.told.clone();
        let told = if is_on { told.with(FACT, "on") } else { told.without(FACT) };
        self.transcript.record_facts(&told)?;
        self.told = told;
        Ok(())
    }

    /// What a plan makes of the turn that it was handed in: where nobody could be asked, it is the answer.
    pub(crate) fn settle_plan(
        &mut self,
        report: TurnReport,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<TurnReport, EngineError> {
        match self.own.plan.take_outcome() {
            None => Ok(report),
            Some(Outcome::Accepted) => {
                self.mode_was_told(false)?;
                Ok(report)
            }
            Some(Outcome::HandedIn(plan)) => {
                let answer = plan.text.clone();
                sink(EngineEvent::Planned(plan));
                Ok(TurnReport { end: TurnEnd::Completed, answer, ..report })
            }
        }
    }
}

//! Runs one call of the model, from the permission gate to its result.
//!
//! Invariant: every call has a result. Invalid arguments, an unknown tool, a denial, an error, a panic and an
//! interruption become error results that the model can read.

use futures_util::future::BoxFuture;
use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{ToolUse, ToolUseId};
use dormouse_permissions::{
    Access, HostPattern, PermissionDecision, PermissionGate, PermissionMode, PermissionVerdict,
};
use futures_util::FutureExt;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::arguments::object;
use crate::call_refusal::CallRefusal;
use crate::call_result::CallResult;
use crate::{
    BeforeCall, CallContext, CallObserver, CallOpinion, CallView, ConfirmationOverride,
    ConfirmationReply, ConfirmationRequest, Confirmer, FileRoute, Forwarded, Grant, Tool,
    ToolError, ToolSet,
};

/// How long a tool may take to stop by itself: longer than Bash needs to end a command that ignores signals.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// What a call passes on its way to a result.
#[derive(Debug, Clone)]
pub struct CallRunner {
    /// The tools.
    pub tools: Arc<ToolSet>,
    /// Decides which calls are permitted.
    pub gate: PermissionGate,
    /// Asks the user; none in a headless run, where such calls are denied.
    pub confirmer: Option<Arc<dyn Confirmer>>,
    /// Observes calls.
    pub observer: Option<Arc<dyn CallObserver>>,
}

/// The permission to run a call.
#[derive(Default)]
struct Permit {
    /// Changed arguments.
    input: Option<Box<RawValue>>,
    /// Whether the user confirmed this very call.
    confirmed: bool,
}

/// Why a call does not run.
enum Refusal {
    /// It was denied.
    Call(CallRefusal),
    /// It would fail, with this error.
    Fails(ToolError),
    /// The call was interrupted.
    Interrupted,
}

impl Refusal {
    fn denied(why: String) -> Self {
        Self::Call(CallRefusal::Denied { why })
    }
}

impl CallRunner {
    /// A runner without confirmer and observer.
    pub fn new(tools: Arc<ToolSet>, gate: PermissionGate) -> Self {
        Self { tools, gate, confirmer: None, observer: None }
    }

    /// Runs a call.
    pub async fn run(&self, call: ToolUse<'_>, context: &CallContext) -> CallResult {
        let Some(tool) = self.tools.get(call.name) else {
            return CallResult::error(unknown_tool(&self.tools, call.name));
        };
        let given = match object(call) {
            Ok(input) => input,
            Err(error) => return CallResult::error(error.to_string()),
        };
        let Some(Forwarded { tool: aim, input }) = tool.forwards(given) else {
            return self.run_tool(&**tool, call.id, given, context).await;
        };
        let result = self.run_tool(&*aim, call.id, &input, context).await;
        let changed = result.changed.map(|input| tool.forwarding(given, input));
        CallResult { changed, ..result }
    }

    /// Runs a call whose tool and arguments are known.
    fn run_tool<'a>(
        &'a self,
        tool: &'a dyn Tool,
        id: &'a ToolUseId,
        given: &'a RawValue,
        given_context: &'a CallContext,
    ) -> BoxFuture<'a, CallResult> {
        Box::pin(async move {
            let name = tool.called_as(given);
            let view = CallView { id, name: &name, input: given };
            let BeforeCall { opinion, input, mut notes, halt } = self.before(view).await;
            let input = input.map_or(Cow::Borrowed(given), Cow::Owned);
            let mut result = match self.permit(tool, view, &input, opinion, given_context).await {
                Err(refusal) => self.refused(view, refusal).await,
                Ok(permit) => {
                    let input = permit.input.map_or(input, Cow::Owned);
                    let view = CallView { input: &input, ..view };
                    let context = permit.confirmed.then(|| approved(tool, view, given_context));
                    let context = context.as_ref().unwrap_or(given_context);
                    let result = self.run_permitted(tool, view, context).await;
                    let changed = (input.get() != given.get()).then(|| input.into_owned());
                    CallResult { changed, ..result }
                }
            };
            notes.append(&mut result.notes);
            CallResult { notes, halt: halt.or(result.halt), ..result }
        })
    }

    async fn before(&self, view: CallView<'_>) -> BeforeCall {
        match &self.observer {
            Some(observer) => observer.before(view).await,
            None => BeforeCall::default(),
        }
    }

    /// Decides whether the call may run.
    async fn permit(
        &self,
        tool: &dyn Tool,
        view: CallView<'_>,
        input: &RawValue,
        opinion: CallOpinion,
        context: &CallContext,
    ) -> Result<Permit, Refusal> {
        let decision = self.gate.decide(&tool.permission_request(input, &context.folder));
        let decision = self.doubted(decision, tool, input, context).await;
        match (decision.verdict, opinion) {
            (PermissionVerdict::Ask, CallOpinion::Neutral)
                if !decision.by_rule && has_own_writer(tool, input, context) =>
            {
                Ok(Permit::default())
            }
            (_, CallOpinion::Deny { why }) => Err(Refusal::denied(why)),
            (PermissionVerdict::Deny, _) => Err(Refusal::denied(decision.why)),
            (PermissionVerdict::Allow, CallOpinion::Neutral | CallOpinion::Allow { .. }) => {
                Ok(Permit::default())
            }
            (PermissionVerdict::Ask, CallOpinion::Allow { .. }) if !decision.by_rule => {
                Ok(Permit::default())
            }
            (PermissionVerdict::Allow | PermissionVerdict::Ask, CallOpinion::Ask { why }) => {
                self.ask(
                    tool,
                    CallView { input, ..view },
                    PermissionDecision { why, ..decision },
                    context,
                )
                .await
            }
            (PermissionVerdict::Ask, CallOpinion::Neutral | CallOpinion::Allow { .. }) => {
                self.ask(tool, CallView { input, ..view }, decision, context).await
            }
        }
    }

    /// The decision about a call that may lose most of a file: unless a rule or the mode that permits everything covers
    /// it, the user is asked. Models that leave out what they do not change are stopped here.
    async fn doubted(
        &self,
        decision: PermissionDecision,
        tool: &dyn Tool,
        input: &RawValue,
        context: &CallContext,
    ) -> PermissionDecision {
        if decision.by_rule
            || decision.verdict == PermissionVerdict::Deny
            || self.gate.mode() == PermissionMode::Bypass
            || !tool.replaces_file()
            || has_own_writer(tool, input, context)
        {
            return decision;
        }
        // A call that would fail is told why when it runs.
        match tool.change(input, context).await.ok().flatten().and_then(|change| change.loss()) {
            Some(why) => PermissionDecision { verdict: PermissionVerdict::Ask, why, ..decision },
            None => decision,
        }
    }

    /// Asks for confirmation: the observer first, then the user.
    async fn ask(
        &self,
        tool: &dyn Tool,
        view: CallView<'_>,
        decision: PermissionDecision,
        context: &CallContext,
    ) -> Result<Permit, Refusal> {
        // A call that would fail anyway needs no confirmation.
        let change = tool.change(view.input, context).await.map_err(Refusal::Fails)?;
        if let (Some(observer), false) = (&self.observer, decision.by_rule) {
            match observer.asking(view, &decision.why).await {
                Some(ConfirmationOverride::Allow { input }) => {
                    return self.permit_changed(tool, input, context);
                }
                Some(ConfirmationOverride::Deny { why }) => return Err(Refusal::denied(why)),
                None => {}
            }
        }
        let Some(confirmer) = &self.confirmer else {
            return Err(Refusal::denied(no_confirmation(&decision)));
        };
        let mut question = ConfirmationRequest {
            call: Some(view.id.clone()),
            tool: view.name.to_owned(),
            input: view.input.to_owned(),
            why: decision.why,
            change,
            grant: Grant::Rule(decision.rule.clone()),
        };
        loop {
            let reply = tokio::select! {
                biased;
                () = context.cancel.cancelled() => return Err(Refusal::Interrupted),
                reply = confirmer.ask(question.clone()) => reply,
            };
            match reply {
                ConfirmationReply::Once => {
                    if let Some(folder) = decision.reads_folder {
                        self.gate.allow_reading(folder);
                    }
                }
                ConfirmationReply::Always => self.gate.grant(decision.rule),
                ConfirmationReply::Rule(rule) => {
                    self.gate.grant(rule.clone());
                    let request = tool.permission_request(view.input, &context.folder);
                    if self.gate.decide(&request).verdict != PermissionVerdict::Allow {
                        question.why = format!("the rule `{rule}` does not cover this call");
                        continue;
                    }
                }
                ConfirmationReply::No { said } => {
                    return Err(Refusal::Call(CallRefusal::Declined { said }));
                }
            }
            return Ok(Permit { input: None, confirmed: true });
        }
    }

    /// Permits a call that an observer allows; changed arguments have to pass the rules as well.
    fn permit_changed(
        &self,
        tool: &dyn Tool,
        input: Option<Box<RawValue>>,
        context: &CallContext,
    ) -> Result<Permit, Refusal> {
        if let Some(input) = &input {
            let decision = self.gate.decide(&tool.permission_request(input, &context.folder));
            if decision.verdict == PermissionVerdict::Deny
                || (decision.verdict == PermissionVerdict::Ask && decision.by_rule)
            {
                return Err(Refusal::denied(decision.why));
            }
        }
        Ok(Permit { input, confirmed: false })
    }

    async fn refused(&self, view: CallView<'_>, refusal: Refusal) -> CallResult {
        let refusal = match refusal {
            Refusal::Call(refusal) => refusal,
            Refusal::Fails(error) => return Err(error).into(),
            Refusal::Interrupted => return Err(ToolError::interrupted()).into(),
        };
        let notes = match &self.observer {
            Some(observer) => observer.denied(view, &refusal.why()).await,
            None => Vec::new(),
        };
        let denied = CallResult::error(refusal.text(view.name));
        CallResult { notes, ..denied.with(PermissionVerdict::Deny) }
    }

    async fn run_permitted(
        &self,
        tool: &dyn Tool,
        view: CallView<'_>,
        context: &CallContext,
    ) -> CallResult {
        if context.cancel.is_cancelled() {
            return Err(ToolError::interrupted()).into();
        }
        let begun = Instant::now();
        let mut result = carry_out(tool, view, context).await.with(PermissionVerdict::Allow);
        let Some(observer) = &self.observer else { return result };
        let after = observer.after(view, &result, begun.elapsed()).await;
        if let Some(content) = after.content {
            result.content = content;
            result.spilled = None;
        }
        CallResult { notes: after.notes, halt: after.halt.or(result.halt.take()), ..result }
    }
}

/// Whether a file is written by a writer of its own, which asks for confirmation itself. The path counts as it is named:
/// it may lead elsewhere by the time it is written.
fn has_own_writer(tool: &dyn Tool, input: &RawValue, context: &CallContext) -> bool {
    let Some(guard) = &context.file_guard else { return false };
    let writes = matches!(tool.access(input, &context.folder), Access::Writes(_));
    let named = tool.file(input).filter(|_| writes).map(|file| context.folder.join(file));
    named.is_some_and(|path| matches!(guard.route(&path), FileRoute::Through(_)))
}

/// What the user's confirmation covers besides the call: a host in a private network that the prompt named.
fn approved(tool: &dyn Tool, view: CallView<'_>, context: &CallContext) -> CallContext {
    let mut context = context.clone();
    if let Access::Fetches(host) = tool.access(view.input, &context.folder) {
        context.private_hosts.extend(HostPattern::new(&host));
    }
    context
}

async fn carry_out(tool: &dyn Tool, view: CallView<'_>, context: &CallContext) -> CallResult {
    // The inner `async` makes sure that a panic before the tool's first await is caught as well.
    let work = AssertUnwindSafe(async { tool.call(view.input, context).await }).catch_unwind();
    let stopped = async {
        context.cancel.cancelled().await;
        tokio::time::sleep(STOP_GRACE).await;
    };
    tokio::select! {
        biased;
        finished = work => match finished {
            Ok(result) => result.into(),
            Err(panic) => CallResult::error(panic_text(view.name, panic.as_ref())),
        },
        () = stopped => Err(ToolError::interrupted()).into(),
    }
}

fn unknown_tool(tools: &ToolSet, name: &str) -> String {
    let names: Vec<&str> = tools.names().collect();
    format!("there is no tool named `{name}`; the tools are: {}", names.join(", "))
}

fn no_confirmation(decision: &PermissionDecision) -> String {
    format!(
        "{}. There is no terminal for confirmation; the user can allow it with --allowed-tools '{}' or \
         a rule in the settings",
        decision.why, decision.rule
    )
}

fn panic_text(name: &str, panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!(
        "{name} failed because of a bug in this program ({message}); it may have done part of its work, \
         and another try will probably fail in the same way"
    )
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;

//! The Agent tool: starts a subagent and waits for it, or leaves it running in the background.

use std::path::Path;
use std::sync::Arc;

use dormouse_engine::{AGENT_JOB, ForkPoint};
use dormouse_permissions::Access;
use dormouse_tools::{CallContext, Tool, ToolError, ToolOutput, ToolSpec};
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use crate::execution::run_subagent;
use crate::messages::{Address, AgentName, NameTakenError};
use crate::preparation::{PreparedSubagent, prepare};
use crate::progress_output::ProgressOutput;
use crate::registry::SubagentRegistry;
use crate::resumption::prepare_resumed;
use crate::spawner::SubagentSpawner;
use crate::tool_input::AgentToolInput;

/// Creates the spawner of a conversation. Messages reach the conversation by `name`, and by `reply_to` from outside the
/// project.
pub fn new_spawner(
    registry: Arc<SubagentRegistry>,
    name: &AgentName,
    reply_to: Option<Address>,
) -> Result<Arc<SubagentSpawner>, NameTakenError> {
    SubagentSpawner::new(registry, name, reply_to, None, |spawner, spec| {
        Arc::new(AgentTool { spawner, spec })
    })
}

struct AgentTool {
    spawner: Arc<SubagentSpawner>,
    spec: ToolSpec,
}

impl AgentTool {
    async fn start(
        &self,
        input: AgentToolInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let failed = |message: String| ToolError::Failed { message };
        let branch = self.spawner.fork_point().ok_or_else(|| {
            failed("no agent can be started here: the conversation was not found".to_owned())
        })?;
        let prepared = match input.resumed() {
            Some(name) => prepare_resumed(&self.spawner, &branch, &input, name).await,
            None => prepare(&self.spawner, &branch, &input).await,
        };
        let prepared = prepared.map_err(|error| failed(error.to_string()))?;
        if prepared.background {
            return Ok(ToolOutput::text(self.start_in_background(&branch, prepared)));
        }
        let output = ProgressOutput::for_call(context);
        let outcome = run_subagent(&self.spawner.registry, prepared, &context.cancel, output).await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Interrupted { partial: outcome.text });
        }
        if outcome.is_error {
            Err(failed(outcome.text))
        } else {
            Ok(ToolOutput::text(outcome.text))
        }
    }

    /// Returns the tool result for the model.
    fn start_in_background(&self, branch: &ForkPoint, prepared: PreparedSubagent) -> String {
        let name = prepared.run.name.clone();
        let id = prepared.run.id;
        let spawner = Arc::clone(&self.spawner);
        let running = self.spawner.count_running();
        branch.jobs().spawn(AGENT_JOB, move |job| async move {
            let cancel = job.cancel.clone();
            let output = ProgressOutput::Job(job.clone());
            let outcome = run_subagent(&spawner.registry, prepared, &cancel, output).await;
            if let Some(run) = spawner.registry.runs.get(id) {
                spawner.add_result(outcome.to_message(&run));
            }
            drop(running);
            outcome.job_end()
        });
        format!(
            "Started in the background as `{name}` (agent {id}). Its result comes to you as a message when it is done. Until then go on with other work, or end your turn and tell the user what is under way; do not guess the result."
        )
    }
}

impl Tool for AgentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Starting a subagent changes nothing; its own tool calls go through its permission gate.
    fn access(&self, _: &RawValue, _: &Path) -> Access {
        Access::Reads
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.start(AgentToolInput::parse(input)?, context).await })
    }
}

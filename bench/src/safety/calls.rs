//! Calling tools as the program does, and the policy of a session.

use std::path::{Path, PathBuf};

use dormouse_base::Environment;
use dormouse_sandbox::{SandboxPlaces, SandboxPolicy};
use dormouse_tools::{CallContext, ToolOutput, ToolSet};
use serde_json::value::RawValue;

/// Calls tools, on one thread as in the program.
pub(super) struct ToolCalls {
    tools: ToolSet,
    runtime: tokio::runtime::Runtime,
}

impl ToolCalls {
    pub(super) fn new() -> Self {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().expect("a runtime");
        Self { tools: ToolSet::builtin(), runtime }
    }

    pub(super) fn context(folder: &Path) -> CallContext {
        CallContext::new(folder, Environment::of_process(), 25_000)
    }

    pub(super) fn call(
        &self,
        name: &str,
        input: &serde_json::Value,
        context: &CallContext,
    ) -> ToolOutput {
        let input = RawValue::from_string(input.to_string()).expect("JSON");
        let tool = self.tools.get(name).expect("a tool of that name");
        let output = self.runtime.block_on(tool.call(&input, context));
        output.unwrap_or_else(|error| crate::fail::fail(&format!("{name}: {error}")))
    }
}

/// The policy of a session in this project.
pub(super) fn policy(project: &Path, home: &Path, temporary: &[PathBuf]) -> SandboxPolicy {
    SandboxPlaces {
        checkout: project.to_owned(),
        git_folder: dormouse_base::git_folder(project),
        home: Some(home.to_owned()),
        writable: [project.to_owned()].into_iter().chain(temporary.iter().cloned()).collect(),
        hidden: dormouse_permissions::credential_places(Some(home)),
        ..SandboxPlaces::default()
    }
    .policy()
}

//! The sandbox of commands: which command runs in it, what it must leave unchanged, and what happens after a command that it
//! made fail.

use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use dormouse_checkpoint::{CheckpointError, ProtectedFiles};
use dormouse_conversation::known_tools::BASH;
use dormouse_permissions::{Access, PermissionRequest};
use dormouse_sandbox::{NetworkAccess, SandboxPolicy};
use serde_json::value::RawValue;

use crate::command_setup::CommandSandbox;
use crate::{CallContext, ConfirmationReply, ConfirmationRequest, Grant, ToolError};

/// How much of the end of the output is searched for signs of a denial.
const TAIL: usize = 8 * 1024;

/// What the system says when it denies something, in the languages of our users.
const DENIALS: &[&str] = &[
    "Permission denied",
    "permission denied",
    "Read-only file system",
    "Operation not permitted",
    "operation not permitted",
    "Device or resource busy",
    "EACCES",
    "EROFS",
    "EPERM",
    "权限不够",
    "只读文件系统",
    "不允许的操作",
];

/// A command in the sandbox.
pub(crate) struct SandboxedCommand<'c> {
    sandbox: &'c CommandSandbox,
    command: String,
    protected: ProtectedFiles,
    tail: String,
}

impl<'c> SandboxedCommand<'c> {
    /// The sandbox of a command; none if the command runs outside.
    pub(crate) async fn of(
        command: &str,
        context: &'c CallContext,
    ) -> Result<Option<Self>, ToolError> {
        let Some(sandbox) = &context.commands.sandbox else { return Ok(None) };
        let request = request(command, &context.folder);
        if context.gate.as_ref().is_some_and(|gate| !gate.is_sandboxed(&request)) {
            return Ok(None);
        }
        let paths = sandbox.policy.protected.clone();
        let protected =
            off_thread(move || ProtectedFiles::look(&paths)).await.map_err(|error| {
                ToolError::Failed { message: format!("the sandbox could not be prepared: {error}") }
            })?;
        let command = command.to_owned();
        Ok(Some(Self { sandbox, command, protected, tail: String::new() }))
    }

    pub(crate) fn policy(&self) -> &SandboxPolicy {
        &self.sandbox.policy
    }

    /// The command printed something.
    pub(crate) fn printed(&mut self, text: &str) {
        self.tail.push_str(text);
        if self.tail.len() > 2 * TAIL {
            let start = (self.tail.len() - TAIL..self.tail.len())
                .find(|at| self.tail.is_char_boundary(*at));
            self.tail.drain(..start.unwrap_or(0));
        }
    }

    /// The command has ended: puts back what it must not change. Returns what to do, and notes for the model.
    pub(crate) async fn ended(self, status: Option<ExitStatus>) -> SandboxEnd<'c> {
        let Self { sandbox, command, protected, tail } = self;
        let mut notes = Vec::new();
        match off_thread(move || protected.put_back()).await {
            Ok(changed) if changed.is_empty() => {}
            Ok(changed) => notes.push(put_back_note(&changed)),
            Err(error) => {
                notes.push(format!("[what the sandbox protects could not be put back: {error}]"));
            }
        }
        let has_failed = status.is_some_and(|status| !status.success());
        let was_denied = has_failed && DENIALS.iter().any(|sign| tail.contains(sign));
        SandboxEnd { sandbox, command, notes, was_denied }
    }
}

/// How a command in the sandbox ended.
pub(crate) struct SandboxEnd<'c> {
    sandbox: &'c CommandSandbox,
    command: String,
    notes: Vec<String>,
    was_denied: bool,
}

impl SandboxEnd<'_> {
    /// Whether the command runs again outside: the sandbox seems to have made it fail, and the user wants it.
    pub(crate) async fn runs_again_outside(&self, input: &RawValue, context: &CallContext) -> bool {
        let (true, Some(confirmer)) = (self.was_denied, &self.sandbox.confirmer) else {
            return false;
        };
        let Some(gate) = &context.gate else { return false };
        let rule = gate.decide(&request(&self.command, &context.folder)).rule;
        let question = ConfirmationRequest {
            call: None,
            tool: BASH.name.to_owned(),
            input: input.to_owned(),
            why: format!("it failed in the sandbox, which {}; run it again outside", self.limits()),
            change: None,
            grant: Grant::OutsideSandbox(rule.clone()),
        };
        let reply = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return false,
            reply = confirmer.ask(question) => reply,
        };
        match reply {
            ConfirmationReply::Once | ConfirmationReply::Rule(_) => true,
            ConfirmationReply::Always => {
                gate.exclude_from_sandbox(rule);
                true
            }
            ConfirmationReply::No { .. } => false,
        }
    }

    /// What the model is told after the command ran again outside.
    pub(crate) fn into_notes_outside(self) -> Vec<String> {
        let outside = "[it ran outside the sandbox, as the user wished]".to_owned();
        self.notes.into_iter().chain([outside]).collect()
    }

    /// What the model is told otherwise.
    pub(crate) fn into_notes(self) -> Vec<String> {
        let limits = self.was_denied.then(|| {
            format!(
                "[the command ran in a sandbox, which {}; if that is why it failed, tell the user, who can add it to \
                 `sandbox.excluded` in the settings]",
                self.limits()
            )
        });
        self.notes.into_iter().chain(limits).collect()
    }

    fn limits(&self) -> &'static str {
        match self.sandbox.policy.network {
            NetworkAccess::Allow => {
                "allows writing only in the project, temporary folders and package caches, and no reading of credentials"
            }
            NetworkAccess::None => {
                "allows writing only in the project, temporary folders and package caches, no reading of credentials and no network"
            }
        }
    }
}

/// Looks at files where that may block.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, CheckpointError> + Send + 'static,
) -> Result<T, CheckpointError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

fn request(command: &str, folder: &Path) -> PermissionRequest {
    PermissionRequest::new(BASH.name, Access::Runs(command.to_owned()), folder)
}

fn put_back_note(changed: &[PathBuf]) -> String {
    let shown: Vec<String> =
        changed.iter().take(5).map(|path| path.display().to_string()).collect();
    let more = if changed.len() > shown.len() { " and others" } else { "" };
    format!(
        "[the sandbox put back {}{more}: commands may not change what git or this program runs later. The user can do it]",
        shown.join(", ")
    )
}

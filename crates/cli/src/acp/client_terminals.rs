//! Commands of the model in terminals of the editor.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_base::Environment;
use dormouse_tools::{EditorTerminals, TerminalCommand, TerminalEnd, TerminalRun};
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::connection::EditorRefusal;
use super::editor_link::EditorLink;
use super::protocol::{
    CallContent, EditorUpdate, ShownCall, TerminalExit, TerminalId, TerminalOutput,
};

/// A terminal is a terminal: what pages its output would wait for a key.
const NO_PAGER: [(&str, &str); 2] = [("PAGER", "cat"), ("GIT_PAGER", "cat")];

/// The calls that the editor shows as running, each with its terminal, if it has one.
#[derive(Default)]
pub(super) struct CallTerminals(Mutex<HashMap<String, Option<String>>>);

impl CallTerminals {
    /// A call is shown.
    pub(super) fn started(&self, call: &str) {
        self.lock().insert(call.to_owned(), None);
    }

    /// A call has ended. Answers with its terminal.
    pub(super) fn finished(&self, call: &str) -> Option<String> {
        self.lock().remove(call).flatten()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The terminals of the editor. A call that the editor does not show, as those of subagents, gets none.
pub(super) struct ClientTerminals {
    pub(super) link: Arc<EditorLink>,
    pub(super) calls: Arc<CallTerminals>,
    /// The environment that the editor gave to this program, and gives to its terminals.
    pub(super) environment: Environment,
    /// The commands that run.
    pub(super) running: Mutex<JoinSet<()>>,
}

impl EditorTerminals for ClientTerminals {
    fn run(
        &self,
        command: TerminalCommand,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Option<TerminalRun>> {
        Box::pin(async move {
            if !self.calls.lock().contains_key(&command.call) {
                return None;
            }
            let created = json!({
                "command": command.program,
                "args": command.arguments,
                "cwd": command.folder,
                "env": self.variables(&command.environment),
                "outputByteLimit": command.output_bytes,
            });
            let TerminalId { terminal_id } =
                self.link.ask("terminal/create", created).await.ok()?;
            self.show(&command.call, &terminal_id);
            let terminal = OpenTerminal { link: Arc::clone(&self.link), id: terminal_id };
            // Killed and released also when nobody waits for the call any more.
            let (ended, end) = oneshot::channel();
            {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                while running.try_join_next().is_some() {}
                running.spawn(async move {
                    let _unawaited = ended.send(terminal.run(command.timeout, cancel).await);
                });
            }
            end.await.ok()
        })
    }
}

impl ClientTerminals {
    /// What a command's environment has that the editor's has not. A variable that the command must not see is emptied.
    fn variables(&self, wanted: &Environment) -> Vec<Value> {
        let variable = |name: &str, value: &str| json!({"name": name, "value": value});
        let added = wanted.pairs().filter_map(|(name, value)| name.to_str().zip(value.to_str()));
        let added = added.filter(|(name, value)| self.environment.get(name) != Some(value));
        let kept = |name: &str| wanted.get(name).is_some();
        let hidden = self.environment.pairs().filter_map(|(name, _)| name.to_str());
        let hidden = hidden.filter(|name| !kept(name)).map(|name| (name, ""));
        added.chain(hidden).chain(NO_PAGER).map(|(name, value)| variable(name, value)).collect()
    }

    fn show(&self, call: &str, terminal: &str) {
        self.calls.lock().insert(call.to_owned(), Some(terminal.to_owned()));
        self.link.show(EditorUpdate::ToolCallUpdate(ShownCall {
            tool_call_id: call.to_owned(),
            content: vec![CallContent::Terminal { terminal_id: terminal.to_owned() }],
            ..ShownCall::default()
        }));
    }
}

/// A terminal until its release.
struct OpenTerminal {
    link: Arc<EditorLink>,
    id: String,
}

impl OpenTerminal {
    async fn run(self, timeout: Duration, cancel: CancellationToken) -> TerminalRun {
        let end = tokio::select! {
            exit = self.ask::<TerminalExit>("terminal/wait_for_exit") => match exit {
                Ok(exit) => exit.end(),
                // The editor is gone, and its terminals with it.
                Err(_) => TerminalEnd::Cancelled,
            },
            () = tokio::time::sleep(timeout) => TerminalEnd::TimedOut,
            () = cancel.cancelled() => TerminalEnd::Cancelled,
        };
        if matches!(end, TerminalEnd::TimedOut | TerminalEnd::Cancelled) {
            // A command that has ended meanwhile cannot be killed, and need not be.
            let _ended = self.ask::<Value>("terminal/kill").await;
        }
        let shown = self.ask::<TerminalOutput>("terminal/output").await.unwrap_or_default();
        let _released = self.ask::<Value>("terminal/release").await;
        TerminalRun { output: shown.output, is_truncated: shown.truncated, end }
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, method: &str) -> Result<T, EditorRefusal> {
        self.link.ask(method, json!({"terminalId": self.id})).await
    }
}

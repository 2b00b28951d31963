//! Runs one hook: a process, an HTTP request, a call of a tool or a model check.
//!
//! Invariant: running always gives a response. A hook that fails or times out decides nothing, and the user gets a notice.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_base::Environment;
use dormouse_conversation::Effort;
use dormouse_tools::{ProcessError, Reaper, output_and_first_line};

use crate::config::Hook;
use crate::event::HookEvent;
use crate::handler::{HookAction, HookShell};
use crate::http::post;
use crate::mcp_tool::{HookServers, call_tool};
use crate::model_check::{HookModel, ModelCheckKind, check_with_model};
use crate::origin::HookOrigin;
use crate::response::{AsyncRequest, HookExit, HookResponse, parse_response};

/// Where hook commands run.
#[derive(Debug, Clone)]
pub struct HookEnvironment {
    pub(crate) folder: PathBuf,
    variables: Environment,
    reaper: Reaper,
    /// How hard the model thinks now.
    effort: Arc<Mutex<Option<&'static str>>>,
}

impl HookEnvironment {
    /// Commands run in `folder` and get `checkout` as `CLAUDE_PROJECT_DIR`.
    pub fn new(folder: &Path, checkout: &Path, variables: &Environment, reaper: Reaper) -> Self {
        let checkout = checkout.to_string_lossy();
        let pairs: [(&str, &str); 2] =
            [("CLAUDE_PROJECT_DIR", &checkout), ("DORMOUSE_PROJECT_DIR", &checkout)];
        let variables = variables.clone().with(&pairs);
        Self { folder: folder.to_owned(), variables, reaper, effort: Arc::default() }
    }

    pub(crate) fn set_effort(&self, effort: Option<Effort>) {
        *self.effort.lock().unwrap_or_else(PoisonError::into_inner) = effort.map(Effort::name);
    }

    pub(crate) fn effort(&self) -> Option<&'static str> {
        *self.effort.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The variables of a hook: those of a plugin include the plugin's folders.
    fn variables_for(&self, origin: &HookOrigin) -> Environment {
        let variables = match self.effort() {
            Some(level) => self.variables.clone().with(&[("CLAUDE_EFFORT", level)]),
            None => self.variables.clone(),
        };
        let HookOrigin::Plugin(plugin) = origin else { return variables };
        let root = plugin.root.to_string_lossy();
        let data = plugin.data.to_string_lossy();
        let pairs: [(&str, &str); 4] = [
            ("CLAUDE_PLUGIN_ROOT", &root),
            ("DORMOUSE_PLUGIN_ROOT", &root),
            ("CLAUDE_PLUGIN_DATA", &data),
            ("DORMOUSE_PLUGIN_DATA", &data),
        ];
        variables.with(&pairs)
    }
}

/// Runs hooks.
#[derive(Debug)]
pub(crate) struct HookExecutor {
    pub(crate) environment: HookEnvironment,
    pub(crate) model: Arc<dyn HookModel>,
    pub(crate) servers: Option<Arc<dyn HookServers>>,
}

impl HookExecutor {
    /// Runs a hook within its timeout. `on_async` is called if a command asks to continue in the background.
    pub(crate) async fn execute(
        &self,
        event: HookEvent,
        hook: &Hook,
        input: &[u8],
        on_async: impl FnOnce(AsyncRequest) + Send,
    ) -> HookResponse {
        let name = short_name(&hook.handler.summary());
        let timeout = hook.handler.timeout;
        let (kind, question) = match &hook.handler.action {
            HookAction::Command { command, arguments, shell } => {
                let command =
                    HookCommand { command, arguments: arguments.as_deref(), shell: *shell };
                return self.run_command(event, &name, hook, command, input, on_async).await;
            }
            HookAction::Http(target) => {
                let variables = &self.environment.variables;
                return post(event, &name, target, variables, input, timeout).await;
            }
            HookAction::McpTool(target) => {
                let servers = self.servers.as_deref();
                let call = call_tool(servers, event, &name, target, input);
                let called = tokio::time::timeout(timeout, call).await;
                return called.unwrap_or_else(|_| timed_out(&name, timeout));
            }
            HookAction::Prompt(question) => (ModelCheckKind::Prompt, question),
            HookAction::Agent(question) => (ModelCheckKind::Agent, question),
        };
        let text = String::from_utf8_lossy(input);
        let check = check_with_model(&*self.model, kind, event, &name, question, &text);
        match tokio::time::timeout(timeout, Box::pin(check)).await {
            Ok(response) => response,
            Err(_) => timed_out(&name, timeout),
        }
    }

    async fn run_command(
        &self,
        event: HookEvent,
        name: &str,
        hook: &Hook,
        command: HookCommand<'_>,
        input: &[u8],
        on_async: impl FnOnce(AsyncRequest) + Send,
    ) -> HookResponse {
        let origin = &hook.source.origin;
        let variables = self.environment.variables_for(origin);
        let line = expand_plugin_folders(origin, command.command);
        let (program, arguments): (&str, Vec<String>) = match command.arguments {
            Some(arguments) => {
                let expand = |word: &String| expand_plugin_folders(origin, word);
                (&line, arguments.iter().map(expand).collect())
            }
            None => {
                let (program, option) = command.shell.program();
                (program, vec![option.to_owned(), line.clone()])
            }
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let on_first_line = |line: String| {
            if let Some(request) = AsyncRequest::read(&line) {
                on_async(request);
            }
        };
        let ran = output_and_first_line(
            program,
            &arguments,
            &self.environment.folder,
            &variables,
            hook.handler.timeout,
            (input.to_vec(), &self.environment.reaper),
            on_first_line,
        )
        .await;
        match ran {
            Ok(ran) => {
                let exit = HookExit { code: ran.code, stdout: ran.stdout, stderr: ran.stderr };
                parse_response(event, name, &exit)
            }
            Err(ProcessError::TimedOut { timeout, .. }) => timed_out(name, timeout),
            Err(error) => HookResponse::ignored(format!(
                "hook `{name}` could not be started (ignored): {error}"
            )),
        }
    }
}

/// A command with the shell that runs it.
#[derive(Clone, Copy)]
struct HookCommand<'a> {
    command: &'a str,
    /// If set, the command is a program that is started without a shell.
    arguments: Option<&'a [String]>,
    shell: HookShell,
}

fn timed_out(name: &str, timeout: Duration) -> HookResponse {
    let seconds = timeout.as_secs_f32();
    HookResponse::ignored(format!("hook `{name}` timed out after {seconds} s (ignored)"))
}

/// Expands the names of a plugin's folders in a text.
fn expand_plugin_folders(origin: &HookOrigin, text: &str) -> String {
    let HookOrigin::Plugin(plugin) = origin else { return text.to_owned() };
    let folders = [("PLUGIN_ROOT", &plugin.root), ("PLUGIN_DATA", &plugin.data)];
    folders.into_iter().fold(text.to_owned(), |text, (name, folder)| {
        let folder = folder.to_string_lossy();
        text.replace(&format!("${{CLAUDE_{name}}}"), &folder)
            .replace(&format!("${{DORMOUSE_{name}}}"), &folder)
    })
}

/// The first 60 characters of the first line, for messages.
pub(crate) fn short_name(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

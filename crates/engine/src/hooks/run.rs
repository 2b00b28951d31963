//! Carrying one hook out: a process that gets JSON and answers, a post, a question to a model.
//!
//! Invariant: this always answers. One that fails or takes too long has decided nothing, and the person is told.

use std::path::Path;

use dormouse_base::Environment;
use dormouse_tools::{ProcessError, Reaper, output_and_first_line};

use super::answer::{Answer, Aside, Ended, read};
use super::config::Hook;
use super::handler::{Kind, Shell};
use super::http::post;
use super::judge::Judge;
use super::{HookEvent, HookOrigin};

/// Where hooks run.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(super) folder: std::path::PathBuf,
    pub(super) environment: Environment,
    pub(super) reaper: Reaper,
}

impl Place {
    /// `checkout` is what scripts find themselves by.
    pub(crate) fn new(
        folder: &Path,
        checkout: &Path,
        environment: &Environment,
        reaper: Reaper,
    ) -> Self {
        let checkout = checkout.to_string_lossy();
        let pairs: [(&str, &str); 2] =
            [("CLAUDE_PROJECT_DIR", &checkout), ("DORMOUSE_PROJECT_DIR", &checkout)];
        Self { folder: folder.to_owned(), environment: environment.clone().with(&pairs), reaper }
    }
}

/// Who carries hooks out.
#[derive(Debug)]
pub(super) struct Performer {
    pub(super) place: Place,
    pub(super) judge: Judge,
}

impl Performer {
    /// Carries a hook out, within its time.
    /// `steps_aside` is told what a command that wants to go on beside the turn prints first.
    pub(super) async fn perform(
        &self,
        event: HookEvent,
        hook: &Hook,
        input: &[u8],
        steps_aside: impl FnOnce(Aside) + Send,
    ) -> Answer {
        let name = short(&hook.handler.shown());
        let (timeout, text) = (hook.handler.timeout, || String::from_utf8_lossy(input));
        let work = async {
            match &hook.handler.kind {
                Kind::Command { command, arguments, shell } => {
                    let command = (command.as_str(), arguments.as_deref(), *shell);
                    self.command((event, &name), hook, command, input, steps_aside).await
                }
                Kind::Http(address) => {
                    let environment = &self.place.environment;
                    post(event, &name, address, environment, (input, timeout)).await
                }
                Kind::Prompt(question) => self.judge.ask((event, &name), question, &text()).await,
                Kind::Agent(question) => {
                    Box::pin(self.judge.send((event, &name), question, &text())).await
                }
            }
        };
        match hook.handler.kind {
            // These two keep their own time, and end what they started.
            Kind::Command { .. } | Kind::Http(_) => work.await,
            Kind::Prompt(_) | Kind::Agent(_) => match tokio::time::timeout(timeout, work).await {
                Ok(answer) => answer,
                Err(_) => too_slow(&name, timeout),
            },
        }
    }

    async fn command(
        &self,
        (event, name): (HookEvent, &str),
        hook: &Hook,
        (command, arguments, shell): (&str, Option<&[String]>, Shell),
        input: &[u8],
        steps_aside: impl FnOnce(Aside) + Send,
    ) -> Answer {
        let origin = &hook.home.origin;
        let (command, environment) = (fill(origin, command), at_home(origin, &self.place));
        let (program, arguments): (&str, Vec<String>) = match (arguments, shell.program()) {
            (Some(arguments), _) => {
                (&command, arguments.iter().map(|word| fill(origin, word)).collect())
            }
            (None, (program, option)) => (program, vec![option.to_owned(), command.clone()]),
        };
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (folder, timeout) = (&self.place.folder, hook.handler.timeout);
        let fed = (input.to_vec(), &self.place.reaper);
        let first_line = |line: String| {
            if let Some(aside) = Aside::read(&line) {
                steps_aside(aside);
            }
        };
        let (args, environment) = (arguments.as_slice(), &environment);
        let ran =
            output_and_first_line(program, args, folder, environment, timeout, fed, first_line)
                .await;
        match ran {
            Ok(ran) => {
                let ended = Ended { code: ran.code, stdout: ran.stdout, stderr: ran.stderr };
                read(event, name, &ended)
            }
            Err(ProcessError::TimedOut { timeout, .. }) => too_slow(name, timeout),
            Err(error) => Answer::told(format!(
                "the hook `{name}` could not be run: {error}; it decides nothing"
            )),
        }
    }
}

fn too_slow(name: &str, timeout: std::time::Duration) -> Answer {
    Answer::told(format!(
        "the hook `{name}` took longer than {} s and was ended; it decides nothing",
        timeout.as_secs_f32()
    ))
}

/// The environment of a hook: a plugin's know where the plugin is.
fn at_home(origin: &HookOrigin, place: &Place) -> Environment {
    let HookOrigin::Plugin(plugin) = origin else { return place.environment.clone() };
    let (root, data) = (plugin.root.to_string_lossy(), plugin.data.to_string_lossy());
    let pairs: [(&str, &str); 4] = [
        ("CLAUDE_PLUGIN_ROOT", &root),
        ("DORMOUSE_PLUGIN_ROOT", &root),
        ("CLAUDE_PLUGIN_DATA", &data),
        ("DORMOUSE_PLUGIN_DATA", &data),
    ];
    place.environment.clone().with(&pairs)
}

/// Puts a plugin's places where a text names them.
fn fill(origin: &HookOrigin, text: &str) -> String {
    let HookOrigin::Plugin(plugin) = origin else { return text.to_owned() };
    let places = [("PLUGIN_ROOT", &plugin.root), ("PLUGIN_DATA", &plugin.data)];
    places.into_iter().fold(text.to_owned(), |text, (name, place)| {
        let place = place.to_string_lossy();
        text.replace(&format!("${{CLAUDE_{name}}}"), &place)
            .replace(&format!("${{DORMOUSE_{name}}}"), &place)
    })
}

/// What a hook does, short enough for a message.
fn short(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}…") } else { short }
}

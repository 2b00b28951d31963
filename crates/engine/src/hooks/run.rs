//! Running one hook: a process that gets JSON and answers.

use std::path::Path;

use dormouse_base::Environment;
use dormouse_tools::{ProcessError, Reaper, output_with_input};

use super::HookOrigin;
use super::answer::Ended;
use super::config::Hook;

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

/// Runs a hook to its end; an error if it could not be, or took too long.
pub(super) async fn run(hook: &Hook, place: &Place, input: &[u8]) -> Result<Ended, ProcessError> {
    let (command, environment) = at_home(&hook.home.origin, &hook.handler.command, place);
    let (program, arguments): (&str, Vec<String>) = match &hook.handler.arguments {
        Some(arguments) => {
            let filled = arguments.iter().map(|word| fill(&hook.home.origin, word));
            (&command, filled.collect())
        }
        None => ("sh", vec!["-c".to_owned(), command.clone()]),
    };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = output_with_input(
        program,
        &arguments,
        &place.folder,
        &environment,
        hook.handler.timeout,
        (input.to_vec(), &place.reaper),
    )
    .await?;
    Ok(Ended { code: answer.code, stdout: answer.stdout, stderr: answer.stderr })
}

/// The command and environment of a hook: a plugin's know where the plugin is.
fn at_home(origin: &HookOrigin, command: &str, place: &Place) -> (String, Environment) {
    let HookOrigin::Plugin(plugin) = origin else {
        return (command.to_owned(), place.environment.clone());
    };
    let (root, data) = (plugin.root.to_string_lossy(), plugin.data.to_string_lossy());
    let pairs: [(&str, &str); 4] = [
        ("CLAUDE_PLUGIN_ROOT", &root),
        ("DORMOUSE_PLUGIN_ROOT", &root),
        ("CLAUDE_PLUGIN_DATA", &data),
        ("DORMOUSE_PLUGIN_DATA", &data),
    ];
    (fill(origin, command), place.environment.clone().with(&pairs))
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

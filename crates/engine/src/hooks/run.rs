//! Running one hook: a process that gets JSON and answers.

use std::path::Path;

use dormouse_base::Environment;
use dormouse_tools::{ProcessError, Reaper, output_with_input};

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
    let (program, arguments): (&str, Vec<&str>) = match &hook.arguments {
        Some(arguments) => (&hook.command, arguments.iter().map(String::as_str).collect()),
        None => ("sh", vec!["-c", &hook.command]),
    };
    let answer = output_with_input(
        program,
        &arguments,
        &place.folder,
        &place.environment,
        hook.timeout,
        (input.to_vec(), &place.reaper),
    )
    .await?;
    Ok(Ended { code: answer.code, stdout: answer.stdout, stderr: answer.stderr })
}

//! Keys that a command of the user prints, such as one that asks a key ring.

use std::path::Path;
use std::time::Duration;

use dormouse_base::{Environment, Secret};
use dormouse_tools::output;

use crate::wiring::exit::Failure;

/// It may have to unlock a key ring.
const PATIENCE: Duration = Duration::from_mins(1);

/// Runs the command of a setting, which prints a key.
pub(crate) async fn printed_key(
    setting: &str,
    command: &str,
    (environment, folder): (&Environment, &Path),
) -> Result<Secret, Failure> {
    let answer =
        output("sh", &["-c", command], folder, environment, PATIENCE).await.map_err(|error| {
            Failure::usage(anyhow::anyhow!("the setting `{setting}` failed: {error}"))
        })?;
    if answer.code != Some(0) || answer.stdout.trim().is_empty() {
        // Never its standard output, which may contain a part of the key.
        let why = match (answer.stderr.trim(), answer.code) {
            ("", Some(code)) => format!("no output, exit code {code}"),
            ("", None) => "killed by a signal".to_owned(),
            (said, _) => said.to_owned(),
        };
        return Err(Failure::usage(anyhow::anyhow!(
            "the setting `{setting}` printed no key: {why}"
        )));
    }
    Ok(Secret::new(answer.stdout))
}

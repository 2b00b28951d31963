//! The input of the checks.

use std::path::PathBuf;
use std::time::Duration;

use dormouse_base::{Environment, Project, Settings};
use dormouse_tools::{ProcessError, ProcessOutput, output};

use crate::wiring::world::World;

pub(super) struct DoctorContext<'a> {
    pub(super) world: &'a World,
    pub(super) home: PathBuf,
    pub(super) project: Project,
    pub(super) settings: Settings,
    /// The environment of child processes, without API keys.
    pub(super) environment: Environment,
}

/// Time limit for programs and servers that a check waits for.
pub(super) const CHECK_TIMEOUT: Duration = Duration::from_secs(10);

impl DoctorContext<'_> {
    pub(super) async fn run_program(
        &self,
        program: &str,
        args: &[&str],
    ) -> Result<ProcessOutput, ProcessError> {
        output(program, args, &self.project.folder, &self.environment, CHECK_TIMEOUT).await
    }
}

//! What the checks of `dormouse doctor` work with.

use std::path::PathBuf;
use std::time::Duration;

use dormouse_base::{Environment, Project, Settings};
use dormouse_tools::{ProcessError, ProcessOutput, output};

use crate::wiring::world::World;

/// What the checks look at.
pub(super) struct Scene<'a> {
    pub(super) world: &'a World,
    pub(super) home: PathBuf,
    pub(super) project: Project,
    pub(super) settings: Settings,
    /// The environment for children, without keys.
    pub(super) environment: Environment,
}

/// A program that is asked for its version may take this long.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

impl Scene<'_> {
    pub(super) async fn ask(
        &self,
        program: &str,
        args: &[&str],
    ) -> Result<ProcessOutput, ProcessError> {
        output(program, args, &self.project.folder, &self.environment, PATIENCE).await
    }
}

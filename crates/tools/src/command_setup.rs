//! How commands are run: timeouts, reaper, background shells, sandbox.

use std::sync::Arc;
use std::time::Duration;

use dormouse_sandbox::SandboxPolicy;

use crate::confirmation::Confirmer;
use crate::reaper::Reaper;
use crate::shells::Shells;

/// The timeouts of commands that the model runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandLimits {
    /// The timeout of a call that sets none.
    pub default: Duration,
    /// The longest timeout that a call may set.
    pub most: Duration,
}

impl Default for CommandLimits {
    fn default() -> Self {
        Self { default: Duration::from_mins(2), most: Duration::from_mins(10) }
    }
}

/// How commands are run.
#[derive(Debug, Clone, Default)]
pub struct CommandSetup {
    /// Their timeouts.
    pub limits: CommandLimits,
    /// Ends them when the program ends.
    pub reaper: Reaper,
    /// Those that run in the background.
    pub shells: Arc<Shells>,
    /// How they are restricted; none if they are not.
    pub sandbox: Option<CommandSandbox>,
}

/// How commands are restricted.
#[derive(Debug, Clone)]
pub struct CommandSandbox {
    /// What they may do.
    pub policy: Arc<SandboxPolicy>,
    /// Asks the user whether a command that failed runs again outside; none in a headless run.
    pub confirmer: Option<Arc<dyn Confirmer>>,
}

//! Systems without Landlock: on macOS the command runs under `sandbox-exec`, elsewhere unrestricted.

use std::path::Path;

use crate::policy::{SandboxError, SandboxPolicy, SandboxSupport};

pub(crate) fn support() -> SandboxSupport {
    let seatbelt = cfg!(target_os = "macos") && Path::new("/usr/bin/sandbox-exec").exists();
    if seatbelt { SandboxSupport::Seatbelt } else { SandboxSupport::None }
}

pub(crate) fn enter(_: &SandboxPolicy) -> Result<(), SandboxError> {
    Err(SandboxError::Unsupported)
}

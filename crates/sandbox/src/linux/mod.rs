//! Linux: mounts first, as Landlock forbids them, then the network filter, then Landlock.

mod filesystem;
mod mounts;
mod network;

use crate::policy::{NetworkAccess, SandboxError, SandboxPolicy, SandboxSupport};

pub(crate) fn support() -> SandboxSupport {
    match filesystem::version() {
        Some(version) => SandboxSupport::Landlock(version),
        None => SandboxSupport::None,
    }
}

pub(crate) fn enter(policy: &SandboxPolicy) -> Result<(), SandboxError> {
    // Not every system allows a mount namespace: without it, the caller compares protected files after the command.
    let _not_allowed = mounts::protect(policy);
    if policy.network == NetworkAccess::None {
        network::deny()?;
    }
    filesystem::restrict(policy)
}

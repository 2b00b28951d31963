//! What a command may write, read and reach.
//!
//! A [`SandboxPolicy`] names folders; [`enter`] applies it to the calling process and everything that it starts, for good. On
//! Linux that is Landlock, which needs no privileges; where a mount namespace is allowed, it also protects files inside
//! writable folders and hides sockets; seccomp takes the network away. On macOS the same policy becomes a profile of Seatbelt
//! ([`seatbelt_profile`]).
//!
//! Invariant: a process that [`enter`] let in is restricted; where it cannot be, `enter` fails.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;
mod places;
mod policy;
mod seatbelt;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use other as system;

pub use places::SandboxPlaces;
pub use policy::{NetworkAccess, SandboxError, SandboxPolicy, SandboxSupport};
pub use seatbelt::{command_prefix, seatbelt_profile};

/// What the system offers.
pub fn support() -> SandboxSupport {
    system::support()
}

/// Restricts this process, which must have a single thread, and everything it starts.
pub fn enter(policy: &SandboxPolicy) -> Result<(), SandboxError> {
    system::enter(policy)
}

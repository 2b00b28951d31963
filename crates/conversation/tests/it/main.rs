//! The transcript and the log of figures on real files: what is written is read, whatever a crash left of it.

#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod boundary;
mod crash;
mod figures;
mod transcript;

//! Secret rules: recognizes keys, tokens, passwords and private keys in text (M-16).
//!
//! All keywords are searched in one pass; a rule's pattern is tried only on lines with one of its keywords. Prose
//! costs one pass, and no text costs more than one pass per rule.
//!
//! *Invariants:* a [`SecretFinding`] never holds the value, only its position and the name of the rule. Scanning
//! terminates in time linear to the text for every input.
//!
//! *Absent:* I/O; what happens to a text with a secret.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod hidden;
mod rule;
mod rules;
mod scan;
mod value;

pub use scan::{SecretFinding, kinds, redact, scan};

//! Where a memory's words come from (M-17, B-9, B-26). Sessions, extraction and dreams check a memory here before it
//! is saved.
//!
//! `attribution` says who wrote each part of a conversation. `record` keeps the recent messages of a session and finds
//! those that a text comes from, with `support` for what the user said. `evidence` looks up the quotations that an extracted memory rests on. `check` is the
//! trait through which a writer in the background is checked. All of them compare texts as `WordSequence`s.
//!
//! Invariants: source and trust are taken from where the words are found, never from the writer's claim. Plain
//! functions of text: no I/O.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod attribution;
mod check;
mod evidence;
mod known_claims;
mod normal_form;
mod record;
mod shingles;
mod support;
mod words;

pub use attribution::{AttributedText, Attribution, STORED_RESULTS, attribute, is_from_outside};
pub use check::{ProposedMemory, ProvenanceCheck, ProvenanceError};
pub use evidence::{ConversationEvidence, EchoGuard, EvidenceInput};
pub use record::{ClaimedText, ProvenanceRecord};
pub use words::WordSequence;

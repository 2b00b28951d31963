//! Names worth keeping: paths, identifiers, URLs, hashes, error texts and numbers; how often a
//! conversation uses them; and the index of those that a compaction drops (C-23).
//!
//! A name is found by one scanner wherever it is looked for, in a conversation or in what is left of it,
//! so that counting, the index and the measure of what survived mean the same by it.

mod census;
mod folders;
mod held;
mod index;
mod prefixes;
mod scan;
mod unfold;

pub use census::{IdentifierCensus, IdentifierUses};
pub use held::HeldIdentifiers;
pub use index::identifier_index;
pub use scan::{Identifier, IdentifierKind, identifiers};

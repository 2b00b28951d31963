//! An inverted index in one byte array: memory and disk hold the same bytes, and nothing is parsed before it is needed.
//!
//! Invariant: whatever the bytes are, reading returns values or their absence and never panics. Bytes that differ from
//! what was written are refused as a whole when they are opened.

mod build;
mod layout;
mod reader;

pub use build::{SegmentBuilder, merge};
pub use reader::{DamagedSegment, DocId, DocumentFlags, DocumentInfo, Segment, TermId};

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;

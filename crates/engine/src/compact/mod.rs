//! Compaction (C-14 to C-23), carried out: the calls, the files, the transcript.

mod rules;

pub use rules::CompactionRules;

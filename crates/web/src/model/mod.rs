//! What pages show, gathered from stores, transcripts and the metrics log. No HTML here.

pub(crate) mod address;
pub(crate) mod checkpoints;
pub(crate) mod figures;
pub(crate) mod memory_list;
pub(crate) mod memory_page;
pub(crate) mod related;
pub(crate) mod session_list;
pub(crate) mod transcript_part;

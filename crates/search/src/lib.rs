//! Search over short documents without a model: words, an inverted index, and a ranking that explains itself;
//! embeddings where a model for them is configured.
//!
//! Bottom up: `words` turns text into terms, `document` counts the terms of a document, `segment` stores them, `view`
//! joins segments, `clause`, `query` and `term_forms` say what to look for, `term_matches` who has it, `message_sums` adds
//! up the clauses of a message, `score` ranks by words, `embed` makes and stores vectors, `vector_rank` ranks by them,
//! `evidence_reader`, `evidence` and `calibration` say how sure a match is, `rank` combines all, `tuning` holds the measured
//! parameters.
//!
//! *Invariants:* the same documents give the same ranking, however the index over them was built. Reading an index or
//! a vector file never panics; damaged bytes are refused as a whole. Vectors of different models are never compared. No network is used while a turn waits
//! ([`EmbedderLocation`]).
//!
//! *Absent:* memories, settings, the network itself.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod calibration;
mod clause;
mod document;
mod embed;
mod evidence;
mod evidence_reader;
mod message_sums;
mod query;
mod rank;
mod score;
mod segment;
mod term_forms;
mod term_matches;
mod tuning;
mod vector_rank;
mod view;
mod words;

pub use calibration::{Calibration, RecallTier, ScriptCalibration};
pub use document::{DocumentField, DocumentTerms};
pub use embed::{
    EmbedError, Embedder, EmbedderLocation, EmbeddingTexts, FileStamp, ModelFingerprint,
    PreparedWordVectors, Vector, VectorCounts, VectorFile, VectorFillError, VectorFiller,
    WordFileError, WordVectors, WritingScripts,
};
pub use evidence::{Evidence, MessageEvidence};
pub use rank::{RankRequest, RankResult, RankedDoc, Ranker, TermMatch};
pub use segment::{
    DamagedSegment, DocId, DocumentFlags, DocumentInfo, Segment, SegmentBuilder, TermId, merge,
};
pub use term_forms::MatchKind;
pub use tuning::RankTuning;
pub use vector_rank::{FusedRank, QueryVector, VectorUse};
pub use view::{DeletedDocs, IndexView, ViewDocId, ViewSegment};
pub use words::{
    MessageWording, TextPiece, Tokenizer, character_pairs, is_bare_reply, is_stop, is_unspaced,
    related, share_letter, split_text, start_reading_lists,
};

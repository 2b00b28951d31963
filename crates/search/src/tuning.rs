//! Measured parameters of the ranking. The defaults are used; `bench` tries other values, to see how much the choice
//! depends on the queries it was made with.

use crate::calibration::ScriptCalibration;

/// Parameters of the ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTuning {
    /// Term frequency saturation (BM25 `k1`).
    pub saturation: f64,
    /// Length normalization, 0 to 1 (BM25 `b`).
    pub length: f64,
    /// Weight of expansion terms, which the best documents have in common.
    pub company: f64,
    /// How sure a match is, ranked by words.
    pub by_words: ScriptCalibration,
    /// The same, ranked by words and vectors.
    pub by_vectors: ScriptCalibration,
}

impl Default for RankTuning {
    fn default() -> Self {
        // Memories are short, and longer ones are not less specific.
        Self {
            saturation: 0.9,
            length: 0.4,
            company: 0.3,
            by_words: ScriptCalibration::WORDS,
            by_vectors: ScriptCalibration::VECTORS,
        }
    }
}

//! Measured parameters of the ranking. The defaults are used; `bench` tries other values, to see how much the choice
//! depends on the queries it was made with.

/// Parameters of the ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankTuning {
    /// Term frequency saturation (BM25 `k1`).
    pub saturation: f64,
    /// Length normalization, 0 to 1 (BM25 `b`).
    pub length: f64,
    /// Weight of expansion terms, which the best documents have in common.
    pub company: f64,
    /// Share of a query that a confident document must cover.
    pub coverage: f64,
}

impl Default for RankTuning {
    fn default() -> Self {
        // Memories are short, and longer ones are not less specific.
        Self { saturation: 0.9, length: 0.4, company: 0.3, coverage: 0.42 }
    }
}

//! The numbers of the ranking that were chosen by measuring. What ships is the default; `bench` tries others, to
//! see how much the choice owes to the questions it was made on.

/// Numbers that a ranking goes by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuning {
    /// How soon more of a term stops to matter.
    pub saturation: f64,
    /// How much a long memory is held against it, 0 to 1.
    pub length: f64,
    /// What the company of the best memories counts, beside what was asked for.
    pub company: f64,
    /// The share of a question that a memory has to cover to be put in unasked.
    pub coverage: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        // Memories are short, and longer ones are not vaguer.
        Self { saturation: 0.9, length: 0.4, company: 0.3, coverage: 0.42 }
    }
}

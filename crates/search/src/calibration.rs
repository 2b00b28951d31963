//! How sure a match is: a logistic model over a handful of figures, whose weights were learned from messages with known
//! answers (`dormouse-bench recall --learn`).

use crate::evidence::Evidence;

/// What may happen with a memory that nobody asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecallTier {
    /// Nothing.
    Unlikely,
    /// A line that names it is shown.
    Likely,
    /// Its text is shown.
    Sure,
}

/// A learned model for messages of one kind of script.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// Confidence without any evidence, as log odds.
    pub bias: f64,
    /// Weight of each figure, in the order of [`Evidence::NAMES`].
    pub weights: [f64; Evidence::COUNT],
    /// From this confidence a memory is shown whole.
    pub sure: f64,
    /// From this confidence a memory is named.
    pub likely: f64,
}

/// Learned models by the script of a message: pairs of characters match more often by chance than words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScriptCalibration {
    /// For scripts with spaces between words.
    pub spaced: Calibration,
    /// For Chinese, Japanese, Korean, Thai.
    pub unspaced: Calibration,
}

impl ScriptCalibration {
    /// Learned on rankings by words.
    pub const WORDS: Self = Self {
        spaced: Calibration {
            bias: -1.860,
            weights: [
                0.062, 1.187, 1.436, 0.845, 2.513, 0.107, -0.004, -0.115, -0.705, 0.000, 0.000,
            ],
            sure: 0.610,
            likely: 0.035,
        },
        unspaced: Calibration {
            bias: -1.839,
            weights: [
                0.045, 1.673, 0.531, 0.596, 3.645, 1.775, 1.185, -0.220, -1.203, 0.000, 0.000,
            ],
            sure: 0.440,
            likely: 0.015,
        },
    };
    /// Learned on rankings by words and vectors.
    pub const VECTORS: Self = Self {
        spaced: Calibration {
            bias: -2.288,
            weights: [
                0.012, 1.007, 1.387, 0.598, 1.996, 0.188, -0.124, 0.057, -0.716, -0.054, 0.678,
            ],
            sure: 0.590,
            likely: 0.035,
        },
        unspaced: Calibration {
            bias: -2.294,
            weights: [
                -0.157, 1.677, 1.158, 0.440, 3.041, 1.828, 0.627, -0.118, -1.352, 0.159, 0.471,
            ],
            sure: 0.405,
            likely: 0.020,
        },
    };

    pub(crate) fn of(&self, is_unspaced: bool) -> Calibration {
        if is_unspaced { self.unspaced } else { self.spaced }
    }
}

impl Calibration {
    /// Shows nothing.
    pub const NONE: Self =
        Self { bias: 0.0, weights: [0.0; Evidence::COUNT], sure: 1.0, likely: 1.0 };

    /// The probability that a document with this evidence helps, 0 to 1.
    pub fn confidence(&self, evidence: &Evidence) -> f64 {
        let weighted = self.weights.iter().zip(evidence.values());
        let odds = self.bias + weighted.map(|(weight, value)| weight * value).sum::<f64>();
        1.0 / (1.0 + (-odds).exp())
    }

    /// What each figure adds to the log odds, with its name, largest first; those that add nothing are left out.
    pub fn contributions(&self, evidence: &Evidence) -> Vec<(&'static str, f64)> {
        let values =
            self.weights.iter().zip(evidence.values()).map(|(weight, value)| weight * value);
        let mut parts: Vec<(&'static str, f64)> = Evidence::NAMES
            .into_iter()
            .zip(values)
            .filter(|(_, part)| part.abs() >= 0.05)
            .collect();
        parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        parts
    }

    /// The tier of a document with this confidence.
    pub fn tier(&self, confidence: f64) -> RecallTier {
        if confidence >= self.sure {
            RecallTier::Sure
        } else if confidence >= self.likely {
            RecallTier::Likely
        } else {
            RecallTier::Unlikely
        }
    }
}

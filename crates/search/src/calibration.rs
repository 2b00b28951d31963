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
            bias: -2.082,
            weights: [0.516, 1.106, 1.516, 0.473, 0.462, -0.032, -0.075, -0.709, 0.000, 0.000],
            sure: 0.510,
            likely: 0.030,
        },
        unspaced: Calibration {
            bias: -1.767,
            weights: [0.696, 1.388, -0.406, 0.223, 1.529, 0.210, -0.156, -1.154, 0.000, 0.000],
            sure: 0.370,
            likely: 0.015,
        },
    };
    /// Learned on rankings by words and vectors.
    pub const VECTORS: Self = Self {
        spaced: Calibration {
            bias: -2.249,
            weights: [0.281, 0.967, 1.400, 0.356, 0.388, 0.002, 0.067, -0.721, -0.029, 0.728],
            sure: 0.540,
            likely: 0.035,
        },
        unspaced: Calibration {
            bias: -1.729,
            weights: [0.407, 1.097, -0.235, 0.257, 1.429, -0.141, -0.047, -1.343, 0.132, 0.533],
            sure: 0.525,
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

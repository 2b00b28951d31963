//! How sure a match is: a logistic model over a handful of figures, whose weights were learned from messages with known
//! answers (`dormouse-bench recall --learn`).

use crate::evidence::Evidence;

/// Weight of the open files that a document is about, as log odds. Not learned, because messages with known answers come
/// without files: chosen so that an open file alone makes a document likely, and matching words besides make it sure.
const FILES: f64 = 2.0;

/// Deviations by which a document may be more similar than all others by chance.
const SMALL_LEAD: f64 = 1.5;

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
    /// Weight of a document that is more similar than all others by far. Not learned, because such messages are few.
    pub lead: f64,
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
            bias: -2.694,
            weights: [
                0.350, 2.165, 0.916, 0.918, 2.896, -0.247, -1.301, -1.194, -2.293, 0.000, 0.000,
            ],
            lead: 0.750,
            sure: 0.425,
            likely: 0.025,
        },
        unspaced: Calibration {
            bias: -2.179,
            weights: [
                0.586, 2.501, 0.858, 0.722, 3.281, -0.319, -0.848, -0.891, -2.110, 0.000, 0.000,
            ],
            lead: 0.000,
            sure: 0.420,
            likely: 0.020,
        },
    };
    /// Learned on rankings by words and vectors.
    pub const VECTORS: Self = Self {
        spaced: Calibration {
            bias: -2.811,
            weights: [
                0.423, 2.071, 0.898, 0.888, 2.786, -0.029, -1.371, -1.167, -2.224, 0.000, 0.000,
            ],
            lead: 0.750,
            sure: 0.400,
            likely: 0.025,
        },
        unspaced: Calibration {
            bias: -1.944,
            weights: [
                0.501, 2.273, 0.837, 0.805, 2.630, -0.069, -0.999, -0.938, -2.205, -0.039, 0.738,
            ],
            lead: 0.000,
            sure: 0.455,
            likely: 0.025,
        },
    };

    pub(crate) fn of(&self, is_unspaced: bool) -> Calibration {
        if is_unspaced { self.unspaced } else { self.spaced }
    }
}

impl Calibration {
    /// Shows nothing.
    pub const NONE: Self =
        Self { bias: 0.0, weights: [0.0; Evidence::COUNT], lead: 0.0, sure: 1.0, likely: 1.0 };

    /// The probability that a document with this evidence helps, 0 to 1.
    pub fn confidence(&self, evidence: &Evidence) -> f64 {
        let odds = self.bias + self.parts(evidence).map(|(_, part)| part).sum::<f64>();
        1.0 / (1.0 + (-odds).exp())
    }

    /// What each figure adds to the log odds, with its name, largest first; those that add nothing are left out.
    pub fn contributions(&self, evidence: &Evidence) -> Vec<(&'static str, f64)> {
        let mut parts: Vec<(&'static str, f64)> =
            self.parts(evidence).filter(|(_, part)| part.abs() >= 0.05).collect();
        parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        parts
    }

    fn parts(&self, evidence: &Evidence) -> impl Iterator<Item = (&'static str, f64)> {
        let values = self.weights.into_iter().zip(evidence.values());
        let learned = values.map(|(weight, value)| weight * value);
        let lead = self.lead * (evidence.similarity_margin - SMALL_LEAD).max(0.0);
        let chosen = [("files", FILES * evidence.files), ("similarity_margin", lead)];
        Evidence::NAMES.into_iter().zip(learned).chain(chosen)
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

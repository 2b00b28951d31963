//! How sure a match is: a logistic model over a handful of figures, whose weights were learned from messages with known
//! answers (`dormouse-bench recall --learn`).

use crate::evidence::Evidence;

/// Weight of the open files that a document is about, as log odds. Not learned, because messages with known answers come
/// without files: chosen so that an open file alone makes a document likely, and matching words besides make it sure.
const FILES: f64 = 2.0;

/// Weight of a document that is more similar than all others by far, as log odds for a deviation. Not learned, because such
/// messages are few: chosen so that vectors alone can make a document sure.
const LEAD: f64 = 0.75;

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
            bias: -1.852,
            weights: [
                0.459, 0.305, 0.802, 0.592, 0.430, 0.850, -0.171, -0.244, -0.721, -0.260, -0.190,
                -0.432, -10.067,
            ],
            sure: 0.470,
            likely: 0.080,
        },
        unspaced: Calibration {
            bias: -1.848,
            weights: [
                0.459, 0.305, 0.802, 0.592, 0.430, 0.850, -0.171, -0.244, -0.721, -0.260, -0.190,
                -0.432, -10.067,
            ],
            sure: 0.505,
            likely: 0.060,
        },
    };
    /// For rankings by words and vectors: learned on rankings by words, to which the lead in similarity is added.
    pub const VECTORS: Self = Self::WORDS;

    pub(crate) fn of(&self, is_unspaced: bool) -> Calibration {
        if is_unspaced { self.unspaced } else { self.spaced }
    }
}

impl Calibration {
    /// Shows nothing.
    pub const NONE: Self =
        Self { bias: 0.0, weights: [0.0; Evidence::COUNT], sure: 1.0, likely: 1.0 };

    /// Shows everything whole: what is asked for by other means than its words.
    pub const ALL: Self =
        Self { bias: 20.0, weights: [0.0; Evidence::COUNT], sure: 0.0, likely: 0.0 };

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
        let lead = LEAD * (evidence.similarity_margin - SMALL_LEAD).max(0.0);
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

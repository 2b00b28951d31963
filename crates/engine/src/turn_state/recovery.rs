//! What may help when a server refuses a request (C-21, C-25).

use dormouse_model::ModelError;

/// How often a request that is too long is made shorter: the server may not say at first by how much.
pub(super) const MOST_SHORTENINGS: usize = 3;

/// A way to recover from a refused request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// Show all summarized spans as folded.
    Folds,
    /// Make room, with the numbers that the server gave.
    Room {
        /// The tokens it counted.
        used: Option<u64>,
        /// The tokens it accepts.
        limit: Option<u64>,
    },
    /// Make room: the request has too many bytes.
    Bytes,
    /// Remove the largest image or document.
    LargestMedia,
    /// Remove all images and documents.
    Media,
    /// Drop thinking, except that of a call whose results are about to be sent.
    Thinking,
    /// Drop all thinking.
    AllThinking,
}

impl Recovery {
    /// A recovery from this error that was not tried yet. `folds`: summarized spans may be waiting to be folded.
    pub(super) fn untried(error: &ModelError, folds: bool, tried: &[Self]) -> Option<Self> {
        let recoveries = match error {
            ModelError::TooLong { .. } if folds && !tried.contains(&Self::Folds) => {
                return Some(Self::Folds);
            }
            ModelError::TooLong { used, limit, .. } => {
                let shortened =
                    tried.iter().filter(|recovery| matches!(recovery, Self::Room { .. }));
                let recovery = Self::Room { used: *used, limit: *limit };
                return (shortened.count() < MOST_SHORTENINGS).then_some(recovery);
            }
            ModelError::RequestTooLarge(_) => vec![Self::LargestMedia, Self::Media, Self::Bytes],
            ModelError::ThinkingRefused(_) => vec![Self::Thinking, Self::AllThinking],
            _ => Vec::new(),
        };
        recoveries.into_iter().find(|recovery| !tried.contains(recovery))
    }
}

//! What may help when a server refuses a request (C-21, C-25).

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
    /// Remove images and documents.
    Media,
    /// Drop thinking, except that of a call whose results are about to be sent.
    Thinking,
    /// Drop all thinking.
    AllThinking,
}

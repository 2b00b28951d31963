//! The limits of team memory (T-6).

use std::time::Duration;

/// Bytes of one entry.
pub const LONGEST_ENTRY: usize = 250_000;
/// Bytes of one upload; more is split. An entry that is longer goes alone.
pub const LONGEST_UPLOAD: usize = 200_000;
/// Bytes of a request's body: the longest entry, with every character escaped.
pub const LONGEST_BODY: usize = 2_000_000;
/// Entries of a repository, unless the server's operator says otherwise.
pub const MOST_ENTRIES: usize = 10_000;
/// Repetitions of a push after another client's.
pub const CONFLICT_RETRIES: usize = 2;
/// The time for a request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

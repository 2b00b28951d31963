//! The lines of a file, one by one: what cannot be read is named and passed over.

use super::format::TranscriptLineError;
use super::loaded::TranscriptWarning;

/// The outcome of reading all lines of a file.
pub(super) struct LinesRead {
    /// The number of lines, not counting one that was cut off.
    pub(super) lines: u64,
    /// Lines that could not be used.
    pub(super) warnings: Vec<TranscriptWarning>,
}

/// Calls `read` for every line with its number, from 1; an error becomes a warning.
pub(super) fn each_line(
    bytes: &[u8],
    mut read: impl FnMut(usize, &[u8]) -> Result<(), TranscriptLineError>,
) -> LinesRead {
    let mut warnings = Vec::new();
    let mut rest = bytes;
    let mut number = 0;
    while !rest.is_empty() {
        let from_here = rest;
        // Fast search for the end of the line; reading from memory cannot fail.
        let length = std::io::BufRead::skip_until(&mut rest, b'\n').unwrap_or(from_here.len());
        let (line, _) = from_here.split_at_checked(length).unwrap_or((from_here, &[]));
        number += 1;
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(error) = read(number, line) {
            warnings.push(if line.ends_with(b"\n") {
                TranscriptWarning::BadLine { line: number, problem: error.to_string() }
            } else {
                number -= 1;
                TranscriptWarning::Torn { line: number + 1, bytes: line.len() }
            });
        }
    }
    LinesRead { lines: u64::try_from(number).unwrap_or(u64::MAX), warnings }
}

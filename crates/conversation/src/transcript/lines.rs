//! The lines of a file, one by one: what cannot be read is named and passed over.

use std::io::BufRead;

use super::format::TranscriptLineError;
use super::loaded::TranscriptWarning;

/// The outcome of reading all lines of a file.
#[derive(Default)]
pub(super) struct LinesRead {
    /// The number of lines, not counting one that was cut off.
    pub(super) lines: u64,
    /// Lines that could not be used.
    pub(super) warnings: Vec<TranscriptWarning>,
}

impl LinesRead {
    fn add(
        &mut self,
        line: &[u8],
        read: &mut impl FnMut(usize, &[u8]) -> Result<(), TranscriptLineError>,
    ) {
        self.lines += 1;
        if line.trim_ascii().is_empty() {
            return;
        }
        let number = usize::try_from(self.lines).unwrap_or(usize::MAX);
        if let Err(error) = read(number, line) {
            self.warnings.push(if line.ends_with(b"\n") {
                TranscriptWarning::BadLine { line: number, problem: error.to_string() }
            } else {
                self.lines -= 1;
                TranscriptWarning::Torn { line: number, bytes: line.len() }
            });
        }
    }
}

/// Calls `read` for every line with its number, from 1; an error becomes a warning.
pub(super) fn each_line(
    bytes: &[u8],
    mut read: impl FnMut(usize, &[u8]) -> Result<(), TranscriptLineError>,
) -> LinesRead {
    let mut lines = LinesRead::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let from_here = rest;
        // Fast search for the end of the line; reading from memory cannot fail.
        let length = rest.skip_until(b'\n').unwrap_or(from_here.len());
        let (line, _) = from_here.split_at_checked(length).unwrap_or((from_here, &[]));
        lines.add(line, &mut read);
    }
    lines
}

/// The same with one line at a time in memory.
pub(super) fn each_line_of(
    mut input: impl BufRead,
    mut read: impl FnMut(usize, &[u8]) -> Result<(), TranscriptLineError>,
) -> std::io::Result<LinesRead> {
    let mut lines = LinesRead::default();
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        lines.add(&line, &mut read);
        line.clear();
    }
    Ok(lines)
}

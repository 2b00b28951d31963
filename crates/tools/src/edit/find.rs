//! Where the text to replace is, and what comes in its place, with the file's own line ends.
//!
//! Invariant: the model saw every line end as a newline, so a newline stands for either kind, unless
//! the text itself says which by a carriage return.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem::{self, Finder};
use memchr::{memchr, memchr_iter, memrchr};

/// More occurrences than this are not replaced.
const MAX_FOUND: usize = 1_000_000;

/// Where a text is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TextMatches {
    /// In these places, which are in order and do not overlap.
    At(Vec<Range<usize>>),
    /// In more places than are handled.
    TooMany,
}

/// Every occurrence of `old`, which is not empty.
pub(super) fn find(file: &[u8], old: &str) -> TextMatches {
    if !old.contains('\n') || old.contains('\r') || memmem::find(file, b"\r\n").is_none() {
        return occurrences(file, old);
    }
    let plain = Plain::of(file);
    match occurrences(&plain.bytes, old) {
        TextMatches::At(found) => TextMatches::At(
            found
                .into_iter()
                .map(|range| plain.origin(range.start)..plain.origin(range.end))
                .collect(),
        ),
        TextMatches::TooMany => TextMatches::TooMany,
    }
}

fn occurrences(file: &[u8], old: &str) -> TextMatches {
    let length = old.len();
    let found: Vec<Range<usize>> = Finder::new(old)
        .find_iter(file)
        .take(MAX_FOUND + 1)
        .map(|start| start..start + length)
        .collect();
    if found.len() > MAX_FOUND { TextMatches::TooMany } else { TextMatches::At(found) }
}

/// A file with plain newlines only.
struct Plain {
    bytes: Vec<u8>,
    /// Where in `bytes` the newlines are that had a carriage return in front, in order.
    shortened: Vec<usize>,
}

impl Plain {
    fn of(file: &[u8]) -> Self {
        let mut plain = Self { bytes: Vec::with_capacity(file.len()), shortened: Vec::new() };
        let mut copied = 0;
        for position in memmem::find_iter(file, b"\r\n") {
            plain.bytes.extend_from_slice(file.get(copied..position).unwrap_or_default());
            plain.shortened.push(plain.bytes.len());
            plain.bytes.push(b'\n');
            copied = position + 2;
        }
        plain.bytes.extend_from_slice(file.get(copied..).unwrap_or_default());
        plain
    }

    /// The same place in the file itself.
    fn origin(&self, position: usize) -> usize {
        position + self.shortened.partition_point(|newline| *newline < position)
    }
}

/// A line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineEnd {
    Newline,
    WithReturn,
}

impl LineEnd {
    fn bytes(self) -> &'static [u8] {
        match self {
            Self::Newline => b"\n",
            Self::WithReturn => b"\r\n",
        }
    }

    /// The one that a newline at this place belongs to.
    fn at(file: &[u8], newline: usize) -> Self {
        let before = newline.checked_sub(1).and_then(|before| file.get(before));
        if before == Some(&b'\r') { Self::WithReturn } else { Self::Newline }
    }
}

/// What replaces the text in this place: its newlines become the line ends of the text that goes, in
/// their order, or those of the line where that has none.
pub(super) fn replacement<'a>(
    file: &[u8],
    range: &Range<usize>,
    old: &str,
    new: &'a str,
) -> Cow<'a, [u8]> {
    let exact = Cow::Borrowed(new.as_bytes());
    if !new.contains('\n') || new.contains('\r') || old.contains('\r') {
        return exact;
    }
    let ends = line_ends(file, range);
    if ends.iter().all(|end| *end == LineEnd::Newline) {
        return exact;
    }
    let mut bytes = Vec::with_capacity(new.len());
    let mut ends = ends.into_iter();
    let mut last = LineEnd::Newline;
    for piece in new.as_bytes().split_inclusive(|byte| *byte == b'\n') {
        match piece.strip_suffix(b"\n") {
            Some(line) => {
                last = ends.next().unwrap_or(last);
                bytes.extend_from_slice(line);
                bytes.extend_from_slice(last.bytes());
            }
            None => bytes.extend_from_slice(piece),
        }
    }
    Cow::Owned(bytes)
}

fn line_ends(file: &[u8], range: &Range<usize>) -> Vec<LineEnd> {
    let piece = file.get(range.clone()).unwrap_or_default();
    let ends: Vec<LineEnd> =
        memchr_iter(b'\n', piece).map(|newline| LineEnd::at(file, range.start + newline)).collect();
    if !ends.is_empty() {
        return ends;
    }
    let after = file.get(range.end..).and_then(|rest| memchr(b'\n', rest));
    let before = || file.get(..range.start).and_then(|rest| memrchr(b'\n', rest));
    after
        .map(|newline| range.end + newline)
        .or_else(before)
        .map(|newline| LineEnd::at(file, newline))
        .into_iter()
        .collect()
}

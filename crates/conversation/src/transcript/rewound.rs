//! Lines of a transcript that the user went back from: they stay in the file, and are not read as part of the conversation.
//!
//! A line of the kind `rewind` names the line it goes back to; everything from there up to it is abandoned. A later rewind may
//! go back to an earlier one, which brings the branch back that the earlier one abandoned.

use std::ops::RangeInclusive;

use dormouse_base::MessageId;
use serde::{Deserialize, Serialize};

/// How such a line begins: its kind is its first field.
const BEGINNING: &[u8] = b"{\"type\":\"rewind\"";

/// A rewind, as it stands in the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewindMark {
    /// The rewind.
    pub id: MessageId,
    /// The message that it goes back to: the conversation is what it was before this message.
    pub message: MessageId,
    /// The line of that message, from 1.
    pub line: u64,
}

#[derive(Deserialize)]
struct RewindLine {
    rewind: RewindMark,
}

/// Finds the rewinds among the lines of a file.
#[derive(Debug, Default)]
pub(super) struct RewindFinder {
    marks: Vec<(u64, RewindMark)>,
}

impl RewindFinder {
    /// Looks at a line.
    pub(super) fn see(&mut self, number: u64, line: &[u8]) {
        // A line that was cut off by a crash did not take effect.
        if line.starts_with(BEGINNING)
            && line.ends_with(b"\n")
            && let Ok(RewindLine { rewind }) = serde_json::from_slice(line)
        {
            self.marks.push((number, rewind));
        }
    }

    /// What they abandon.
    pub(super) fn finish(self) -> Abandoned {
        let mut abandoned = Abandoned::default();
        let mut end = u64::MAX;
        for (at, mark) in self.marks.iter().rev() {
            abandoned.rewinds.push(mark.id);
            // One that is abandoned itself has no effect.
            if *at < end && mark.line <= *at {
                abandoned.ranges.push(mark.line..=*at);
                end = mark.line;
            }
        }
        abandoned
    }
}

/// The rewinds of a transcript, and the lines that they abandon.
#[derive(Debug, Default)]
pub(super) struct Abandoned {
    pub(super) rewinds: Vec<MessageId>,
    ranges: Vec<RangeInclusive<u64>>,
}

impl Abandoned {
    /// Finds the rewinds among the lines of a file.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut finder = RewindFinder::default();
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            finder.see(number, line);
        }
        finder.finish()
    }

    pub(super) fn has(&self, line: u64) -> bool {
        self.ranges.iter().any(|range| range.contains(&line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(lines: &[Option<u64>]) -> Vec<u64> {
        let id = "01234567-89ab-7def-8123-456789abcdef";
        let text: String = lines
            .iter()
            .map(|line| match line {
                None => "{\"type\":\"user\"}\n".to_owned(),
                Some(to) => format!(
                    "{{\"type\":\"rewind\",\"rewind\":{{\"id\":\"{id}\",\"message\":\"{id}\",\"line\":{to}}}}}\n"
                ),
            })
            .collect();
        let abandoned = Abandoned::of(text.as_bytes());
        (1..).take(lines.len()).filter(|line| !abandoned.has(*line)).collect()
    }

    #[test]
    fn what_is_abandoned_and_what_comes_back() {
        assert_eq!(kept(&[None, None, None]), [1, 2, 3]);
        assert_eq!(kept(&[None, None, None, Some(2), None]), [1, 5]);
        assert_eq!(kept(&[None, None, Some(2), None, None, Some(1), None]), [7]);
        // Back to the rewind in line 3: what it had abandoned is there again.
        assert_eq!(kept(&[None, None, Some(2), None, Some(3), None]), [1, 2, 6]);
        // Every line can be gone back to, however many rewinds there are.
        assert_eq!(kept(&[None, Some(1), Some(2), Some(3), Some(4)]), [1]);
        assert_eq!(kept(&[None, Some(9), None]), [1, 2, 3]);
    }
}

//! Takes reminders out of what a model says.
//!
//! Small models imitate the marks that the program puts around its own words. What stands between them is no answer, and
//! the user does not see it. Blocks keep the text as it was received.

use crate::reminder_tags::{REMINDER_CLOSING as CLOSING, REMINDER_OPENING as OPENING};

const FENCE: &str = "```";

/// Shows the text of an answer as it arrives, without imitated reminders: those that begin a line, have an end, and do
/// not stand in a code block.
#[derive(Debug, Clone)]
pub struct ImitatedReminderFilter {
    /// What is not decided yet.
    pending: String,
    is_line_start: bool,
    is_code: bool,
    /// The line end behind a reminder goes with it, also when it arrives later.
    skips_line_end: bool,
}

impl Default for ImitatedReminderFilter {
    fn default() -> Self {
        Self { pending: String::new(), is_line_start: true, is_code: false, skips_line_end: false }
    }
}

impl ImitatedReminderFilter {
    /// Adds text; gives what can be shown by now.
    pub fn push(&mut self, text: &str) -> String {
        self.pending.push_str(text);
        let mut shown = String::new();
        while !self.pending.is_empty() {
            if std::mem::take(&mut self.skips_line_end) && self.pending.starts_with('\n') {
                self.pending.remove(0);
                continue;
            }
            if self.is_line_start {
                let line = self.pending.trim_start_matches([' ', '\t']);
                let may_begin = |mark: &str| line.len() < mark.len() && mark.starts_with(line);
                if line.starts_with(OPENING) && !self.is_code {
                    let Some((_, rest)) = line.split_once(CLOSING) else { break };
                    self.pending = rest.to_owned();
                    self.skips_line_end = true;
                    continue;
                }
                if may_begin(OPENING) || may_begin(FENCE) {
                    break;
                }
                self.is_code ^= line.starts_with(FENCE);
            }
            let end = self.pending.find('\n').map(|end| end + 1);
            self.is_line_start = end.is_some();
            shown.extend(self.pending.drain(..end.unwrap_or(self.pending.len())));
        }
        shown
    }

    /// The text ends: what is still undecided was no reminder.
    pub fn finish(&mut self) -> String {
        std::mem::take(self).pending
    }
}

/// A whole text without imitated reminders.
pub fn without_imitated_reminders(text: &str) -> String {
    let mut filter = ImitatedReminderFilter::default();
    let shown = filter.push(text);
    shown + &filter.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(without_imitated_reminders(text), expected);
    }

    #[test]
    fn reminders_of_their_own_are_taken_out() {
        check("<system-reminder>x\ny</system-reminder>\nhello", "hello");
        check("one\n  <system-reminder>x</system-reminder>\ntwo", "one\ntwo");
        check("<system-reminder>a</system-reminder><system-reminder>b</system-reminder>c", "c");
    }

    #[test]
    fn a_line_end_that_arrives_later_goes_with_its_reminder() {
        let mut filter = ImitatedReminderFilter::default();
        let pieces = ["<system-reminder>x</system-reminder>", "\n", "\nhello"];
        let shown: String = pieces.iter().map(|piece| filter.push(piece)).collect();
        assert_eq!(shown + &filter.finish(), "\nhello");
    }

    #[test]
    fn what_speaks_of_them_stays() {
        for text in [
            "",
            "plain <b>\n\n  ",
            "the marks <system-reminder>…</system-reminder> are the program's",
            "<system-reminder> without an end",
            "```\n<system-reminder>x</system-reminder>\n```\n",
            "<system",
        ] {
            check(text, text);
        }
    }

    proptest! {
        /// The pieces in which a text arrives make no difference.
        #[test]
        fn in_any_pieces(
            parts in prop::collection::vec(prop::sample::select(vec![
                "<system-reminder>", "</system-reminder>", "```", "\n", " ", "a", "<sys", "é",
            ]), 0..20),
            cuts in prop::collection::vec(0_usize..6, 0..60),
        ) {
            let text = parts.concat();
            let mut filter = ImitatedReminderFilter::default();
            let mut shown = String::new();
            let mut characters = text.chars().peekable();
            let mut cuts = cuts.into_iter();
            while characters.peek().is_some() {
                let take = cuts.next().unwrap_or(3).max(1);
                let piece: String = characters.by_ref().take(take).collect();
                shown += &filter.push(&piece);
            }
            shown += &filter.finish();
            prop_assert_eq!(shown, without_imitated_reminders(&text));
        }
    }
}

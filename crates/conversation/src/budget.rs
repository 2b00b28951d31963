//! Every number that depends on the window, from one function.
//!
//! The numbers in tokens or characters are ceilings for a window of 200,000 tokens; a smaller window
//! gets a share of itself, stated at each constant, so that nothing alone can fill it.

use crate::ContextWindow;

/// Reserved for a summary: at most this, the model's output, or a quarter of the window.
const RESERVE: u32 = 20_000;
/// Kept free below the effective window before compaction: at most this, or a tenth of it.
const AUTO_COMPACT_BUFFER: u32 = 13_000;
/// Warned this far ahead of compaction: at most this, or an eighth of the threshold.
const WARNING_BUFFER: u32 = 20_000;
/// Kept for a compaction by hand: at most this, or a fiftieth of the window.
const MANUAL_BUFFER: u32 = 3_000;
/// One tool result, in characters: at most this, or half the window's tokens.
const TOOL_RESULT_CHARS: u32 = 50_000;
/// All results of one message, in characters: at most this, or the window's tokens.
const MESSAGE_RESULT_CHARS: u32 = 200_000;
/// One Read, in tokens: at most this, or an eighth of the window.
const READ_TOKENS: u32 = 25_000;
/// Session notes, in tokens: at most this, or a sixteenth of the window.
const NOTES_TOKENS: u32 = 12_000;
/// One section of the notes, in tokens: at most this, or a sixth of all of them.
const NOTES_SECTION_TOKENS: u32 = 2_000;
/// The notes are begun at so many tokens: at most this, or a tenth of the window.
const NOTES_FIRST_TOKENS: u32 = 10_000;
/// They are brought up to date when so many more have come: at most this, or a twentieth of the window.
const NOTES_EVERY_TOKENS: u32 = 5_000;
/// Messages that a compaction from the notes keeps, in tokens: at least this, or a twentieth of the window.
const TAIL_LEAST_TOKENS: u32 = 10_000;
/// The same at most: this, or a fifth of the window.
const TAIL_MOST_TOKENS: u32 = 40_000;
/// A compaction's summary, in tokens: at most this, or a tenth of the window.
const SUMMARY_TOKENS: u32 = 20_000;
/// A span that is folded, in tokens: at least this, or a twenty-fifth of the window.
const SPAN_LEAST_TOKENS: u32 = 8_000;
/// The same at most: this, or a tenth of the window.
const SPAN_MOST_TOKENS: u32 = 20_000;
/// The user's words kept by a compaction, in tokens: at most this, or a twentieth of the window.
const USER_WORDS_TOKENS: u32 = 10_000;
/// Files restored after a compaction, in tokens: at most this, or a quarter of the window.
const RESTORED_FILES_TOKENS: u32 = 50_000;
/// Skills restored after a compaction, in tokens: at most this, or an eighth of the window.
const RESTORED_SKILLS_TOKENS: u32 = 25_000;
/// The memory index, in bytes: at most this, or an eighth of the window's tokens.
const INDEX_BYTES: u32 = 25_000;
const RECALL_BYTES: u32 = 60_000;
/// What has changed since a conversation was told, in tokens: at most this, or a fortieth of the window.
const CHANGES_TOKENS: u32 = 4_000;
/// One instruction file before a warning, in characters: at most this, or a fifth of the window's tokens.
const INSTRUCTIONS_CHARS: u32 = 40_000;
/// Below this the short prompt is used.
const SHORT_PROMPT_BELOW: u32 = 32_000;

/// Which form of the prompt fits the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSize {
    /// The whole prompt.
    Full,
    /// One-line tool descriptions, short rules, no index.
    Short,
}

/// The numbers for one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The window.
    pub window: u32,
    /// Reserved for the summary.
    pub reserve: u32,
    /// The window less the reserve.
    pub effective: u32,
    /// Compaction is due above this.
    pub auto_compact: u32,
    /// The person is warned above this.
    pub warning: u32,
    /// The warning becomes urgent above this.
    pub error: u32,
    /// No request is sent above this.
    pub blocking: u32,
    /// The longest answer asked for.
    pub max_output: u32,
    /// One tool result, in characters.
    pub tool_result_chars: u32,
    /// All results of one message, in characters.
    pub message_result_chars: u32,
    /// One Read, in tokens.
    pub read_tokens: u32,
    /// Session notes, in tokens.
    pub notes_tokens: u32,
    /// One section of the notes, in tokens.
    pub notes_section_tokens: u32,
    /// The notes are begun at so many tokens.
    pub notes_first_tokens: u32,
    /// They are brought up to date when so many more have come.
    pub notes_every_tokens: u32,
    /// Messages kept by a compaction from the notes, in tokens: at least.
    pub tail_least_tokens: u32,
    /// The same at most.
    pub tail_most_tokens: u32,
    /// A summary, in tokens.
    pub summary_tokens: u32,
    /// A span that is folded, in tokens: at least.
    pub span_least_tokens: u32,
    /// The same at most.
    pub span_most_tokens: u32,
    /// The user's words kept by a compaction, in tokens.
    pub user_words_tokens: u32,
    /// Files restored after a compaction, in tokens.
    pub restored_files_tokens: u32,
    /// Skills restored after a compaction, in tokens.
    pub restored_skills_tokens: u32,
    /// The memory index, in bytes.
    pub index_bytes: u32,
    /// Recalled memories in a session, in bytes.
    pub recall_bytes: u32,
    /// One instruction file, in characters.
    pub instructions_chars: u32,
    /// What has changed since a conversation was told, in tokens.
    pub changes_tokens: u32,
    /// The form of the prompt.
    pub prompt: PromptSize,
}

impl Budget {
    /// The numbers for a window and the model's longest output.
    pub fn for_window(window: ContextWindow, model_max_output: u32) -> Self {
        let window = window.tokens();
        let max_output = model_max_output.min(window / 4);
        let reserve = RESERVE.min(max_output);
        let effective = window - reserve;
        let auto_compact = effective - AUTO_COMPACT_BUFFER.min(effective / 10);
        let warning = auto_compact - WARNING_BUFFER.min(auto_compact / 8);
        let notes_tokens = NOTES_TOKENS.min(window / 16);
        Self {
            window,
            reserve,
            effective,
            auto_compact,
            warning,
            error: warning,
            blocking: window - MANUAL_BUFFER.min(window / 50),
            max_output,
            tool_result_chars: TOOL_RESULT_CHARS.min(window / 2),
            message_result_chars: MESSAGE_RESULT_CHARS.min(window),
            read_tokens: READ_TOKENS.min(window / 8),
            notes_tokens,
            notes_section_tokens: NOTES_SECTION_TOKENS.min(notes_tokens / 6),
            notes_first_tokens: NOTES_FIRST_TOKENS.min(window / 10),
            notes_every_tokens: NOTES_EVERY_TOKENS.min(window / 20),
            tail_least_tokens: TAIL_LEAST_TOKENS.min(window / 20),
            tail_most_tokens: TAIL_MOST_TOKENS.min(window / 5),
            summary_tokens: SUMMARY_TOKENS.min(window / 10),
            span_least_tokens: SPAN_LEAST_TOKENS.min(window / 25),
            span_most_tokens: SPAN_MOST_TOKENS.min(window / 10),
            user_words_tokens: USER_WORDS_TOKENS.min(window / 20),
            restored_files_tokens: RESTORED_FILES_TOKENS.min(window / 4),
            restored_skills_tokens: RESTORED_SKILLS_TOKENS.min(window / 8),
            index_bytes: INDEX_BYTES.min(window / 8),
            recall_bytes: RECALL_BYTES.min(window / 10 * 3),
            instructions_chars: INSTRUCTIONS_CHARS.min(window / 5),
            changes_tokens: CHANGES_TOKENS.min(window / 40),
            prompt: if window < SHORT_PROMPT_BELOW { PromptSize::Short } else { PromptSize::Full },
        }
    }
}

/// How full the window is. One function for the interface and the pipeline alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four thresholds, each passed or not")]
pub struct WindowState {
    /// What is left until compaction, in percent of its threshold.
    pub percent_left: u8,
    /// Worth a warning.
    pub warning: bool,
    /// Worth an urgent one.
    pub error: bool,
    /// Compaction is due.
    pub auto_compact: bool,
    /// Nothing may be sent before a compaction.
    pub blocking: bool,
}

impl WindowState {
    /// The state at `used` tokens.
    pub fn at(used: u64, budget: &Budget) -> Self {
        let threshold = u64::from(budget.auto_compact);
        let left =
            threshold.saturating_sub(used).saturating_mul(100).checked_div(threshold).unwrap_or(0);
        Self {
            percent_left: u8::try_from(left).unwrap_or(100),
            warning: used >= u64::from(budget.warning),
            error: used >= u64::from(budget.error),
            auto_compact: used >= threshold,
            blocking: used >= u64::from(budget.blocking),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn budget(window: u32, max_output: u32) -> Budget {
        Budget::for_window(ContextWindow::new(window).unwrap(), max_output)
    }

    #[test]
    fn the_numbers_for_200_000() {
        let budget = budget(200_000, 64_000);
        assert_eq!(
            (budget.reserve, budget.effective, budget.auto_compact),
            (20_000, 180_000, 167_000)
        );
        assert_eq!((budget.warning, budget.error, budget.blocking), (147_000, 147_000, 197_000));
        assert_eq!((budget.tool_result_chars, budget.message_result_chars), (50_000, 200_000));
        assert_eq!(
            (budget.read_tokens, budget.notes_tokens, budget.summary_tokens),
            (25_000, 12_000, 20_000)
        );
        assert_eq!(
            (budget.notes_section_tokens, budget.tail_least_tokens, budget.tail_most_tokens),
            (2_000, 10_000, 40_000)
        );
        assert_eq!((budget.span_least_tokens, budget.span_most_tokens), (8_000, 20_000));
        assert_eq!((budget.notes_first_tokens, budget.notes_every_tokens), (10_000, 5_000));
        assert_eq!((budget.index_bytes, budget.instructions_chars), (25_000, 40_000));
        assert_eq!((budget.restored_files_tokens, budget.restored_skills_tokens), (50_000, 25_000));
        assert_eq!((budget.user_words_tokens, budget.prompt), (10_000, PromptSize::Full));
        assert_eq!(super::tests::budget(31_999, 8_000).prompt, PromptSize::Short);
    }

    #[test]
    fn the_state() {
        let budget = budget(200_000, 64_000);
        let at = |used| WindowState::at(used, &budget);
        assert_eq!(at(0).percent_left, 100);
        assert_eq!(at(83_500).percent_left, 50);
        assert!(!at(146_999).warning && at(147_000).warning && at(147_000).error);
        assert!(!at(166_999).auto_compact && at(167_000).auto_compact);
        assert!(!at(196_999).blocking && at(197_000).blocking);
        assert_eq!(at(u64::MAX).percent_left, 0);
    }

    fn numbers(budget: &Budget) -> Vec<u32> {
        vec![
            budget.effective,
            budget.reserve,
            budget.auto_compact,
            budget.warning,
            budget.error,
            budget.blocking,
            budget.max_output,
            budget.tool_result_chars,
            budget.message_result_chars,
            budget.read_tokens,
            budget.notes_tokens,
            budget.notes_section_tokens,
            budget.notes_first_tokens,
            budget.notes_every_tokens,
            budget.tail_least_tokens,
            budget.tail_most_tokens,
            budget.summary_tokens,
            budget.span_least_tokens,
            budget.span_most_tokens,
            budget.user_words_tokens,
            budget.restored_files_tokens,
            budget.restored_skills_tokens,
            budget.index_bytes,
            budget.instructions_chars,
        ]
    }

    proptest! {
        #[test]
        fn positive_ordered_and_monotonic(
            window in 4_000_u32..2_000_000, more in 0_u32..100_000, max_output in 1_000_u32..200_000
        ) {
            let small = budget(window, max_output);
            let large = budget(window + more, max_output);
            prop_assert!(numbers(&small).iter().all(|number| *number > 0), "{small:?}");
            for (low, high) in numbers(&small).into_iter().zip(numbers(&large)) {
                prop_assert!(low <= high, "{small:?} {large:?}");
            }
            prop_assert!(small.warning < small.auto_compact);
            prop_assert!(small.auto_compact < small.effective);
            prop_assert!(small.effective < small.window && small.auto_compact < small.blocking);
            prop_assert!(small.blocking < small.window);
        }
    }
}

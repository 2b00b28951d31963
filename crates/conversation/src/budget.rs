//! Every limit that depends on the context window, computed by one function.
//!
//! The constants are ceilings, reached with a window of 200,000 tokens. A smaller window gets a share of
//! itself, stated at each constant, so that no single item can fill it.

use crate::window::ContextWindow;

/// Reserved for a summary: at most this, the model's longest output, or a quarter of the window.
const RESERVE: u32 = 20_000;
/// Kept free below the effective window before compaction: at most this, or a tenth of it.
const AUTO_COMPACT_BUFFER: u32 = 13_000;
/// Distance of the warning to compaction: at most this, or an eighth of the threshold.
const WARNING_BUFFER: u32 = 20_000;
/// Kept free for a manual compaction: at most this, or a fiftieth of the window.
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
/// Size of the conversation at which the notes are started: at most this, or half the window.
const NOTES_FIRST_TOKENS: u32 = 40_000;
/// Recent messages that a compaction from notes keeps, in tokens: at least this, or a twentieth of the window.
const TAIL_MIN_TOKENS: u32 = 10_000;
/// Upper limit of these messages: this, or a fifth of the window.
const TAIL_MAX_TOKENS: u32 = 40_000;
/// A compaction's summary, in tokens: at most this, or a tenth of the window.
const SUMMARY_TOKENS: u32 = 20_000;
/// A folded span, in tokens: at least this, or a twenty-fifth of the window.
const SPAN_MIN_TOKENS: u32 = 8_000;
/// Upper limit of a folded span: this, or a tenth of the window.
const SPAN_MAX_TOKENS: u32 = 20_000;
/// The user's messages kept word for word by a compaction, in tokens: at most this, or a twentieth of the window.
const USER_WORDS_TOKENS: u32 = 10_000;
/// Files restored after a compaction, in tokens: at most this, or a quarter of the window.
const RESTORED_FILES_TOKENS: u32 = 50_000;
/// Skills restored after a compaction, in tokens: at most this, or an eighth of the window.
const RESTORED_SKILLS_TOKENS: u32 = 25_000;
/// The memory index, in bytes: at most this, or an eighth of the window's tokens.
const INDEX_BYTES: u32 = 25_000;
/// Recalled memories of a session, in bytes: at most this, or three tenths of the window's tokens.
const RECALL_BYTES: u32 = 60_000;
/// The list of environment changes in one message, in tokens: at most this, or a fortieth of the window.
const CHANGES_TOKENS: u32 = 4_000;
/// One instruction file before a warning, in characters: at most this, or a fifth of the window's tokens.
const INSTRUCTIONS_CHARS: u32 = 40_000;
/// Below this the short prompt is used.
const SHORT_PROMPT_BELOW: u32 = 32_000;

/// The form of the system prompt that fits the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptSize {
    /// The complete prompt.
    Full,
    /// One-line tool descriptions, short rules, no memory index.
    Short,
}

/// Every limit that depends on the context window. Without a unit in its name, a limit is in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The context window.
    pub window: u32,
    /// Reserved for a summary.
    pub reserve: u32,
    /// The window minus the reserve.
    pub effective: u32,
    /// Compaction starts above this.
    pub auto_compact: u32,
    /// The user is warned above this.
    pub warning: u32,
    /// The warning becomes urgent above this.
    pub error: u32,
    /// No request is sent above this.
    pub blocking: u32,
    /// The longest response to ask for.
    pub max_output: u32,
    /// Limits of tool results.
    pub results: ResultBudget,
    /// Limits of the session notes.
    pub notes: NotesBudget,
    /// Limits of compaction and collapse.
    pub compaction: CompactionBudget,
    /// Limits of the prompt and what is added to it.
    pub prompt: PromptBudget,
}

/// Limits of tool results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultBudget {
    /// One tool result, in characters.
    pub tool_chars: u32,
    /// All results of one message, in characters.
    pub message_chars: u32,
    /// One result of the Read tool.
    pub read_tokens: u32,
}

/// Limits of the session notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotesBudget {
    /// The whole notes.
    pub tokens: u32,
    /// One section.
    pub section_tokens: u32,
    /// The size of the conversation at which the notes are started.
    pub first_tokens: u32,
    /// The growth of the conversation after which the notes are updated.
    pub every_tokens: u32,
}

/// Limits of compaction and collapse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompactionBudget {
    /// The fewest tokens of recent messages that a compaction from notes keeps.
    pub tail_min_tokens: u32,
    /// The most tokens of recent messages that a compaction from notes keeps.
    pub tail_max_tokens: u32,
    /// The summary.
    pub summary_tokens: u32,
    /// The smallest span that is folded.
    pub span_min_tokens: u32,
    /// The largest span that is folded.
    pub span_max_tokens: u32,
    /// The user's messages that are kept word for word.
    pub user_words_tokens: u32,
    /// Files restored after a compaction.
    pub restored_files_tokens: u32,
    /// Skills restored after a compaction.
    pub restored_skills_tokens: u32,
}

/// Limits of the prompt and what is added to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptBudget {
    /// The form of the system prompt.
    pub size: PromptSize,
    /// The memory index, in bytes.
    pub index_bytes: u32,
    /// Recalled memories of a whole session, in bytes.
    pub recall_bytes: u32,
    /// One instruction file, in characters; a longer one causes a warning.
    pub instructions_chars: u32,
    /// The list of environment changes in one message.
    pub changes_tokens: u32,
}

impl Budget {
    /// The limits for a context window and the model's longest output.
    pub fn for_window(window: ContextWindow, model_max_output: u32) -> Self {
        let window = window.tokens();
        let max_output = model_max_output.min(window / 4);
        let reserve = RESERVE.min(max_output);
        let effective = window - reserve;
        let auto_compact = effective - AUTO_COMPACT_BUFFER.min(effective / 10);
        let warning = auto_compact - WARNING_BUFFER.min(auto_compact / 8);
        Self {
            window,
            reserve,
            effective,
            auto_compact,
            warning,
            error: warning,
            blocking: window - MANUAL_BUFFER.min(window / 50),
            max_output,
            results: ResultBudget {
                tool_chars: TOOL_RESULT_CHARS.min(window / 2),
                message_chars: MESSAGE_RESULT_CHARS.min(window),
                read_tokens: READ_TOKENS.min(window / 8),
            },
            notes: NotesBudget::for_window(window),
            compaction: CompactionBudget::for_window(window),
            prompt: PromptBudget::for_window(window),
        }
    }
}

impl NotesBudget {
    fn for_window(window: u32) -> Self {
        let tokens = NOTES_TOKENS.min(window / 16);
        Self {
            tokens,
            section_tokens: NOTES_SECTION_TOKENS.min(tokens / 6),
            first_tokens: NOTES_FIRST_TOKENS.min(window / 2),
            every_tokens: window / 10,
        }
    }
}

impl CompactionBudget {
    fn for_window(window: u32) -> Self {
        Self {
            tail_min_tokens: TAIL_MIN_TOKENS.min(window / 20),
            tail_max_tokens: TAIL_MAX_TOKENS.min(window / 5),
            summary_tokens: SUMMARY_TOKENS.min(window / 10),
            span_min_tokens: SPAN_MIN_TOKENS.min(window / 25),
            span_max_tokens: SPAN_MAX_TOKENS.min(window / 10),
            user_words_tokens: USER_WORDS_TOKENS.min(window / 20),
            restored_files_tokens: RESTORED_FILES_TOKENS.min(window / 4),
            restored_skills_tokens: RESTORED_SKILLS_TOKENS.min(window / 8),
        }
    }
}

impl PromptBudget {
    fn for_window(window: u32) -> Self {
        Self {
            size: if window < SHORT_PROMPT_BELOW { PromptSize::Short } else { PromptSize::Full },
            index_bytes: INDEX_BYTES.min(window / 8),
            recall_bytes: RECALL_BYTES.min(window / 10 * 3),
            instructions_chars: INSTRUCTIONS_CHARS.min(window / 5),
            changes_tokens: CHANGES_TOKENS.min(window / 40),
        }
    }
}

/// How full the context window is; computed the same way for the interface and for compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four thresholds, each passed or not")]
pub struct WindowState {
    /// Room left until compaction, in percent of its threshold.
    pub percent_left: u8,
    /// Above the warning threshold.
    pub warning: bool,
    /// Above the urgent threshold.
    pub error: bool,
    /// Compaction is due.
    pub auto_compact: bool,
    /// No request may be sent before a compaction.
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
        assert_eq!((budget.results.tool_chars, budget.results.message_chars), (50_000, 200_000));
        assert_eq!(
            (budget.results.read_tokens, budget.notes.tokens, budget.compaction.summary_tokens),
            (25_000, 12_000, 20_000)
        );
        assert_eq!(
            (
                budget.notes.section_tokens,
                budget.compaction.tail_min_tokens,
                budget.compaction.tail_max_tokens
            ),
            (2_000, 10_000, 40_000)
        );
        assert_eq!(
            (budget.compaction.span_min_tokens, budget.compaction.span_max_tokens),
            (8_000, 20_000)
        );
        assert_eq!((budget.notes.first_tokens, budget.notes.every_tokens), (40_000, 20_000));
        assert_eq!((budget.prompt.index_bytes, budget.prompt.instructions_chars), (25_000, 40_000));
        assert_eq!(
            (budget.compaction.restored_files_tokens, budget.compaction.restored_skills_tokens),
            (50_000, 25_000)
        );
        assert_eq!(
            (budget.compaction.user_words_tokens, budget.prompt.size),
            (10_000, PromptSize::Full)
        );
        assert_eq!(super::tests::budget(31_999, 8_000).prompt.size, PromptSize::Short);
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
            budget.results.tool_chars,
            budget.results.message_chars,
            budget.results.read_tokens,
            budget.notes.tokens,
            budget.notes.section_tokens,
            budget.notes.first_tokens,
            budget.notes.every_tokens,
            budget.compaction.tail_min_tokens,
            budget.compaction.tail_max_tokens,
            budget.compaction.summary_tokens,
            budget.compaction.span_min_tokens,
            budget.compaction.span_max_tokens,
            budget.compaction.user_words_tokens,
            budget.compaction.restored_files_tokens,
            budget.compaction.restored_skills_tokens,
            budget.prompt.index_bytes,
            budget.prompt.instructions_chars,
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

//! The user's words, kept by the program and not left to whoever summarizes (C-17).

use dormouse_base::MessageId;
use dormouse_conversation::{Block, BlockKind, Message, REMINDER_CLOSING, REMINDER_OPENING, Role};
use jiff::Timestamp;

use super::texts::{bytes_of, first_line, head_and_tail};

/// How texts begin that a program put into a message of the user: ours, and those of other agents.
const PROGRAM_MARKS: [&str; 8] = [
    REMINDER_OPENING,
    "<command-",
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<persisted-output>",
    "[Request interrupted by user",
];
/// Characters of an older message that is shown as a line.
const LINE_CHARS: usize = 100;
/// A smaller part of a message than this many bytes is not shown.
const LEAST_PART: usize = 400;
/// The line that says how many more there are.
const MORE_LINE: usize = 100;
/// The list of older messages takes at most this part of the budget, beside it.
const OLDER_PART: usize = 5;

/// What the user typed, and where it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserText {
    /// The message.
    pub message: MessageId,
    /// When.
    pub at: Timestamp,
    /// The words.
    pub text: String,
    /// How it is found, for instance `line 12 of the transcript`.
    pub location: String,
}

/// The words that the user typed in a message; none if the program wrote it, if it is a summary, or if it
/// brings results.
pub fn user_text_in(message: &Message) -> Option<String> {
    let flags = message.flags;
    let by_program = flags.meta || flags.compact_summary || flags.attachment || flags.side_chain;
    if message.role != Role::User || by_program || message.tool_results().next().is_some() {
        return None;
    }
    let texts: Vec<String> = message
        .blocks
        .iter()
        .filter(|block| *block.kind() == BlockKind::Text)
        .filter_map(Block::as_text)
        .map(|text| without_reminders(&text))
        .filter(|text| !PROGRAM_MARKS.iter().any(|mark| text.trim_start().starts_with(mark)))
        .filter(|text| !text.trim().is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text without the reminders in it.
fn without_reminders(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once(REMINDER_OPENING)
        && let Some((_, after)) = inside.split_once(REMINDER_CLOSING)
    {
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The user's words for a summary message: the newest word for word, up to the budget, shown in the
/// order in which they were said; of the older ones a line each, with the place. The newest is always
/// there; one that does not fit is shown by its beginning and its end. The lines come on top of the budget.
pub fn keep_user_texts(said: &[UserText], budget_tokens: u64) -> String {
    let room = bytes_of(budget_tokens);
    // From the newest back, as far as there is room: of thousands most need no look.
    let whole = said.iter().rev().try_fold(0, |sum, words| {
        Some(sum + header(words).len() + words.text.len() + 1).filter(|sum| *sum <= room)
    });
    if whole.is_some() {
        return said.iter().map(|words| entry(words, usize::MAX)).collect();
    }
    let older_room = room / OLDER_PART;
    let newest = newest(said, room);
    let older = said.get(..said.len() - newest.len()).unwrap_or_default();
    newest.iter().rev().fold(older_lines(older, older_room), |text, entry| text + entry)
}

/// The newest that fit, newest first; the last of them may be cut.
fn newest(said: &[UserText], room: usize) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut left = room;
    for words in said.iter().rev() {
        let fits = header(words).len() + words.text.len() < left;
        if !fits && !entries.is_empty() && left < LEAST_PART {
            break;
        }
        let shown = entry(words, left);
        left = left.saturating_sub(shown.len());
        entries.push(shown);
        if !fits {
            break;
        }
    }
    entries
}

fn header(words: &UserText) -> String {
    format!("\n[{}, {}]\n", when(words.at), words.location)
}

/// What was said, in at most this many bytes if that is enough for a word or two.
fn entry(words: &UserText, room: usize) -> String {
    let header = header(words);
    let room = room.saturating_sub(header.len() + 1).max(LEAST_PART / 2);
    format!("{header}{}\n", head_and_tail(words.text.trim(), room))
}

/// A line each, the newest of them, and how many more there are.
fn older_lines(older: &[UserText], room: usize) -> String {
    let mut left = room.saturating_sub(MORE_LINE);
    let mut lines = Vec::new();
    for words in older.iter().rev() {
        let UserText { at, location: place, text, .. } = words;
        let line = format!("- {}, {place}: {}\n", when(*at), first_line(text, LINE_CHARS));
        if line.len() > left {
            break;
        }
        left -= line.len();
        lines.push(line);
    }
    let more = older.len() - lines.len();
    if more > 0 {
        lines.push(format!(
            "- {more} older messages are not listed here; Grep finds them in the transcript\n"
        ));
    }
    lines.reverse();
    lines.concat()
}

fn when(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compact::testing::{assistant, meta, now, of_user, results, summary, user};
    use dormouse_conversation::MessageFlags;
    use proptest::prelude::*;

    fn said(texts: &[&str]) -> Vec<UserText> {
        let one = |(line, text): (usize, &&str)| UserText {
            message: user("x").id,
            at: now(),
            text: (*text).to_owned(),
            location: format!("line {} of the transcript", line + 1),
        };
        texts.iter().enumerate().map(one).collect()
    }

    #[test]
    fn what_a_person_typed() {
        assert_eq!(user_text_in(&user("Mend it.")).unwrap(), "Mend it.");
        assert_eq!(user_text_in(&meta("x")), None);
        assert_eq!(user_text_in(&summary("x")), None);
        assert_eq!(user_text_in(&assistant(&["x"], &[])), None);
        assert_eq!(user_text_in(&results(&[("1", "x")])), None);
        let blocks = [
            "<system-reminder>\nrules\n</system-reminder>",
            "Mend it.",
            "And <system-reminder>x</system-reminder> that.",
            "<command-name>/cost</command-name>",
        ];
        let mixed = of_user(blocks.map(Block::text).to_vec(), MessageFlags::default());
        assert_eq!(user_text_in(&mixed).unwrap(), "Mend it.\nAnd  that.");
    }

    #[test]
    fn all_that_fits_is_word_for_word() {
        assert_eq!(
            keep_user_texts(&said(&["one", "two\nlines"]), 100),
            "\n[2026-11-15 08:00, line 1 of the transcript]\none\n\n[2026-11-15 08:00, line 2 of the transcript]\ntwo\nlines\n"
        );
        assert_eq!(keep_user_texts(&[], 100), "");
    }

    #[test]
    fn the_newest_first_and_older_ones_in_a_line() {
        let (long, huge) = ("old ".repeat(300), "newest ".repeat(2_000));
        let texts = [&*long, &*long, "a short one", &*huge];
        let text = keep_user_texts(&said(&texts), 1_000);
        assert!(text.contains("- 2026-11-15 08:00, line 1 of the transcript: old old"), "{text}");
        assert!(
            text.contains("transcript]\nnewest newest") && text.ends_with("newest\n"),
            "{text}"
        );
        assert!(text.contains("bytes left out here") && text.len() <= 4_800, "{text}");
        let many: Vec<&str> = vec!["again and again and again"; 5_000];
        let text = keep_user_texts(&said(&many), 1_000);
        assert!(text.contains("older messages are not listed here; Grep finds them"), "{text}");
        assert!(text.len() <= 4_800);
    }

    #[test]
    fn the_newest_have_the_whole_budget() {
        let many: Vec<String> = (0..100).map(|n| format!("{n}: {}", "word ".repeat(40))).collect();
        let texts: Vec<&str> = many.iter().map(String::as_str).collect();
        let text = keep_user_texts(&said(&texts), 1_000);
        let whole = many.iter().filter(|words| text.contains(words.trim())).count();
        let each = entry(&said(&texts)[99], usize::MAX).len();
        assert!((whole + 1) * each > 4_000 - LEAST_PART, "{whole} of {each} bytes");
    }

    #[test]
    fn mean_words() {
        for mean in ["\0\u{202e}".repeat(50_000), "睡".repeat(3_500_000), String::new()] {
            let text = keep_user_texts(&said(&["first", &mean, &mean]), 1_000);
            assert!(text.len() <= 4_800, "{}", text.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn never_more_than_the_budget_and_the_lines(lengths in prop::collection::vec(0_usize..3_000, 0..30), tokens in 200_u64..5_000) {
            let texts: Vec<String> = lengths.iter().map(|length| "睡a".repeat(*length)).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let text = keep_user_texts(&said(&texts), tokens);
            let most = bytes_of(tokens) / OLDER_PART * (OLDER_PART + 1) + OLDER_PART;
            prop_assert!(text.len() <= most, "{} of {most}", text.len());
            if let Some(newest) = texts.last() {
                prop_assert!(text.contains(crate::compact::texts::head(newest, 100)));
            }
        }
    }
}

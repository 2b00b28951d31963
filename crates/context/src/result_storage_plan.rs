//! Layer 1: a large tool result goes to a file, and the conversation keeps its beginning (C-2 to C-5).
//!
//! Plans only: what is to be written where is returned, and whoever drives does it. A decision is made
//! once, before the result is first sent, and is never made again: what was sent whole stays whole.

use dormouse_base::stable_hash;
use dormouse_conversation::ToolUseId;

/// How much of a stored result the conversation keeps.
const PREVIEW_BYTES: usize = 2_000;
/// Servers choose the ids of calls; a file name of one is not longer than this.
const LONGEST_NAME: usize = 80;

/// How long a result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageLimit {
    /// The tool bounds itself: storing what it shows of a stored file would go in circles.
    Unlimited,
    /// At most this many characters.
    Chars(usize),
}

/// What becomes of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultStorage {
    /// It stays as it is.
    Inline,
    /// There is nothing in it, which is said.
    Empty,
    /// It goes to a file of this name.
    File(String),
}

/// What becomes of one result, by itself.
pub fn plan_result_storage(id: &ToolUseId, text: &str, bound: StorageLimit) -> ResultStorage {
    match bound {
        _ if text.trim().is_empty() => ResultStorage::Empty,
        StorageLimit::Chars(most) if is_longer(text, most) => {
            ResultStorage::File(file_name(id, text))
        }
        StorageLimit::Unlimited | StorageLimit::Chars(_) => ResultStorage::Inline,
    }
}

/// What becomes of the results of one message: those that together are too long are stored, the largest
/// first, until the rest fits. Gives the places of those to store.
pub fn plan_message_storage(results: &[(&str, StorageLimit)], together: usize) -> Vec<usize> {
    let length = |text: &str| text.chars().count();
    let mut total: usize = results.iter().map(|(text, _)| length(text)).sum();
    let mut candidates: Vec<(usize, usize)> = results
        .iter()
        .enumerate()
        .filter(|(_, (_, bound))| *bound != StorageLimit::Unlimited)
        .map(|(place, (text, _))| (length(text), place))
        // What is no longer than its preview would only grow.
        .filter(|(length, _)| *length > PREVIEW_BYTES)
        .collect();
    candidates.sort_unstable();
    let mut stored = Vec::new();
    while total > together
        && let Some((length, place)) = candidates.pop()
    {
        total = total.saturating_sub(length - PREVIEW_BYTES);
        stored.push(place);
    }
    stored.sort_unstable();
    stored
}

/// What stands in the conversation instead of a stored result.
pub fn preview(text: &str, path: &str) -> String {
    preview_of(text, text.chars().count() as u64, text.len() as u64, path)
}

/// The same for a result that went to its file as it came: its beginning (more than is shown), and how
/// long it is.
pub fn preview_of(head: &str, chars: u64, bytes: u64, path: &str) -> String {
    let beginning = beginning(head);
    format!(
        "<persisted-output>\n{chars} characters ({bytes} bytes), too much to show. The whole result is in\n{path}\nRead it in parts with `offset` and `limit`. It begins:\n\n{beginning}\n[{} more bytes in the file]\n</persisted-output>",
        bytes.saturating_sub(beginning.len() as u64)
    )
}

/// The file of a result that is written as it comes, when nobody knows yet whether it is JSON.
pub fn stream_file_name(id: &ToolUseId) -> String {
    file_name(id, "")
}

/// What replaces a result without anything in it.
pub const EMPTY_RESULT: &str = "[the call succeeded and printed nothing]";

/// A result that could not be stored, cut to its bound.
pub fn truncate_result(text: &str, bound: StorageLimit, why: &str) -> String {
    let StorageLimit::Chars(most) = bound else { return text.to_owned() };
    let kept: String = text.chars().take(most).collect();
    let left_out = text.len() - kept.len();
    format!(
        "{kept}\n[cut here: {left_out} more bytes are lost, for the result could not be stored: {why}]"
    )
}

/// The first bytes, cut at a line end if there is one, and inside no character.
fn beginning(text: &str) -> &str {
    let mut end = PREVIEW_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    match head.rsplit_once('\n') {
        Some((lines, _)) if end < text.len() && !lines.is_empty() => lines,
        _ => head,
    }
}

fn is_longer(text: &str, most: usize) -> bool {
    // A character has at least one byte: most results are settled without counting.
    text.len() > most && text.chars().count() > most
}

/// A safe name that no two ids share.
fn file_name(id: &ToolUseId, text: &str) -> String {
    let plain: String = id
        .as_str()
        .chars()
        .take(LONGEST_NAME)
        .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
        .collect();
    let unique = if plain == id.as_str() {
        plain
    } else {
        format!("{plain}-{:016x}", stable_hash(id.as_str().as_bytes()))
    };
    let ending = if is_json(text) { "json" } else { "txt" };
    format!("{unique}.{ending}")
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
        && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(text: &str) -> ToolUseId {
        ToolUseId::new(text)
    }

    #[test]
    fn one_result() {
        let bound = StorageLimit::Chars(10);
        assert_eq!(plan_result_storage(&id("t"), "0123456789", bound), ResultStorage::Inline);
        assert_eq!(
            plan_result_storage(&id("t"), "0123456789x", bound),
            ResultStorage::File("t.txt".into())
        );
        assert_eq!(
            plan_result_storage(&id("t"), "睡鼠睡鼠睡鼠", bound),
            ResultStorage::Inline,
            "characters, not bytes"
        );
        assert_eq!(
            plan_result_storage(&id("t"), r#"{"a": [1, 2, 3]}"#, bound),
            ResultStorage::File("t.json".into())
        );
        assert_eq!(plan_result_storage(&id("t"), " \n", bound), ResultStorage::Empty);
        assert_eq!(
            plan_result_storage(&id("t"), &"x".repeat(1_000_000), StorageLimit::Unlimited),
            ResultStorage::Inline
        );
    }

    #[test]
    fn names_are_safe_and_distinct() {
        let name = |text| file_name(&id(text), "x");
        assert_eq!(name("toolu_01-A"), "toolu_01-A.txt");
        assert!(!name("../../etc/passwd").contains('/'));
        assert_ne!(name("a/b"), name("a.b"));
        assert!(name(&"x".repeat(500)).len() < 120);
    }

    #[test]
    fn the_largest_of_a_message_go_first() {
        let (small, middle, large) = ("s".repeat(5_000), "m".repeat(40_000), "l".repeat(60_000));
        let bound = StorageLimit::Chars(100_000);
        let results = [(small.as_str(), bound), (large.as_str(), bound), (middle.as_str(), bound)];
        assert_eq!(plan_message_storage(&results, 200_000), Vec::<usize>::new());
        assert_eq!(plan_message_storage(&results, 60_000), [1]);
        assert_eq!(plan_message_storage(&results, 20_000), [1, 2]);
        let exempt = [(large.as_str(), StorageLimit::Unlimited), (middle.as_str(), bound)];
        assert_eq!(plan_message_storage(&exempt, 10_000), [1]);
    }

    #[test]
    fn previews_end_at_a_line() {
        let text = "a line of some length\n".repeat(1_000);
        let shown = beginning(&text);
        assert!(shown.len() <= PREVIEW_BYTES && shown.ends_with("length"));
        let preview = preview(&text, "/s/tool-results/t.txt");
        assert!(preview.contains("/s/tool-results/t.txt") && preview.contains("22000 characters"));
        let head: String = text.chars().take(10_000).collect();
        assert_eq!(preview_of(&head, 22_000, 22_000, "/s/tool-results/t.txt"), preview);
    }

    proptest! {
        #[test]
        fn a_beginning_is_a_beginning(text in "[a睡🐭\n ]{0,3000}") {
            let shown = beginning(&text);
            prop_assert!(text.starts_with(shown));
            prop_assert!(shown.len() <= PREVIEW_BYTES);
            if text.len() <= PREVIEW_BYTES {
                prop_assert_eq!(shown, text.as_str());
            }
        }

        #[test]
        fn what_stays_fits_or_can_not_be_stored(lengths in prop::collection::vec(0_usize..60_000, 0..12)) {
            let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
            let results: Vec<(&str, StorageLimit)> =
                texts.iter().map(|text| (text.as_str(), StorageLimit::Chars(50_000))).collect();
            let stored = plan_message_storage(&results, 200_000);
            let left: usize = lengths
                .iter()
                .enumerate()
                .map(|(place, length)| if stored.contains(&place) { PREVIEW_BYTES } else { *length })
                .sum();
            prop_assert!(left <= 200_000);
        }
    }
}

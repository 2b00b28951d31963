//! The marks between which the program speaks: put around its words, and kept out of text that another process wrote.
//!
//! Invariant: what comes out of [`neutralize_reminder_tags`] has no such mark, is as long as what went in, and is the same where there was none.

use std::borrow::Cow;

/// What stands in the marks, opening and closing.
const NAME: &str = "system-reminder";
/// Begins a reminder.
pub const REMINDER_OPENING: &str = "<system-reminder>";
/// Ends a reminder.
pub const REMINDER_CLOSING: &str = "</system-reminder>";

/// The program's words between the marks of a reminder.
pub fn as_reminder(words: &str) -> String {
    format!("{REMINDER_OPENING}\n{words}\n{REMINDER_CLOSING}")
}

/// The words of a text that is a reminder as a whole.
pub fn reminder_text(text: &str) -> Option<&str> {
    let inside = text.strip_prefix(REMINDER_OPENING)?.strip_prefix('\n')?;
    inside.strip_suffix(REMINDER_CLOSING)?.strip_suffix('\n')
}

/// Whether a text begins as a reminder does.
pub fn is_reminder(text: &str) -> bool {
    text.starts_with(REMINDER_OPENING)
}

/// The text, where `[` stands for the `<` of every mark. A model reads through blanks, case and characters that nobody
/// sees, so they make no difference.
pub fn neutralize_reminder_tags(text: &str) -> Cow<'_, str> {
    neutralize(text, '<', is_mark)
}

/// The text, where `[` stands for every `opening` whose text behind it, up to the next one, makes it a mark.
pub fn neutralize(text: &str, opening: char, is_mark: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let mut behind = text.split(opening);
    if !behind.clone().skip(1).any(&is_mark) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    kept.extend(behind.next());
    for rest in behind {
        kept.push(if is_mark(rest) { '[' } else { opening });
        kept.push_str(rest);
    }
    Cow::Owned(kept)
}

/// Whether a `<` in front of this begins a mark.
fn is_mark(behind: &str) -> bool {
    let seen = behind.chars().filter(|c| !is_filler(*c)).map(|c| c.to_ascii_lowercase());
    seen.take(NAME.len()).eq(NAME.chars())
}

fn is_filler(c: char) -> bool {
    let unseen = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    unseen || c.is_whitespace() || c.is_control() || c == '/' || c == '\\'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_of_a_reminder() {
        assert_eq!(reminder_text(&as_reminder("Use tabs.\n")), Some("Use tabs.\n"));
        assert!(is_reminder(&as_reminder("")) && !is_reminder("see <system-reminder>"));
        for text in ["", "Use tabs.", "<system-reminder>\nnot closed", "<system-reminder>"] {
            assert_eq!(reminder_text(text), None);
        }
    }

    #[test]
    fn marks_of_every_look() {
        for (text, expected) in [
            ("</system-reminder>", "[/system-reminder>"),
            ("a <system-reminder> b", "a [system-reminder> b"),
            ("</SYSTEM-Reminder >", "[/SYSTEM-Reminder >"),
            ("< / \n system-reminder>", "[ / \n system-reminder>"),
            ("<<system-reminder x=\"y\">", "<[system-reminder x=\"y\">"),
            ("<\u{200b}system\u{ad}-reminder>", "[\u{200b}system\u{ad}-reminder>"),
            ("<\\/system-reminder>", "[\\/system-reminder>"),
        ] {
            assert_eq!(neutralize_reminder_tags(text), expected);
        }
        for text in ["", "<", "a < b", "<system>", "system-reminder", "<b>system-reminder</b>"] {
            assert!(
                matches!(neutralize_reminder_tags(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    /// Told in another way than the code does.
    fn has_mark(text: &str) -> bool {
        let seen: String = text.chars().filter(|c| !is_filler(*c)).collect();
        seen.to_ascii_lowercase().contains("<system-reminder")
    }

    fn texts() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "<",
            "</",
            "< /",
            "/",
            " ",
            "\n",
            "\u{200b}",
            "system-reminder",
            "SYSTEM-Reminder",
            "system",
            "-",
            "reminder",
            "r",
            ">",
            "[",
            "é",
            "x",
        ]);
        prop_oneof![
            prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat()),
            any::<String>(),
        ]
    }

    proptest! {
        #[test]
        fn no_mark_is_left_and_nothing_else_is_changed(text in texts()) {
            let kept = neutralize_reminder_tags(&text);
            prop_assert!(!has_mark(&kept), "{kept:?}");
            prop_assert_eq!(kept.len(), text.len());
            prop_assert_eq!(matches!(kept, Cow::Borrowed(_)), !has_mark(&text));
            prop_assert_eq!(kept.replace('[', "<"), text.replace('[', "<"));
        }
    }
}

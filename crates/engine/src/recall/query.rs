//! Whether a message is worth a search, and with which words.

/// Shorter messages say too little: so many words, or characters of a script that writes without blanks.
const SHORTEST: usize = 2;

/// What is searched for: what the person typed, if it says enough.
pub(super) fn of_prompt(prompt: &str) -> Option<String> {
    let words = prompt.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    let unspaced = prompt.chars().filter(|c| is_unspaced(*c)).count();
    (words.count() >= SHORTEST || unspaced >= SHORTEST).then(|| prompt.trim().to_owned())
}

/// Han, kana, Hangul and Thai: a word of these has no blanks around it.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0E7F | 0x1100..=0x11FF | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_no_query() {
        for prompt in ["", "yes", "go on!", " ... ", "好", "ok ?"] {
            let enough = prompt == "go on!";
            assert_eq!(of_prompt(prompt).is_some(), enough, "{prompt:?}");
        }
        for prompt in ["which tabs", "迁移", "データ", "  two words\n"] {
            assert_eq!(of_prompt(prompt).as_deref(), Some(prompt.trim()));
        }
    }
}

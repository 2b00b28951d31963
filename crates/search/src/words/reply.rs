//! Messages that only answer the last response: "go on", "yes please", "shorter", 继续. Their words are not those of any
//! memory.

use super::form::{CORRECTION, LONGEST_CORRECTION, plain_words};

/// Phrases that agree, or ask to go on.
const AGREEMENT: &[&str] = &[
    "go on",
    "go ahead",
    "carry on",
    "keep going",
    "continue",
    "proceed",
    "do it",
    "do that",
    "sounds good",
    "looks good",
    "yes",
    "yep",
    "yeah",
    "ok",
    "okay",
    "sure",
    "perfect",
    "great",
    "继续",
    "接着",
    "往下",
    "好的",
    "可以",
    "没问题",
    "没错",
    "是的",
    "对的",
    "行",
    "再试一次",
];

/// Words around such a phrase that say nothing of their own.
const AROUND: &[&str] = &[
    "please", "now", "then", "and", "a", "an", "the", "bit", "little", "much", "just", "so", "no",
    "it", "that", "this", "one", "again", "with", "very",
];
const PARTICLES: &str = "吧了啊呢呀嘛哦嗯请再就那先好对的一下点些个";

/// Whether a message only answers the last response.
pub fn is_bare_reply(message: &str) -> bool {
    if message.chars().nth(LONGEST_CORRECTION).is_some() {
        return false;
    }
    let plain = plain_words(message);
    let rest = CORRECTION
        .iter()
        .chain(AGREEMENT)
        .fold(plain.clone(), |rest, phrase| without(&rest, phrase));
    let says_nothing =
        |word: &str| AROUND.contains(&word) || word.chars().all(|c| PARTICLES.contains(c));
    rest.len() < plain.len() && rest.split_whitespace().all(says_nothing)
}

/// A text, as [`plain_words`] gives it, without a phrase; in scripts with spaces, as whole words.
fn without(plain: &str, phrase: &str) -> String {
    if !phrase.is_ascii() {
        return plain.replace(phrase, "");
    }
    // Twice, for the same phrase may follow at once, and the two share a space.
    let phrase = format!(" {phrase} ");
    plain.replace(&phrase, " ").replace(&phrase, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_told_from_a_message_that_says_more() {
        for reply in [
            "go on",
            "Go on!",
            "shorter please",
            "ok, continue",
            "thanks, try again",
            "continue, continue",
            "yes yes yes please",
            "no, not that one",
            "继续",
            "继续吧",
            "好的，继续",
            "可以",
            "再简洁一点",
            "再试一次",
        ] {
            assert!(is_bare_reply(reply), "{reply}");
        }
        for message in [
            "",
            "please",
            "go on with the invoices",
            "a shorter timeout",
            "ok, now deploy it to staging",
            "no, the staging one",
            "Continue.\n\nWhy can't staging reach the database?",
            "thanks!\r\n\r\nNow deploy the importer",
            "继续部署",
            "换一个库",
            "撤销权",
            "可以部署吗",
            "v2呢",
            "执行",
        ] {
            assert!(!is_bare_reply(message), "{message}");
        }
        assert!(!is_bare_reply(&"go on ".repeat(20)), "only a short message is read");
    }
}

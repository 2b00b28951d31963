//! Whether the user said what a text claims: in a quotation that is found, or in enough of the same words.
//!
//! A question claims nothing: "May I mock the database?" supports no memory about mocks.

use std::collections::HashSet;

use crate::normal_form::normal_form;
use crate::words::{WordSequence, is_unspaced_script};

/// Shorter quotations occur everywhere.
const LEAST_QUOTE_WORDS: usize = 2;
/// Words that a claim has to share with a statement, and the share of either that they have to be.
const LEAST_SHARED: usize = 2;
const LEAST_SHARE: f64 = 0.33;
/// The same for pairs of characters.
const LEAST_SHARE_OF_PAIRS: f64 = 0.25;
/// A claim of so few words may rest on a single one.
const SHORT_CLAIM: usize = 3;
/// Begins the part of a memory that gives reasons for the part before it.
const REASONS: &str = "**Why:**";
/// Shorter words say nothing.
const LEAST_WORD_CHARS: usize = 3;
/// Words that say nothing.
const STOP_WORDS: &str = "the and for are but not you all any can had her was one our out has him his how its may who did yes \
    get let put say she too use with this that have from they will would there their what about which when make like \
    time just know take into year your good some could them see other than then now only come over think also back \
    after user wants want pleas prefer always never should must remember note keep more very such each every don does";

/// Whether a quotation is in a text that the user typed, word for word.
pub(crate) fn contains_quote(typed: &WordSequence, quote: &str) -> bool {
    let quote = WordSequence::of(quote);
    quote.count() >= LEAST_QUOTE_WORDS && typed.contains(&quote)
}

/// Whether the user's message says what a text claims.
pub(crate) fn is_supported(text: &str, typed: &str) -> bool {
    let claim = content_words(text.split(REASONS).next().unwrap_or_default());
    let whole = content_words(text);
    let statements = statements(typed);
    let said: HashSet<String> =
        statements.iter().flat_map(|sentence| content_words(sentence)).collect();
    let is_enough = |claim: &HashSet<String>, said: &HashSet<String>| {
        let shared = claim.intersection(said).count();
        let is_unspaced = |word: &String| word.chars().all(is_unspaced_script);
        let pairs = claim.intersection(said).filter(|word| is_unspaced(word)).count();
        // One word is enough only if there is little else.
        let is_short = claim.len() <= 2 || (said.len() == 1 && claim.len() <= SHORT_CLAIM);
        // Three pairs of characters are at least two words, and many pairs lie between words.
        let least = if pairs >= 3 { LEAST_SHARE_OF_PAIRS } else { LEAST_SHARE };
        (shared >= LEAST_SHARED || (shared == 1 && is_short))
            && (share(shared, claim.len()) >= least || share(shared, said.len()) >= least)
    };
    is_enough(&claim, &said)
        || statements.iter().any(|sentence| is_enough(&whole, &content_words(sentence)))
}

#[expect(clippy::cast_precision_loss, reason = "counts of words")]
fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The sentences of a message that are no questions.
fn statements(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut sentence = String::new();
    for c in text.chars().chain(['\n']) {
        match c {
            '?' | '？' => sentence.clear(),
            '.' | '!' | '\n' | '。' | '！' | ';' | '；' => {
                // A dot inside a word ends no sentence, and joining two harms nobody.
                let is_question =
                    ["吗", "呢", "か"].iter().any(|end| sentence.trim_end().ends_with(end));
                if !is_question && !sentence.trim().is_empty() {
                    found.push(std::mem::take(&mut sentence));
                }
                sentence.clear();
            }
            _ => sentence.push(c),
        }
    }
    found
}

/// The words of a text that say something: stems of words, and pairs of characters in scripts without spaces.
pub(crate) fn content_words(text: &str) -> HashSet<String> {
    let normal = normal_form(text);
    let mut words = HashSet::new();
    for run in normal.split(|c: char| !c.is_alphanumeric()) {
        let letters: Vec<char> = run.chars().collect();
        for part in letters.chunk_by(|a, b| is_unspaced_script(*a) == is_unspaced_script(*b)) {
            if part.first().is_some_and(|c| is_unspaced_script(*c)) {
                words.extend(part.windows(2).map(|pair| pair.iter().collect::<String>()));
            } else if part.len() >= LEAST_WORD_CHARS || part.iter().any(char::is_ascii_digit) {
                let word: String = part.iter().collect();
                let stem = stem(&word);
                if !STOP_WORDS.split_whitespace().any(|stop| stop == word || stop == stem) {
                    words.insert(stem);
                }
            }
        }
    }
    words
}

/// A word without its most common endings.
fn stem(word: &str) -> String {
    for end in ["ingly", "ing", "edly", "ed", "ies", "es", "ly", "s", "e"] {
        if let Some(stem) = word.strip_suffix(end)
            && stem.chars().count() >= LEAST_WORD_CHARS
        {
            return stem.to_owned();
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(typed: &str, memory: &str, expected: bool) {
        assert_eq!(is_supported(memory, typed), expected, "{typed} / {memory}");
    }

    #[test]
    fn the_users_words_support_a_memory_in_other_words() {
        check(
            "please never mock the database in our tests",
            "Tests use a real database, no mocks.",
            true,
        );
        check(
            "don't mock the database in these tests, we were burnt when the mocked ones passed and the migration failed",
            "Tests run against a real database. **Why:** mocked tests once hid a failed migration.",
            true,
        );
        check(
            "I've run Postgres for years, but this React code is new to me",
            "Knows databases, new to React",
            true,
        );
        check("以后提交信息都用中文写", "提交信息用中文", true);
        check("call me Ana", "The user is called Ana.", true);
        check("Use tabs.", "Indentation: tabs", true);
        check("remember all of this, and that I want tabs", "indents with tabs\nUse tabs.", true);
    }

    #[test]
    fn other_words_and_questions_do_not() {
        check(
            "look at the page and tell me what it says",
            "Deployments need the badger's approval",
            false,
        );
        check(
            "May I mock the database here?",
            "A temporary solution is to mock the database",
            false,
        );
        check("这里可以模拟数据库吗？", "测试里模拟数据库", false);
        check("", "anything", false);
        check("go on", "Always deploy on Fridays", false);
        check("/port", "The staging database listens on port fifty-four thirty-three", false);
    }
}

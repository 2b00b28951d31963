//! Splits text into words and runs of characters, folded: lower case, one Unicode form, no accents.

use unicode_normalization::UnicodeNormalization;

/// A folded piece of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextPiece<'a> {
    /// A word of a script with spaces.
    Word {
        /// The folded word.
        text: &'a str,
        /// Whether it looks like a proper name: capitalized inside a sentence.
        is_name: bool,
    },
    /// A part of the preceding word, if that is an identifier.
    Part {
        /// The folded part.
        text: &'a str,
    },
    /// Adjacent characters of a script without spaces.
    Run {
        /// The characters.
        text: &'a str,
    },
}

/// Longer words are ignored: hashes, encoded data.
const LONGEST_WORD: usize = 64;
/// English endings after an apostrophe that are not words.
const ENDINGS: [&str; 7] = ["s", "re", "ve", "d", "ll", "m", "t"];

/// Whether a character belongs to a script without spaces between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF // Thai, Lao, Burmese, Khmer
        | 0x3040..=0x30FF | 0x31F0..=0x31FF // kana
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF // Han
        | 0xAC00..=0xD7AF) // Hangul
}

/// Calls `give` with every piece of a text, in order.
pub fn split_text(text: &str, give: impl FnMut(TextPiece<'_>)) {
    let mut splitter = Splitter { give, word: String::new(), run: String::new(), sentence: true };
    if text.is_ascii() {
        text.chars().for_each(|c| splitter.take(c));
    } else {
        text.nfkc().for_each(|c| splitter.take(c));
    }
    splitter.take(' ');
}

struct Splitter<F> {
    give: F,
    word: String,
    run: String,
    /// Whether the next word is the first of a sentence.
    sentence: bool,
}

impl<F: FnMut(TextPiece<'_>)> Splitter<F> {
    fn take(&mut self, c: char) {
        if is_unspaced(c) && c.is_alphanumeric() {
            self.end_word();
            self.run.push(c);
            return;
        }
        // Vowel and tone marks belong to the preceding character.
        if !self.run.is_empty() && is_unspaced(c) {
            return;
        }
        self.end_run();
        if c.is_alphanumeric() || c == '_' {
            self.word.push(c);
        } else if matches!(c, '\'' | '’') && !self.word.is_empty() {
            self.word.push('\'');
        } else {
            self.end_word();
            self.sentence |= matches!(c, '.' | '?' | '!' | ':' | '"' | '“' | '\n' | '。');
        }
    }

    fn end_run(&mut self) {
        if !self.run.is_empty() {
            (self.give)(TextPiece::Run { text: &self.run });
            self.run.clear();
            self.sentence = false;
        }
    }

    fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        for (place, between) in word.split('\'').enumerate() {
            if place == 0 || !ENDINGS.contains(&between) {
                self.identifier(between);
            }
        }
        self.sentence = false;
        self.word = word;
        self.word.clear();
    }

    /// Gives the whole word, and its parts if it has several.
    fn identifier(&mut self, raw: &str) {
        let whole = folded(raw);
        if whole.is_empty() || whole.len() > LONGEST_WORD {
            return;
        }
        let is_name = !self.sentence && is_capitalized(raw);
        (self.give)(TextPiece::Word { text: &whole, is_name });
        let parts = parts(raw);
        if parts.len() > 1 {
            for part in parts.iter().map(|part| folded(part)).filter(|part| part.len() > 1) {
                (self.give)(TextPiece::Part { text: &part });
            }
        }
    }
}

fn is_capitalized(raw: &str) -> bool {
    let mut letters = raw.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.clone().next().is_some()
        && letters.all(char::is_lowercase)
}

/// Lower case, without accents and underscores.
fn folded(raw: &str) -> String {
    if raw.is_ascii() {
        return raw.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    }
    let lower = raw.chars().flat_map(char::to_lowercase).nfd();
    let bare: String = lower.filter(|c| !is_accent(*c) && *c != '_').collect();
    bare.nfc().collect()
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// `parseFoo`, `HTTPServer` and `snake_case` have two parts, `k8s` has one.
fn parts(raw: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in raw.split('_') {
        let mut start = 0;
        let letters: Vec<(usize, char)> = piece.char_indices().collect();
        for window in letters.windows(2) {
            let [(_, before), (at, c)] = window else { continue };
            let next = piece.get(*at..).and_then(|rest| rest.chars().nth(1));
            let begins = c.is_uppercase()
                && (before.is_lowercase()
                    || before.is_uppercase() && next.is_some_and(char::is_lowercase));
            if begins && *at > start {
                parts.extend(piece.get(start..*at));
                start = *at;
            }
        }
        parts.extend(piece.get(start..).filter(|rest| !rest.is_empty()));
    }
    parts
}

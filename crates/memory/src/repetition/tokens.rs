//! Splitting a text into words, names, numbers, Chinese runs, and the ends of sentences and their parts.

use unicode_normalization::UnicodeNormalization;

use super::moments::{self, DATE, TIME};
use super::numbers::english_number;
use dormouse_search::is_unspaced;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word of letters, in lower case.
    Word { text: String, capital: Capital },
    /// A path, an identifier, an address, a flag: anything with only one spelling.
    Name(String),
    /// A number or a version.
    Number(String),
    /// `2027-03-05`; `0000` for a missing year.
    Date(String),
    /// `15h00`.
    Time(String),
    /// Characters of a script without spaces.
    Run(String),
    /// The end of a part of a sentence.
    PartEnd,
    /// The end of a sentence.
    End,
}

/// Whether a word is capitalized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capital {
    /// Not capitalized.
    None,
    /// At the beginning of a sentence, where every word is.
    First,
    /// Inside a sentence, as names are.
    Inside,
}

/// Units that are written directly after their number, and their words.
const UNITS: &[(&str, &str)] = &[
    ("ms", "millisecond"),
    ("s", "second"),
    ("sec", "second"),
    ("min", "minute"),
    ("h", "hour"),
    ("hrs", "hour"),
    ("d", "day"),
    ("kb", "kb"),
    ("mb", "mb"),
    ("gb", "gb"),
    ("tb", "tb"),
    ("px", "px"),
    ("x", "times"),
];

/// The tokens of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let text: String = text.nfkc().collect();
    let text = moments::normalized(&text);
    let mut reader = Reader { tokens: Vec::new(), word: String::new(), run: String::new() };
    let mut characters = text.chars().peekable();
    let mut before = '\n';
    while let Some(c) = characters.next() {
        reader.take(before, c, characters.peek().copied().unwrap_or('\n'));
        before = c;
    }
    reader.end(Token::End);
    reader.tokens
}

struct Reader {
    tokens: Vec<Token>,
    word: String,
    run: String,
}

impl Reader {
    fn take(&mut self, before: char, c: char, next: char) {
        if is_unspaced(c) && c.is_alphanumeric() {
            self.end_word();
            self.run.push(c);
            return;
        }
        self.end_run();
        if c.is_alphanumeric() || joins(&self.word, before, c, next) {
            self.word.push(c);
            return;
        }
        match c {
            // The next line continues the sentence: wrapped text.
            '\n' if next.is_lowercase() && before.is_alphanumeric() => self.end_word(),
            '.' | '!' | '?' | ';' | '。' | '\n' => self.end(Token::End),
            ',' | ':' | '(' | ')' | '—' | '–' | '"' | '“' | '”' => self.end(Token::PartEnd),
            _ => self.end_word(),
        }
    }

    fn end(&mut self, token: Token) {
        self.end_run();
        self.end_word();
        if self.tokens.last().is_some_and(|last| *last != token) {
            self.tokens.push(token);
        }
    }

    fn end_run(&mut self) {
        if !self.run.is_empty() {
            self.tokens.push(Token::Run(std::mem::take(&mut self.run)));
        }
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let word = word.trim_end_matches(['-', '/', '.', '@', ':', '\'', '_']);
        if !word.is_empty() {
            self.classify(word);
        }
    }

    fn classify(&mut self, word: &str) {
        if let Some(date) = word.strip_prefix(DATE) {
            self.tokens.push(Token::Date(date.to_owned()));
        } else if let Some(time) = word.strip_prefix(TIME) {
            self.tokens.push(Token::Time(time.to_owned()));
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.number(word);
        } else if is_name(word) {
            self.tokens.push(version(word).unwrap_or_else(|| Token::Name(word.to_lowercase())));
        } else {
            for part in word.split('-').filter(|part| !part.is_empty()) {
                self.word(part);
            }
        }
    }

    fn word(&mut self, word: &str) {
        let begins = matches!(self.tokens.last(), None | Some(Token::End | Token::PartEnd));
        let capital = match (word.chars().next().is_some_and(char::is_uppercase), begins) {
            (false, _) => Capital::None,
            (true, true) => Capital::First,
            (true, false) => Capital::Inside,
        };
        let text = singular(word).to_lowercase().replace('’', "'");
        let text = text.strip_suffix("'s").map(str::to_owned).unwrap_or(text);
        match english_number(&text) {
            Some(number) => self.tokens.push(Token::Number(number.to_owned())),
            None => self.tokens.push(Token::Word { text, capital }),
        }
    }

    /// A number, with its unit as a word of its own; what is neither is a name (`3d-viewer`).
    fn number(&mut self, word: &str) {
        let plain = word.replace(',', "");
        let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
        let (digits, unit) = plain.split_at_checked(end).unwrap_or((&plain, ""));
        let unit = unit.trim_start_matches('-').to_lowercase();
        let token = Token::Number(without_zeros(digits.trim_end_matches('.')));
        let is_ordinal = matches!(unit.as_str(), "st" | "nd" | "rd" | "th");
        if unit.is_empty() || is_ordinal {
            self.tokens.push(token);
        } else if unit == "k" {
            self.tokens.push(Token::Number(format!("{digits}000")));
        } else if let Some((_, unit)) = UNITS.iter().find(|(short, _)| *short == unit) {
            let text = (*unit).to_owned();
            self.tokens.extend([token, Token::Word { text, capital: Capital::None }]);
        } else if unit.chars().all(char::is_alphabetic) && unit.len() > 3 {
            self.tokens.extend([token, Token::Word { text: unit, capital: Capital::None }]);
        } else {
            self.tokens.push(Token::Name(word.to_lowercase()));
        }
    }
}

/// Whether a character that is not a letter belongs to the word around it.
fn joins(word: &str, before: char, c: char, next: char) -> bool {
    let (follows, is_first) = (next.is_ascii_alphanumeric(), word.is_empty());
    match c {
        '_' => true,
        '\'' | '’' | '@' | '\\' => follows && !is_first,
        '.' => follows && !before.is_whitespace(),
        '-' => follows || is_first && next == '-',
        ',' => before.is_ascii_digit() && next.is_ascii_digit(),
        '/' => {
            follows && (!is_first || before.is_whitespace() || before == '`')
                || next == '/'
                || before == '/'
        }
        ':' if matches!(word, "date" | "clock") => follows,
        ':' => !is_first && (next == '/' || before.is_ascii_digit() && next.is_ascii_digit()),
        '~' => is_first && next == '/',
        '#' | '+' => before.is_ascii_alphabetic() && !follows || before == '+',
        _ => false,
    }
}

/// Whether a word has only one spelling: a path, an identifier, an address.
fn is_name(word: &str) -> bool {
    let is_marked = word.contains(['_', '.', '@', '\\', '~', '#', '+', ':'])
        || word.starts_with(['/', '-'])
        || word.contains(|c: char| c.is_ascii_digit())
        || word.contains('/');
    let letters = word.chars().zip(word.chars().skip(1));
    is_marked || letters.into_iter().any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// Removes the plural `s` of an abbreviation: `PRs`.
fn singular(word: &str) -> &str {
    let several = |one: &&str| one.len() > 1 && one.chars().all(char::is_uppercase);
    word.strip_suffix('s').filter(several).unwrap_or(word)
}

/// A version such as `v1.2`, as the number `1.2`.
fn version(word: &str) -> Option<Token> {
    let digits = word.strip_prefix(['v', 'V'])?;
    let is_number = digits.contains('.') && digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    is_number.then(|| Token::Number(digits.to_owned()))
}

fn without_zeros(digits: &str) -> String {
    let trimmed = digits.trim_start_matches('0');
    if trimmed.is_empty() || trimmed.starts_with('.') {
        digits.to_owned()
    } else {
        trimmed.to_owned()
    }
}

//! Cutting a text into words, names, numbers, Chinese runs, and the ends of sentences and their parts.

use unicode_normalization::UnicodeNormalization;

use super::moments::{self, DATE, TIME};
use dormouse_search::is_unspaced;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word of letters, in lower case.
    Word { text: String, capital: Capital },
    /// A path, an identifier, an address, a flag: what is written in one way only.
    Name(String),
    /// A number or a version.
    Number(String),
    /// `2027-03-05`; `0000` is a year that is not said.
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

/// Whether a word is written as names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Capital {
    /// No.
    None,
    /// Yes, at the beginning of a sentence, as any word is.
    First,
    /// Yes, inside a sentence.
    Inside,
}

/// Units that are written onto their number, and their words.
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
    let text = moments::in_one_form(&text);
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
            // A line that goes on in the next one is wrapped text.
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

/// Whether a character that is no letter belongs to the word around it.
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

/// Whether a word is one that nobody would put otherwise.
fn is_name(word: &str) -> bool {
    let is_marked = word.contains(['_', '.', '@', '\\', '~', '#', '+', ':'])
        || word.starts_with(['/', '-'])
        || word.contains(|c: char| c.is_ascii_digit())
        || word.contains('/');
    let letters = word.chars().zip(word.chars().skip(1));
    is_marked || letters.into_iter().any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

/// `PRs` are several of `PR`.
fn singular(word: &str) -> &str {
    let several = |one: &&str| one.len() > 1 && one.chars().all(char::is_uppercase);
    word.strip_suffix('s').filter(several).unwrap_or(word)
}

/// `v1.2` is a number as `1.2` is.
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

fn english_number(word: &str) -> Option<&'static str> {
    Some(match word {
        "two" => "2",
        "three" => "3",
        "four" => "4",
        "five" => "5",
        "six" => "6",
        "seven" => "7",
        "eight" => "8",
        "nine" => "9",
        "ten" => "10",
        "eleven" => "11",
        "twelve" => "12",
        "fifteen" => "15",
        "twenty" => "20",
        "thirty" => "30",
        "forty" => "40",
        "fifty" => "50",
        "sixty" => "60",
        "ninety" => "90",
        "hundred" => "100",
        "thousand" => "1000",
        _ => return None,
    })
}

/// A number below ten thousand in Chinese characters.
pub(super) fn chinese_number(word: &str) -> Option<u32> {
    let (mut sum, mut digit) = (0, None);
    for c in word.chars() {
        match c {
            '十' => sum += digit.take().unwrap_or(1) * 10,
            '百' => sum += digit.take().unwrap_or(1) * 100,
            '千' => sum += digit.take().unwrap_or(1) * 1000,
            _ => digit = Some(chinese_digit(c)?),
        }
    }
    (!word.is_empty()).then_some(sum + digit.unwrap_or(0))
}

fn chinese_digit(c: char) -> Option<u32> {
    const DIGITS: &str = "零一二三四五六七八九";
    let place = if c == '两' { Some(2) } else { DIGITS.chars().position(|digit| digit == c) };
    place.and_then(|place| u32::try_from(place).ok())
}

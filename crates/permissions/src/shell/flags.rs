//! Which flags of a program are known to be harmless.
//!
//! Invariant: every word that begins with `-` is looked up, wherever it stands, so that a mistake about
//! which flag takes a value cannot hide another flag behind it; a long flag counts only in full, since
//! programs complete abbreviations as they like.

use super::reasons::{NotReadOnly, PatternRisk};
use super::scan::Word;

/// The harmless flags of a program.
pub(super) struct AllowedFlags {
    /// Letters; behind one, `:` takes a value, `;` one that must be attached or absent. `#` stands for
    /// a digit.
    pub(super) short: &'static str,
    /// Names between blanks; one that takes a value as a word of its own ends in `=`.
    pub(super) long: &'static str,
}

/// The arguments of a program, parsed.
#[derive(Debug, Default)]
pub(super) struct ParsedArguments<'a> {
    /// What is neither a flag nor its value.
    pub(super) operands: Vec<&'a Word>,
    /// Values with the flag they belong to, without its dashes.
    pub(super) values: Vec<(&'a str, &'a str)>,
}

/// Parses the arguments of a program; fails at a flag that is not listed.
pub(super) fn parse<'a>(
    program: &str,
    arguments: &'a [Word],
    flags: &AllowedFlags,
) -> Result<ParsedArguments<'a>, NotReadOnly> {
    let mut parsed = ParsedArguments::default();
    let mut pending: Option<&'a str> = None;
    for word in arguments {
        let text = word.text.as_str();
        no_open_start(program, word)?;
        if text == "--" && pending.is_none() {
            continue;
        }
        if let Some(flag) = pending.take() {
            check_value(program, flag, word)?;
            parsed.values.push((flag, text));
        } else if !is_flag(text) {
            parsed.operands.push(word);
        } else if word.pattern {
            return Err(PatternRisk::Flag {
                pattern: text.to_owned(),
                program: program.to_owned(),
            }
            .into());
        } else if let Some(name) = text.strip_prefix("--") {
            pending = long(name, flags, &mut parsed).map_err(|Unlisted| unknown(program, text))?;
        } else {
            pending = short(text, flags, &mut parsed).map_err(|Unlisted| unknown(program, text))?;
        }
    }
    match pending {
        Some(flag) => {
            Err(NotReadOnly::NoValue { program: program.to_owned(), flag: flag.to_owned() })
        }
        None => Ok(parsed),
    }
}

/// `-` alone is a file.
pub(super) fn is_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// A pattern at the beginning of a word may turn into a flag: somebody may have named a file so.
pub(super) fn no_open_start(program: &str, word: &Word) -> Result<(), NotReadOnly> {
    if word.open_start {
        let pattern = word.text.clone();
        return Err(PatternRisk::FileNamedLikeFlag { pattern, program: program.to_owned() }.into());
    }
    Ok(())
}

fn unknown(program: &str, flag: &str) -> NotReadOnly {
    NotReadOnly::Flag { program: program.to_owned(), flag: flag.to_owned() }
}

/// A value with a dash in front is refused, but for numbers: were the flag one without a value after
/// all, it would be a flag itself.
fn check_value(program: &str, flag: &str, word: &Word) -> Result<(), NotReadOnly> {
    let text = word.text.as_str();
    let number =
        text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    if word.pattern || (is_flag(text) && !number) {
        return Err(NotReadOnly::UnclearValue {
            program: program.to_owned(),
            flag: flag.to_owned(),
            value: text.to_owned(),
        });
    }
    Ok(())
}

/// A flag that is not listed.
struct Unlisted;

/// Reads a long flag. Returns its name if its value is the next word.
fn long<'a>(
    text: &'a str,
    flags: &AllowedFlags,
    parsed: &mut ParsedArguments<'a>,
) -> Result<Option<&'a str>, Unlisted> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let mut entries = flags.long.split_whitespace();
    let entry = entries.find(|entry| entry.trim_end_matches('=') == name).ok_or(Unlisted)?;
    if value.is_none() && entry.ends_with('=') {
        return Ok(Some(name));
    }
    parsed.values.push((name, value.unwrap_or_default()));
    Ok(None)
}

/// Reads the letters after one dash. Returns the last one if its value is the next word.
fn short<'a>(
    text: &'a str,
    flags: &AllowedFlags,
    parsed: &mut ParsedArguments<'a>,
) -> Result<Option<&'a str>, Unlisted> {
    for (at, letter) in text.char_indices().skip(1) {
        let wanted = match letter {
            ':' | ';' | '#' => return Err(Unlisted),
            '0'..='9' => '#',
            _ => letter,
        };
        let (_, behind) = flags.short.split_once(wanted).ok_or(Unlisted)?;
        let end = at + letter.len_utf8();
        let name = text.get(at..end).ok_or(Unlisted)?;
        let rest = text.get(end..).ok_or(Unlisted)?;
        match behind.chars().next() {
            Some(':') if rest.is_empty() => return Ok(Some(name)),
            Some(':' | ';') => {
                parsed.values.push((name, rest));
                return Ok(None);
            }
            _ => parsed.values.push((name, "")),
        }
    }
    Ok(None)
}

//! Which flags of a program are known to be harmless.
//!
//! Invariant: every word that begins with `-` is looked up, wherever it stands, so that a mistake about
//! which flag takes a value can not hide another flag behind it; a long flag counts only in full, since
//! programs complete abbreviations as they like.

use super::scan::Word;

/// The harmless flags of a program.
pub(super) struct AllowedFlags {
    /// Letters; behind one, `:` takes a value, `;` one that must be attached or absent. `#` stands for
    /// a digit.
    pub(super) short: &'static str,
    /// Names between blanks; one that takes a value as a word of its own ends in `=`.
    pub(super) long: &'static str,
}

/// A command line taken apart.
#[derive(Debug, Default)]
pub(super) struct ParsedArguments<'a> {
    /// What is neither a flag nor its value.
    pub(super) operands: Vec<&'a Word>,
    /// Values with the flag they belong to, without its dashes.
    pub(super) values: Vec<(&'a str, &'a str)>,
}

/// Takes the arguments of a program apart; fails at a flag that is not listed.
pub(super) fn parse<'a>(
    program: &str,
    arguments: &'a [Word],
    flags: &AllowedFlags,
) -> Result<ParsedArguments<'a>, String> {
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
            return Err(format!("`{text}` may stand for any flag of `{program}`"));
        } else if let Some(name) = text.strip_prefix("--") {
            pending = long(name, flags, &mut parsed).map_err(|Unlisted| unknown(program, text))?;
        } else {
            pending = short(text, flags, &mut parsed).map_err(|Unlisted| unknown(program, text))?;
        }
    }
    match pending {
        Some(flag) => Err(format!("`{program}`: the flag `{flag}` lacks its value")),
        None => Ok(parsed),
    }
}

/// `-` alone is a file.
pub(super) fn is_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-')
}

/// A pattern at the beginning of a word may turn into a flag: somebody may have named a file so.
pub(super) fn no_open_start(program: &str, word: &Word) -> Result<(), String> {
    if word.open_start {
        let text = &word.text;
        return Err(format!(
            "`{text}` may stand for a file whose name is a flag of `{program}`; write `./{text}`"
        ));
    }
    Ok(())
}

fn unknown(program: &str, flag: &str) -> String {
    format!("`{program} {flag}`: this flag may modify files")
}

/// A value with a dash in front is refused, but for numbers: were the flag one without a value after
/// all, it would be a flag itself.
fn check_value(program: &str, flag: &str, word: &Word) -> Result<(), String> {
    let text = word.text.as_str();
    let number =
        text.strip_prefix('-').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
    if word.pattern || (is_flag(text) && !number) {
        return Err(format!("`{program}`: `{text}` is an unclear value for the flag `{flag}`"));
    }
    Ok(())
}

/// A flag that nobody vouches for.
struct Unlisted;

/// Answers with the flag whose value is the next word.
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

/// Likewise for letters behind one dash.
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

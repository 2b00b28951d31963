//! Checks on a matched value: randomness, placeholders, references.

/// Parts of placeholders; lower case.
const PLACEHOLDERS: &[&str] = &[
    "example",
    "changeme",
    "change-me",
    "change_me",
    "placeholder",
    "your",
    "redacted",
    "dummy",
    "sample",
    "xxxx",
    "****",
    "....",
    "…",
    "[secret",
    "insert",
    "replace",
    "<",
];

/// Runs of characters that random values do not have; lower case.
const SEQUENCES: &[&str] = &["abcdefgh", "12345678"];

/// Words that name the kind of value instead of giving it; lower case.
const NAMES: &[&str] = &[
    "pass",
    "passwd",
    "password",
    "passphrase",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "user",
    "username",
    "none",
    "null",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "hidden",
    "test",
    "string",
];

/// Values with fewer distinct characters are not secrets.
const FEWEST_CHARACTERS: usize = 4;

/// Shannon entropy in bits per byte, from 0 for `aaaa` to 8.
pub(crate) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

/// Whether a value contains a sequence, as `abcdefgh…` or `12345678…`.
pub(crate) fn has_sequence(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    SEQUENCES.iter().any(|sequence| lower.contains(sequence))
}

/// `<your key>`, `xxxxxxxx`, `AKIA…EXAMPLE`: a placeholder for a secret.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|placeholder| lower.contains(placeholder))
        || NAMES.contains(&lower.as_str())
        || has_few_characters(value)
}

fn has_few_characters(value: &str) -> bool {
    let mut seen: Vec<char> = Vec::with_capacity(FEWEST_CHARACTERS);
    for c in value.chars() {
        if !seen.contains(&c) {
            seen.push(c);
        }
        if seen.len() == FEWEST_CHARACTERS {
            return false;
        }
    }
    true
}

/// Has both letters and digits, unlike most words and names.
pub(crate) fn has_letters_and_digits(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A value assigned to the name of a key: random, and not a public random value such as a hash.
pub(crate) fn is_key(value: &str) -> bool {
    has_letters_and_digits(value) && !is_reference(value) && !is_identifier(value)
}

/// A value assigned to the name of a password.
pub(crate) fn is_password(value: &str) -> bool {
    has_letters_and_digits(value) && is_literal(value) && !is_identifier(value)
}

/// A value in a position that only passwords have, unless it is a reference.
pub(crate) fn is_literal(value: &str) -> bool {
    !is_reference(value)
}

/// A reference to a secret instead of the secret: `$NAME`, `${NAME}`, `{{ name }}`, `%s`, `settings.key`, a path.
fn is_reference(value: &str) -> bool {
    let marks = ["${", "{{", "$(", "%(", "://", "::", "->"];
    let variable = |rest: &str| rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    marks.iter().any(|mark| value.contains(mark))
        || value.starts_with(['{', '/', '~', '*'])
        || value.starts_with("./")
        || value.strip_prefix(['$', '%']).is_some_and(|rest| variable(rest.trim_end_matches('%')))
        || is_member(value)
}

/// `self.config.key2`, `process.env.TOKEN_1`: names with dots between them.
fn is_member(value: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && part.len() <= 32
            && part.bytes().filter(u8::is_ascii_digit).count() <= 2
    };
    value.contains('.') && value.split('.').all(is_name)
}

/// A UUID or the hash of a commit or file: random, but not a secret.
fn is_identifier(value: &str) -> bool {
    let all_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_uuid = || {
        let lengths: Vec<usize> = value.split('-').map(str::len).collect();
        lengths == [8, 4, 4, 4, 12] && value.split('-').all(all_hex)
    };
    (matches!(value.len(), 40 | 64) && all_hex(value)) || is_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_text_has_more_entropy_than_words() {
        assert!(entropy("aaaaaaaa") < 0.01);
        assert!((entropy("abcdefgh") - 3.0).abs() < 0.01);
        assert!(entropy("required") < 3.0);
        assert!(entropy("").abs() < 0.01);
    }

    #[test]
    fn what_stands_in_for_a_secret() {
        for placeholder in
            ["<your key>", "xxxxxxxx", "CHANGEME", "0000000000", "password", "ab12ab12…"]
        {
            assert!(is_placeholder(placeholder), "{placeholder}");
        }
        assert!(!is_placeholder("hunter2!"));
    }

    #[test]
    fn where_a_secret_is_instead_of_the_secret() {
        for reference in [
            "$TOKEN1",
            "${TOKEN1}",
            "%PASSWORD1%",
            "%s",
            "{password1}",
            "settings.key2",
            "/run/secrets/db1",
            "process.env.KEY_1",
            "https://host/1",
        ] {
            assert!(is_reference(reference), "{reference}");
        }
        for value in ["hunter2!", "a1.b2c3d4e5f6", "$2y$10$abc"] {
            assert!(!is_reference(value), "{value}");
        }
    }

    #[test]
    fn hashes_and_uuids_are_no_keys() {
        assert!(!is_key("da39a3ee5e6b4b0d3255bfef95601890afd80709"));
        assert!(!is_key("0193b0a4-0000-7000-8000-000000000000"));
        assert!(is_key("da39a3ee5e6b4b0d3255bfef9560189"));
    }
}

//! Lone surrogates in JSON, as JavaScript and Python write them: no text has them, so a message with one would not be read and
//! never be answered.

use std::borrow::Cow;

/// The line with `\ufffd` in the place of every escaped surrogate that has no partner.
pub(super) fn without_lone_surrogates(line: &[u8]) -> Cow<'_, [u8]> {
    let mut replaced: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(rest) = line.get(at..) {
        let Some(found) = rest.iter().position(|byte| *byte == b'\\') else { break };
        at += found;
        let Some(unit) = unit_at(line, at) else {
            // Another escape: the character behind the backslash is part of it.
            at += 2;
            continue;
        };
        let next = unit_at(line, at + 6);
        let is_pair = (0xd800..0xdc00).contains(&unit)
            && next.is_some_and(|next| (0xdc00..0xe000).contains(&next));
        if is_pair {
            at += 12;
            continue;
        }
        if (0xd800..0xe000).contains(&unit) {
            let bytes = replaced.get_or_insert_with(|| line.to_vec());
            if let Some(digits) = bytes.get_mut(at + 2..at + 6) {
                digits.copy_from_slice(b"fffd");
            }
        }
        at += 6;
    }
    replaced.map_or(Cow::Borrowed(line), Cow::Owned)
}

/// The code unit that is escaped as `\uXXXX` here.
fn unit_at(line: &[u8], at: usize) -> Option<u16> {
    let digits = line.get(at..at + 6)?.strip_prefix(b"\\u")?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_partner_is_replaced() {
        for (line, expected) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ude00\ud83d x""#, r#""\ufffd\ufffd x""#),
            (r#""\\ud800 \n\ud800""#, r#""\\ud800 \n\ufffd""#),
            (r#""\ud800\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\u00e4 \u""#, r#""\u00e4 \u""#),
        ] {
            let mended = without_lone_surrogates(line.as_bytes()).into_owned();
            assert_eq!(String::from_utf8(mended).unwrap(), expected);
        }
    }
}

//! JSON strings as they are written: joined without decoding, so that what is cut in two comes together
//! again, and mended where half of something was sent.
//!
//! A server may cut a pair of surrogate escapes (`\ud83d` `\ude00`) into two deltas. Decoded one by one
//! both are lost; joined as written they are one character. Half a pair that stays alone would make
//! every later request invalid, and becomes the replacement character.

use serde_json::value::RawValue;

/// The inside of a JSON string, as written; none for any other value.
pub(crate) fn body(raw: &str) -> Option<&str> {
    raw.trim().strip_prefix('"')?.strip_suffix('"')
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What the inside of a JSON string says.
pub(crate) fn decode(body: &str) -> String {
    serde_json::from_str(&format!("\"{}\"", mend(body))).unwrap_or_default()
}

/// JSON text in which no half of a surrogate pair stands alone.
pub(crate) fn mend(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('\\') {
        mended.push_str(before);
        let (escape, behind) = take_escape(after);
        rest = behind;
        match surrogate(escape) {
            None => push_escape(&mut mended, escape),
            Some(Half::Low) => mended.push_str("\\ufffd"),
            Some(Half::High) => match rest.strip_prefix('\\').map(take_escape) {
                Some((second, behind)) if surrogate(second) == Some(Half::Low) => {
                    push_escape(&mut mended, escape);
                    push_escape(&mut mended, second);
                    rest = behind;
                }
                _ => mended.push_str("\\ufffd"),
            },
        }
    }
    mended.push_str(rest);
    mended
}

fn push_escape(out: &mut String, escape: &str) {
    out.push('\\');
    out.push_str(escape);
}

/// An escape without its backslash, and what follows it.
fn take_escape(after: &str) -> (&str, &str) {
    let length =
        if after.starts_with('u') { 5 } else { after.chars().next().map_or(0, char::len_utf8) };
    after.split_at_checked(length).unwrap_or((after, ""))
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

fn surrogate(escape: &str) -> Option<Half> {
    match u16::from_str_radix(escape.strip_prefix('u')?, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

/// Deeper than anything a tool takes; some servers refuse it, and some parsers fall over it.
const DEEPEST: usize = 100;

/// Whether a text is a JSON object of bearable depth.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{')
        && depth(text) <= DEEPEST
        && serde_json::from_str::<&RawValue>(text).is_ok()
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in text.bytes() {
        match byte {
            _ if std::mem::take(&mut escaped) => {}
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn halves_come_together_or_are_replaced() {
        assert_eq!(mend(r"a\ud83d\ude00b"), r"a\ud83d\ude00b");
        assert_eq!(decode(r"a\ud83d\ude00b"), "a😀b");
        assert_eq!(mend(r"a\ud83db"), r"a\ufffdb");
        assert_eq!(mend(r"\ude00\ud83d"), r"\ufffd\ufffd");
        assert_eq!(mend(r"\ud83d\n\\ud83d\u0041"), r"\ufffd\n\\ud83d\u0041");
        assert_eq!(mend(r"\ud83d\ud83d\ude00"), r"\ufffd\ud83d\ude00");
    }

    #[test]
    fn objects() {
        assert!(is_object(r#"{"a":[1,"]}\"{"]}"#));
        assert!(!is_object("[1]") && !is_object("{") && !is_object(""));
        assert!(!is_object(&format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200))));
    }

    proptest! {
        #[test]
        fn any_text_goes_through(text in any::<String>()) {
            prop_assert_eq!(decode(body(&quoted(&text)).unwrap()), text);
        }

        #[test]
        fn any_escapes_become_valid(body in r"(\\u[dD][89a-fA-F][0-9a-f]{2}|\\n|\\\\|[a-z睡])*") {
            let json = format!("\"{}\"", mend(&body));
            prop_assert!(serde_json::from_str::<String>(&json).is_ok(), "{}", json);
        }
    }
}

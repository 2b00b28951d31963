//! `&amp;` and its kind. Numbers are all known, of names those that pages use; the rest stays as written.

use std::borrow::Cow;

const NAMES: &[(&str, &str)] = &[
    ("amp", "&"),
    ("lt", "<"),
    ("gt", ">"),
    ("quot", "\""),
    ("apos", "'"),
    ("nbsp", " "),
    ("copy", "©"),
    ("reg", "®"),
    ("trade", "™"),
    ("hellip", "…"),
    ("mdash", "—"),
    ("ndash", "–"),
    ("lsquo", "‘"),
    ("rsquo", "’"),
    ("ldquo", "“"),
    ("rdquo", "”"),
    ("laquo", "«"),
    ("raquo", "»"),
    ("bull", "•"),
    ("middot", "·"),
    ("euro", "€"),
    ("pound", "£"),
    ("yen", "¥"),
    ("cent", "¢"),
    ("times", "×"),
    ("divide", "÷"),
    ("plusmn", "±"),
    ("deg", "°"),
    ("micro", "µ"),
    ("para", "¶"),
    ("sect", "§"),
    ("larr", "←"),
    ("rarr", "→"),
    ("uarr", "↑"),
    ("darr", "↓"),
    ("harr", "↔"),
    ("le", "≤"),
    ("ge", "≥"),
    ("ne", "≠"),
    ("asymp", "≈"),
    ("infin", "∞"),
    ("minus", "−"),
    ("auml", "ä"),
    ("ouml", "ö"),
    ("uuml", "ü"),
    ("Auml", "Ä"),
    ("Ouml", "Ö"),
    ("Uuml", "Ü"),
    ("szlig", "ß"),
    ("eacute", "é"),
    ("egrave", "è"),
    ("ecirc", "ê"),
    ("agrave", "à"),
    ("aacute", "á"),
    ("acirc", "â"),
    ("ccedil", "ç"),
    ("ntilde", "ñ"),
    ("oacute", "ó"),
    ("iacute", "í"),
    ("uacute", "ú"),
    ("aring", "å"),
    ("aelig", "æ"),
    ("oslash", "ø"),
    ("shy", ""),
    ("zwnj", "\u{200c}"),
    ("ensp", " "),
    ("emsp", " "),
    ("thinsp", " "),
];
/// No name or number is longer.
const LONGEST: usize = 10;

/// The text with its entities replaced.
pub(super) fn decode(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('&');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.bytes().take(LONGEST).position(|byte| byte == b';');
        let named = end.and_then(|end| piece.split_at_checked(end));
        match named.and_then(|(name, behind)| Some((meaning(name)?, behind))) {
            Some((meaning, behind)) => {
                out.push_str(&meaning);
                out.push_str(behind.strip_prefix(';').unwrap_or(behind));
            }
            None => {
                out.push('&');
                out.push_str(piece);
            }
        }
    }
    Cow::Owned(out)
}

fn meaning(name: &str) -> Option<Cow<'static, str>> {
    let Some(number) = name.strip_prefix('#') else {
        let known = NAMES.iter().find(|(known, _)| *known == name)?;
        return Some(Cow::Borrowed(known.1));
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    let c = char::from_u32(code).filter(|c| *c != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
    Some(Cow::Owned(c.to_string()))
}

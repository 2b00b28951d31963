//! The form in which texts are compared: letters that look alike are the same, invisible characters are gone.

use unicode_normalization::UnicodeNormalization;

/// Letters of other scripts that look like Latin ones, in lower case.
const LOOK_ALIKES: &[(char, char)] = &[
    ('а', 'a'),
    ('в', 'b'),
    ('с', 'c'),
    ('ԁ', 'd'),
    ('е', 'e'),
    ('ё', 'e'),
    ('һ', 'h'),
    ('і', 'i'),
    ('ї', 'i'),
    ('ј', 'j'),
    ('к', 'k'),
    ('ӏ', 'l'),
    ('м', 'm'),
    ('н', 'h'),
    ('о', 'o'),
    ('р', 'p'),
    ('ԛ', 'q'),
    ('ѕ', 's'),
    ('т', 't'),
    ('ԝ', 'w'),
    ('х', 'x'),
    ('у', 'y'),
    ('α', 'a'),
    ('β', 'b'),
    ('ε', 'e'),
    ('η', 'n'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('τ', 't'),
    ('υ', 'u'),
    ('χ', 'x'),
    ('γ', 'y'),
    ('ω', 'w'),
    ('ı', 'i'),
    ('ɑ', 'a'),
    ('ɡ', 'g'),
    ('ʟ', 'l'),
    ('ո', 'n'),
    ('օ', 'o'),
    ('ս', 'u'),
];

/// The comparable form of a text.
pub(crate) fn normal_form(text: &str) -> String {
    text.nfkd().filter(|c| !is_dropped(*c)).flat_map(char::to_lowercase).map(plain).nfc().collect()
}

/// Accents and characters that take no room.
fn is_dropped(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

fn plain(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    LOOK_ALIKES.iter().find(|(other, _)| *other == c).map_or(c, |(_, latin)| *latin)
}

#[cfg(test)]
mod tests {
    use super::normal_form;

    #[test]
    fn what_looks_alike_is_the_same() {
        assert_eq!(normal_form("Dерlоу Ν\u{200b}ow"), "deploy vow");
        assert_eq!(normal_form("ｆｕｌｌ　ｗｉｄｔｈ"), "full width");
        assert_eq!(normal_form("Café ﬁne"), "cafe fine");
        assert_eq!(normal_form("睡鼠がガ"), "睡鼠がガ");
    }
}

//! Writing systems: a model for some of them is not asked about texts in others.

use dormouse_base::TextScript;

/// The script of a letter.
fn script_of(c: char) -> TextScript {
    match u32::from(c) {
        0x0041..=0x024F | 0x1E00..=0x1EFF => TextScript::Latin,
        0x0370..=0x03FF | 0x1F00..=0x1FFF => TextScript::Greek,
        0x0400..=0x052F => TextScript::Cyrillic,
        0x0590..=0x05FF => TextScript::Hebrew,
        0x0600..=0x077F => TextScript::Arabic,
        0x0900..=0x097F => TextScript::Devanagari,
        0x0E00..=0x0E7F => TextScript::Thai,
        0x3040..=0x30FF | 0x31F0..=0x31FF => TextScript::Kana,
        0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => TextScript::Han,
        0x1100..=0x11FF | 0xAC00..=0xD7AF => TextScript::Hangul,
        _ => TextScript::Other,
    }
}

/// Letters that count as one word.
fn letters_per_word(script: TextScript) -> f64 {
    match script {
        TextScript::Han | TextScript::Kana | TextScript::Hangul => 2.0,
        _ => 5.0,
    }
}

/// Scripts that a model supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritingScripts(Vec<TextScript>);

/// Share of a text that must be in supported scripts: an English identifier does not make a Chinese text English.
const ENOUGH: f64 = 0.8;

impl Default for WritingScripts {
    fn default() -> Self {
        Self(vec![TextScript::Latin])
    }
}

impl WritingScripts {
    /// These scripts; Latin if the list is empty.
    pub fn of(scripts: &[TextScript]) -> Self {
        if scripts.is_empty() { Self::default() } else { Self(scripts.to_vec()) }
    }

    /// Whether a text is mostly written in these scripts; `false` for a text without letters.
    pub fn cover(&self, text: &str) -> bool {
        let mut known = 0.0;
        let mut all = 0.0;
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            let script = script_of(c);
            let weight = 1.0 / letters_per_word(script);
            all += weight;
            known += if self.0.contains(&script) { weight } else { 0.0 };
        }
        all > 0.0 && known >= all * ENOUGH
    }
}

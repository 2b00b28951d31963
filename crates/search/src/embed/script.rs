//! Writing scripts: a model for some scripts is not asked about texts in others.

/// A writing script or a family of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WritingScript {
    /// English, Spanish, Vietnamese and many more.
    Latin,
    /// Greek.
    Greek,
    /// Russian, Bulgarian and others.
    Cyrillic,
    /// Hebrew.
    Hebrew,
    /// Arabic, Persian, Urdu.
    Arabic,
    /// Hindi and others.
    Devanagari,
    /// Thai.
    Thai,
    /// Chinese, and much of Japanese.
    Han,
    /// The rest of Japanese.
    Kana,
    /// Korean.
    Hangul,
    /// Any other.
    Other,
}

impl WritingScript {
    fn of(c: char) -> Self {
        match u32::from(c) {
            0x0041..=0x024F | 0x1E00..=0x1EFF => Self::Latin,
            0x0370..=0x03FF | 0x1F00..=0x1FFF => Self::Greek,
            0x0400..=0x052F => Self::Cyrillic,
            0x0590..=0x05FF => Self::Hebrew,
            0x0600..=0x077F => Self::Arabic,
            0x0900..=0x097F => Self::Devanagari,
            0x0E00..=0x0E7F => Self::Thai,
            0x3040..=0x30FF | 0x31F0..=0x31FF => Self::Kana,
            0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF => Self::Han,
            0x1100..=0x11FF | 0xAC00..=0xD7AF => Self::Hangul,
            _ => Self::Other,
        }
    }

    /// Letters that count as one word.
    fn letters_of_a_word(self) -> f64 {
        match self {
            Self::Han | Self::Kana | Self::Hangul => 2.0,
            _ => 5.0,
        }
    }
}

/// Scripts that a model supports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritingScripts(Vec<WritingScript>);

/// Share of a text that must be in supported scripts: an English identifier does not make a Chinese text English.
const ENOUGH: f64 = 0.8;

impl Default for WritingScripts {
    fn default() -> Self {
        Self(vec![WritingScript::Latin])
    }
}

impl WritingScripts {
    /// These scripts; Latin if the list is empty.
    pub fn of(scripts: &[WritingScript]) -> Self {
        if scripts.is_empty() { Self::default() } else { Self(scripts.to_vec()) }
    }

    /// Whether a text is mostly written in these scripts; `false` for a text without letters.
    pub fn cover(&self, text: &str) -> bool {
        let mut known = 0.0;
        let mut all = 0.0;
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            let script = WritingScript::of(c);
            let weight = 1.0 / script.letters_of_a_word();
            all += weight;
            known += if self.0.contains(&script) { weight } else { 0.0 };
        }
        all > 0.0 && known >= all * ENOUGH
    }
}

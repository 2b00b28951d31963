//! How a text is written: a model that was made for some scripts is not asked about others.

/// A script, or a family of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Script {
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

impl Script {
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

    /// How many letters of it say as much as one word of five letters.
    fn letters_of_a_word(self) -> f64 {
        match self {
            Self::Han | Self::Kana | Self::Hangul => 2.0,
            _ => 5.0,
        }
    }
}

/// Scripts that a model knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scripts(Vec<Script>);

/// The share of a text that has to be written in them: an identifier among Chinese sentences makes no English.
const ENOUGH: f64 = 0.8;

impl Default for Scripts {
    fn default() -> Self {
        Self(vec![Script::Latin])
    }
}

impl Scripts {
    /// These; the usual one if there are none.
    pub fn of(scripts: &[Script]) -> Self {
        if scripts.is_empty() { Self::default() } else { Self(scripts.to_vec()) }
    }

    /// Whether a text is written in them, but for a few words. One without letters is not.
    pub fn cover(&self, text: &str) -> bool {
        let (mut known, mut all) = (0.0, 0.0);
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            let script = Script::of(c);
            let weight = 1.0 / script.letters_of_a_word();
            all += weight;
            known += if self.0.contains(&script) { weight } else { 0.0 };
        }
        all > 0.0 && known >= all * ENOUGH
    }
}

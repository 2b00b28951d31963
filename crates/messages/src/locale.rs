//! The language of texts for users.

use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_base::Environment;
use unic_langid::LanguageIdentifier;

/// A language of the catalogs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locale {
    /// The default.
    English,
    /// Simplified Chinese.
    Chinese,
}

/// Whether texts are Chinese. English until somebody says otherwise.
static IS_CHINESE: AtomicBool = AtomicBool::new(false);

impl Locale {
    /// The language of a setting or a locale such as `zh_CN.UTF-8`; none if the catalogs do not have it.
    pub fn named(name: &str) -> Option<Self> {
        let language = name.split(['_', '-', '.', '@']).next().unwrap_or_default();
        match language.to_ascii_lowercase().as_str() {
            "en" | "c" | "posix" | "english" => Some(Self::English),
            "zh" | "chinese" | "中文" => Some(Self::Chinese),
            _ => None,
        }
    }

    /// The language of an environment: the first variable that is set counts, as for other programs.
    pub fn of_environment(environment: &Environment) -> Self {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"];
        let mut values = variables.iter().filter_map(|name| environment.get(name));
        let value = values.find(|value| !value.is_empty());
        value.and_then(Self::named).unwrap_or(Self::English)
    }

    /// The language that a settings file says; none if it says none. It is read before the settings are, for help and
    /// errors.
    pub fn of_settings(text: &str) -> Option<Self> {
        let settings: serde_json::Value = serde_json::from_str(text).ok()?;
        Self::named(settings.get("language")?.as_str()?)
    }

    /// Texts are in this language from now on.
    pub fn apply(self) {
        IS_CHINESE.store(self == Self::Chinese, Ordering::Relaxed);
    }

    /// The language of the texts.
    pub fn current() -> Self {
        if IS_CHINESE.load(Ordering::Relaxed) { Self::Chinese } else { Self::English }
    }

    /// Its code, as HTML and HTTP have it.
    pub fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh",
        }
    }

    pub(crate) fn identifier(self) -> LanguageIdentifier {
        unic_langid::subtags::Language::from_bytes(self.code().as_bytes())
            .map(|language| LanguageIdentifier::from_parts(language, None, None, &[]))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_of_an_environment() {
        let locale =
            |pairs: &[(&str, &str)]| Locale::of_environment(&Environment::default().with(pairs));
        assert_eq!(locale(&[]), Locale::English);
        assert_eq!(locale(&[("LANG", "zh_CN.UTF-8")]), Locale::Chinese);
        assert_eq!(locale(&[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C.UTF-8")]), Locale::English);
        assert_eq!(locale(&[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW")]), Locale::Chinese);
        assert_eq!(locale(&[("LANG", "de_DE.UTF-8")]), Locale::English);
    }
}

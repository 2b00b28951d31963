//! The message catalog: help texts, notices and errors for the user, in Fluent files.
//!
//! `messages.ftl` holds notices and errors, `interactive.ftl` the texts of the terminal: [`msg!`] formats one. `help.ftl` holds
//! help texts, which only `--help`, the completions and the man page read. Each part is parsed on its first use, so a run without
//! messages pays nothing. The language is that of the setting `language`, else that of the environment ([`Locale`]).

#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_base::Environment;
use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource};
use unic_langid::LanguageIdentifier;

/// Formats a message of the catalog: `msg!("session-resumed", name = name)`.
///
/// Arguments are strings or numbers. A test compares every use with the catalog.
macro_rules! msg {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::message_catalog::format_message($id, &[$((stringify!($name), $value.into())),*])
    };
}
pub(crate) use msg;

/// A language of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locale {
    English,
    Chinese,
}

/// A part of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatalogPart {
    Messages,
    Help,
}

type Bundle = FluentBundle<FluentResource>;

/// Whether texts are Chinese. English until somebody says otherwise.
static IS_CHINESE: AtomicBool = AtomicBool::new(false);

impl Locale {
    /// The language of a setting or a locale such as `zh_CN.UTF-8`; none if the catalog does not have it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let language = name.split(['_', '-', '.', '@']).next().unwrap_or_default();
        match language.to_ascii_lowercase().as_str() {
            "en" | "c" | "posix" | "english" => Some(Self::English),
            "zh" | "chinese" | "中文" => Some(Self::Chinese),
            _ => None,
        }
    }

    /// The language of an environment: the first variable that is set counts, as for other programs.
    pub(crate) fn of_environment(environment: &Environment) -> Self {
        let variables = ["LC_ALL", "LC_MESSAGES", "LANG"];
        let mut values = variables.iter().filter_map(|name| environment.get(name));
        let value = values.find(|value| !value.is_empty());
        value.and_then(Self::named).unwrap_or(Self::English)
    }

    /// The language that a settings file says; none if it says none. It is read before the settings are, for help and errors.
    pub(crate) fn of_settings(text: &str) -> Option<Self> {
        let settings: serde_json::Value = serde_json::from_str(text).ok()?;
        Self::named(settings.get("language")?.as_str()?)
    }

    /// Texts are in this language from now on.
    pub(crate) fn apply(self) {
        IS_CHINESE.store(self == Self::Chinese, Ordering::Relaxed);
    }

    /// The language of the texts.
    pub(crate) fn current() -> Self {
        if IS_CHINESE.load(Ordering::Relaxed) { Self::Chinese } else { Self::English }
    }

    fn identifier(self) -> LanguageIdentifier {
        let code = match self {
            Self::English => b"en",
            Self::Chinese => b"zh",
        };
        unic_langid::subtags::Language::from_bytes(code)
            .map(|language| LanguageIdentifier::from_parts(language, None, None, &[]))
            .unwrap_or_default()
    }

    fn sources(self, part: CatalogPart) -> &'static [&'static str] {
        match (self, part) {
            (Self::English, CatalogPart::Messages) => {
                &[include_str!("en/messages.ftl"), include_str!("en/interactive.ftl")]
            }
            (Self::English, CatalogPart::Help) => &[include_str!("en/help.ftl")],
            (Self::Chinese, CatalogPart::Messages) => {
                &[include_str!("zh/messages.ftl"), include_str!("zh/interactive.ftl")]
            }
            (Self::Chinese, CatalogPart::Help) => &[include_str!("zh/help.ftl")],
        }
    }
}

/// Parses a part of the catalog. Entries with a syntax error are missing; a test finds them.
fn load(locale: Locale, part: CatalogPart) -> Bundle {
    let mut bundle = Bundle::new_concurrent(vec![locale.identifier()]);
    // Isolation marks are invisible characters around each argument; terminals show them as boxes.
    bundle.set_use_isolating(false);
    for source in locale.sources(part) {
        let resource = match FluentResource::try_new((*source).to_owned()) {
            Ok(resource) | Err((resource, _)) => resource,
        };
        bundle.add_resource_overriding(resource);
    }
    bundle
}

fn messages() -> &'static Bundle {
    static ENGLISH: OnceLock<Bundle> = OnceLock::new();
    static CHINESE: OnceLock<Bundle> = OnceLock::new();
    let locale = Locale::current();
    let cell = if locale == Locale::Chinese { &CHINESE } else { &ENGLISH };
    cell.get_or_init(|| load(locale, CatalogPart::Messages))
}

fn help() -> &'static Bundle {
    static HELP: OnceLock<Bundle> = OnceLock::new();
    HELP.get_or_init(|| load(Locale::current(), CatalogPart::Help))
}

/// Formats a message; [`msg!`] is the usual way to call it. An unknown id is returned as it is.
pub(crate) fn format_message(id: &str, arguments: &[(&str, fluent_bundle::FluentValue)]) -> String {
    let bundle = messages();
    let Some(pattern) = bundle.get_message(id).and_then(|message| message.value()) else {
        return id.to_owned();
    };
    let arguments: FluentArgs =
        arguments.iter().map(|(name, value)| (*name, value.clone())).collect();
    bundle.format_pattern(pattern, Some(&arguments), &mut Vec::new()).into_owned()
}

/// The help text of a command, or of one of its attributes (an option, an option's value, notes).
pub(crate) fn help_text(command: &str, attribute: Option<&str>) -> Option<String> {
    let bundle = help();
    let message = bundle.get_message(command)?;
    let pattern = match attribute {
        None => message.value()?,
        Some(name) => message.get_attribute(name)?.value(),
    };
    Some(bundle.format_pattern(pattern, None, &mut Vec::new()).into_owned())
}

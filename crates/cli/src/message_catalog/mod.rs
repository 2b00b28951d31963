//! The message catalog: help texts, notices and errors for the user, in Fluent files.
//!
//! `messages.ftl` holds notices and errors: [`msg!`] formats one. `help.ftl` holds help texts, which only
//! `--help`, the completions and the man page read. Each file is parsed on its first use, so a run without
//! messages pays nothing.

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Locale {
    #[default]
    English,
}

/// A file of the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CatalogFile {
    Messages,
    Help,
}

type Bundle = FluentBundle<FluentResource>;

impl Locale {
    fn identifier(self) -> LanguageIdentifier {
        match self {
            Self::English => unic_langid::subtags::Language::from_bytes(b"en")
                .map(|language| LanguageIdentifier::from_parts(language, None, None, &[]))
                .unwrap_or_default(),
        }
    }

    fn source(self, file: CatalogFile) -> &'static str {
        match (self, file) {
            (Self::English, CatalogFile::Messages) => include_str!("en/messages.ftl"),
            (Self::English, CatalogFile::Help) => include_str!("en/help.ftl"),
        }
    }
}

/// Parses a catalog file. Entries with a syntax error are missing; a test finds them.
fn load(locale: Locale, file: CatalogFile) -> Bundle {
    let resource = match FluentResource::try_new(locale.source(file).to_owned()) {
        Ok(resource) | Err((resource, _)) => resource,
    };
    let mut bundle = Bundle::new_concurrent(vec![locale.identifier()]);
    // Isolation marks are invisible characters around each argument; terminals show them as boxes.
    bundle.set_use_isolating(false);
    bundle.add_resource_overriding(resource);
    bundle
}

fn messages() -> &'static Bundle {
    static MESSAGES: OnceLock<Bundle> = OnceLock::new();
    MESSAGES.get_or_init(|| load(Locale::default(), CatalogFile::Messages))
}

fn help() -> &'static Bundle {
    static HELP: OnceLock<Bundle> = OnceLock::new();
    HELP.get_or_init(|| load(Locale::default(), CatalogFile::Help))
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

//! A catalog: the same messages in each language.

use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};

use crate::argument::MessageArgument;
use crate::locale::Locale;

type Bundle = FluentBundle<FluentResource>;

/// Messages by id, in each language. An unknown id is shown as it is, never an error.
pub struct MessageCatalog {
    english: &'static [&'static str],
    chinese: &'static [&'static str],
    parsed_english: OnceLock<Bundle>,
    parsed_chinese: OnceLock<Bundle>,
}

impl MessageCatalog {
    /// A catalog of Fluent files, given as their texts.
    pub const fn new(english: &'static [&'static str], chinese: &'static [&'static str]) -> Self {
        Self { english, chinese, parsed_english: OnceLock::new(), parsed_chinese: OnceLock::new() }
    }

    /// The files of a language.
    pub fn sources(&self, locale: Locale) -> &'static [&'static str] {
        match locale {
            Locale::English => self.english,
            Locale::Chinese => self.chinese,
        }
    }

    /// Formats a message in the language in use. An unknown id is returned as it is.
    pub fn format(&self, id: &str, arguments: &[(&str, MessageArgument<'_>)]) -> String {
        let bundle = self.bundle();
        let Some(pattern) = bundle.get_message(id).and_then(|message| message.value()) else {
            return id.to_owned();
        };
        let arguments: FluentArgs<'_> =
            arguments.iter().map(|(name, value)| (*name, FluentValue::from(*value))).collect();
        bundle.format_pattern(pattern, Some(&arguments), &mut Vec::new()).into_owned()
    }

    /// The text of a message or of one of its attributes, if the catalog has it.
    pub fn text(&self, id: &str, attribute: Option<&str>) -> Option<String> {
        let bundle = self.bundle();
        let message = bundle.get_message(id)?;
        let pattern = match attribute {
            None => message.value()?,
            Some(name) => message.get_attribute(name)?.value(),
        };
        Some(bundle.format_pattern(pattern, None, &mut Vec::new()).into_owned())
    }

    fn bundle(&self) -> &Bundle {
        let locale = Locale::current();
        let cell = match locale {
            Locale::English => &self.parsed_english,
            Locale::Chinese => &self.parsed_chinese,
        };
        cell.get_or_init(|| parse(locale, self.sources(locale)))
    }
}

/// Parses the files of a language. Entries with a syntax error are missing; a test finds them.
fn parse(locale: Locale, sources: &[&str]) -> Bundle {
    let mut bundle = Bundle::new_concurrent(vec![locale.identifier()]);
    // Isolation marks are invisible characters around each argument; terminals show them as boxes.
    bundle.set_use_isolating(false);
    for source in sources {
        let resource = match FluentResource::try_new((*source).to_owned()) {
            Ok(resource) | Err((resource, _)) => resource,
        };
        bundle.add_resource_overriding(resource);
    }
    bundle
}

//! The message catalog: help texts, notices and errors for the user, in Fluent files.
//!
//! `notices.ftl` holds notices and errors, `interactive.ftl` the texts of the terminal: [`msg!`] formats one. `help.ftl` holds
//! help texts, which only `--help`, the completions and the man page read. The language is that of the setting `language`, else
//! that of the environment ([`Locale`]).

#[cfg(test)]
mod tests;

pub(crate) use dormouse_messages::Locale;
use dormouse_messages::MessageCatalog;

/// Formats a message of the catalog: `msg!("session-resumed", name = name)`.
///
/// Arguments are strings or numbers. A test compares every use with the catalog.
macro_rules! msg {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::message_catalog::MESSAGES.format(
            $id,
            &[$((stringify!($name), ::dormouse_messages::AsMessageArgument::as_argument(&$value))),*],
        )
    };
}
pub(crate) use msg;

/// Notices, errors and the texts of the terminal.
pub(crate) static MESSAGES: MessageCatalog = MessageCatalog::new(
    &[include_str!("en/notices.ftl"), include_str!("en/interactive.ftl")],
    &[include_str!("zh/notices.ftl"), include_str!("zh/interactive.ftl")],
);

static HELP: MessageCatalog =
    MessageCatalog::new(&[include_str!("en/help.ftl")], &[include_str!("zh/help.ftl")]);

/// The help text of a command, or of one of its attributes (an option, an option's value, notes).
pub(crate) fn help_text(command: &str, attribute: Option<&str>) -> Option<String> {
    HELP.text(command, attribute)
}

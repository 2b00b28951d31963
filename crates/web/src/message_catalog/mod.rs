//! The texts of the viewer, in Fluent files: [`msg!`] formats one.

use dormouse_messages::MessageCatalog;

/// Formats a message of the catalog: `msg!("nav-memories")`. A test compares every use with the catalog.
macro_rules! msg {
    ($id:literal $(, $name:ident = $value:expr)* $(,)?) => {
        $crate::message_catalog::MESSAGES.format(
            $id,
            &[$((stringify!($name), ::dormouse_messages::AsMessageArgument::as_argument(&$value))),*],
        )
    };
}
pub(crate) use msg;

pub(crate) static MESSAGES: MessageCatalog =
    MessageCatalog::new(&[include_str!("en/viewer.ftl")], &[include_str!("zh/viewer.ftl")]);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dormouse_messages::catalog_check::{catalog_problems, use_problems};

    use super::*;

    #[test]
    fn the_languages_have_the_same_messages() {
        assert_eq!(catalog_problems(&MESSAGES), Vec::<String>::new());
    }

    #[test]
    fn every_use_matches_the_catalog() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        assert_eq!(use_problems(&MESSAGES, &folder), Vec::<String>::new());
    }
}

//! Texts for users: catalogs of messages in Fluent files, in English and Chinese, and the language in use.
//!
//! The texts themselves are in the crates that show them; each has a [`MessageCatalog`] of its own. A catalog is parsed on its
//! first use, so a run without messages pays nothing.

#![forbid(unsafe_code)]

mod argument;
mod catalog;
pub mod catalog_check;
mod locale;

pub use argument::{AsMessageArgument, MessageArgument};
pub use catalog::MessageCatalog;
pub use locale::Locale;

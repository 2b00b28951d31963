//! Terminal helpers: colors, text width, markdown, tables, diffs, terminal modes. Nothing here knows the program.

pub(crate) mod color;
pub(crate) mod diff;
pub(crate) mod markdown;
pub(crate) mod table;
pub(crate) mod tty;
pub(crate) mod width;

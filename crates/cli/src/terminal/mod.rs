//! Terminal helpers: colors, tables, diffs, terminal modes. Nothing here knows the program.

pub(crate) mod color;
pub(crate) mod diff;
pub(crate) mod table;
pub(crate) mod tty;

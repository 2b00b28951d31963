//! Terminal helpers: markdown rendering.

pub(crate) mod markdown;

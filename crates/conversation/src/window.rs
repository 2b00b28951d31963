//! How large the model's context window is, and who said so.

use thiserror::Error;

/// Where nobody says otherwise.
pub const DEFAULT_WINDOW: u32 = 200_000;
/// Below this there is no room for a prompt, a question and an answer.
pub const MIN_WINDOW: u32 = 4_000;
/// A model name that ends in `[1m]`.
const MILLION_SUFFIX: &str = "[1m]";

/// A window that can be worked with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContextWindow(u32);

/// A window that cannot.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum WindowError {
    /// Fewer than [`MIN_WINDOW`] tokens.
    #[error(
        "a context window of {0} tokens is too small: at least {MIN_WINDOW} are needed for a prompt, a question and an answer; \
         start the model server with a larger one, or set DORMOUSE_CONTEXT_WINDOW if this figure is wrong"
    )]
    TooSmall(u32),
}

impl ContextWindow {
    /// Checks a size.
    pub fn new(tokens: u32) -> Result<Self, WindowError> {
        if tokens < MIN_WINDOW { Err(WindowError::TooSmall(tokens)) } else { Ok(Self(tokens)) }
    }

    /// Its size in tokens.
    pub fn tokens(self) -> u32 {
        self.0
    }
}

/// Who said how large the window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowSource {
    /// The settings or the environment.
    User,
    /// The `[1m]` at the end of the model's name.
    Suffix,
    /// The server.
    Server,
    /// The table of known models.
    Table,
    /// Nobody: the default.
    Default,
}

/// Chooses among what is known, in this order: the user, the name's suffix, the server, the table,
/// the default.
pub fn resolve_window(
    model: &str,
    user: Option<u32>,
    server: Option<u32>,
) -> Result<(ContextWindow, WindowSource), WindowError> {
    let (tokens, source) = if let Some(tokens) = user {
        (tokens, WindowSource::User)
    } else if model.ends_with(MILLION_SUFFIX) {
        (1_000_000, WindowSource::Suffix)
    } else if let Some(tokens) = server {
        (tokens, WindowSource::Server)
    } else if let Some(tokens) = known_window(model) {
        (tokens, WindowSource::Table)
    } else {
        (DEFAULT_WINDOW, WindowSource::Default)
    };
    Ok((ContextWindow::new(tokens)?, source))
}

/// Model families whose window is documented (August 2026), by how their names begin. Only a fallback
/// for servers that do not say: a name proves nothing about a custom endpoint.
const KNOWN: &[(&str, u32)] = &[
    ("claude-opus-4-5", 200_000),
    ("claude-opus-4-1", 200_000),
    ("claude-opus-4-0", 200_000),
    ("claude-opus-4-2", 200_000),
    ("claude-sonnet-4-5", 200_000),
    ("claude-sonnet-4-0", 200_000),
    ("claude-sonnet-4-2", 200_000),
    ("claude-haiku", 200_000),
    ("claude-3", 200_000),
    ("claude-opus", 1_000_000),
    ("claude-sonnet", 1_000_000),
    ("claude-fable", 1_000_000),
    ("claude-mythos", 1_000_000),
];

fn known_window(model: &str) -> Option<u32> {
    KNOWN.iter().find(|(prefix, _)| model.starts_with(prefix)).map(|(_, tokens)| *tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        model: &str,
        user: Option<u32>,
        server: Option<u32>,
        tokens: u32,
        source: WindowSource,
    ) {
        assert_eq!(resolve_window(model, user, server), Ok((ContextWindow(tokens), source)));
    }

    #[test]
    fn the_order_of_who_says() {
        check("m[1m]", Some(50_000), Some(8_000), 50_000, WindowSource::User);
        check("m[1m]", None, Some(8_000), 1_000_000, WindowSource::Suffix);
        check("claude-opus-4-5", None, Some(8_000), 8_000, WindowSource::Server);
        check("claude-opus-4-5-20251101", None, None, 200_000, WindowSource::Table);
        check("claude-opus-5-5", None, None, 1_000_000, WindowSource::Table);
        check("llama", None, None, 200_000, WindowSource::Default);
        assert_eq!(resolve_window("m", Some(3_999), None), Err(WindowError::TooSmall(3_999)));
    }
}

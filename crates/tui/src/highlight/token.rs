//! What a part of a line of code is, and its color.

use crate::style::{Color, Style};

/// What a part of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeToken {
    /// Names, operators, blanks.
    Plain,
    /// A word of the language.
    Keyword,
    /// A name that is written like a type.
    Type,
    /// A name before a parenthesis, or the key of a value.
    Name,
    /// A text in quotes.
    Text,
    /// A number.
    Number,
    /// A comment.
    Comment,
}

impl CodeToken {
    /// Its color, on text that looks like `plain` otherwise. The palette is the terminal's, so that it fits its background.
    pub fn style(self, plain: Style) -> Style {
        match self {
            Self::Plain => plain,
            Self::Keyword => Style::PLAIN.color(Color::Magenta),
            Self::Type | Self::Number => Style::PLAIN.color(Color::Cyan),
            Self::Name => Style::PLAIN.color(Color::Blue),
            Self::Text => Style::PLAIN.color(Color::Green),
            Self::Comment => Style::DIM,
        }
    }
}

//! Text styles: attributes and a color of the terminal's palette, which the user has chosen to be readable on a light
//! or dark background.

/// A color of the terminal's palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// Failures, removed lines.
    Red,
    /// Added lines.
    Green,
    /// Warnings.
    Yellow,
    /// Names in code.
    Blue,
    /// Keywords in code.
    Magenta,
    /// Code, links, positions.
    Cyan,
}

impl Color {
    fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Blue => "34",
            Self::Magenta => "35",
            Self::Cyan => "36",
        }
    }
}

/// An attribute of text, with its bit in [`Style`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of every terminal")]
pub enum Attribute {
    Bold = 1,
    Dim = 2,
    Italic = 4,
    Underlined = 8,
    Strikethrough = 16,
    Reversed = 32,
}

const CODES: [(Attribute, &str); 6] = [
    (Attribute::Bold, "1"),
    (Attribute::Dim, "2"),
    (Attribute::Italic, "3"),
    (Attribute::Underlined, "4"),
    (Attribute::Reversed, "7"),
    (Attribute::Strikethrough, "9"),
];

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    attributes: u8,
    color: Option<Color>,
}

impl Style {
    /// As the terminal shows text by itself.
    pub const PLAIN: Self = Self { attributes: 0, color: None };
    /// For secondary text.
    pub const DIM: Self = Self::PLAIN.with(Attribute::Dim);
    /// For text that should stand out.
    pub const BOLD: Self = Self::PLAIN.with(Attribute::Bold);
    /// For what is selected.
    pub const REVERSED: Self = Self::PLAIN.with(Attribute::Reversed);

    /// The style with one more attribute.
    #[must_use]
    pub const fn with(self, attribute: Attribute) -> Self {
        Self { attributes: self.attributes | attribute as u8, ..self }
    }

    /// Whether it has an attribute.
    pub const fn has(self, attribute: Attribute) -> bool {
        self.attributes & attribute as u8 != 0
    }

    /// The style in a color.
    #[must_use]
    pub const fn color(self, color: Color) -> Self {
        Self { color: Some(color), ..self }
    }

    /// Its color, if it is not the terminal's own.
    pub const fn foreground(self) -> Option<Color> {
        self.color
    }

    /// The escape sequence that turns it on; empty for plain text.
    pub fn sequence(self) -> String {
        let attributes = CODES.iter().filter(|(attribute, _)| self.has(*attribute));
        let codes: Vec<&str> =
            attributes.map(|(_, code)| *code).chain(self.color.map(Color::code)).collect();
        if codes.is_empty() { String::new() } else { format!("\x1b[{}m", codes.join(";")) }
    }
}

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text without line ends.
    Text(String, Style),
    /// The end of a row.
    Newline,
}

impl Piece {
    /// Text in a style.
    pub fn text(text: impl Into<String>, style: Style) -> Self {
        Self::Text(text.into(), style)
    }
}

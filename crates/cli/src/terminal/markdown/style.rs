//! Text styles: attributes and a color of the terminal's palette, which the user has chosen to be readable on a light
//! or dark background.

/// A color of the terminal's palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Red,
    Green,
    Yellow,
    Cyan,
}

impl Color {
    fn code(self) -> &'static str {
        match self {
            Self::Red => "31",
            Self::Green => "32",
            Self::Yellow => "33",
            Self::Cyan => "36",
        }
    }
}

/// The attributes, each a bit in [`Style::attributes`].
const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINED: u8 = 8;
const STRIKETHROUGH: u8 = 16;
const CODES: [(u8, &str); 5] =
    [(BOLD, "1"), (DIM, "2"), (ITALIC, "3"), (UNDERLINED, "4"), (STRIKETHROUGH, "9")];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    attributes: u8,
    color: Option<Color>,
}

impl Style {
    pub(crate) const PLAIN: Self = Self { attributes: 0, color: None };
    /// For secondary text.
    pub(crate) const DIM: Self = Self { attributes: DIM, color: None };
    /// For text that should stand out.
    pub(crate) const BOLD: Self = Self { attributes: BOLD, color: None };

    pub(crate) const fn bold(self) -> Self {
        Self { attributes: self.attributes | BOLD, ..self }
    }

    pub(crate) const fn dim(self) -> Self {
        Self { attributes: self.attributes | DIM, ..self }
    }

    pub(crate) const fn italic(self) -> Self {
        Self { attributes: self.attributes | ITALIC, ..self }
    }

    pub(crate) const fn underlined(self) -> Self {
        Self { attributes: self.attributes | UNDERLINED, ..self }
    }

    pub(crate) const fn strikethrough(self) -> Self {
        Self { attributes: self.attributes | STRIKETHROUGH, ..self }
    }

    pub(crate) const fn color(self, color: Color) -> Self {
        Self { color: Some(color), ..self }
    }

    /// The escape sequence that turns it on; empty for plain text.
    pub(crate) fn sequence(self) -> String {
        let attributes = CODES
            .iter()
            .filter(|(attribute, _)| self.attributes & attribute != 0)
            .map(|(_, code)| *code);
        let codes: Vec<&str> = attributes.chain(self.color.map(Color::code)).collect();
        if codes.is_empty() { String::new() } else { format!("\x1b[{}m", codes.join(";")) }
    }
}

/// A part of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text without line ends.
    Text(String, Style),
    /// The end of a row.
    Newline,
}

impl Piece {
    pub(crate) fn text(text: impl Into<String>, style: Style) -> Self {
        Self::Text(text.into(), style)
    }
}

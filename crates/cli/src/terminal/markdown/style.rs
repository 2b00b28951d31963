//! How a piece of text looks, apart from any terminal: marks and one of the terminal's own colors.
//!
//! Colors are those that a person has chosen for the terminal, so that they read on light and dark.

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

/// The marks, each with its code: a bit in [`Style::marks`].
const BOLD: u8 = 1;
const DIM: u8 = 2;
const ITALIC: u8 = 4;
const UNDERLINED: u8 = 8;
const STRUCK: u8 = 16;
const CODES: [(u8, &str); 5] =
    [(BOLD, "1"), (DIM, "2"), (ITALIC, "3"), (UNDERLINED, "4"), (STRUCK, "9")];

/// How text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Style {
    marks: u8,
    color: Option<Color>,
}

impl Style {
    /// As the terminal shows text by itself.
    pub(crate) const PLAIN: Self = Self { marks: 0, color: None };
    /// For what is beside the point.
    pub(crate) const DIM: Self = Self { marks: DIM, color: None };
    /// For what the eye should find.
    pub(crate) const BOLD: Self = Self { marks: BOLD, color: None };

    pub(crate) const fn bold(self) -> Self {
        Self { marks: self.marks | BOLD, ..self }
    }

    pub(crate) const fn dim(self) -> Self {
        Self { marks: self.marks | DIM, ..self }
    }

    pub(crate) const fn italic(self) -> Self {
        Self { marks: self.marks | ITALIC, ..self }
    }

    pub(crate) const fn underlined(self) -> Self {
        Self { marks: self.marks | UNDERLINED, ..self }
    }

    pub(crate) const fn struck(self) -> Self {
        Self { marks: self.marks | STRUCK, ..self }
    }

    pub(crate) const fn color(self, color: Color) -> Self {
        Self { color: Some(color), ..self }
    }

    /// The sequence that turns it on; nothing for plain text.
    pub(crate) fn sequence(self) -> String {
        let marks = CODES.iter().filter(|(mark, _)| self.marks & mark != 0).map(|(_, code)| *code);
        let codes: Vec<&str> = marks.chain(self.color.map(Color::code)).collect();
        if codes.is_empty() { String::new() } else { format!("\x1b[{}m", codes.join(";")) }
    }
}

/// What is put on the terminal, in order; it only ever grows.
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

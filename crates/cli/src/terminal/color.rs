//! Whether output is colored.

use std::io::IsTerminal;

use dormouse_base::{Environment, names, printable};

use dormouse_tui::style::Style;

/// Whether output is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColorMode {
    Plain,
    Colored,
}

impl ColorMode {
    /// Colors on a terminal that supports them, unless `NO_COLOR` is set.
    pub(crate) fn for_stdout(environment: &Environment) -> Self {
        let dumb = environment.get(names::TERM).is_none_or(|term| term == "dumb");
        let no_color = environment.get(names::NO_COLOR).is_some();
        let plain = dumb || no_color || !std::io::stdout().is_terminal();
        if plain { Self::Plain } else { Self::Colored }
    }

    /// The text, made printable, in a style.
    pub(crate) fn paint(self, text: &str, style: Style) -> String {
        let text = printable(text);
        let sequence = style.sequence();
        if self == Self::Plain || sequence.is_empty() {
            return text.into_owned();
        }
        format!("{sequence}{text}\x1b[0m")
    }
}

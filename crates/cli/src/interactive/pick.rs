//! Shows a picker in the place of the composer, until something is chosen.

use std::io;

use dormouse_tui::inline::{InlineTerminal, LiveStyles};
use dormouse_tui::keys::TerminalEvent;
use dormouse_tui::picker::{Picker, PickerResult, PickerTexts};

use crate::message_catalog::msg;
use crate::terminal::tty;

use super::keyboard::Keyboard;

/// What a picker with this heading says.
pub(crate) fn picker_texts(heading: String) -> PickerTexts {
    PickerTexts { heading, hint: msg!("picker-hint"), no_match: msg!("picker-no-match") }
}

/// The position of the chosen entry; none if the user chose none, or the terminal was closed. The cursor must be at the start of an
/// empty row, and is there again afterwards.
pub(crate) async fn pick(
    keyboard: &mut Keyboard,
    mut picker: Picker,
    styles: LiveStyles,
) -> Option<usize> {
    let mut terminal = InlineTerminal::new(io::stdout(), tty::size(), styles);
    let picked = loop {
        let (columns, rows) = tty::size();
        // A terminal that cannot be written to is noticed by the next read.
        let _gone = terminal.draw(&[], &picker.view(columns, rows));
        let result = match keyboard.next().await {
            None | Some(Err(_)) => break None,
            Some(Ok(TerminalEvent::Key(key))) => picker.key(key),
            Some(Ok(TerminalEvent::Paste(text))) => {
                picker.paste(&text);
                PickerResult::Taken
            }
            Some(Ok(TerminalEvent::Resized)) => {
                let _gone = terminal.resize(tty::size());
                PickerResult::Taken
            }
            Some(Ok(TerminalEvent::Suggested(..) | TerminalEvent::Focus(_))) => PickerResult::Taken,
        };
        match result {
            PickerResult::Picked(at) => break Some(at),
            PickerResult::Cancelled => break None,
            PickerResult::Taken => {}
        }
    };
    let _gone = terminal.clear();
    picked
}

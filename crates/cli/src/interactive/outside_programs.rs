//! The user's editor for a message (Ctrl-G) and pager for the output of a call (Ctrl-O).

use dormouse_base::printable;

use crate::message_catalog::msg;
use crate::wiring::editor::EditedCopy;

use super::session::InteractiveSession;

/// Names of the temporary files: the ending tells an editor what it is.
const MESSAGE: &str = "message.md";
const OUTPUT: &str = "output.txt";

impl InteractiveSession<'_> {
    /// Edits the message in the user's editor; what is saved there is in the composer.
    pub(super) async fn edit_message(&mut self, text: &str) {
        let world = self.world;
        let edit = async {
            let copy = EditedCopy::create(world, MESSAGE, text)?;
            let edited = copy.edit_freely(world)?;
            copy.remove()?;
            Ok(edited)
        };
        match self.input.lend_screen(&self.view, edit).await {
            Ok(edited) => self.input.set_text(&self.view, edited.trim_end()),
            Err(failure) => self.view.failure(&failure),
        }
    }

    /// Shows the whole output of the last call.
    pub(super) async fn show_output(&mut self) {
        let Some(output) = self.view.borrow_mut().last_output.clone() else {
            return self.view.say(&msg!("output-none"));
        };
        let world = self.world;
        let show = async {
            // A pager may hand sequences on to the terminal.
            let text = format!("{}\n", printable(&output).trim_end());
            EditedCopy::create(world, OUTPUT, &text)?.show(world)
        };
        if let Err(failure) = self.input.lend_screen(&self.view, show).await {
            self.view.failure(&failure);
        }
    }
}

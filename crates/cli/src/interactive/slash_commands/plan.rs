//! Plan mode: `/plan`, and the key that switches modes.

use dormouse_permissions::PermissionMode;

use crate::interactive::session::{AfterInput, InteractiveSession};
use dormouse_tui::style::Style;

use super::rows;

impl InteractiveSession<'_> {
    /// Runs `/plan [TEXT|off]`: turns plan mode on and sends TEXT; in plan mode, shows the plan.
    pub(in crate::interactive) async fn plan(&mut self, rest: &str) -> AfterInput {
        match (rest, self.session.gate.mode()) {
            ("off", PermissionMode::Plan) => self.set_mode(PermissionMode::Default),
            ("off", _) => self.view.say("Plan mode is not on."),
            ("", PermissionMode::Plan) => self.show_plan(),
            (_, PermissionMode::Plan) => {}
            (_, _) => self.set_mode(PermissionMode::Plan),
        }
        if matches!(rest, "" | "off") { AfterInput::Prompt } else { self.turn(rest).await }
    }

    pub(in crate::interactive) fn next_mode(&self) {
        self.set_mode(rows::next_mode(self.session.gate.mode()));
    }

    fn set_mode(&self, mode: PermissionMode) {
        self.session.gate.set_mode(mode);
        self.view.borrow_mut().note(rows::mode_description(mode), Style::DIM);
    }

    fn show_plan(&self) {
        match self.session.engine.session_tools().plan() {
            Some(plan) => {
                self.view.borrow_mut().markdown(&plan.text);
                self.view.borrow_mut().note(&plan.path.display().to_string(), Style::DIM);
            }
            None => self.view.say("Plan mode is on; the model has not presented a plan yet. /plan off leaves plan mode."),
        }
    }
}

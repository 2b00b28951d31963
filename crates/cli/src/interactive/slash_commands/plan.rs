//! Plan mode: `/plan`, and the key that switches modes.

use dormouse_permissions::PermissionMode;
use dormouse_tui::style::Style;

use crate::interactive::session::{AfterInput, InteractiveSession};
use crate::message_catalog::msg;
use crate::wiring::permission_modes::mode_description;

use super::rows;

impl InteractiveSession<'_> {
    /// Runs `/plan [TEXT|off]`: turns plan mode on and sends TEXT; in plan mode, shows the plan.
    pub(in crate::interactive) async fn plan(&mut self, rest: &str) -> AfterInput {
        match (rest, self.session.gate.mode()) {
            ("off", PermissionMode::Plan) => {
                let before = self.session.gate.mode_before_plan();
                self.set_mode(before);
            }
            ("off", _) => self.view.say(&msg!("plan-not-on")),
            ("", PermissionMode::Plan) => self.show_plan(),
            (_, PermissionMode::Plan) => {}
            (_, _) => {
                self.session.gate.enter_plan_mode();
                self.describe_mode();
            }
        }
        if matches!(rest, "" | "off") { AfterInput::Prompt } else { self.turn(rest).await }
    }

    /// Switches to the next permission mode.
    pub(in crate::interactive) fn next_mode(&self) {
        self.set_mode(rows::next_mode(self.session.gate.mode()));
    }

    fn set_mode(&self, mode: PermissionMode) {
        self.session.gate.set_mode(mode);
        self.describe_mode();
    }

    fn describe_mode(&self) {
        let text = mode_description(self.session.gate.mode());
        self.view.borrow_mut().note(&text, Style::DIM);
    }

    fn show_plan(&self) {
        match self.session.engine.session_tools().plan() {
            Some(plan) => {
                self.view.borrow_mut().markdown(&plan.text);
                self.view.borrow_mut().note(&plan.path.display().to_string(), Style::DIM);
            }
            None => self.view.say(&msg!("plan-none-yet")),
        }
    }
}

//! Plan mode, from the keyboard: `/plan`, and the key that goes from mode to mode.

use dormouse_permissions::PermissionMode;

use crate::terminal::markdown::Style;

use super::{Next, Talk, answers};

impl Talk<'_> {
    /// Carries out `/plan`: goes over to plan mode, and says what follows; in it, shows the plan.
    pub(super) async fn plan(&mut self, rest: &str) -> Next {
        let gate = &self.conversation.gate;
        match (rest, gate.mode()) {
            ("off", PermissionMode::Plan) => self.set_mode_to(PermissionMode::Default),
            ("off", _) => self.say("plan mode is not on"),
            ("", PermissionMode::Plan) => self.show_plan(),
            (_, PermissionMode::Plan) => {}
            (_, _) => self.set_mode_to(PermissionMode::Plan),
        }
        if matches!(rest, "" | "off") { Next::GoOn } else { self.turn(rest).await }
    }

    /// Goes over to the next mode.
    pub(super) fn next_mode(&self) {
        self.set_mode_to(answers::next_mode(self.conversation.gate.mode()));
    }

    fn set_mode_to(&self, mode: PermissionMode) {
        self.conversation.gate.set_mode(mode);
        self.view.borrow_mut().note(answers::mode_name(mode), Style::DIM);
    }

    fn show_plan(&self) {
        match self.conversation.engine.plan() {
            Some(plan) => {
                self.view.borrow_mut().markdown(&plan.text);
                self.view.borrow_mut().note(&plan.path.display().to_string(), Style::DIM);
            }
            None => self.say("plan mode is on, and no plan was handed in yet; /plan off leaves it"),
        }
    }
}

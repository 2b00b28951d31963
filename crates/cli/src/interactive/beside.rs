//! What is done beside the conversation, as the person hears of it: what was remembered, and what is still under way
//! when they leave.

use dormouse_base::printable;

use super::Talk;
use super::view::remembered;
use crate::terminal::markdown::Style;
use crate::wiring::background_tasks;

/// What has come from outside, in a line above what is being typed.
pub(super) fn arrived(what: &str) -> String {
    printable(&format!("← {what}")).into_owned()
}

impl Talk<'_> {
    /// What was remembered meanwhile is said above what is being typed.
    pub(super) fn tell_what_was_remembered(&self) {
        let Some(memory) = &self.conversation.memory else { return };
        for said in memory.take_notices() {
            self.editor.print(remembered(&said));
        }
    }

    /// Work that is under way is awaited for a while, shown, and cut short by Ctrl-C (B-12). What is not done then is
    /// done when the session is next opened.
    pub(super) async fn finish_what_is_under_way(&mut self) {
        let engine = &self.conversation.engine;
        if !background_tasks::is_busy(engine) {
            return;
        }
        let text = "memories of this session are being written; Ctrl-C leaves without";
        self.view.borrow_mut().note(text, Style::DIM);
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        tokio::select! {
            () = background_tasks::finish(engine, &mut sink) => {}
            _ = self.signals.next() => {}
        }
    }
}

//! What reaches a user who looks elsewhere: the window's title, and a notification when a turn ends or asks.

use std::time::Duration;

use dormouse_base::{Notifications, TerminalSettings};
use dormouse_tui::sequence::TerminalSequence;
use tokio::time::Instant;

use crate::message_catalog::msg;

/// A shorter turn ends without a notification.
const LONG_TURN: Duration = Duration::from_secs(10);

/// What the session does, as the title says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionActivity {
    Idle,
    Working,
    Asking,
}

/// Knows whether the user looks.
#[derive(Debug)]
pub(crate) struct Attention {
    settings: TerminalSettings,
    project: String,
    /// Whether the terminal has the focus; none if it never said.
    focus: Option<bool>,
    activity: SessionActivity,
    /// When the activity began, or a key was pressed.
    active_at: Instant,
    working_since: Instant,
}

impl Attention {
    pub(crate) fn new(settings: TerminalSettings, project: String) -> Self {
        let now = Instant::now();
        let activity = SessionActivity::Idle;
        Self { settings, project, focus: None, activity, active_at: now, working_since: now }
    }

    /// The terminal got or lost the focus.
    pub(crate) fn set_focus(&mut self, focus: bool) {
        self.focus = Some(focus);
    }

    /// A key was pressed: the user looks.
    pub(crate) fn key_pressed(&mut self, now: Instant) {
        self.active_at = now;
    }

    /// What to send to the terminal when the session does something else.
    pub(crate) fn changed(
        &mut self,
        activity: SessionActivity,
        now: Instant,
    ) -> Vec<TerminalSequence> {
        let before = std::mem::replace(&mut self.activity, activity);
        if before == activity {
            return Vec::new();
        }
        if before == SessionActivity::Idle {
            self.working_since = now;
        }
        let notification = match activity {
            SessionActivity::Asking => Some(msg!("notify-asks")),
            SessionActivity::Idle if now.duration_since(self.working_since) >= LONG_TURN => {
                Some(msg!("notify-done"))
            }
            SessionActivity::Idle | SessionActivity::Working => None,
        };
        let notification = notification.filter(|_| self.looks_away(now));
        self.title().into_iter().chain(notification.and_then(|text| self.notify(&text))).collect()
    }

    /// A terminal that does not tell is watched while keys are pressed.
    fn looks_away(&self, now: Instant) -> bool {
        self.focus.map_or(now.duration_since(self.active_at) >= LONG_TURN, |focus| !focus)
    }

    fn notify(&self, text: &str) -> Option<TerminalSequence> {
        let text = format!("{}: {text}", self.project);
        match self.settings.notifications.unwrap_or_default() {
            Notifications::Off => None,
            Notifications::Bell => Some(TerminalSequence::Bell),
            Notifications::Osc9 => Some(TerminalSequence::Notification(text)),
            Notifications::Osc777 => Some(TerminalSequence::TitledNotification(text)),
        }
    }

    /// The title, unless it is left alone.
    pub(crate) fn title(&self) -> Option<TerminalSequence> {
        let mark = match self.activity {
            SessionActivity::Idle => "",
            SessionActivity::Working => "… ",
            SessionActivity::Asking => "? ",
        };
        let has_title = self.settings.title.unwrap_or(true);
        has_title.then(|| TerminalSequence::Title(format!("{mark}{} · dormouse", self.project)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attention(notifications: Notifications) -> Attention {
        let settings = TerminalSettings { title: Some(false), notifications: Some(notifications) };
        Attention::new(settings, "demo".to_owned())
    }

    #[test]
    fn who_looks_is_not_notified() {
        for (focus, seconds, expected) in [
            (Some(true), 60, 0),
            (Some(false), 60, 1),
            (Some(false), 5, 0),
            (None, 60, 1),
            (None, 5, 0),
        ] {
            let mut attention = attention(Notifications::Bell);
            attention.focus = focus;
            let start = Instant::now();
            assert_eq!(attention.changed(SessionActivity::Working, start), []);
            let end = start + Duration::from_secs(seconds);
            let sent = attention.changed(SessionActivity::Idle, end);
            assert_eq!(sent.len(), expected, "{focus:?} {seconds}");
        }
    }

    #[test]
    fn a_question_is_told_at_once_and_a_key_means_that_somebody_looks() {
        let mut attention = attention(Notifications::Osc9);
        let start = Instant::now();
        attention.changed(SessionActivity::Working, start);
        attention.set_focus(false);
        let sent = attention.changed(SessionActivity::Asking, start);
        assert!(
            matches!(sent.as_slice(), [TerminalSequence::Notification(text)] if text.starts_with("demo: "))
        );
        attention.focus = None;
        attention.changed(SessionActivity::Working, start);
        let later = start + Duration::from_mins(1);
        attention.key_pressed(later);
        assert_eq!(attention.changed(SessionActivity::Idle, later), []);
    }
}

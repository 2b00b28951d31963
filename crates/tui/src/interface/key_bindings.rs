//! What each key does: those of an open list of suggestions, those with a meaning of their own, and those of the queue. All
//! others are for the composer.

use super::{Interface, KeyHint, KeyTaken, TurnPhase};
use crate::action::UserAction;
use crate::keys::{KeyCode, KeyEvent, KeyModifiers};
use crate::suggestions::SuggestionKind;

impl Interface {
    /// Keys of an open list of suggestions; it continues if the key is not for that.
    pub(super) fn suggestion_key(&mut self, key: KeyEvent) -> KeyTaken {
        let Some(list) = &mut self.suggestions else { return KeyTaken::Continue(()) };
        match key.code {
            KeyCode::Up => list.select(false),
            KeyCode::Down => list.select(true),
            KeyCode::Char('r') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                list.select(true);
            }
            KeyCode::Esc => {
                // A search that is given up leaves what was written before it.
                if list.kind == SuggestionKind::EarlierPrompt {
                    let before = list.before().to_owned();
                    self.composer.set(&before);
                }
                self.suggestions = None;
            }
            KeyCode::Tab => self.complete(),
            KeyCode::Enter if key.modifiers.is_empty() => {
                let is_command = list.kind == SuggestionKind::Command;
                self.complete();
                if is_command {
                    let text = self.composer.submit();
                    return KeyTaken::Break(self.submitted(text.trim_end().to_owned()));
                }
            }
            _ => return KeyTaken::Continue(()),
        }
        KeyTaken::Break(None)
    }

    /// Keys with a meaning of their own; it continues if the key is for the composer.
    pub(super) fn shortcut(&mut self, key: KeyEvent, before: Option<KeyHint>) -> KeyTaken {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let is_empty = self.composer.is_empty();
        let action = match key.code {
            KeyCode::Char('c') if control => self.control_c(before),
            KeyCode::Char('d') if control && is_empty => match self.phase {
                TurnPhase::Idle => Some(UserAction::Leave),
                TurnPhase::Running => {
                    self.leaves = true;
                    None
                }
            },
            KeyCode::Char('o' | 'g' | 'v') if control && self.phase == TurnPhase::Running => {
                self.hint = Some(KeyHint::AfterTurn);
                None
            }
            KeyCode::Char('t') if alt && self.phase == TurnPhase::Running => {
                self.hint = Some(KeyHint::AfterTurn);
                None
            }
            KeyCode::Char('t') if alt => Some(UserAction::ShowThinking),
            KeyCode::Char('o') if control => Some(UserAction::ShowOutput),
            KeyCode::Char('g') if control => Some(UserAction::OpenEditor(self.composer.unfolded())),
            KeyCode::Char('v') if control => Some(UserAction::PasteImage),
            KeyCode::Char('r') if control => {
                self.search_earlier();
                None
            }
            KeyCode::Char('u') if alt && is_empty => Some(UserAction::UndoMemory),
            KeyCode::Char('r') if alt && is_empty => Some(UserAction::ExplainRecall),
            KeyCode::BackTab => Some(UserAction::NextMode),
            KeyCode::Esc => self.escape(before),
            _ => return KeyTaken::Continue(()),
        };
        KeyTaken::Break(action)
    }

    /// Ctrl-C clears the composer, then interrupts, then leaves.
    fn control_c(&mut self, before: Option<KeyHint>) -> Option<UserAction> {
        if !self.composer.is_empty() {
            self.composer.clear();
            self.suggestions = None;
            return None;
        }
        match (self.phase, before) {
            (TurnPhase::Running, _) => Some(UserAction::Interrupt),
            (TurnPhase::Idle, Some(KeyHint::Leave)) => Some(UserAction::Leave),
            (TurnPhase::Idle, _) => {
                self.hint = Some(KeyHint::Leave);
                None
            }
        }
    }

    /// Esc takes leaving back, or interrupts the turn; twice at an empty prompt it rewinds.
    fn escape(&mut self, before: Option<KeyHint>) -> Option<UserAction> {
        match (self.phase, before) {
            (TurnPhase::Running, _) if self.leaves => {
                self.leaves = false;
                None
            }
            (TurnPhase::Running, _) => Some(UserAction::Interrupt),
            (TurnPhase::Idle, Some(KeyHint::Rewind)) => Some(UserAction::Rewind),
            (TurnPhase::Idle, _) => {
                if self.composer.is_empty() {
                    self.hint = Some(KeyHint::Rewind);
                }
                None
            }
        }
    }

    /// Up at an empty composer takes the last queued message back.
    pub(super) fn takes_back_queued(&mut self, key: KeyEvent) -> bool {
        if key.code != KeyCode::Up || !self.composer.is_empty() {
            return false;
        }
        let Some(text) = self.queue.pop() else { return false };
        self.composer.set(&text);
        true
    }
}

//! The model of the interface: keys in, the user's actions and a view out. It does no I/O and knows no clock.

mod key_bindings;
mod view;

use std::ops::ControlFlow;

use crate::keys::{KeyCode, KeyEvent, KeyModifiers};

use crate::action::UserAction;
use crate::composer::{Composer, ComposerResult};
use crate::interface_texts::InterfaceTexts;
use crate::live::{LiveRow, StatusParts};
use crate::menu::{Choice, Menu, MenuFocus, MenuResult};
use crate::style::Style;
use crate::suggestions::{
    Suggestion, SuggestionKind, SuggestionList, fitting_commands, fitting_prompts,
};

const SUSPEND: KeyEvent = KeyEvent::new(KeyCode::Char('z'), KeyModifiers::CONTROL);

/// Whether a turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TurnPhase {
    /// The composer waits for a message.
    #[default]
    Idle,
    /// A turn runs; messages are queued.
    Running,
}

/// Whether a key was taken, with what it does, or goes on to the next that may take it.
type KeyTaken = ControlFlow<Option<UserAction>>;

/// What the last row says until the next key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KeyHint {
    /// Ctrl-C pressed again leaves.
    Leave,
    /// Esc pressed again rewinds.
    Rewind,
    /// The key does nothing during a turn.
    AfterTurn,
}

/// Everything below the finished content.
#[derive(Debug, Clone, Default)]
pub struct Interface {
    texts: InterfaceTexts,
    composer: Composer,
    commands: Vec<Suggestion>,
    suggestions: Option<SuggestionList>,
    menu: Option<Menu>,
    queue: Vec<String>,
    /// Messages that go with the next request of the turn.
    steered: Vec<String>,
    phase: TurnPhase,
    /// Whether the user leaves when the turn has ended and the queue is empty.
    leaves: bool,
    hint: Option<KeyHint>,
    /// The row of the finished content that is still being written.
    tail: LiveRow,
    progress: String,
    /// What is to be done in the turn, a row each.
    todos: Vec<(String, Style)>,
    status: StatusParts,
    /// The label of a permission mode that is not the default one.
    mode: Option<String>,
}

impl Interface {
    /// With earlier prompts (oldest first) and the slash commands.
    pub fn new(earlier: Vec<String>, commands: Vec<Suggestion>, texts: InterfaceTexts) -> Self {
        Self { texts, composer: Composer::new(earlier), commands, ..Self::default() }
    }

    /// Replaces the text in the composer.
    pub fn set_text(&mut self, text: &str) {
        self.composer.set(text);
    }

    /// Whether a turn runs.
    pub fn phase(&self) -> TurnPhase {
        self.phase
    }

    /// A turn begins or ends.
    pub fn set_phase(&mut self, phase: TurnPhase) {
        self.phase = phase;
        self.hint = None;
        if phase == TurnPhase::Idle {
            self.progress.clear();
        }
    }

    /// What the turn does now; whether that is new.
    pub fn set_progress(&mut self, progress: &str) -> bool {
        let is_new = self.progress != progress;
        progress.clone_into(&mut self.progress);
        is_new
    }

    /// What is to be done in the turn, a row each; the first that is not dim is the next.
    pub fn set_todos(&mut self, todos: Vec<(String, Style)>) {
        self.todos = todos;
    }

    /// The row that is still being written.
    pub fn set_tail(&mut self, tail: LiveRow) {
        self.tail = tail;
    }

    /// The status line.
    pub fn set_status(&mut self, status: StatusParts) {
        self.status = status;
    }

    /// The label of the permission mode, unless it is the default one; whether that is new.
    pub fn set_mode(&mut self, mode: Option<&str>) -> bool {
        let is_new = self.mode.as_deref() != mode;
        self.mode = mode.map(str::to_owned);
        is_new
    }

    /// The slash commands from here on. What is suggested for a command that is being typed follows.
    pub fn set_commands(&mut self, commands: Vec<Suggestion>) {
        let is_new = self.commands != commands;
        self.commands = commands;
        if is_new && self.composer.text().starts_with('/') && self.menu.is_none() {
            self.suggestions = command_suggestions(&self.commands, &self.composer);
        }
    }

    /// Asks. Keys go to the composer until [`Self::focus_menu`]: those that were meant for a message do not answer.
    pub fn ask(&mut self, choices: Vec<Choice>) {
        self.suggestions = None;
        self.menu = Some(Menu::new(choices, MenuFocus::Composer));
    }

    /// Asks once more, with the text of a choice as the user has written it.
    pub fn ask_editing(&mut self, choices: Vec<Choice>, index: usize) {
        self.menu = Some(Menu::editing(choices, index));
    }

    /// Gives the keys to an open menu, once the user has seen it. One who was typing a message presses Tab first.
    pub fn focus_menu(&mut self) {
        if let Some(menu) = self.menu.as_mut().filter(|_| self.composer.is_empty()) {
            menu.take_focus();
        }
    }

    /// Whether a menu is open that does not get the keys yet.
    pub fn menu_waits(&self) -> bool {
        self.menu.as_ref().is_some_and(|menu| menu.focus() == MenuFocus::Composer)
            && self.composer.is_empty()
    }

    /// Closes the menu, when the question is gone.
    pub fn close_menu(&mut self) {
        self.menu = None;
    }

    /// Whether the user wants to leave now that the turn has ended.
    pub fn leaves(&self) -> bool {
        // What was typed and not sent is not left behind.
        self.leaves && self.queue.is_empty() && self.composer.is_empty()
    }

    /// The next queued message, when the turn has ended.
    pub fn next_queued(&mut self) -> Option<String> {
        (!self.queue.is_empty()).then(|| self.queue.remove(0))
    }

    /// These messages go with the next request of the turn.
    pub fn set_steered(&mut self, texts: &[String]) {
        self.steered.extend_from_slice(texts);
    }

    /// The first of those messages was sent; it is shown above now.
    pub fn take_steered(&mut self) -> Option<String> {
        (!self.steered.is_empty()).then(|| self.steered.remove(0))
    }

    /// Queues a text that was submitted but has to wait for the end of the turn.
    pub fn queue(&mut self, text: String) {
        self.queue.push(text);
    }

    /// Puts messages back at the head of the queue.
    pub fn queue_again(&mut self, texts: Vec<String>) {
        self.steered.clear();
        self.queue.splice(0..0, texts);
    }

    /// Puts the queued messages back into the composer: the user has stopped what they were meant to follow.
    pub fn unqueue(&mut self) {
        if self.queue.is_empty() {
            return;
        }
        let mut texts = std::mem::take(&mut self.queue);
        texts.extend(Some(self.composer.text().to_owned()).filter(|text| !text.is_empty()));
        self.composer.set(&texts.join("\n"));
    }

    /// The word after `@` before the cursor, for which attachments are wanted.
    pub fn wanted_attachment(&self) -> Option<&str> {
        let before = self.composer.before_cursor();
        let at = before.rfind('@')?;
        let (text, word) = before.split_at(at);
        // In Chinese no blank stands before it; in an address a letter does.
        let starts_word = text.chars().next_back().is_none_or(|before| !before.is_ascii_graphic());
        let word = word.strip_prefix('@')?;
        (starts_word && !word.contains(char::is_whitespace)).then_some(word)
    }

    /// The attachments that fit a word; ignored if another one is typed by now.
    pub fn suggest_attachments(&mut self, word: &str, entries: Vec<Suggestion>) {
        if self.wanted_attachment() == Some(word) {
            self.suggestions = SuggestionList::new(SuggestionKind::Attachment, entries);
        }
    }

    /// Takes pasted text.
    pub fn paste(&mut self, pasted: &str) {
        match &mut self.menu {
            Some(menu) if menu.focus() == MenuFocus::Menu => menu.paste(pasted),
            _ => self.composer.paste(pasted),
        }
        self.suggestions = None;
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Option<UserAction> {
        let hint = self.hint.take();
        if key == SUSPEND {
            return Some(UserAction::Suspend);
        }
        if let Some(menu) = &mut self.menu {
            if menu.focus() == MenuFocus::Menu {
                let answer = match menu.key(key) {
                    MenuResult::Answered(answer) => answer,
                    MenuResult::Taken => return None,
                    // Somebody begins to type: Enter must not answer.
                    MenuResult::Unknown => {
                        menu.lose_focus();
                        self.composer.key(key);
                        return None;
                    }
                };
                self.menu = None;
                return Some(UserAction::Answer(answer));
            }
            if key.code == KeyCode::Tab {
                menu.take_focus();
                return None;
            }
        }
        if let ControlFlow::Break(action) = self.suggestion_key(key) {
            return action;
        }
        if let ControlFlow::Break(action) = self.shortcut(key, hint) {
            return action;
        }
        if self.takes_back_queued(key) {
            return None;
        }
        let is_empty = self.composer.is_empty();
        if key.code == KeyCode::Up && is_empty && !self.steered.is_empty() {
            return Some(UserAction::Unsteer);
        }
        match self.composer.key(key) {
            ComposerResult::Ignored => return None,
            ComposerResult::Changed => {}
            ComposerResult::Submitted(text) => return self.submitted(text),
        }
        self.suggest();
        None
    }

    fn submitted(&mut self, text: String) -> Option<UserAction> {
        self.suggestions = None;
        match self.phase {
            _ if self.menu.is_some() && text.trim().is_empty() => None,
            TurnPhase::Idle => Some(UserAction::Submit(text)),
            // Some commands do not have to wait for the end of the turn.
            TurnPhase::Running if text.starts_with('/') => Some(UserAction::Submit(text)),
            TurnPhase::Running if !text.trim().is_empty() => {
                self.queue.push(text);
                None
            }
            TurnPhase::Running if !self.queue.is_empty() => {
                Some(UserAction::Steer(std::mem::take(&mut self.queue)))
            }
            TurnPhase::Running => None,
        }
    }

    fn complete(&mut self) {
        let Some(list) = self.suggestions.take() else { return };
        let Some(entry) = list.selected() else { return };
        let typed = match list.kind {
            SuggestionKind::EarlierPrompt => return self.composer.set(&entry.name),
            SuggestionKind::Command => self.composer.before_cursor().len(),
            SuggestionKind::Attachment => self.wanted_attachment().map_or(0, str::len),
        };
        let is_quoted = list.kind == SuggestionKind::Attachment && entry.name.contains(' ');
        let mark = if is_quoted { "\"" } else { "" };
        self.composer.replace_before_cursor(typed, &format!("{mark}{}{mark} ", entry.name));
    }

    /// Suggests what fits the text now.
    fn suggest(&mut self) {
        let kind = self.suggestions.as_ref().map(|list| list.kind);
        match kind {
            Some(SuggestionKind::EarlierPrompt) => self.search_earlier(),
            // What fits the longer word arrives in a moment.
            Some(SuggestionKind::Attachment) if self.wanted_attachment().is_some() => {}
            _ => self.suggestions = command_suggestions(&self.commands, &self.composer),
        }
    }

    /// Lists the earlier prompts that contain the text.
    fn search_earlier(&mut self) {
        let entries = fitting_prompts(self.composer.earlier(), self.composer.text());
        let searching = self.suggestions.as_ref();
        let searching = searching.filter(|list| list.kind == SuggestionKind::EarlierPrompt);
        let text = self.composer.text();
        let before = searching.map_or(text, SuggestionList::before).to_owned();
        self.suggestions = Some(SuggestionList::searched(entries, before));
    }
}

/// The commands that fit what is typed after a slash.
fn command_suggestions(commands: &[Suggestion], composer: &Composer) -> Option<SuggestionList> {
    let before = composer.before_cursor();
    let typed = before.strip_prefix('/').filter(|typed| !typed.contains(char::is_whitespace));
    let at_end = before.len() == composer.text().len();
    let entries = fitting_commands(commands, typed.filter(|_| at_end)?);
    SuggestionList::new(SuggestionKind::Command, entries)
}

#[cfg(test)]
mod tests;

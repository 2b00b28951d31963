//! A menu below a question: arrows, numbers and letters choose; one of the choices may take a text.

use crate::keys::{KeyCode, KeyEvent, KeyModifiers};

use crate::composer::{Composer, ComposerResult};
use crate::live::{LiveRow, NOT_SELECTED, SELECTED, wrapped_rows};
use crate::style::Style;

/// The indent of what belongs to a choice.
const INDENT: usize = 4;

/// A choice of a menu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The key that chooses it at once.
    pub letter: char,
    /// What it says.
    pub label: String,
    /// Where it takes a text (a reason, a rule): the text to start with.
    pub text: Option<String>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MenuAnswer {
    /// A choice by its position, with its text.
    Chosen {
        /// Which of the choices.
        index: usize,
        /// The text, of a choice that takes one.
        text: Option<String>,
    },
    /// Esc or Ctrl-C.
    Cancelled,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MenuResult {
    /// It answered.
    Answered(MenuAnswer),
    /// It moved the selection or changed a text, or means nothing.
    Taken,
    /// It is a letter that stands for no choice.
    Unknown,
}

/// A menu that waits for an answer.
#[derive(Debug, Clone)]
pub struct Menu {
    choices: Vec<Choice>,
    selected: usize,
    /// The text of the selected choice, while it is being typed.
    typing: Option<Composer>,
    focus: MenuFocus,
}

/// Whether keys go to the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuFocus {
    /// They answer it.
    Menu,
    /// The user was typing a message when it appeared: keys go on to the composer until Tab.
    Composer,
}

impl Menu {
    /// A menu of these choices.
    pub fn new(choices: Vec<Choice>, focus: MenuFocus) -> Self {
        Self { choices, selected: 0, typing: None, focus }
    }

    /// A menu in which the text of a choice is being written.
    pub fn editing(choices: Vec<Choice>, index: usize) -> Self {
        let mut menu = Self { selected: index, ..Self::new(choices, MenuFocus::Menu) };
        // What is chosen first is to write its text.
        let _taken = menu.choose();
        menu
    }

    /// Whether keys go to it.
    pub fn focus(&self) -> MenuFocus {
        self.focus
    }

    /// Gives it the keys.
    pub fn take_focus(&mut self) {
        self.focus = MenuFocus::Menu;
    }

    /// Gives the keys back to the composer.
    pub fn lose_focus(&mut self) {
        self.focus = MenuFocus::Composer;
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> MenuResult {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('c' | 'd')) {
            return MenuResult::Answered(MenuAnswer::Cancelled);
        }
        if let Some(text) = &mut self.typing {
            if key.code == KeyCode::Esc {
                self.typing = None;
                return MenuResult::Taken;
            }
            let ComposerResult::Submitted(text) = text.key(key) else { return MenuResult::Taken };
            self.typing = None;
            let answer = MenuAnswer::Chosen { index: self.selected, text: Some(text) };
            return MenuResult::Answered(answer);
        }
        match key.code {
            KeyCode::Esc => return MenuResult::Answered(MenuAnswer::Cancelled),
            KeyCode::Up => self.selected = self.selected.saturating_sub(1),
            KeyCode::Down => {
                self.selected = (self.selected + 1).min(self.choices.len().saturating_sub(1));
            }
            KeyCode::Enter => return self.choose(),
            KeyCode::Char(letter) if !is_control => match self.index_of(letter) {
                Some(index) => {
                    self.selected = index;
                    return self.choose();
                }
                None => return MenuResult::Unknown,
            },
            _ => {}
        }
        MenuResult::Taken
    }

    /// The choice of a number or letter.
    fn index_of(&self, letter: char) -> Option<usize> {
        let number = letter.to_digit(10).and_then(|digit| digit.checked_sub(1));
        let by_number = number.and_then(|index| usize::try_from(index).ok());
        let by_number = by_number.filter(|index| *index < self.choices.len());
        let letter = letter.to_ascii_lowercase();
        by_number.or_else(|| self.choices.iter().position(|choice| choice.letter == letter))
    }

    /// Takes pasted text, where one is being typed.
    pub fn paste(&mut self, pasted: &str) {
        if let Some(text) = &mut self.typing {
            text.paste(pasted);
        }
    }

    fn choose(&mut self) -> MenuResult {
        let Some(choice) = self.choices.get(self.selected) else { return MenuResult::Taken };
        let Some(start) = &choice.text else {
            let answer = MenuAnswer::Chosen { index: self.selected, text: None };
            return MenuResult::Answered(answer);
        };
        let mut composer = Composer::default();
        composer.set(start);
        self.typing = Some(composer);
        MenuResult::Taken
    }

    /// The rows to draw, and the cursor's row and column among them.
    pub fn rows(&self, columns: usize) -> (Vec<LiveRow>, (usize, usize)) {
        let mut rows = Vec::new();
        let mut cursor = (0, 0);
        for (index, choice) in self.choices.iter().enumerate() {
            let is_selected = index == self.selected && self.focus == MenuFocus::Menu;
            let mark = if is_selected { SELECTED } else { NOT_SELECTED };
            let style = if is_selected { Style::BOLD } else { Style::PLAIN };
            let label = format!("{mark}{} {} ({})", index + 1, choice.label, choice.letter);
            if is_selected {
                cursor = (rows.len(), 0);
            }
            rows.extend(wrapped_rows(&label, style, columns, INDENT));
            if let Some(text) = self.typing.as_ref().filter(|_| is_selected) {
                let shown = text.rows(columns.saturating_sub(INDENT), 5);
                cursor = (rows.len() + shown.cursor_row, shown.cursor_column + INDENT);
                let blanks = " ".repeat(INDENT);
                let indented = |row: &String| vec![(format!("{blanks}{row}"), Style::PLAIN)];
                rows.extend(shown.rows.iter().map(indented));
            }
        }
        (rows, cursor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn menu() -> Menu {
        let choice = |letter, label: &str, text: Option<&str>| Choice {
            letter,
            label: label.to_owned(),
            text: text.map(str::to_owned),
        };
        Menu::new(
            vec![
                choice('y', "Yes", None),
                choice('n', "No", None),
                choice('t', "No, because", Some("")),
            ],
            MenuFocus::Menu,
        )
    }

    fn press(menu: &mut Menu, code: KeyCode) -> MenuResult {
        menu.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    #[test]
    fn arrows_numbers_and_letters() {
        let chosen = |index| MenuResult::Answered(MenuAnswer::Chosen { index, text: None });
        assert_eq!(press(&mut menu(), KeyCode::Char('y')), chosen(0));
        assert_eq!(press(&mut menu(), KeyCode::Char('N')), chosen(1));
        assert_eq!(press(&mut menu(), KeyCode::Char('2')), chosen(1));
        assert_eq!(press(&mut menu(), KeyCode::Char('9')), MenuResult::Unknown);
        assert_eq!(press(&mut menu(), KeyCode::Char('x')), MenuResult::Unknown);
        assert_eq!(press(&mut menu(), KeyCode::Esc), MenuResult::Answered(MenuAnswer::Cancelled));
        let mut moved = menu();
        assert_eq!(press(&mut moved, KeyCode::Down), MenuResult::Taken);
        assert_eq!(press(&mut moved, KeyCode::Enter), chosen(1));
    }

    #[test]
    fn a_choice_that_takes_a_text() {
        let mut menu = menu();
        assert_eq!(press(&mut menu, KeyCode::Char('t')), MenuResult::Taken);
        assert_eq!(press(&mut menu, KeyCode::Char('y')), MenuResult::Taken);
        let (rows, cursor) = menu.rows(40);
        assert_eq!((rows.len(), cursor), (4, (3, 5)));
        let text = Some("y".to_owned());
        let answer = press(&mut menu, KeyCode::Enter);
        assert_eq!(answer, MenuResult::Answered(MenuAnswer::Chosen { index: 2, text }));
    }
}

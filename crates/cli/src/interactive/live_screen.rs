//! The live part of the terminal: the interface's model, drawn below the finished rows.
//!
//! Keys are drawn at once; output is drawn at most thirty times a second, which no eye can tell from more.

use std::io::{self, Stdout};
use std::time::Duration;

use dormouse_tui::action::UserAction;
use dormouse_tui::inline::{InlineTerminal, LiveStyles, WrapScroll};
use dormouse_tui::interface::{Interface, TurnPhase};
use dormouse_tui::keys::TerminalEvent;
use dormouse_tui::live::{LiveRow, rewrapped};
use dormouse_tui::menu::Choice;
use dormouse_tui::sequence::{RESTORE_TITLE, SAVE_TITLE, TerminalSequence};
use dormouse_tui::style::{Piece, Style};
use tokio::time::Instant;

use crate::terminal::tty;

use super::attention::{Attention, SessionActivity};
use super::dragged_image::dragged_image;
use super::file_suggestions::FileSuggestions;

/// How long output may wait to be drawn.
pub(crate) const FRAME: Duration = Duration::from_millis(33);

/// How long the user must not have typed before a menu gets the keys.
const PAUSE: Duration = Duration::from_millis(250);

/// The interface and the terminal it is drawn on.
#[derive(Debug)]
pub(crate) struct LiveScreen {
    interface: Interface,
    files: FileSuggestions,
    attention: Attention,
    terminal: InlineTerminal<Stdout>,
    columns: u16,
    /// Finished rows that were not drawn yet.
    finished: Vec<LiveRow>,
    /// The row that is being written.
    row: LiveRow,
    is_changed: bool,
    /// Whether nothing is drawn: the terminal is another program's, or more output follows at once.
    is_paused: bool,
    /// When a key was pressed or a menu opened.
    quiet_since: Instant,
}

impl LiveScreen {
    pub(crate) fn new(
        interface: Interface,
        files: FileSuggestions,
        attention: Attention,
        (styles, wrap_scroll): (LiveStyles, WrapScroll),
    ) -> Self {
        let (columns, rows) = tty::size();
        let terminal = InlineTerminal::new(io::stdout(), (columns, rows), styles);
        let mut terminal = terminal.with_wrap_scroll(wrap_scroll);
        if let Some(title) = attention.title() {
            let _gone = terminal.send(&format!("{SAVE_TITLE}{}", title.text()));
        }
        Self {
            interface,
            files,
            attention,
            terminal,
            columns,
            finished: Vec::new(),
            row: LiveRow::new(),
            is_changed: true,
            is_paused: false,
            quiet_since: Instant::now(),
        }
    }

    /// Columns of a row: the last one stays free, so that no terminal wraps a row.
    pub(crate) fn columns(&self) -> usize {
        usize::from(self.columns.max(2)) - 1
    }

    pub(crate) fn is_mid_row(&self) -> bool {
        !self.row.is_empty()
    }

    pub(crate) fn put(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            match piece {
                Piece::Newline => self.finished.push(std::mem::take(&mut self.row)),
                Piece::Text(text, style) => self.put_text(text, *style),
            }
        }
        self.interface.set_tail(self.row.clone());
        self.is_changed = true;
        // A turn has its frames; otherwise nobody else draws.
        if self.interface.phase() == TurnPhase::Idle {
            self.draw();
        }
    }

    /// Sets the row that is being written, and returns the one before.
    pub(crate) fn replace_row(&mut self, row: LiveRow) -> LiveRow {
        self.interface.set_tail(row.clone());
        self.is_changed = true;
        std::mem::replace(&mut self.row, row)
    }

    /// A line break within a text starts a row as well.
    fn put_text(&mut self, text: &str, style: Style) {
        for (at, line) in text.split('\n').enumerate() {
            if at > 0 {
                self.finished.push(std::mem::take(&mut self.row));
            }
            if !line.is_empty() {
                self.row.push((line.to_owned(), style));
            }
        }
    }

    /// Changes the model; it is drawn with the next frame.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Interface)) {
        change(&mut self.interface);
        self.is_changed = true;
    }

    /// Shows what the turn does; nothing is drawn where that is not new.
    pub(crate) fn show_progress(&mut self, progress: &str, mode: Option<&str>) {
        self.is_changed |= self.interface.set_progress(progress);
        self.is_changed |= self.interface.set_mode(mode);
    }

    /// Whether a frame would draw something, or a menu waits for a pause.
    pub(crate) fn wants_frame(&self) -> bool {
        (self.is_changed && !self.is_paused) || self.interface.menu_waits()
    }

    /// Whether the user wanted to leave when the turn ends.
    pub(crate) fn leaves(&mut self) -> bool {
        self.interface.leaves()
    }

    /// The next message of the queue.
    pub(crate) fn next_queued(&mut self) -> Option<String> {
        let text = self.interface.next_queued()?;
        self.is_changed = true;
        Some(text)
    }

    /// Asks with a menu. It gets the keys once the user has paused: nobody answers what they have not seen.
    pub(crate) fn ask(&mut self, choices: Vec<Choice>) {
        self.quiet_since = Instant::now();
        self.change(|interface| interface.ask(choices));
        self.draw();
    }

    /// Asks the next question of one that was just answered: the user looks at it already.
    pub(crate) fn ask_next(&mut self, choices: Vec<Choice>) {
        self.change(|interface| {
            interface.ask(choices);
            interface.focus_menu();
        });
        self.draw();
    }

    /// The session does something else: the title says so, and a user who looks elsewhere is told.
    pub(crate) fn set_activity(&mut self, activity: SessionActivity) {
        let phase = match activity {
            SessionActivity::Idle => TurnPhase::Idle,
            SessionActivity::Working | SessionActivity::Asking => TurnPhase::Running,
        };
        if phase != self.interface.phase() {
            self.change(|interface| interface.set_phase(phase));
        }
        for sequence in self.attention.changed(activity, Instant::now()) {
            self.send(&sequence);
        }
    }

    /// Sends a sequence that draws nothing. A terminal that cannot be written to is noticed by the next read.
    pub(crate) fn send(&mut self, sequence: &TerminalSequence) {
        let _gone = self.terminal.send(&sequence.text());
    }

    /// Sends what a hook has for the terminal, if all of it is allowed.
    pub(crate) fn send_allowed(&mut self, text: &str) {
        let sequences = TerminalSequence::allowed(text).unwrap_or_default();
        for sequence in sequences {
            self.send(&sequence);
        }
    }

    /// Draws a frame.
    pub(crate) fn frame(&mut self) {
        if self.interface.menu_waits() && self.quiet_since.elapsed() >= PAUSE {
            self.change(Interface::focus_menu);
        }
        self.draw();
    }

    /// Draws what has changed. A terminal that cannot be written to is noticed by the next read.
    pub(crate) fn draw(&mut self) {
        if self.is_changed && !self.is_paused {
            // The news of another size may be behind: a frame of the old size would stand in the wrong rows.
            self.take_size();
            let view = self.interface.view(self.columns);
            let finished = std::mem::take(&mut self.finished);
            let _gone = self.terminal.draw(&finished, &view);
            self.is_changed = false;
        }
    }

    /// Takes an event of the terminal.
    pub(crate) fn event(&mut self, event: &TerminalEvent) -> Option<UserAction> {
        if matches!(event, TerminalEvent::Key(_) | TerminalEvent::Paste(_)) {
            self.quiet_since = Instant::now();
            self.attention.key_pressed(self.quiet_since);
        }
        let action = match event {
            TerminalEvent::Key(key) => self.interface.key(*key),
            TerminalEvent::Paste(text) => {
                let dragged = dragged_image(text);
                self.interface.paste(dragged.as_deref().unwrap_or(text));
                None
            }
            TerminalEvent::Suggested(word, entries) => {
                self.interface.suggest_attachments(word, entries.clone());
                None
            }
            TerminalEvent::Resized => {
                self.take_size();
                None
            }
            TerminalEvent::Focus(focus) => {
                self.attention.set_focus(*focus);
                return None;
            }
        };
        self.files.ask(self.interface.wanted_attachment());
        self.is_changed = true;
        // What follows an action is drawn together with what the key did.
        if action.is_none() {
            self.draw();
        }
        action
    }

    /// Takes the terminal's size. Rows that are wider than it now are wrapped again: nothing of them may be lost.
    fn take_size(&mut self) {
        let size = tty::size();
        let is_narrower = size.0 < self.columns;
        self.columns = size.0;
        let _gone = self.terminal.resize(size);
        if is_narrower {
            let columns = self.columns();
            let mut rows: Vec<LiveRow> = std::mem::take(&mut self.finished)
                .iter()
                .flat_map(|row| rewrapped(row, columns))
                .collect();
            let mut row = rewrapped(&std::mem::take(&mut self.row), columns);
            self.row = row.pop().unwrap_or_default();
            rows.extend(row);
            self.finished = rows;
            self.interface.set_tail(self.row.clone());
        }
    }

    /// Draws nothing until [`Self::release`]: much output follows, which is drawn at once.
    pub(crate) fn hold(&mut self) {
        self.is_paused = true;
    }

    pub(crate) fn release(&mut self) {
        self.is_paused = false;
        self.draw();
    }

    /// Whether styles are drawn.
    pub(crate) fn styles(&mut self) -> LiveStyles {
        self.terminal.styles()
    }

    /// Leaves the terminal to another program: the cursor is at the start of a row.
    pub(crate) fn leave(&mut self) {
        self.draw();
        let _gone = self.terminal.clear();
        self.is_paused = true;
    }

    /// The terminal is ours again, with the cursor at the start of an empty row.
    pub(crate) fn come_back(&mut self) {
        self.terminal.forget();
        self.is_paused = false;
        self.is_changed = true;
        self.draw();
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        if !self.is_paused {
            self.leave();
        }
        if self.attention.title().is_some() {
            let _gone = self.terminal.send(RESTORE_TITLE);
        }
    }
}

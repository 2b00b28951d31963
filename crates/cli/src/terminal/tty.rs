//! Terminal modes and size.
//!
//! The terminal interface reads keys as they are ([`RawMode`]). In line mode the terminal does not echo ([`NoEcho`]): keys typed
//! during a turn wait for the next prompt.
//! Invariant: however the program ends, short of `kill -9`, the original modes are restored.

use std::io::{self, Read, Write};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, OutputModes, SpecialCodeIndex, Termios, tcgetattr,
    tcgetwinsize, tcsetattr,
};

/// The size of a terminal that does not report one, and the largest that is believed.
const DEFAULT_SIZE: (u16, u16) = (80, 24);
const LARGEST_SIZE: (u16, u16) = (1_000, 500);
/// Bracketed paste: pasted lines stay together.
const ENABLE_PASTE_MARKS: &str = "\x1b[?2004h";
/// The terminal tells when it gets or loses the focus.
const ENABLE_FOCUS_REPORTS: &str = "\x1b[?1004h";
/// Turns off bracketed paste, focus reports and colors.
const RESET: &str = "\x1b[?2004l\x1b[?1004l\x1b[0m";

/// The original modes, restored by the panic handler as well.
static ORIGINAL: OnceLock<Termios> = OnceLock::new();

/// Turns echo off until dropped.
#[derive(Debug)]
pub(crate) struct NoEcho {
    before: Termios,
}

impl NoEcho {
    pub(crate) fn enable() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        disable_echo(ORIGINAL.get_or_init(|| before.clone()))?;
        Ok(Self { before })
    }

    /// Turns echo off again after another program used the terminal.
    pub(crate) fn reapply(&self) -> io::Result<()> {
        write_sequence(ENABLE_PASTE_MARKS);
        disable_echo(&self.before)
    }
}

impl Drop for NoEcho {
    fn drop(&mut self) {
        restore();
    }
}

/// Reads a line from the terminal without showing it.
pub(crate) fn read_hidden_line() -> io::Result<String> {
    let before = tcgetattr(io::stdin())?;
    let mut modes = before.clone();
    // Ctrl-C arrives as a key: a signal would end the program with a terminal that shows nothing.
    modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
    tcsetattr(io::stdin(), OptionalActions::Drain, &modes)?;
    let line = read_typed_line();
    tcsetattr(io::stdin(), OptionalActions::Drain, &before)?;
    line
}

fn read_typed_line() -> io::Result<String> {
    let mut line = Vec::new();
    for byte in io::stdin().lock().bytes() {
        match byte? {
            b'\r' | b'\n' => break,
            0x03 | 0x04 => return Err(io::ErrorKind::Interrupted.into()),
            0x7f | 0x08 => drop(line.pop()),
            typed => line.push(typed),
        }
    }
    Ok(String::from_utf8_lossy(&line).into_owned())
}

/// Keys arrive as they are, Ctrl-C and Ctrl-Z too, until dropped.
#[derive(Debug)]
pub(crate) struct RawMode {
    before: Termios,
}

impl RawMode {
    pub(crate) fn enable() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let before = ORIGINAL.get_or_init(|| before).clone();
        let mode = Self { before };
        mode.reapply()?;
        Ok(mode)
    }

    /// Turns it on again after another program used the terminal.
    pub(crate) fn reapply(&self) -> io::Result<()> {
        let mut modes = self.before.clone();
        modes.make_raw();
        // A line feed still starts a new row, for whoever else writes.
        modes.output_modes |= OutputModes::OPOST | OutputModes::ONLCR;
        tcsetattr(io::stdin(), OptionalActions::Now, &modes)?;
        write_sequence(ENABLE_PASTE_MARKS);
        write_sequence(ENABLE_FOCUS_REPORTS);
        Ok(())
    }
}

impl Drop for RawMode {
    fn drop(&mut self) {
        restore();
    }
}

/// No echo and no line buffering: keys are kept as they are. Ctrl-C is still a signal.
fn disable_echo(before: &Termios) -> io::Result<()> {
    let mut modes = before.clone();
    modes.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN;
    modes.input_modes -= InputModes::ICRNL | InputModes::IXON;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(io::stdin(), OptionalActions::Drain, &modes)?)
}

/// Restores the original modes, if they were changed.
pub(crate) fn restore() {
    let Some(before) = ORIGINAL.get() else { return };
    write_sequence(RESET);
    // The terminal may be closed.
    let _gone = tcsetattr(io::stdin(), OptionalActions::Now, before);
}

/// Errors are ignored: the terminal may be closed.
fn write_sequence(sequence: &str) {
    let mut out = io::stdout().lock();
    let _gone = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
}

/// The width of the terminal.
pub(crate) fn columns() -> usize {
    usize::from(size().0)
}

/// Columns and rows of the terminal. One that says nothing sensible gets a usual size.
pub(crate) fn size() -> (u16, u16) {
    let said = tcgetwinsize(io::stdout()).map_or((0, 0), |size| (size.ws_col, size.ws_row));
    let columns = if said.0 == 0 { DEFAULT_SIZE.0 } else { said.0 };
    let rows = if said.1 == 0 { DEFAULT_SIZE.1 } else { said.1 };
    (columns.min(LARGEST_SIZE.0), rows.min(LARGEST_SIZE.1))
}

/// Takes the unread keys, so that they do not answer a permission prompt that appeared later.
pub(crate) fn typed_ahead() -> String {
    let mut typed = Vec::new();
    let input = io::stdin();
    loop {
        let mut ready = [PollFd::new(&input, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut piece = [0; 1024];
        match poll(&mut ready, Some(&now)) {
            Ok(count) if count > 0 => {}
            _ => break,
        }
        match rustix::io::read(&input, &mut piece) {
            Ok(count) if count > 0 => typed.extend(piece.iter().take(count)),
            _ => break,
        }
    }
    as_text(&typed)
}

/// Keys as text: Enter is a line break, and function keys are left out.
fn as_text(keys: &[u8]) -> String {
    let keys = String::from_utf8_lossy(keys).replace('\r', "\n");
    let mut text = String::new();
    let mut letters = keys.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\x1b' => skip_sequence(&mut letters),
            '\n' => text.push('\n'),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

/// Skips the rest of an escape sequence, as sent by arrow keys and bracketed paste.
fn skip_sequence(letters: &mut std::str::Chars<'_>) {
    match letters.next() {
        Some('[') => while letters.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
        Some('O') => drop(letters.next()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_are_no_letters_are_left_out() {
        let keys = "a\x1b[A\x1b[1;5Cb\x1bOHc\x1bxd\x7f\x1b[200~one\rtwo\x1b[201~\x1b";
        assert_eq!(as_text(keys.as_bytes()), "abcdone\ntwo");
        assert_eq!(as_text("睡鼠\r".as_bytes()), "睡鼠\n");
    }
}

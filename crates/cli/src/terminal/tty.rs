//! The terminal's own state: its size, and whether it echoes.
//!
//! While the program talks, the terminal does not echo: what is typed during a turn waits for the next
//! prompt. Invariant: however the program ends, short of `kill -9`, the terminal is left as it was.

use std::io::{self, Write};
use std::sync::OnceLock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize,
    tcsetattr,
};

/// Where the terminal does not say how wide it is.
const USUAL_COLUMNS: usize = 80;
/// What is pasted comes between marks, so that its lines stay together.
const MARK_PASTED: &str = "\x1b[?2004h";
/// The end of that, and of any colour.
const PLAIN_AGAIN: &str = "\x1b[?2004l\x1b[0m";

/// How the terminal was before, for a panic as well.
static BEFORE: OnceLock<Termios> = OnceLock::new();

/// A terminal that does not echo, until this is dropped.
#[derive(Debug)]
pub(crate) struct Quiet {
    before: Termios,
}

impl Quiet {
    pub(crate) fn begin() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        set_quiet(BEFORE.get_or_init(|| before.clone()))?;
        Ok(Self { before })
    }

    /// The same again, after the editor or somebody else had the terminal.
    pub(crate) fn again(&self) -> io::Result<()> {
        write_sequence(MARK_PASTED);
        set_quiet(&self.before)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        restore();
    }
}

/// No echo and no lines: keys wait as they are, Enter as the key it is. Ctrl-C is still a signal.
fn set_quiet(before: &Termios) -> io::Result<()> {
    let mut quiet = before.clone();
    quiet.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::IEXTEN;
    quiet.input_modes -= InputModes::ICRNL | InputModes::IXON;
    quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
    quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
    Ok(tcsetattr(io::stdin(), OptionalActions::Drain, &quiet)?)
}

/// Leaves the terminal as it was found; nothing where it was not touched.
pub(crate) fn restore() {
    let Some(before) = BEFORE.get() else { return };
    write_sequence(PLAIN_AGAIN);
    // A terminal that has gone away has no state to restore.
    let _gone = tcsetattr(io::stdin(), OptionalActions::Now, before);
}

/// A terminal that has gone away needs no sequence.
fn write_sequence(sequence: &str) {
    let mut out = io::stdout().lock();
    let _gone = out.write_all(sequence.as_bytes()).and_then(|()| out.flush());
}

/// How many columns there are.
pub(crate) fn columns() -> usize {
    let size = tcgetwinsize(io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    if size == 0 { USUAL_COLUMNS } else { size }
}

/// What was typed and not read yet: taken away, so that it does not answer a question that came after.
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

/// Keys as text: Enter is a line end, and keys that are no letters are left out.
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

/// Goes past what a key such as an arrow, or a mark around what was pasted, sends behind its escape.
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

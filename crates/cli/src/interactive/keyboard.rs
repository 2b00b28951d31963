//! The events of the terminal: keys, pastes and new sizes.
//!
//! The terminal is opened a second time for this: reading without waiting is then not a property of what other programs share.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use dormouse_tui::keys::{KeyParser, TerminalEvent};
use rustix::fs::{Mode, OFlags};
use tokio::net::unix::pipe::Receiver;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;

use super::file_suggestions::FittingFiles;

/// After this long an Esc is a key of its own, not the start of a sequence, and what was pasted without marks has ended.
const LONE_ESCAPE: Duration = Duration::from_millis(40);
/// The program's own terminal, by the name that every system has for it.
const OWN_TERMINAL: &str = "/dev/tty";
const PIECE: usize = 64 * 1024;

/// Reads the terminal's events, only while it is asked for one.
#[derive(Debug)]
pub(crate) struct Keyboard {
    /// A receiver of a pipe reads any file that can be waited for.
    terminal: Receiver,
    parser: KeyParser,
    /// When a sequence began that may be an Esc alone.
    undecided_since: Option<Instant>,
    sizes: Signal,
    /// What was found for `@`.
    files: UnboundedReceiver<FittingFiles>,
}

impl Keyboard {
    pub(crate) fn open(files: UnboundedReceiver<FittingFiles>) -> io::Result<Self> {
        let terminal = Receiver::from_file_unchecked(File::from(open_terminal()?))?;
        let sizes = signal(SignalKind::window_change())?;
        Ok(Self { terminal, parser: KeyParser::default(), undecided_since: None, sizes, files })
    }

    /// The next event; none if the terminal is closed. May be dropped and called again: nothing is lost.
    pub(crate) async fn next(&mut self) -> Option<io::Result<TerminalEvent>> {
        loop {
            if let Some(event) = self.parser.next_event() {
                return Some(Ok(event));
            }
            let since = if self.parser.is_undecided() {
                Some(*self.undecided_since.get_or_insert_with(Instant::now))
            } else {
                self.undecided_since = None;
                None
            };
            let decided = since.map(|since| since + LONE_ESCAPE);
            let pause = async {
                match decided {
                    Some(decided) => tokio::time::sleep_until(decided).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                read = read(&self.terminal) => match read {
                    Ok(bytes) if bytes.is_empty() => return None,
                    Ok(bytes) => {
                        self.undecided_since = None;
                        self.parser.feed(&bytes);
                    }
                    Err(error) => return Some(Err(error)),
                },
                _ = self.sizes.recv() => return Some(Ok(TerminalEvent::Resized)),
                Some((word, entries)) = self.files.recv() => {
                    return Some(Ok(TerminalEvent::Suggested(word, entries)));
                }
                () = pause => self.parser.pause(),
            }
        }
    }
}

/// What the terminal has; empty if it is closed.
async fn read(terminal: &Receiver) -> io::Result<Vec<u8>> {
    loop {
        terminal.readable().await?;
        let mut piece = vec![0; PIECE];
        match terminal.try_read(&mut piece) {
            Ok(count) => {
                piece.truncate(count);
                return Ok(piece);
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                _ => return Err(error),
            },
        }
    }
}

fn open_terminal() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    // By its real name first: not every system can wait for the other one.
    let named = rustix::termios::ttyname(io::stdin(), Vec::new());
    let opened = named.and_then(|name| rustix::fs::open(&name, flags, Mode::empty()));
    Ok(opened.or_else(|_| rustix::fs::open(OWN_TERMINAL, flags, Mode::empty()))?)
}

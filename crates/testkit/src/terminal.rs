//! A program in a pseudo-terminal: what a test types goes in, what a person would see comes out.
//!
//! Every byte is kept as well, so that a test can say what must never have been written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, SlavePty, native_pty_system};
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use vt100::{Parser, Screen};

use crate::gate::lock;
use crate::waiting::{HANGS, LOOK};

/// Rows that are kept once they have scrolled away.
const SCROLLED: usize = 10_000;
/// A command that terminals ignore.
const MARK: &[u8] = b"\x1b]7777;all was read\x07";

/// What came out so far.
struct Shown {
    parser: Parser,
    bytes: Vec<u8>,
    closed: bool,
}

/// A program that runs in a terminal. It is killed when this is dropped.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    /// Kept, so that the terminal's modes can be asked for after the program's end.
    _slave: Box<dyn SlavePty + Send>,
    child: Box<dyn Child + Send + Sync>,
    writer: Box<dyn Write + Send>,
    shown: Arc<(Mutex<Shown>, Condvar)>,
    ended: Option<u32>,
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

fn of_terminal(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).expect("a terminal has rows and columns")
}

impl Terminal {
    /// Starts a program in a terminal of this size.
    pub(crate) fn start(
        binary: &Path,
        arguments: &[&str],
        environment: &BTreeMap<OsString, OsString>,
        folder: &Path,
        (columns, rows): (u16, u16),
    ) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new(binary);
        command.args(arguments);
        command.env_clear();
        for (name, value) in environment {
            command.env(name, value);
        }
        command.cwd(folder);
        let child = pair.slave.spawn_command(command).expect("the program starts");
        let parser = Parser::new(of_terminal(rows), of_terminal(columns), SCROLLED);
        let shown = Shown { parser, bytes: Vec::new(), closed: false };
        let shown = Arc::new((Mutex::new(shown), Condvar::new()));
        let reader = pair.master.try_clone_reader().expect("a reader");
        read_into(reader, Arc::clone(&shown));
        let writer = pair.master.take_writer().expect("a writer");
        Self { master: pair.master, _slave: pair.slave, child, writer, shown, ended: None }
    }

    /// Types keys, as a terminal sends them.
    pub fn type_keys(&mut self, keys: &str) {
        self.writer.write_all(keys.as_bytes()).expect("the terminal takes keys");
        self.writer.flush().expect("the terminal takes keys");
    }

    /// Types a line and presses Enter.
    pub fn enter(&mut self, line: &str) {
        self.type_keys(&format!("{line}\r"));
    }

    /// Pastes text, as a terminal does that brackets it.
    pub fn paste(&mut self, text: &str) {
        self.type_keys(&format!("\x1b[200~{}\x1b[201~", text.replace('\n', "\r")));
    }

    /// Changes the terminal's size.
    pub fn resize(&self, columns: u16, rows: u16) {
        lock(&self.shown.0).parser.screen_mut().set_size(of_terminal(rows), of_terminal(columns));
        self.master.resize(size(columns, rows)).expect("the terminal takes the size");
    }

    /// Makes the terminal narrower as tmux does: rows that no longer fit are wrapped, and for each row that is added one scrolls
    /// away at the top, even where rows at the end are empty.
    pub fn narrow_like_tmux(&self, columns: u16) {
        let mut all = self.all_rows();
        let mut shown = lock(&self.shown.0);
        let (rows, _) = shown.parser.screen().size();
        let (row, column) = shown.parser.screen().cursor_position();
        let scrolled = shown.parser.screen().scrollback_len();
        // An empty row at the end counts.
        all.resize(scrolled + usize::from(rows.get()), String::new());
        let cursor = scrolled + usize::from(row);
        let mut wrapped: Vec<String> = Vec::new();
        let mut at = 0;
        for (number, row) in all.iter().enumerate() {
            if number == cursor {
                at = wrapped.len() + usize::from(column / columns);
            }
            let letters: Vec<char> = row.chars().collect();
            let mut pieces = letters.chunks(usize::from(columns)).map(String::from_iter);
            wrapped.push(pieces.next().unwrap_or_default());
            wrapped.extend(pieces);
        }
        let top = wrapped.len().saturating_sub(usize::from(rows.get()));
        // A cursor that has scrolled away is at the top.
        let (y, x) = at.checked_sub(top).map_or((0, 0), |y| (y, column % columns));
        let mut parser = Parser::new(rows, of_terminal(columns), SCROLLED);
        parser.process(wrapped.join("\r\n").as_bytes());
        parser.process(format!("\x1b[{};{}H", y + 1, x + 1).as_bytes());
        shown.parser = parser;
        drop(shown);
        self.master.resize(size(columns, rows.get())).expect("the terminal takes the size");
    }

    /// The visible rows, without blanks at their ends.
    pub fn screen(&self) -> String {
        visible(lock(&self.shown.0).parser.screen())
    }

    /// Looks at the screen as it is now, cell by cell.
    pub fn look<T>(&self, look: impl FnOnce(&Screen) -> T) -> T {
        look(lock(&self.shown.0).parser.screen())
    }

    /// All rows there have been, those that scrolled away first.
    pub fn all_rows(&self) -> Vec<String> {
        let mut shown = lock(&self.shown.0);
        let screen = shown.parser.screen_mut();
        let mut rows = Vec::new();
        for above in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(above);
            rows.extend(visible(screen).lines().next().map(str::to_owned));
        }
        screen.set_scrollback(0);
        rows.extend(visible(screen).lines().map(str::to_owned));
        rows
    }

    /// Every byte that was written.
    pub fn bytes(&self) -> Vec<u8> {
        lock(&self.shown.0).bytes.clone()
    }

    /// Waits until the screen is as wanted.
    #[track_caller]
    pub fn wait_for(&self, what: &str, wanted: impl Fn(&str) -> bool) {
        self.wait_for_screen(what, |screen| wanted(&visible(screen)));
    }

    /// Waits until the screen, with its cursor, is as wanted.
    #[track_caller]
    pub fn wait_for_screen(&self, what: &str, wanted: impl Fn(&Screen) -> bool) {
        let deadline = Instant::now() + HANGS;
        let mut shown = lock(&self.shown.0);
        loop {
            if wanted(shown.parser.screen()) {
                return;
            }
            let screen = visible(shown.parser.screen());
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero() && !shown.closed, "waited in vain for {what}\n{screen}");
            let woken = self.shown.1.wait_timeout(shown, left);
            shown = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until the cursor stands behind an empty prompt with one of these labels, and no turn runs: the row above is empty.
    #[track_caller]
    pub fn wait_for_prompt(&self, labels: &[&str]) {
        self.wait_for_screen("the prompt", |screen| {
            let (row, _) = screen.cursor_position();
            let (_, columns) = screen.size();
            let rows: Vec<String> =
                screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
            let at = |row: u16| rows.get(usize::from(row)).map_or("", String::as_str);
            let is_idle = row.checked_sub(1).is_none_or(|above| at(above).is_empty());
            is_idle && at(row).strip_suffix('>').is_some_and(|label| labels.contains(&label))
        });
    }

    /// Waits until this text is on the screen.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        self.wait_for(&format!("`{text}`"), |screen| screen.contains(text));
    }

    /// Waits for the program's end; gives its exit code.
    #[track_caller]
    pub fn wait(&mut self) -> u32 {
        let deadline = Instant::now() + HANGS;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                self.ended = Some(status.exit_code());
                self.read_all();
                return status.exit_code();
            }
            assert!(Instant::now() < deadline, "it does not end\n{}", self.screen());
            std::thread::sleep(LOOK);
        }
    }

    /// Waits until all output of a program that has ended was read: writes a mark behind it, and waits for that.
    #[track_caller]
    fn read_all(&self) {
        let name = self.master.tty_name().expect("a terminal has a name");
        let no_control = i32::try_from(OFlags::NOCTTY.bits()).expect("a flag");
        let behind = File::options().write(true).custom_flags(no_control).open(name);
        behind.and_then(|mut file| file.write_all(MARK)).expect("the terminal takes the mark");
        let deadline = Instant::now() + HANGS;
        let mut shown = lock(&self.shown.0);
        // The terminal may echo keys behind it that the program has not taken.
        let marked = loop {
            if let Some(at) = shown.bytes.windows(MARK.len()).rposition(|part| part == MARK) {
                break at;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let end = shown.bytes.len().saturating_sub(200);
            assert!(!left.is_zero(), "it ends with {}", shown.bytes[end..].escape_ascii());
            let woken = self.shown.1.wait_timeout(shown, left);
            shown = woken.unwrap_or_else(PoisonError::into_inner).0;
        };
        shown.bytes.drain(marked..marked + MARK.len());
    }

    /// The program's process id.
    pub fn id(&self) -> u32 {
        self.child.process_id().expect("it runs")
    }

    /// Makes the terminal echo again, as a shell does when a program was stopped.
    pub fn make_sane(&self) {
        let name = self.master.tty_name().expect("a terminal has a name");
        let status = Command::new("stty").arg("-F").arg(name).arg("sane").status();
        assert!(status.expect("stty runs").success());
    }

    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.id()).ok().and_then(Pid::from_raw).expect("a process id");
        // One that has ended already does not mind.
        let _ = kill_process(id, signal);
    }

    /// Whether the terminal echoes what is typed and hands it over line by line, as a shell expects it.
    pub fn is_sane(&self) -> bool {
        let modes = format!("{:?}", self.master.get_termios().expect("a terminal's modes"));
        let local = modes.split("local_flags: LocalFlags(").nth(1).unwrap_or_default();
        let local = local.split(')').next().unwrap_or_default();
        ["ECHO", "ICANON", "ISIG"].iter().all(|flag| local.split(" | ").any(|set| set == *flag))
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if self.ended.is_none() {
            // It may have ended by itself meanwhile.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

fn read_into(mut reader: Box<dyn Read + Send>, shown: Arc<(Mutex<Shown>, Condvar)>) {
    std::thread::spawn(move || {
        let mut piece = [0; 8 * 1024];
        loop {
            let count = reader.read(&mut piece).unwrap_or(0);
            let mut state = lock(&shown.0);
            state.parser.process(&piece[..count]);
            state.bytes.extend_from_slice(&piece[..count]);
            state.closed = count == 0;
            shown.1.notify_all();
            if count == 0 {
                return;
            }
        }
    });
}

fn visible(screen: &Screen) -> String {
    let (_, columns) = screen.size();
    let rows: Vec<String> =
        screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
    rows.join("\n")
}

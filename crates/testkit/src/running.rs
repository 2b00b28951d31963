//! A program started by a test: what it prints is collected while it runs, and it never outlives its
//! watchdog.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::gate::lock;
use crate::waiting::{HANGS, LOOK};

/// Written into a pipe behind all that a program has printed.
const MARK: &[u8] = b"\x1b]7777;all was read\x07";

/// What a program left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl Output {
    /// Panics, with all that was printed, unless the exit code is this one.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert!(
            self.code == Some(code),
            "exit code {:?} (signal {:?}), not {code}\n--- stdout\n{}\n--- stderr\n{}",
            self.code,
            self.signal,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Panics, with all that was printed, unless the exit code is 0.
    #[track_caller]
    pub fn success(&self) -> &Self {
        self.expect_code(0)
    }
}

/// What came out of a pipe so far.
#[derive(Debug, Default)]
struct Pipe {
    bytes: Vec<u8>,
    closed: bool,
}

/// A pipe that a thread reads from.
#[derive(Debug, Clone)]
struct Collected {
    read: Arc<(Mutex<Pipe>, Condvar)>,
    /// The pipe's end, also after the thread has read all.
    pipe: Arc<OwnedFd>,
}

impl Collected {
    fn from(mut reader: impl Read + AsFd + Send + 'static) -> Self {
        let pipe = reader.as_fd().try_clone_to_owned().expect("a pipe can be shared");
        let collected = Self { read: Arc::default(), pipe: Arc::new(pipe) };
        let shared = Arc::clone(&collected.read);
        std::thread::spawn(move || {
            let mut piece = [0; 8 * 1024];
            loop {
                let count = reader.read(&mut piece).unwrap_or(0);
                let mut pipe = lock(&shared.0);
                pipe.bytes.extend_from_slice(&piece[..count]);
                pipe.closed = count == 0;
                shared.1.notify_all();
                if pipe.closed {
                    return;
                }
            }
        });
        collected
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.read.0).bytes).into_owned()
    }

    /// Waits until what was read is as wanted; whether it was in time. A closed pipe is waited for no more.
    fn wait(&self, wanted: impl Fn(&Pipe) -> bool) -> bool {
        let deadline = Instant::now() + HANGS;
        let mut pipe = lock(&self.read.0);
        loop {
            if wanted(&pipe) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || pipe.closed {
                return false;
            }
            let woken = self.read.1.wait_timeout(pipe, left);
            pipe = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wait_for_text(&self, wanted: impl Fn(&str) -> bool) -> bool {
        self.wait(|pipe| wanted(&String::from_utf8_lossy(&pipe.bytes)))
    }

    /// Waits until all was read that is in the pipe now. Children of the program may keep it open for long, so a mark is
    /// written behind it, and waited for.
    fn read_all(&self) {
        let path = format!("/proc/self/fd/{}", self.pipe.as_raw_fd());
        let mut behind = File::options().write(true).open(path).expect("a pipe has another end");
        behind.write_all(MARK).expect("the pipe takes the mark");
        drop(behind);
        let place = |pipe: &Pipe| pipe.bytes.windows(MARK.len()).rposition(|part| part == MARK);
        assert!(self.wait(|pipe| pipe.closed || place(pipe).is_some()), "the output never ends");
        let mut pipe = lock(&self.read.0);
        if let Some(at) = place(&pipe) {
            pipe.bytes.drain(at..at + MARK.len());
        }
    }
}

/// A program that runs. It leads a process group of its own, which is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Collected,
    stderr: Collected,
    status: Option<ExitStatus>,
    started: Instant,
}

impl Running {
    /// Starts a program, with pipes for all three of its standard files.
    pub(crate) fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{} does not start: {error}", command.get_program().display())
        });
        let stdout = Collected::from(child.stdout.take().expect("a pipe"));
        let stderr = Collected::from(child.stderr.take().expect("a pipe"));
        let stdin = child.stdin.take();
        Self { child, stdin, stdout, stderr, status: None, started: Instant::now() }
    }

    /// The process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// What it has complained about so far.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Types something. A program that reads no more is no error.
    pub fn type_text(&mut self, text: &str) {
        if let Some(stdin) = &mut self.stdin {
            drop(stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()));
        }
    }

    /// Ends its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends what Ctrl-C sends, to the process alone.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Kills it in the way that it can not prevent.
    pub fn kill9(&self) {
        self.signal(Signal::KILL);
    }

    /// Sends a signal to the process; one that has ended already does not mind.
    pub fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            let _ = kill_process(Pid::from_child(&self.child), signal);
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().expect("a child can be waited for");
        }
        self.status.is_some()
    }

    /// Waits until what it printed is as wanted.
    #[track_caller]
    pub fn wait_for_stdout(&self, wanted: impl Fn(&str) -> bool) {
        let came = self.stdout.wait_for_text(wanted);
        assert!(came, "stdout never got there\n{}", self.printed());
    }

    /// Waits until what it complained about is as wanted.
    #[track_caller]
    pub fn wait_for_stderr(&self, wanted: impl Fn(&str) -> bool) {
        let came = self.stderr.wait_for_text(wanted);
        assert!(came, "stderr never got there\n{}", self.printed());
    }

    /// Waits for its end. One that hangs is killed, and the test fails.
    #[track_caller]
    pub fn wait(mut self) -> Output {
        self.stdin = None;
        while !self.has_ended() {
            if self.started.elapsed() > HANGS {
                self.kill_group();
                panic!("still running after {HANGS:?}; killed\n{}", self.printed());
            }
            std::thread::sleep(LOOK);
        }
        for pipe in [&self.stdout, &self.stderr] {
            pipe.read_all();
        }
        let status = self.status.expect("it has ended");
        Output {
            stdout: self.stdout(),
            stderr: self.stderr(),
            code: status.code(),
            signal: status.signal(),
        }
    }

    fn printed(&self) -> String {
        format!("--- stdout\n{}\n--- stderr\n{}", self.stdout(), self.stderr())
    }

    fn kill_group(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.status = self.child.wait().ok();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Once the leader has been waited for, its id may belong to somebody else.
        if self.status.is_none() {
            self.kill_group();
        }
    }
}

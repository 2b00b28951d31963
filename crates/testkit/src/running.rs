//! A program started by a test: what it prints is collected while it runs, and it never outlives its
//! watchdog.

use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::gate::{PATIENCE, lock};

/// How long a program may run.
const WATCHDOG: Duration = Duration::from_mins(1);
/// How often it is looked at.
const LOOK: Duration = Duration::from_millis(5);
/// How long its pipes may stay open after it, in the hands of its children.
const LINGER: Duration = Duration::from_secs(2);

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
#[derive(Debug, Clone, Default)]
struct Collected(Arc<(Mutex<Pipe>, Condvar)>);

impl Collected {
    fn from(mut reader: impl Read + Send + 'static) -> Self {
        let collected = Self::default();
        let shared = collected.clone();
        std::thread::spawn(move || {
            let mut piece = [0; 8 * 1024];
            loop {
                let count = reader.read(&mut piece).unwrap_or(0);
                let mut pipe = lock(&shared.0.0);
                pipe.bytes.extend_from_slice(&piece[..count]);
                pipe.closed = count == 0;
                shared.0.1.notify_all();
                if pipe.closed {
                    return;
                }
            }
        });
        collected
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&lock(&self.0.0).bytes).into_owned()
    }

    /// Waits until the text is as wanted; whether it was in time. A closed pipe is waited for no more.
    fn wait(&self, patience: Duration, wanted: impl Fn(&str, bool) -> bool) -> bool {
        let deadline = Instant::now() + patience;
        let mut pipe = lock(&self.0.0);
        loop {
            if wanted(&String::from_utf8_lossy(&pipe.bytes), pipe.closed) {
                return true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || pipe.closed {
                return false;
            }
            let woken = self.0.1.wait_timeout(pipe, left);
            pipe = woken.unwrap_or_else(PoisonError::into_inner).0;
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

    /// Waits until what it printed is as wanted.
    #[track_caller]
    pub fn wait_for_stdout(&self, wanted: impl Fn(&str) -> bool) {
        let came = self.stdout.wait(PATIENCE, |text, _| wanted(text));
        assert!(came, "stdout never got there\n{}", self.printed());
    }

    /// Waits until what it complained about is as wanted.
    #[track_caller]
    pub fn wait_for_stderr(&self, wanted: impl Fn(&str) -> bool) {
        let came = self.stderr.wait(PATIENCE, |text, _| wanted(text));
        assert!(came, "stderr never got there\n{}", self.printed());
    }

    /// Waits for its end. One that takes more than a minute is killed, and the test fails.
    #[track_caller]
    pub fn wait(mut self) -> Output {
        self.stdin = None;
        while self.status.is_none() {
            self.status = self.child.try_wait().expect("a child can be waited for");
            if self.status.is_none() && self.started.elapsed() > WATCHDOG {
                self.kill_group();
                panic!("still running after {WATCHDOG:?}; killed\n{}", self.printed());
            }
            if self.status.is_none() {
                std::thread::sleep(LOOK);
            }
        }
        for pipe in [&self.stdout, &self.stderr] {
            pipe.wait(LINGER, |_, closed| closed);
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

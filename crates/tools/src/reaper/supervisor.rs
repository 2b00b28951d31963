//! The reaper itself: the program, started a second time, with one command below it.
//!
//! Invariant: it ends when nothing is left below it, and not before; once the other end of its socket is
//! closed, it sees to it that this is soon. It leads a session of its own, so that the command has no
//! terminal to wait at, and a closed terminal does not end the reaper first.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;
use std::{io, thread};

use dormouse_sandbox::SandboxPolicy;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use super::message::{NO_SANDBOX, ReaperMessage, receive_files};
use crate::platform::{adopt_orphans, descendants};

/// Between asking everything to end and ending it.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// How often what is left is ended, and looked for.
const POLL: Duration = Duration::from_millis(20);

/// Runs the command that the arguments name, and watches over what it starts.
pub(super) fn run(mut command: impl Iterator<Item = OsString>) -> ExitCode {
    let policy = command.next().unwrap_or_default();
    // It fails for the leader of a group, who can do without.
    let _own_session = rustix::process::setsid();
    adopt_orphans();
    match restrict(&policy).and_then(|()| start(command)) {
        Ok(group) => {
            tell(ReaperMessage::Started(group.as_raw_nonzero().get()));
            thread::spawn(move || end_when_released(group));
            wait_for_all(group);
            ExitCode::SUCCESS
        }
        Err(error) => {
            tell(ReaperMessage::Failed(
                error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error()),
            ));
            ExitCode::FAILURE
        }
    }
}

/// Enters the sandbox that the policy describes. A command is never started without the one it should have.
fn restrict(policy: &OsStr) -> io::Result<()> {
    if policy == NO_SANDBOX {
        return Ok(());
    }
    let policy: SandboxPolicy = serde_json::from_slice(policy.as_encoded_bytes())?;
    dormouse_sandbox::enter(&policy).map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))
}

#[expect(clippy::disallowed_methods, reason = "folder and environment are those of the reaper")]
fn start(mut command: impl Iterator<Item = OsString>) -> io::Result<Pid> {
    let program = command.next().ok_or(io::ErrorKind::InvalidInput)?;
    let [stdin, stdout, stderr] = receive_files(io::stdin())?;
    let child = Command::new(program)
        .args(command)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0)
        .spawn()?;
    Ok(Pid::from_child(&child))
}

/// Waits until nothing is left, and tells when the command itself has ended.
fn wait_for_all(group: Pid) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((process, status))) if process == group => {
                tell(ReaperMessage::Ended(ExitStatus::from_raw(status.as_raw())));
            }
            Ok(_) | Err(Errno::INTR) => {}
            // There is no child any more.
            Err(_) => break,
        }
    }
    // Where orphans are not adopted, the group may still have members.
    while rustix::process::test_kill_process_group(group).is_ok() {
        thread::sleep(POLL);
    }
}

/// Whoever started us speaks once; whatever comes next is the end.
fn end_when_released(group: Pid) {
    let mut byte = [0];
    while rustix::io::read(control().as_fd(), &mut byte) == Err(Errno::INTR) {}
    signal_all(group, Signal::TERM);
    // One that is stopped hears nothing before it goes on.
    signal_all(group, Signal::CONT);
    thread::sleep(TERM_GRACE);
    loop {
        signal_all(group, Signal::KILL);
        thread::sleep(POLL);
    }
}

/// Each once: where it is not known who is below, all of the group. The only failure is that a process
/// has ended meanwhile, or belongs to somebody else.
fn signal_all(group: Pid, signal: Signal) {
    let below = descendants(rustix::process::getpid());
    if below.is_empty() {
        let _gone = rustix::process::kill_process_group(group, signal);
    }
    for process in below {
        let _gone = rustix::process::kill_process(process, signal);
    }
}

/// Whoever started us may be gone; then nobody needs to know.
fn tell(message: ReaperMessage) {
    let _gone = rustix::io::write(control().as_fd(), &message.to_bytes());
}

/// The socket, which stands where standard input would.
fn control() -> impl AsFd {
    io::stdin()
}

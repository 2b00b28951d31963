//! The commands that a command amounts to, for rules that restrict: `nice rm x`, `/bin/rm x` and `sh -c 'rm x'` all run
//! `rm x`.
//!
//! Takes too much rather than too little: behind a program that starts others, every word may be the program. A deny rule
//! that applies once too often costs a confirmation.

use super::commands;

/// Programs that start the program named in their arguments.
const STARTERS: &[&str] = &[
    "!",
    "builtin",
    "busybox",
    "chroot",
    "chrt",
    "command",
    "doas",
    "env",
    "exec",
    "find",
    "fakeroot",
    "firejail",
    "flatpak-spawn",
    "flock",
    "gdb",
    "ionice",
    "ltrace",
    "nice",
    "nohup",
    "nsenter",
    "numactl",
    "parallel",
    "perf",
    "pkexec",
    "prlimit",
    "proot",
    "rlwrap",
    "runuser",
    "script",
    "setarch",
    "setpriv",
    "setsid",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "taskset",
    "time",
    "timeout",
    "toybox",
    "unbuffer",
    "unshare",
    "valgrind",
    "watch",
    "xargs",
    "xvfb-run",
];
/// Programs that run their arguments as shell lines.
const SHELLS: &[&str] = &[
    "ash", "bash", "busybox", "dash", "eval", "fish", "ksh", "mksh", "parallel", "script", "sh",
    "ssh", "su", "watch", "zsh",
];
/// How often a line may contain another.
const DEEPEST: usize = 4;

/// What a command runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct StartedCommands {
    /// Words of each command, the program without its path.
    pub(crate) commands: Vec<Vec<String>>,
    /// Lines given to a shell that are not understood.
    pub(crate) unparsed: Vec<String>,
}

/// The command itself, without path and global flags, and all that it may start.
pub(crate) fn started_commands(words: &[&str]) -> StartedCommands {
    let mut started = StartedCommands::default();
    started.add(words, DEEPEST);
    started
}

impl StartedCommands {
    fn add(&mut self, words: &[&str], depth: usize) {
        let Some((program, arguments)) = words.split_first() else { return };
        let name = program.rsplit('/').next().unwrap_or(program);
        self.put(program, arguments);
        if name != *program {
            self.put(name, arguments);
        }
        if name == "git" {
            self.put(name, without_global_flags(arguments));
        }
        let Some(depth) = depth.checked_sub(1) else { return };
        if STARTERS.contains(&name) {
            for at in 0..arguments.len() {
                let rest = arguments.get(at..).unwrap_or_default();
                // Each further starter is looked at in its own turn: only the command itself counts here.
                let ends = rest.iter().position(|word| matches!(*word, ";" | "+"));
                self.add(rest.get(..ends.unwrap_or(rest.len())).unwrap_or_default(), 0);
            }
        }
        if SHELLS.contains(&name) {
            for line in arguments.iter().filter(|word| word.contains(char::is_whitespace)) {
                self.add_line(line, depth);
            }
            self.add_line(&arguments.join(" "), depth);
        }
    }

    fn add_line(&mut self, line: &str, depth: usize) {
        match commands(line) {
            Some(commands) => {
                for command in commands {
                    self.add(&command.words().collect::<Vec<_>>(), depth);
                }
            }
            None => self.unparsed.push(line.to_owned()),
        }
    }

    fn put(&mut self, program: &str, arguments: &[&str]) {
        let words = std::iter::once(&program).chain(arguments).map(|word| (*word).to_owned());
        self.commands.push(words.collect());
    }
}

/// The arguments of git from the subcommand on.
fn without_global_flags<'a>(arguments: &'a [&'a str]) -> &'a [&'a str] {
    const WITH_VALUE: [&str; 8] = [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--exec-path",
        "--super-prefix",
        "--config-env",
    ];
    let mut rest = arguments;
    while let Some((first, behind)) = rest.split_first() {
        if !first.starts_with('-') {
            break;
        }
        rest =
            if WITH_VALUE.contains(first) { behind.get(1..).unwrap_or_default() } else { behind };
    }
    rest
}

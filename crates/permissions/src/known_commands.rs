//! Commands that "always allow" offers as a whole: a program with a subcommand that starts nothing its arguments name,
//! apart from the flags listed with it.

use crate::shell::ShellCommand;

/// Subcommands of a program that do what they say.
struct KnownCommands {
    program: &'static str,
    subcommands: &'static [&'static str],
    flags: FlagStyle,
    /// Flags that name a program to start, or settings or a folder that do, or a file to write anywhere. A final `*` stands
    /// for any end.
    escapes: &'static [&'static str],
}

/// How a program reads `-ab`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlagStyle {
    /// As `-a -b`, or `-a` with the value `b`.
    Letters,
    /// As one name.
    Names,
}

const KNOWN: &[KnownCommands] = &[
    KnownCommands {
        program: "cargo",
        subcommands: &["bench", "build", "check", "clippy", "doc", "fmt", "test"],
        flags: FlagStyle::Letters,
        escapes: &[
            "--config",
            "-Z",
            "-C",
            "--manifest-path",
            "--target-dir",
            "--artifact-dir",
            "--lockfile-path",
            "--open",
        ],
    },
    KnownCommands {
        program: "git",
        subcommands: &["add", "stash"],
        flags: FlagStyle::Letters,
        // The settings name a program that filters what is shown.
        escapes: &["-p", "--patch", "-i", "--interactive", "-e", "--edit"],
    },
    KnownCommands {
        program: "git",
        subcommands: &["commit"],
        flags: FlagStyle::Letters,
        escapes: &["-S", "--gpg-sign", "-p", "--patch", "--interactive"],
    },
    KnownCommands {
        program: "go",
        subcommands: &["build", "fmt", "test", "vet"],
        flags: FlagStyle::Names,
        escapes: &[
            "-exec",
            "-toolexec",
            "-vettool",
            "-modfile",
            "-overlay",
            "-C",
            "-ldflags",
            "-gcflags",
            "-asmflags",
            "-gccgoflags",
            "-compiler",
            "-pkgdir",
            "-o",
            "-outputdir",
            "-trace",
            "-coverprofile",
            "-cpuprofile",
            "-memprofile",
            "-blockprofile",
            "-mutexprofile",
            "-test.*",
            "-args",
        ],
    },
    KnownCommands {
        program: "npm",
        subcommands: &["ci", "test"],
        flags: FlagStyle::Letters,
        escapes: PACKAGE_MANAGER,
    },
    KnownCommands {
        program: "pnpm",
        subcommands: &["test"],
        flags: FlagStyle::Letters,
        escapes: PACKAGE_MANAGER,
    },
    KnownCommands {
        program: "yarn",
        subcommands: &["test"],
        flags: FlagStyle::Letters,
        escapes: PACKAGE_MANAGER,
    },
];

const PACKAGE_MANAGER: &[&str] = &[
    "--script-shell",
    "--shell",
    "--node-options",
    "--node-gyp",
    "--git",
    "--prefix",
    "--dir",
    "-C",
    "--cwd",
    "--userconfig",
    "--globalconfig",
    "--use-yarnrc",
    "--config.*",
    "--editor",
    "--viewer",
    "--onload-script",
    "--global",
    "-g",
    "--registry",
    "--cache",
    "--store-dir",
    "--modules-dir",
];

impl KnownCommands {
    fn of(command: &ShellCommand) -> Option<&'static Self> {
        let mut words = command.words();
        let (program, subcommand) = (words.next()?, words.next()?);
        let mut known = KNOWN.iter().filter(|known| known.program == program);
        known.find(|known| known.subcommands.contains(&subcommand))
    }

    /// Whether a word is one of the escapes, with or without a value.
    fn is_escape(&self, word: &str) -> bool {
        let name = word.split_once('=').map_or(word, |(name, _)| name);
        let is_long = word.starts_with("--");
        self.escapes.iter().any(|flag| match (self.flags, flag.strip_suffix('*')) {
            (_, Some(beginning)) => {
                word.trim_start_matches('-').starts_with(beginning.trim_start_matches('-'))
            }
            // `--exec` and `-exec` are the same.
            (FlagStyle::Names, None) => {
                name.trim_start_matches('-') == flag.trim_start_matches('-')
            }
            // Long flags may be shortened.
            (FlagStyle::Letters, None) if is_long => flag.starts_with(name),
            (FlagStyle::Letters, None) => match flag.strip_prefix('-').unwrap_or(flag) {
                letter if letter.len() == 1 => word.contains(letter),
                _ => false,
            },
        })
    }
}

/// Program and subcommand of a command that can be offered as a whole.
pub(crate) fn known_prefix(command: &ShellCommand) -> Option<String> {
    let known = KnownCommands::of(command)?;
    let subcommand = command.words().nth(1)?;
    (!escapes(command, 2)).then(|| format!("{} {subcommand}", known.program))
}

/// Whether a known command has, behind its first words, a flag that makes it start or write something else.
pub(crate) fn escapes(command: &ShellCommand, allowed: usize) -> bool {
    let Some(known) = KnownCommands::of(command) else { return false };
    let behind = command.words().skip(allowed).take_while(|word| *word != "--");
    // A pattern may expand to any flag.
    command.has_open_pattern(allowed)
        || behind.filter(|word| word.starts_with('-')).any(|word| known.is_escape(word))
}

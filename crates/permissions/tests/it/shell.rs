//! The shell verdict against bash itself: what is refused does harm when run, what is called read-only
//! leaves every byte of a sandbox as it was.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dormouse_permissions::{SAFE_GIT_ENVIRONMENT, ShellVerdict, classify, commands};
use proptest::prelude::*;

use crate::shell_lines::HARMFUL;
use crate::shell_reads::{HARMLESS, HARMLESS_NOT_RUN, REFUSED};

/// A folder with everything a line can reach: its working folder, its home and its programs.
pub(crate) struct Sandbox {
    root: tempfile::TempDir,
}

const TOUCH: &str = "#!/bin/sh\ntouch \"$SANDBOX/work/x\"\n";
const MARK: &str = "#!/bin/sh\necho \"$0 $*\" >> \"$SANDBOX/marker\"\n";

impl Sandbox {
    /// The one that the others are copies of.
    pub(crate) fn template() -> Self {
        let sandbox = Self { root: tempfile::tempdir().unwrap() };
        for (name, content) in [
            ("work/a", "two\none\n"),
            ("work/b", "beta\n"),
            ("work/d/f", "in a folder\n"),
            ("work/data.json", "{\"k\": \"v\", \"list\": [1, 2]}\n"),
            ("work/five", "5\n"),
            ("work/magic", "0 string abc a file of letters\n"),
            ("work/writes.sed", "w x\n"),
            ("work/writes.awk", "{print > \"x\"}\n"),
            ("work/flags/-oout", ""),
            ("work/flags/data", "b\na\n"),
            ("work/finds/-delete", ""),
            ("work/uniqs/1", "same\nsame\n"),
            ("work/uniqs/2", "other\n"),
            ("work/seds/-i", ""),
            ("work/seds/t", "t\n"),
            ("work/tests/-v", ""),
            ("work/tests/y[$(touch x)]", ""),
            ("home/.keep", ""),
            ("tmp/.keep", ""),
        ] {
            sandbox.write(name, content);
        }
        sandbox.executable("work/run", TOUCH);
        sandbox.executable("work/5/ls", "#!/bin/sh\n: > \"$SANDBOX/work/x\"\n");
        sandbox.executable("bin/l\u{455}", TOUCH);
        sandbox.must_run(
            "git init -q -b main --template= . && git config user.name n && git config user.email e@x \
             && git add -A && git commit -qm one && git branch other && git tag v1 && echo more >> b && echo new > untracked",
        );
        sandbox
    }

    fn copy(&self) -> Self {
        let copy = Self { root: tempfile::tempdir().unwrap() };
        let source = format!("{}/.", self.root.path().display());
        let done = Command::new("cp").arg("-a").arg(source).arg(copy.root.path()).status().unwrap();
        assert!(done.success());
        copy
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.root.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn executable(&self, name: &str, content: &str) {
        self.write(name, content);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.root.path().join(name), mode).unwrap();
    }

    /// Programs in front of the real ones that leave a mark instead of changing the machine.
    fn with_stand_ins(self) -> Self {
        for name in ["date", "hostname", "tree", "rg", "fd"] {
            self.executable(&format!("bin/{name}"), MARK);
        }
        self
    }

    /// Runs a line to the end of everything that writes to its pipes.
    pub(crate) fn run(&self, line: &str, environment: &[(&str, &str)]) -> std::process::Output {
        let root = self.root.path();
        Command::new("bash")
            .args(["-c", line])
            .current_dir(root.join("work"))
            .env_clear()
            .env("PATH", format!("{}/bin:/usr/local/bin:/usr/bin:/bin", root.display()))
            .env("HOME", root.join("home"))
            .env("TMPDIR", root.join("tmp"))
            .env("SANDBOX", root)
            .env("DELETE", "-delete")
            .env("OUT", "-ox")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    pub(crate) fn must_run(&self, line: &str) {
        let output = self.run(line, &[]);
        assert!(output.status.success(), "{line}: {output:?}");
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.root.path().join(name).exists()
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root.path()).unwrap().to_owned()
    }

    /// Every path with its mode and content.
    fn snapshot(&self) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
        let mut found = BTreeMap::new();
        look(self.root.path(), &mut found);
        found.into_iter().map(|(path, state)| (self.relative(&path), state)).collect()
    }
}

fn look(folder: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let data = path.symlink_metadata().unwrap();
        let content = match data.file_type() {
            kind if kind.is_dir() => {
                look(&path, found);
                Vec::new()
            }
            kind if kind.is_symlink() => {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            }
            _ => std::fs::read(&path).unwrap(),
        };
        found.insert(path, (data.permissions().mode(), content));
    }
}

fn is_read_only(line: &str) -> bool {
    classify(line) == ShellVerdict::ReadOnly
}

#[test]
fn what_does_harm_is_refused_and_does_harm() {
    let template = Sandbox::template().with_stand_ins();
    let before = template.snapshot();
    let mut wrong = Vec::new();
    for line in HARMFUL {
        if is_read_only(line) {
            wrong.push(format!("called read-only: {line:?}"));
        }
        let sandbox = template.copy();
        let output = sandbox.run(line, &[]);
        if sandbox.snapshot() == before {
            wrong.push(format!("does no harm: {line:?}: {output:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_is_called_read_only_changes_nothing() {
    let sandbox = Sandbox::template();
    let before = sandbox.snapshot();
    let mut wrong = Vec::new();
    for line in HARMLESS {
        if let ShellVerdict::Changes { reason } = classify(line) {
            wrong.push(format!("refused: {line:?}: {reason}"));
        }
        let output = sandbox.run(line, SAFE_GIT_ENVIRONMENT);
        if sandbox.snapshot() != before {
            wrong.push(format!("changes something: {line:?}"));
        }
        if output.status.code().is_none_or(|code| code > 1 && !line.contains("missing")) {
            wrong.push(format!("does not run: {line:?}: {output:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn programs_that_need_not_be_there() {
    for line in HARMLESS_NOT_RUN {
        assert_eq!(classify(line), ShellVerdict::ReadOnly, "{line}");
    }
    for line in REFUSED {
        assert_ne!(classify(line), ShellVerdict::ReadOnly, "{line:?}");
    }
}

#[test]
fn reasons_name_the_part() {
    let check = |line: &str, expected: &str| match classify(line) {
        ShellVerdict::Changes { reason } => assert_eq!(reason.to_string(), expected, "{line}"),
        ShellVerdict::ReadOnly => panic!("{line} was called read-only"),
    };
    check("ls > x", "`>` writes to a file");
    check("find . -exec rm {} +", "`{` groups commands or stands for several words");
    check("find . -exec rm a ';'", "`find -exec` runs a program");
    check("ls && python3 x.py", "`python3` is not known as a read-only command");
    check("sort -o x a", "`sort -o` may do more than read");
    check("git branch new", "`git branch new` creates one; use `--list` to list them");
    check("sleep 1 &", "`&` leaves a command running in the background");
    check("LANG=C ls", "the line sets or unsets a variable");
    check("export LANG=C", "the line sets or unsets a variable");
    check("if true; then ls; fi", "the line contains a loop or a condition");
    check("! ls", "the operator `!` is not supported here");
    check("cat 'a", "the quote ' is not closed");
}

#[test]
fn commands_come_without_their_quotes() {
    let check = |line: &str, expected: &[&[&str]]| {
        let found = commands(line).unwrap_or_else(|| panic!("{line} is not understood"));
        let words: Vec<Vec<&str>> = found.iter().map(|command| command.words().collect()).collect();
        assert_eq!(words, expected, "{line}");
    };
    check(
        "git diff 'a b' && rm -rf \"c\\\"d\"",
        &[&["git", "diff", "a b"], &["rm", "-rf", "c\"d"]],
    );
    check("cargo test 2>&1 | tail -5", &[&["cargo", "test"], &["tail", "-5"]]);
    check("[ -f a ];ls *.rs", &[&["[", "-f", "a", "]"], &["ls", "*.rs"]]);
    check("echo \"a\\|b\" c\\ d ''", &[&["echo", "a\\|b", "c d", ""]]);
    for line in ["ls > x", "echo $(ls)", "A=1 $B", "ls &", "(ls)", "", "echo $HOME", "l\u{455}"] {
        assert_eq!(commands(line), None, "{line}");
    }
}

/// An assignment in front is a word like any other here, and no rule for `touch` matches it.
#[test]
fn an_assignment_is_never_taken_for_a_program() {
    assert!(commands("A=b touch x").is_none_or(|found| found[0].words().next() == Some("A=b")));
}

#[test]
fn long_and_deep_lines_are_refused_in_time() {
    let pieces =
        ["(", "{ ", "$(", "ls;", "ls &&", "\"", "'", "[ ", "a|", "ls && ls && ", "\\", "<<a "];
    for piece in pieces {
        for size in [9_000, 10_000, 100_000] {
            let (sender, verdicts) = std::sync::mpsc::channel();
            let line = piece.repeat(size / piece.len());
            let is_long = line.len() > 10_000;
            std::thread::spawn(move || sender.send(classify(&line)));
            let verdict = verdicts.recv_timeout(crate::HANGS);
            let verdict = verdict.unwrap_or_else(|_| panic!("{piece:?} {size} hangs"));
            assert!(!is_long || verdict != ShellVerdict::ReadOnly, "{piece:?}");
        }
    }
}

/// The programs of the table, written down a second time.
const TABLE: &str = "ls cat head tail wc nl tac rev cut paste column comm cmp tr fold fmt expand unexpand \
    grep egrep fgrep stat du df pwd cd echo true false basename dirname realpath readlink whoami id \
    groups uname arch nproc which type ps uptime free seq sum cksum md5sum sha1sum sha224sum sha256sum \
    sha384sum sha512sum b2sum hexdump od strings sort diff file rg fd fdfind tree uniq date hostname xxd \
    find test [ printf awk gawk mawk nawk jq sed git";

/// A crude second look: with everything quoted blanked out, nothing that could do harm is left.
fn looks_harmless(line: &str) -> bool {
    let mut text = String::new();
    let mut letters = line.chars();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (None, '\'' | '"') => {
                quote = Some(letter);
                text.push('_');
            }
            (None | Some('"'), '\\') => {
                letters.next();
                text.push('_');
            }
            (Some(open), letter) if letter == open => quote = None,
            (Some('"'), '$' | '`') => return false,
            (Some(_), _) => text.push('_'),
            (None, letter) => text.push(letter),
        }
    }
    for redirect in ["2>/dev/null", ">/dev/null", "2>&1", "</dev/null"] {
        text = text.replace(redirect, " ");
    }
    let text = text.replace("&&", ";").replace("||", ";").replace(['|', '\n'], ";");
    let clean = quote.is_none() && !text.contains(['$', '`', '<', '>', '&', '(', ')', '\r', '\0']);
    let program = |part: &str| {
        if part.split_whitespace().any(|word| word.starts_with('#')) {
            return false;
        }
        let name = part.split_whitespace().next().unwrap_or("ls");
        let name = name.trim_start_matches("/usr").trim_start_matches("/bin/");
        TABLE.split_whitespace().any(|known| known == name)
    };
    clean && text.split(';').all(program)
}

fn piece() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = HARMFUL.iter().chain(HARMLESS).chain(REFUSED).copied().collect();
    let pieces: Vec<String> = lines
        .iter()
        .flat_map(|line| line.split_inclusive([' ', '\n']))
        .map(str::to_owned)
        .collect();
    let glue = [
        "|",
        "&&",
        "||",
        ";",
        "&",
        "\n",
        " ",
        "'",
        "\"",
        "\\",
        "#",
        ">",
        "2>/dev/null",
        "{",
        "[",
        "$",
    ];
    prop_oneof![
        3 => proptest::sample::select(lines).prop_map(str::to_owned),
        4 => proptest::sample::select(pieces),
        3 => proptest::sample::select(glue.to_vec()).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn read_only_lines_also_look_harmless(pieces in proptest::collection::vec(piece(), 1..6)) {
        let line = pieces.concat();
        if is_read_only(&line) {
            prop_assert!(looks_harmless(&line), "{line:?}");
        }
    }

    #[test]
    fn harmless_lines_put_together_stay_harmless(
        lines in proptest::collection::vec(proptest::sample::select(HARMLESS), 1..5),
        glue in proptest::sample::select(&["\n", " ; ", " && ", " || "][..]),
    ) {
        let line = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join(glue);
        // The grammar takes a line break behind a pipeline for a blank now and then: such a line is
        // refused, which is the safe side.
        prop_assert!(is_read_only(&line) || glue == "\n" || line.contains(['<', '>']), "{line:?}");
        prop_assert!(looks_harmless(&line), "{line:?}");
    }

    #[test]
    fn no_text_is_too_strange(line in any::<String>()) {
        if is_read_only(&line) {
            prop_assert!(commands(&line).is_some());
        }
    }

    #[test]
    fn shell_like_text_is_not_too_strange(line in "[ls\"'\\\\$`(){}<>|&;#~*?!= \n\t\\[\\]a-c0-9-]{0,60}") {
        if is_read_only(&line) {
            prop_assert!(looks_harmless(&line), "{line:?}");
        }
    }
}

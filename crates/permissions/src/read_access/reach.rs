//! Which files a call can read, as far as its words say: through `cd`, patterns, recursion and links.
//!
//! Takes too much rather than too little: every word that could be a file is one. A path that does not exist is given too,
//! because a rule may deny it.

use std::path::{Component, Path, PathBuf};

use globset::GlobBuilder;

use super::git_index::tracked_files;
use crate::protected::lexical;
use crate::request::{Access, PermissionRequest};
use crate::shell::{ShellCommand, Word};

/// A place that a call can read; the path is absolute, with links resolved where it exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reach {
    /// This file or folder itself.
    Path(PathBuf),
    /// Every file below this folder.
    Below(PathBuf),
    /// The files below this folder that git has.
    Tracked(PathBuf),
}

impl Reach {
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Path(path) | Self::Below(path) | Self::Tracked(path) => path,
        }
    }

    /// A file that can be read here and for which this holds; the folder itself, if it has too many files to look at.
    pub(crate) fn find(&self, holds: impl Fn(&Path) -> bool) -> Option<PathBuf> {
        match self {
            Self::Path(path) => holds(path).then(|| path.clone()),
            Self::Below(folder) => find_below(folder, holds),
            Self::Tracked(folder) => tracked_files(folder).into_iter().find(|path| holds(path)),
        }
    }
}

/// Files that a search for a denied one looks at.
const MAX_FILES: usize = 50_000;

fn find_below(folder: &Path, holds: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = folder.read_dir() else { continue };
        for entry in entries.filter_map(Result::ok) {
            seen += 1;
            if seen > MAX_FILES {
                return Some(folder);
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    if entry.file_name() != ".git" {
                        folders.push(path);
                    }
                }
                Ok(_) | Err(_) if holds(&path) => return Some(path),
                Ok(_) | Err(_) => {}
            }
        }
    }
    None
}

/// Names that a pattern may stand for; further ones count as all files of the folder.
const MAX_NAMES: usize = 5_000;
/// Programs that print their arguments, or look at nothing that these name.
const NOT_READING: &[&str] = &[
    "echo", "printf", "basename", "dirname", "seq", "true", "false", "pwd", "whoami", "id",
    "uname", "which", "type", "date", "hostname", "expr",
];

/// Everything that a call can read.
pub(crate) fn reached(request: &PermissionRequest, home: Option<&Path>) -> Vec<Reach> {
    let mut reader = Reader { folder: request.folder.clone(), home, found: Vec::new() };
    match (&request.access, &request.path) {
        (Access::Runs(line), _) => match request.commands() {
            Some(commands) => commands.iter().for_each(|command| reader.add_command(command)),
            None => reader.add_unparsed(line),
        },
        (Access::Reads, Some(path)) => reader.add_place(path, request.searches()),
        (Access::Reads, None) if request.searches() => reader.add_place(&request.folder, true),
        _ => {}
    }
    reader.found.sort();
    reader.found.dedup();
    reader.found
}

struct Reader<'a> {
    /// The working directory, as far as `cd` has changed it.
    folder: PathBuf,
    home: Option<&'a Path>,
    found: Vec<Reach>,
}

impl Reader<'_> {
    fn add_command(&mut self, command: &ShellCommand) {
        let Some((program, arguments)) = command.words.split_first() else { return };
        let name = program.text.rsplit('/').next().unwrap_or_default();
        if matches!(name, "cd" | "pushd") {
            self.change_folder(arguments);
            return;
        }
        if NOT_READING.contains(&name) {
            return;
        }
        let recurses = recurses(name, arguments);
        let before = self.found.len();
        for word in arguments {
            self.add_word(word, recurses);
        }
        let found_folder =
            self.found.iter().skip(before).any(|reach| matches!(reach, Reach::Below(_)));
        if recurses && !found_folder {
            self.add_place(&self.folder.clone(), true);
        }
        if name == "git" && shows_contents(arguments) {
            self.found.push(Reach::Tracked(real(&self.folder)));
        }
    }

    fn change_folder(&mut self, arguments: &[Word]) {
        let operand = arguments.iter().find(|word| !word.text.starts_with('-'));
        let target = match operand {
            Some(word) if word.pattern => {
                let paths = self.expanded(&word.text).unwrap_or_default();
                paths.into_iter().next().unwrap_or_else(|| PathBuf::from("/"))
            }
            Some(word) => self.absolute(word),
            None => self.home.map_or_else(|| PathBuf::from("/"), Path::to_owned),
        };
        self.folder = target;
    }

    fn add_word(&mut self, word: &Word, recurses: bool) {
        if word.pattern {
            match self.expanded(&word.text) {
                Ok(paths) => paths.iter().for_each(|path| self.add_place(path, recurses)),
                Err(TooMany { folder }) => self.add_place(&folder, true),
            }
            return;
        }
        self.add_place(&self.absolute(word), recurses);
        // `--file=x`, and `HEAD:x` of git.
        for part in word.text.split(['=', ':']).skip(1).filter(|part| !part.is_empty()) {
            self.add_place(&self.folder.join(part), recurses);
        }
    }

    fn add_place(&mut self, path: &Path, recurses: bool) {
        let real = real(path);
        let lexical = lexical(path);
        if recurses && real.is_dir() {
            self.found.push(Reach::Below(real));
            return;
        }
        // A rule may name the link as well as where it leads.
        if lexical != real {
            self.found.push(Reach::Path(lexical));
        }
        self.found.push(Reach::Path(real));
    }

    /// A line that is not understood: all that could be a path in it.
    fn add_unparsed(&mut self, line: &str) {
        let between = |c: char| c.is_whitespace() || "'\"`$;|&<>(){}=,:".contains(c);
        for part in line.split(between).filter(|part| !part.is_empty()) {
            let path = self.in_home(part).unwrap_or_else(|| self.folder.join(part));
            self.add_place(&path, false);
        }
    }

    fn absolute(&self, word: &Word) -> PathBuf {
        let text = word.text.as_str();
        let in_home = word.bare.then(|| self.in_home(text)).flatten();
        in_home.unwrap_or_else(|| self.folder.join(text))
    }

    /// `~/x` as the shell reads it.
    fn in_home(&self, text: &str) -> Option<PathBuf> {
        let rest = text.strip_prefix('~')?;
        match rest.strip_prefix('/') {
            Some(below) => Some(self.home?.join(below)),
            None if rest.is_empty() => Some(self.home?.to_owned()),
            None => None,
        }
    }

    /// The files that a pattern stands for.
    fn expanded(&self, pattern: &str) -> Result<Vec<PathBuf>, TooMany> {
        let path = self.in_home(pattern).unwrap_or_else(|| self.folder.join(pattern));
        let mut found = vec![PathBuf::from("/")];
        for part in path.components() {
            let Component::Normal(name) = part else {
                if part == Component::ParentDir {
                    found = found.iter().map(|path| real(&path.join(".."))).collect();
                }
                continue;
            };
            let name = name.to_string_lossy();
            if !name.contains(['*', '?', '[']) {
                found = found.into_iter().map(|path| path.join(name.as_ref())).collect();
                continue;
            }
            let mut folders = found.iter();
            let folder = match (folders.next(), folders.next()) {
                (Some(only), None) => only.clone(),
                _ => PathBuf::from("/"),
            };
            found = found
                .iter()
                .flat_map(|folder| names_like(folder, &name))
                .take(MAX_NAMES + 1)
                .collect();
            if found.len() > MAX_NAMES {
                return Err(TooMany { folder });
            }
        }
        Ok(found)
    }
}

/// A pattern stands for too many files to look at each; they are all below this folder.
struct TooMany {
    folder: PathBuf,
}

/// The names in a folder that match a pattern, as the shell matches them: hidden ones only if the pattern says so.
fn names_like(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(glob) = GlobBuilder::new(pattern).literal_separator(true).build() else {
        return vec![folder.to_owned()];
    };
    let matcher = glob.compile_matcher();
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let matches =
        |name: &str| matcher.is_match(name) && (pattern.starts_with('.') || !name.starts_with('.'));
    entries
        .filter_map(Result::ok)
        .filter(|entry| matches(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect()
}

/// Whether a program reads the files below a folder that it is given.
fn recurses(program: &str, arguments: &[Word]) -> bool {
    let has = |letters: &[char], names: &[&str]| {
        arguments.iter().map(|word| word.text.as_str()).any(|text| match text.strip_prefix("--") {
            Some(long) => names.iter().any(|name| long.len() > 2 && name.starts_with(long)),
            None => text.starts_with('-') && text.contains(letters),
        })
    };
    match program {
        "rg" | "ag" | "ack" | "ugrep" | "tar" | "zip" => true,
        "grep" | "egrep" | "fgrep" => {
            has(&['r', 'R', 'd'], &["recursive", "dereference-recursive", "directories"])
        }
        "diff" => has(&['r'], &["recursive"]),
        "cp" | "rsync" | "scp" => has(&['r', 'R', 'a'], &["recursive", "archive"]),
        _ => false,
    }
}

/// Whether git prints what is in files.
fn shows_contents(arguments: &[Word]) -> bool {
    let mut words = arguments.iter().map(|word| word.text.as_str());
    let prints = ["show", "diff", "grep", "blame", "cat-file", "stash", "archive", "format-patch"];
    let Some(subcommand) = words.find(|word| !word.starts_with('-')) else { return false };
    let patch = |word: &str| {
        word == "-p" || word == "-u" || word.starts_with("-L") || word.starts_with("--patch")
    };
    prints.contains(&subcommand) || (subcommand == "log" && words.any(patch))
}

/// Where a path leads; itself, without `.` and `..`, if nothing is there.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| lexical(path))
}

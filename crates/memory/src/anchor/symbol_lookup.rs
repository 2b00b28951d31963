//! Looks up symbols that a text names without a file, in the project's files: once, when the memory is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ignore::WalkBuilder;

use super::project_file::has_symbol;

/// The most files that are looked at, their size, and their bytes together.
const MAX_FILES: usize = 5_000;
const MAX_FILE: u64 = 512 * 1024;
const MAX_BYTES: u64 = 50 * 1024 * 1024;

/// Words in front of a name where it is defined.
const DEFINING: &[&str] = &[
    "fn",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "func",
    "function",
    "const",
    "static",
    "let",
    "var",
    "type",
    "interface",
    "module",
    "mod",
    "macro_rules!",
    "#define",
];

/// The file of each symbol: the one that defines it, or else the only one that has it. A symbol of several files is left out.
pub(super) fn files_of(symbols: &BTreeSet<String>, project: &Path) -> BTreeMap<String, String> {
    let mut found: BTreeMap<&String, SymbolFiles> = BTreeMap::new();
    let (mut files, mut bytes) = (0, 0);
    for entry in WalkBuilder::new(project).build().flatten() {
        let Some(size) =
            entry.metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len())
        else {
            continue;
        };
        if files >= MAX_FILES || bytes >= MAX_BYTES || symbols.is_empty() {
            break;
        }
        if size > MAX_FILE {
            continue;
        }
        files += 1;
        bytes += size;
        // Binary files name no symbols.
        let Ok(text) = std::fs::read_to_string(entry.path()) else { continue };
        let below = entry.path().strip_prefix(project).ok().and_then(Path::to_str);
        let Some(path) = below else { continue };
        for symbol in symbols.iter().filter(|symbol| has_symbol(&text, symbol)) {
            found.entry(symbol).or_default().add(path, defines(&text, symbol));
        }
    }
    let decided = |(symbol, files): (&String, SymbolFiles)| Some((symbol.clone(), files.decide()?));
    found.into_iter().filter_map(decided).collect()
}

/// The files that have a symbol.
#[derive(Default)]
struct SymbolFiles {
    defining: Vec<String>,
    naming: Vec<String>,
}

impl SymbolFiles {
    fn add(&mut self, path: &str, is_defined: bool) {
        if is_defined { &mut self.defining } else { &mut self.naming }.push(path.to_owned());
    }

    fn decide(mut self) -> Option<String> {
        match (self.defining.len(), self.naming.len()) {
            (1, _) => self.defining.pop(),
            (0, 1) => self.naming.pop(),
            _ => None,
        }
    }
}

/// Whether a line defines the symbol.
fn defines(text: &str, symbol: &str) -> bool {
    text.lines().filter(|line| line.contains(symbol)).any(|line| {
        let mut words = line.split_whitespace().peekable();
        while let Some(word) = words.next() {
            if DEFINING.contains(&word)
                && words.peek().is_some_and(|name| {
                    name.strip_prefix(symbol).is_some_and(|rest| {
                        !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
                    })
                })
            {
                return true;
            }
        }
        false
    })
}

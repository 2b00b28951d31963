//! Anchors for the files of the project that a memory's text names, and for the symbols in them.

use std::collections::BTreeSet;

use dormouse_base::{Dir, EntryKind, RelPath};

use super::claim::Anchor;
use super::project_file::{has_symbol, hash_of, read};
use super::symbol_lookup::files_of;

/// Maximum number of anchors of one memory.
const MAX_ANCHORS: usize = 20;
/// Maximum number of words that are looked up as paths for one memory.
const MAX_WORDS: usize = 500;

/// The anchors of a memory's text. Only files and symbols that exist now become anchors.
pub fn extract(text: &str, project: &Dir, commit: Option<&str>) -> Vec<Anchor> {
    let commit = commit.map(str::to_owned);
    let symbols = symbols(text);
    let mut anchors = Vec::new();
    for path in paths(text, project) {
        let Some(bytes) = RelPath::new(&path).ok().and_then(|relative| read(project, &relative))
        else {
            continue;
        };
        let hash = hash_of(&bytes);
        let content = String::from_utf8_lossy(&bytes);
        let before = anchors.len();
        let here = symbols.iter().filter(|symbol| has_symbol(&content, symbol));
        anchors.extend(here.map(|symbol| Anchor {
            path: path.clone(),
            symbol: Some(symbol.clone()),
            hash: hash.clone(),
            commit: commit.clone(),
        }));
        if anchors.len() == before {
            anchors.push(Anchor { path, symbol: None, hash, commit: commit.clone() });
        }
    }
    anchors.extend(without_file(&symbols, &anchors, project, commit.as_deref()));
    anchors.truncate(MAX_ANCHORS);
    anchors
}

/// Anchors of the symbols that are in none of the named files.
fn without_file(
    symbols: &BTreeSet<String>,
    anchors: &[Anchor],
    project: &Dir,
    commit: Option<&str>,
) -> Vec<Anchor> {
    let known =
        |symbol: &&String| anchors.iter().any(|anchor| anchor.symbol.as_ref() == Some(symbol));
    let missing: BTreeSet<String> =
        symbols.iter().filter(|symbol| !known(symbol)).cloned().collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let anchor = |(symbol, path): (String, String)| {
        let bytes = RelPath::new(&path).ok().and_then(|relative| read(project, &relative))?;
        let commit = commit.map(str::to_owned);
        Some(Anchor { path, symbol: Some(symbol), hash: hash_of(&bytes), commit })
    };
    files_of(&missing, project.path()).into_iter().filter_map(anchor).collect()
}

/// Words that are paths of files in the project, with or without a line number (`src/a.rs:12`).
fn paths(text: &str, project: &Dir) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let words = text.split(is_separator).flat_map(|word| {
        // Texts without spaces put paths between characters that are no part of them.
        let is_mixed = !word.is_ascii();
        let within = word.split(|c: char| !c.is_ascii()).filter(move |_| is_mixed);
        std::iter::once(word).chain(within)
    });
    for word in words.filter(|word| !word.is_empty()).take(MAX_WORDS) {
        let word =
            word.trim_end_matches(['.', ':', '!', '?', ']', '*']).trim_start_matches(['[', '*']);
        let word = word.split_once(':').map_or(word, |(path, _)| path);
        let word = word.strip_prefix("./").unwrap_or(word);
        if !word.contains(['/', '.']) || word.contains("://") || !seen.insert(word.to_owned()) {
            continue;
        }
        let is_file = RelPath::new(word).is_ok_and(|path| {
            project.entry(&path).is_ok_and(|entry| entry.kind == EntryKind::File)
        });
        if is_file {
            found.push(word.to_owned());
        }
    }
    found
}

/// Blanks, quotation marks and punctuation around paths, also of Chinese and Japanese.
fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ';')
        || matches!(
            c,
            '，' | '。'
                | '、'
                | '；'
                | '：'
                | '（'
                | '）'
                | '「'
                | '」'
                | '『'
                | '』'
                | '《'
                | '》'
                | '“'
                | '”'
                | '‘'
                | '’'
        )
}

/// Texts in backticks that look like an identifier or a flag.
fn symbols(text: &str) -> BTreeSet<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter_map(symbol).collect()
}

fn symbol(quoted: &str) -> Option<String> {
    let name = quoted.trim().trim_end_matches("()");
    let name = name.rsplit("::").next().unwrap_or(name);
    let is_flag = name
        .strip_prefix("--")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()));
    let plain = |c: char| c.is_alphanumeric() || c == '_' || (is_flag && c == '-');
    let is_name = name.chars().count() >= 3
        && name.chars().all(plain)
        && (is_flag || name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
    is_name.then(|| name.to_owned())
}

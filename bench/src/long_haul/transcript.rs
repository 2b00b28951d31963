//! The transcript of a run: what stands where, and whether all prompts are in it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::coder::texts;
use super::errand::{prompt, turn_of};

/// The lines of a session's transcript, and the files beside it.
pub(super) struct Lines(Vec<String>);

impl Lines {
    /// Of the only session in a home.
    pub(super) fn of(home: &Path) -> Self {
        let path = find(&home.join("projects"));
        let text = path.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        Self(text.lines().map(str::to_owned).collect())
    }

    /// What stands at a place that a summary names: a line of the transcript, or a file.
    pub(super) fn at(&self, place: &str) -> Option<String> {
        match place.strip_prefix("line ") {
            None => fs::read_to_string(place).ok(),
            Some(line) => {
                let number: usize = line.split(' ').next()?.parse().ok()?;
                self.0.get(number.checked_sub(1)?).cloned()
            }
        }
    }

    /// The first of so many prompts that is not in it, word for word.
    pub(super) fn first_lost(&self, turns: usize) -> Option<usize> {
        let mut there = vec![false; turns];
        for line in self.0.iter().filter(|line| line.contains("\"#")) {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            for text in line.get("message").map(texts).unwrap_or_default() {
                if let Some(turn) = turn_of(text).filter(|turn| *text == prompt(*turn))
                    && let Some(there) = there.get_mut(turn)
                {
                    *there = true;
                }
            }
        }
        there.iter().position(|there| !there)
    }
}

fn find(folder: &Path) -> Option<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            folders.push(path);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            return Some(path);
        }
    }
    folders.iter().find_map(|folder| find(folder))
}

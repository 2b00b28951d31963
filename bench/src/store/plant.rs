//! Memory directories of any size, the same ones every time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::SystemClock;
use dormouse_memory::{Scope, Store, StoreOptions};
use tempfile::TempDir;

/// A memory directory that other programs made, and the place of its state.
pub(super) struct Planted {
    keep: TempDir,
    files: Vec<PathBuf>,
}

impl Planted {
    /// So many memories of 0.6 to 1.2 kB in one folder, and their index.
    pub(super) fn of(count: usize) -> Self {
        let keep = tempfile::tempdir().expect("a temporary folder");
        let folder = keep.path().join("memory");
        fs::create_dir(&folder).expect("a folder can be made");
        let mut index = String::from("# What is remembered\n\n");
        let mut files = Vec::with_capacity(count);
        for number in 0..count {
            let file = folder.join(format!("planted-{number}.md"));
            fs::write(&file, text(number)).expect("a file can be written");
            files.push(file);
            index.push_str(&format!(
                "- [Planted {number}](planted-{number}.md) — what is known of part {number}, in a few words\n"
            ));
        }
        fs::write(folder.join("MEMORY.md"), index).expect("a file can be written");
        Self { keep, files }
    }

    /// The memory directory.
    pub(super) fn folder(&self) -> PathBuf {
        self.keep.path().join("memory")
    }

    /// Its memories.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The store on it, with a state folder of this name.
    pub(super) fn store(&self, state: &str) -> Store {
        let options = StoreOptions::new(
            Scope::User,
            dormouse_secrets::scan,
            Arc::new(SystemClock::default()),
        );
        Store::open(&self.folder(), &self.state(state), options)
            .unwrap_or_else(|error| crate::fail::fail(&error.to_string()))
    }

    /// Where that state is.
    pub(super) fn state(&self, name: &str) -> PathBuf {
        self.keep.path().join(name)
    }

    /// A folder beside it, on the same disk.
    pub(super) fn beside(&self) -> &Path {
        self.keep.path()
    }
}

/// Every second one as a person writes it, every second one as the model leaves it.
fn text(number: usize) -> String {
    let mut text = format!(
        "---\nname: Planted {number}\ndescription: what is known of part {number}, in a few words\n\
         type: project\ncreated: \"2026-10-{:02}T08:00:00Z\"\n",
        number % 28 + 1
    );
    if number % 2 == 1 {
        text.push_str(&format!(
            "trust: concluded\nsource:\n  - 0193b0a4-{number:04}/0193b0a5-{number:04}\n\
             anchors:\n  - \"src/part_{number}.rs#parse 0123456789abcdef @abcdef0\"\n"
        ));
    }
    text.push_str("---\n\n");
    for line in 0..6 + number % 8 {
        text.push_str(&format!("Line {line} about part {number}: it is as it was found to be.\n"));
    }
    text.push_str("\n**Why:** it was asked for.\n\n**How to apply:** always.\n");
    text
}

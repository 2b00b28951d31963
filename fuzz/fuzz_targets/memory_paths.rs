//! Any text as a memory's path or name: refused, or a path that leads down to a markdown file.
#![no_main]

use dormouse_memory::{LONGEST_NAME, MemoryFile, unique_file};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(file) = MemoryFile::existing(text) {
        let parts: Vec<&str> = file.as_str().split('/').collect();
        assert!(parts.iter().all(|part| !part.is_empty() && !part.starts_with('.')));
        assert!(file.as_str().ends_with(".md"));
    }
    let name = unique_file(text, |_| false);
    assert!(name.len() <= LONGEST_NAME && MemoryFile::new(&name).is_ok());
});

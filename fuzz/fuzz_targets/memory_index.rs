//! Any text as an index: kept to the byte, within its limits when loaded, a line that is put is found once.
#![no_main]

use dormouse_memory::index::{Index, LOADED_BYTES, LOADED_LINES, Link, Rank, fill, load};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut index = Index::parse(text);
    assert_eq!(index.to_text(), text);
    let loaded = load(text, |file| if file.len() % 2 == 0 { Rank::Pinned } else { Rank::Rest });
    let size = fill(&loaded.text);
    assert!(size.lines <= LOADED_LINES && size.bytes <= LOADED_BYTES);
    index.put(&Link::new("Name", "a file.md", "hook"));
    assert!(index.find("a file.md").is_some());
});

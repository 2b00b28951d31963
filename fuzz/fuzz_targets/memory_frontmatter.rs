//! Any bytes as a memory: an entry, no panic; a key that is set is read, and the body stays.
#![no_main]

use dormouse_frontmatter as frontmatter;
use dormouse_memory::MemoryEntry;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    MemoryEntry::read(bytes, bytes.len() as u64);
    let text = String::from_utf8_lossy(bytes);
    frontmatter::parse_head(&text);
    if let Ok(changed) = frontmatter::set(&text, "name", "set: here") {
        let parsed = frontmatter::parse(&changed);
        assert_eq!(parsed.fields.text("name"), Some("set: here"));
        assert!(parsed.body.ends_with(frontmatter::parse(&text).body));
    }
});

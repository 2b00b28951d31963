//! The committed corpus of the fuzz targets, as ordinary tests of the same claims.

use std::fs;
use std::path::Path;

use dormouse_frontmatter as frontmatter;
use dormouse_memory::index::{
    IndexLimits, IndexLink, LOADED_BYTES, LOADED_LINES, LoadPriority, MemoryIndex, fill, load,
};
use dormouse_memory::{LONGEST_NAME, MemoryEntry, MemoryFile, unique_file};

fn each(target: &str, check: impl Fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = corpus.read_dir().unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        check(&fs::read(file.unwrap().path()).unwrap());
    }
}

#[test]
fn frontmatter_of_the_corpus() {
    each("memory_frontmatter", |bytes| {
        MemoryEntry::read(bytes, bytes.len() as u64);
        let text = String::from_utf8_lossy(bytes);
        frontmatter::parse_head(&text);
        if let Ok(changed) = frontmatter::set(&text, "name", "set: here") {
            let parsed = frontmatter::parse(&changed);
            assert_eq!(parsed.fields.text("name"), Some("set: here"));
            assert!(parsed.body.ends_with(frontmatter::parse(&text).body));
        }
    });
}

#[test]
fn indexes_of_the_corpus() {
    each("memory_index", |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let mut index = MemoryIndex::parse(&text);
        assert_eq!(index.to_text(), text);
        let loaded = load(&text, IndexLimits::FULL, |file| {
            if file.len().is_multiple_of(2) { LoadPriority::Pinned } else { LoadPriority::Rest }
        });
        let size = fill(&loaded.text);
        assert!(size.lines <= LOADED_LINES && size.bytes <= LOADED_BYTES);
        index.put(&IndexLink::new("Name", "a file.md", "hook"));
        assert!(index.find("a file.md").is_some());
    });
}

#[test]
fn paths_of_the_corpus() {
    each("memory_paths", |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        if let Ok(file) = MemoryFile::existing(&text) {
            assert!(
                file.as_str().split('/').all(|part| !part.is_empty() && !part.starts_with('.'))
            );
        }
        let name = unique_file(&text, |_| false);
        assert!(name.len() <= LONGEST_NAME && MemoryFile::new(&name).is_ok());
    });
}

//! A recalled memory as the model sees it: cut to a length, with its age and the state of the code it names.
//! The text is made once and stays the same.

use dormouse_context::RecalledMemoryText;
use dormouse_memory::{
    Anchor, AnchorCache, FoundMemory, MemoryEntry, anchor_caveat, beginning, check_anchors,
};
use jiff::Timestamp;

/// Reads a memory; none if it was removed since it was found.
pub(super) fn read(found: &FoundMemory, now: Timestamp) -> Option<RecalledMemoryText> {
    let (bytes, _) = found.store.read(&found.memory.file).ok()?;
    let entry = MemoryEntry::read(&bytes, bytes.len() as u64);
    let age = found.age(now);
    let path = found.path().display().to_string();
    let text = bounded(entry.body.trim(), &path);
    let about = match &entry.header.description {
        Some(description) => format!("{}: {description}", found.memory.name()),
        None => found.memory.name().to_owned(),
    };
    let anchors = found.store.project_root().and_then(|root| {
        let anchors: Vec<Anchor> =
            entry.header.anchors.iter().filter_map(|anchor| Anchor::parse(anchor)).collect();
        let states = check_anchors(root, &anchors, &mut AnchorCache::default());
        anchor_caveat(&anchors, &states)
    });
    let caveat: Vec<String> = age.caveat().into_iter().chain(anchors).collect();
    Some(RecalledMemoryText { path, age: age.to_string(), about, caveat: caveat.join(" "), text })
}

/// The beginning of a text, and how to read the rest.
fn bounded(text: &str, path: &str) -> String {
    let shown = beginning(text);
    match text.len() - shown.len() {
        0 => text.to_owned(),
        left => format!("{}\n[{left} more bytes: Read {path} shows all of it]", shown.trim_end()),
    }
}

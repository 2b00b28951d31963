//! A memory as it is shown: bounded, with its age and what has become of the code it names, in words
//! that are made once and never again.

use dormouse_context::RecalledMemoryText;
use dormouse_memory::{Age, Anchor, AnchorCache, Entry, anchor_caveat, beginning, check_anchors};
use jiff::Timestamp;

use crate::memory::FoundMemory;

/// Reads a memory; none if it is gone since it was found.
pub(super) fn read(found: &FoundMemory, now: Timestamp) -> Option<RecalledMemoryText> {
    let (bytes, _) = found.store.read(&found.memory.file).ok()?;
    let entry = Entry::read(&bytes, bytes.len() as u64);
    let age = Age::between(found.store.changed_at(&found.memory), now);
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

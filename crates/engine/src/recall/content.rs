//! A memory as it is shown: bounded, with its age and what has become of the code it names, in words
//! that are made once and never again.

use dormouse_context::RecalledMemory;
use dormouse_memory::{Age, Anchor, AnchorCache, Entry, anchor_caveat, check_anchors};
use jiff::Timestamp;

use crate::memory::Found;

/// The most of one memory.
const MOST_LINES: usize = 200;
const MOST_BYTES: usize = 4_096;

/// Reads a memory; none if it is gone since it was found.
pub(super) fn read(found: &Found, now: Timestamp) -> Option<RecalledMemory> {
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
    Some(RecalledMemory { path, age: age.to_string(), about, caveat: caveat.join(" "), text })
}

/// The beginning of a text, and how to read the rest.
fn bounded(text: &str, path: &str) -> String {
    let lines = text.lines().take(MOST_LINES);
    let end: usize =
        lines.map(|line| line.len() + 1).sum::<usize>().min(text.len()).min(MOST_BYTES);
    if end == text.len() {
        return text.to_owned();
    }
    let (head, _) = text.split_at(text.floor_char_boundary(end));
    // A line that is longer than all the others together is cut where it is.
    let at_a_line = head.rfind('\n').filter(|at| *at >= head.len() / 2);
    let kept = at_a_line.map_or(head, |at| head.split_at(at).0);
    let left = text.len() - kept.len();
    format!("{}\n[{left} more bytes: Read {path} shows all of it]", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_memories_are_cut_at_a_line() {
        let check = |text: String, kept: usize| {
            let shown = bounded(&text, "/m/a.md");
            let (body, note) = shown.rsplit_once('\n').unwrap();
            assert!(note.ends_with("more bytes: Read /m/a.md shows all of it]"), "{note}");
            assert_eq!(body.len(), kept, "{body}");
            assert!(text.starts_with(body));
        };
        assert_eq!(bounded("short", "p"), "short");
        assert_eq!(bounded(&"a\n".repeat(200), "p"), "a\n".repeat(200));
        check("a\n".repeat(201), 399);
        check(("睡鼠".repeat(10) + "\n").repeat(150), 4_096 / 61 * 61 - 1);
        check("睡".repeat(2_000), 4_095);
    }
}

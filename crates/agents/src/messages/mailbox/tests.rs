//! What was delivered is known from transcripts, one reads, torn and bad lines, parts.

use std::io::Write;
use std::path::Path;

use super::reader::MailboxLine as Line;
use super::*;
use crate::messages::test_support::{draft, mailboxes, name, text_of};

fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(|line| text_of(&line.message.as_ref().unwrap().draft)).collect()
}

fn session(number: u128) -> dormouse_base::SessionId {
    uuid::Uuid::from_u128(number).to_string().parse().unwrap()
}

/// A transcript in which these were delivered.
#[expect(clippy::disallowed_methods, reason = "the test writes a transcript by hand")]
fn deliver(folder: &Path, number: u128, lines: &[Line]) {
    let ids: Vec<&str> = lines.iter().map(|line| line.id.as_str()).collect();
    let line = serde_json::json!({
        "type": "user", "uuid": uuid::Uuid::from_u128(9), "sessionId": session(number).to_string(),
        "delivers": ids, "message": {"role": "user", "content": "x"},
    });
    std::fs::write(folder.join(format!("{}.jsonl", session(number))), format!("{line}\n")).unwrap();
}

#[test]
fn what_was_delivered_is_known_from_the_transcripts_of_all_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let boxes = mailboxes(folder.path());
    let bob = name("bob");
    assert!(matches!(boxes.post(&bob, draft("a", "x")), Err(MailboxError::Unknown { .. })));
    let reader = boxes.read_as(&bob, &[]).unwrap();
    for text in ["1", "2", "3", "4"] {
        boxes.post(&bob, draft("a", text)).unwrap();
    }
    // Nothing before it is written down who reads.
    assert!(reader.take_lines().unwrap().is_empty());
    reader.hold(session(1)).unwrap();
    let lines = reader.take_lines().unwrap();
    assert_eq!(texts(&lines), ["1", "2", "3", "4"]);
    deliver(folder.path(), 1, &lines[..2]);
    drop(reader);
    // It died before the others were written down; the next session dies before any is.
    for number in 2..4 {
        let reader = boxes.read_as(&bob, &[]).unwrap();
        reader.hold(session(number)).unwrap();
        assert_eq!(texts(&reader.take_lines().unwrap()), ["3", "4"]);
    }
    let reader = boxes.read_as(&bob, &[]).unwrap();
    reader.hold(session(4)).unwrap();
    deliver(folder.path(), 4, &reader.take_lines().unwrap());
    drop(reader);
    // The first session goes on: what the others were told stays told.
    let reader = boxes.read_as(&bob, &[lines[0].id.clone(), lines[1].id.clone()]).unwrap();
    reader.hold(session(1)).unwrap();
    assert!(reader.take_lines().unwrap().is_empty());
    boxes.post(&bob, draft("a", "5")).unwrap();
    assert_eq!(texts(&reader.take_lines().unwrap()), ["5"]);
}

/// `/clear`: what was handed over and not told yet is not lost with the old session.
#[test]
fn what_was_only_handed_over_is_not_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let boxes = mailboxes(folder.path());
    let bob = name("bob");
    let reader = boxes.read_as(&bob, &[]).unwrap();
    reader.hold(session(1)).unwrap();
    boxes.post(&bob, draft("a", "1")).unwrap();
    deliver(folder.path(), 1, &reader.take_lines().unwrap());
    boxes.post(&bob, draft("a", "2")).unwrap();
    assert_eq!(texts(&reader.take_lines().unwrap()), ["2"]);
    reader.hold(session(2)).unwrap();
    assert!(reader.take_lines().unwrap().is_empty(), "whoever took it has it still");
    drop(reader);
    let reader = boxes.read_as(&bob, &[]).unwrap();
    reader.hold(session(3)).unwrap();
    assert_eq!(texts(&reader.take_lines().unwrap()), ["2"]);
}

#[test]
fn one_reads_and_the_second_is_told_who() {
    let folder = tempfile::tempdir().unwrap();
    let boxes = mailboxes(folder.path());
    let reader = boxes.read_as(&name("bob"), &[]).unwrap();
    let error = boxes.read_as(&name("bob"), &[]).unwrap_err().to_string();
    assert!(error.contains(&format!("in use by process {}", std::process::id())), "{error}");
    drop(reader);
    boxes.read_as(&name("bob"), &[]).unwrap();
    assert_eq!(boxes.names().unwrap(), [name("bob")]);
}

#[test]
fn a_torn_line_is_taken_off_and_a_bad_one_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let boxes = mailboxes(folder.path());
    let bob = name("bob");
    let reader = boxes.read_as(&bob, &[]).unwrap();
    reader.hold(session(1)).unwrap();
    boxes.post(&bob, draft("a", "1")).unwrap();
    let path = folder.path().join("mailboxes/bob.jsonl");
    let append = |bytes: &[u8]| {
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        file.write_all(bytes).unwrap();
    };
    append(b"nonsense\n\n{\"id\":");
    let lines = reader.take_lines().unwrap();
    assert_eq!((lines.len(), lines[1].message.is_err()), (2, true));
    assert!(reader.take_lines().unwrap().is_empty());
    let posted = boxes.post(&bob, draft("a", "2")).unwrap();
    // The number goes on from the last line that can be read.
    assert_eq!((posted.seq, posted.discarded_bytes), (2, Some(6)));
    assert_eq!(texts(&reader.take_lines().unwrap()), ["2"]);
    // What was passed over once is passed over for good.
    deliver(folder.path(), 1, &lines);
    drop(reader);
    let reader = boxes.read_as(&bob, &[]).unwrap();
    reader.hold(session(2)).unwrap();
    assert_eq!(texts(&reader.take_lines().unwrap()), ["2"]);
}

#[test]
fn much_comes_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let boxes = mailboxes(folder.path());
    let bob = name("bob");
    let reader = boxes.read_as(&bob, &[]).unwrap();
    reader.hold(session(1)).unwrap();
    let long = "x".repeat(30 * 1024);
    for text in [long.as_str(), &long, &long, &long] {
        boxes.post(&bob, draft("a", text)).unwrap();
    }
    let mut parts = Vec::new();
    loop {
        let lines = reader.take_lines().unwrap();
        if lines.is_empty() {
            break;
        }
        parts.push(lines.len());
    }
    assert_eq!(parts, [2, 2]);
}

//! A trail says what reading all of every request would have said.

use std::time::Duration;

use super::*;
use crate::cache::PrefixCache;
use crate::checks::check_prefix;

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;
const HOUR: &str = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;

/// A request: `system`, and messages of blocks, a marker behind the last block of the last two.
fn body(system: &str, messages: &[Vec<String>]) -> Vec<u8> {
    let many = messages.len();
    let message = |(place, blocks): (usize, &Vec<String>)| {
        let role = if place % 2 == 0 { "user" } else { "assistant" };
        let mut blocks = blocks.clone();
        if place + 2 >= many
            && let Some(last) = blocks.last_mut()
        {
            last.truncate(last.len() - 1);
            last.push_str(MARKER);
            last.push('}');
        }
        format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
    };
    let messages: Vec<String> = messages.iter().enumerate().map(message).collect();
    format!(
        r#"{{"model":"m","max_tokens":9,"system":[{{"type":"text","text":"{system}"{HOUR}}}],"tools":[{{"name":"t","description":"{}"}}],"thinking":{{"type":"adaptive"}},"messages":[{}]}}"#,
        "d".repeat(4_400),
        messages.join(",")
    )
    .into_bytes()
}

fn text(words: &str) -> String {
    format!(r#"{{"type":"text","text":"{words}"}}"#)
}

fn image() -> String {
    r#"{"type":"tool_result","tool_use_id":"a","content":[{"type":"image","source":{"data":"AAAA"}}]}"#
        .to_owned()
}

/// A conversation that grows, loses its beginning, meets a picture, and gets another system prompt.
fn bodies() -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let mut messages: Vec<Vec<String>> = Vec::new();
    let mut system = "s".repeat(400);
    for turn in 0..60_usize {
        let blocks = 1 + turn % 4;
        messages.push(
            (0..blocks).map(|n| text(&format!("{turn}.{n} {}", "x".repeat(turn * 7)))).collect(),
        );
        match turn {
            20 => messages[3] = vec![text("cleared")],
            30 => messages.push(vec![image()]),
            40 => messages = messages.split_off(34),
            50 => system.push_str("another"),
            _ => {}
        }
        bodies.push(body(&system, &messages));
    }
    bodies
}

#[test]
fn usage_and_breaks_are_those_of_a_whole_reading() {
    let (mut trail, mut followed, mut whole) =
        (Trail::default(), PrefixCache::new(1_024), PrefixCache::new(1_024));
    let mut last: Option<Vec<u8>> = None;
    let mut breaks = Vec::new();
    for (turn, body) in bodies().into_iter().enumerate() {
        let step = trail.follow(&body);
        let now = Duration::from_secs(u64::try_from(turn).unwrap() * 50);
        let (a, b) = (trail.look_up(&followed, now), whole.look_up(&body, now));
        assert_eq!((a.usage, a.written), (b.usage, b.written), "turn {turn}");
        followed.commit(&a, now);
        whole.commit(&b, now);
        let same = last.as_ref().is_none_or(|last| check_prefix(last, &body).is_ok());
        assert_eq!(step.continues, same, "turn {turn}");
        if !same {
            breaks.push(turn);
        }
        assert_eq!(trail.body(), scan::strip_cache_markers(&body));
        assert_eq!(trail.messages().len(), scan::messages(&body).len());
        last = Some(body);
    }
    assert_eq!(breaks, [20, 40, 50]);
}

#[test]
fn what_is_shared_is_counted_to_the_byte() {
    let long = vec![7; 10_000];
    let mut other = long.clone();
    other[9_001] = 8;
    assert_eq!(common(&long, &other), 9_001);
    assert_eq!(common(&long, &long[..5_000]), 5_000);
    assert_eq!(common(&[], &long), 0);
}

#[test]
fn a_copy_is_known_also_when_its_conversation_has_changed_since() {
    let bodies = bodies();
    let (mut main, mut copy) = (Trail::default(), Trail::default());
    for body in &bodies[..=20] {
        main.follow(body);
    }
    // Made before the break at turn 20, with a message of its own.
    let messages = scan::messages(&bodies[19]).len();
    copy.follow(&bodies[19]);
    assert!(main.is_copied_by(&copy, messages - 1));
    // One that begins in no way that was ever sent.
    let changed = String::from_utf8(bodies[19].clone()).unwrap().replacen("1.0 ", "1.9 ", 1);
    copy.follow(changed.as_bytes());
    assert!(!main.is_copied_by(&copy, messages - 1));
}

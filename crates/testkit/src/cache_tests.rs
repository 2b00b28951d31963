//! Tests of the emulated prompt cache.

use super::*;

const MARKER: &str = r#","cache_control":{"type":"ephemeral"}"#;
const HOUR: &str = r#","cache_control":{"type":"ephemeral","ttl":"1h"}"#;
const MINUTE: Duration = Duration::from_mins(1);

/// A request made of text blocks, each with its marker or none.
fn body(blocks: &[(&str, &str)]) -> Vec<u8> {
    body_with("", blocks)
}

fn body_with(fields: &str, blocks: &[(&str, &str)]) -> Vec<u8> {
    let blocks: Vec<String> = blocks
        .iter()
        .map(|(text, marker)| format!(r#"{{"type":"text","text":"{text}"{marker}}}"#))
        .collect();
    format!(
        r#"{{"model":"m"{fields},"tools":[{{"name":"t","description":"{}"}}],"messages":[{{"role":"user","content":[{}]}}]}}"#,
        "d".repeat(400),
        blocks.join(",")
    )
    .into_bytes()
}

/// Looks a request up and answers it.
fn send(cache: &mut PrefixCache, body: &[u8], now: Duration) -> CacheOutcome {
    let outcome = cache.look_up(body, now);
    cache.commit(&outcome, now);
    outcome
}

fn read(outcome: &CacheOutcome) -> u64 {
    outcome.usage.cache_read_input_tokens
}

#[test]
fn a_grown_request_reads_what_the_last_one_wrote() {
    let mut cache = PrefixCache::new(10);
    let first = send(&mut cache, &body(&[("one", MARKER)]), Duration::ZERO);
    assert_eq!(read(&first), 0);
    assert_eq!(first.usage.cache_creation_input_tokens, first.written);
    assert_eq!(first.usage.input_tokens, 0);
    let second = send(&mut cache, &body(&[("one", ""), ("two", MARKER), ("tail", "")]), MINUTE);
    assert_eq!(read(&second), first.written);
    assert_eq!(second.usage.cache_creation_input_tokens, second.written - first.written);
    assert!(second.usage.input_tokens > 0, "the tail behind the marker is not cached");
    assert!(second.problems.is_empty());
}

#[test]
fn nothing_is_written_without_a_marker_or_below_the_minimum() {
    let mut cache = PrefixCache::new(10);
    assert_eq!(send(&mut cache, &body(&[("one", "")]), Duration::ZERO).written, 0);
    assert_eq!(read(&send(&mut cache, &body(&[("one", MARKER)]), Duration::ZERO)), 0);
    let mut cache = PrefixCache::new(1024);
    assert_eq!(send(&mut cache, &body(&[("one", MARKER)]), Duration::ZERO).written, 0);
    let again = send(&mut cache, &body(&[("one", MARKER)]), Duration::ZERO);
    assert_eq!((read(&again), again.usage.cache_creation_input_tokens), (0, 0));
}

#[test]
fn a_read_reaches_back_twenty_positions_and_no_further() {
    for (new_blocks, hit) in [(18, true), (19, true), (20, false), (25, false)] {
        let mut cache = PrefixCache::new(10);
        let first = send(&mut cache, &body(&[("one", MARKER)]), Duration::ZERO);
        let mut blocks = vec![("one", "")];
        blocks.extend(vec![("more", ""); new_blocks - 1]);
        blocks.push(("last", MARKER));
        let second = send(&mut cache, &body(&blocks), Duration::ZERO);
        assert_eq!(read(&second), if hit { first.written } else { 0 }, "{new_blocks} new blocks");
        blocks[0].1 = MARKER;
        let bridged = cache.look_up(&body(&blocks), Duration::ZERO);
        assert!(read(&bridged) >= first.written, "a second marker bridges any distance");
    }
}

#[test]
fn entries_live_for_their_time_and_a_hit_renews_it() {
    for (marker, minutes) in [(MARKER, 5), (HOUR, 60)] {
        let request = body(&[("one", marker)]);
        let life = MINUTE * minutes;
        let mut cache = PrefixCache::new(10);
        let written = send(&mut cache, &request, Duration::ZERO).written;
        let almost = life.checked_sub(Duration::from_secs(1)).unwrap();
        assert_eq!(read(&send(&mut cache, &request, almost)), written);
        assert_eq!(read(&cache.look_up(&request, almost + almost)), written, "renewed");
        assert_eq!(read(&cache.look_up(&request, almost + life)), 0, "expired");
    }
}

#[test]
fn a_hit_found_by_looking_back_is_renewed_too() {
    let mut cache = PrefixCache::new(10);
    let first = body(&[("one", MARKER)]);
    let written = send(&mut cache, &first, Duration::ZERO).written;
    send(&mut cache, &body(&[("one", ""), ("two", MARKER)]), MINUTE * 4);
    assert_eq!(read(&cache.look_up(&first, MINUTE * 8)), written);
    assert_eq!(read(&cache.look_up(&first, MINUTE * 9)), 0);
}

#[test]
fn a_longer_hit_at_a_shorter_marker_counts() {
    let mut cache = PrefixCache::new(10);
    let long = send(&mut cache, &body(&[("one", ""), ("two", MARKER)]), Duration::ZERO);
    let both = send(&mut cache, &body(&[("one", MARKER), ("two", MARKER)]), Duration::ZERO);
    assert_eq!(read(&both), long.written);
    assert_eq!(both.usage.cache_creation_input_tokens, 0);
}

#[test]
fn a_changed_byte_or_field_misses() {
    let tool_marker = |fields: &str, text: &str| {
        let text = body_with(fields, &[(text, MARKER)]);
        String::from_utf8(text)
            .unwrap()
            .replace(r#""name":"t","#, r#""name":"t","cache_control":{},"#)
    };
    let mut cache = PrefixCache::new(10);
    let first = tool_marker("", "one");
    let all = send(&mut cache, first.as_bytes(), Duration::ZERO).written;
    let look = |text: &str| read(&cache.look_up(text.as_bytes(), Duration::ZERO));
    assert_eq!(look(&first), all);
    let tools = look(&tool_marker("", "two"));
    assert!(tools > 0 && tools < all, "another message still reads the tools");
    for fields in [
        r#","tool_choice":{"type":"any"}"#,
        r#","thinking":{"type":"adaptive"}"#,
        r#","output_config":{"effort":"low"}"#,
        r#","speed":"fast""#,
    ] {
        assert_eq!(look(&tool_marker(fields, "one")), tools, "{fields}");
    }
    assert_eq!(look(&first.replace(r#""model":"m""#, r#""model":"n""#)), 0);
    assert_eq!(look(&first.replace(r#""name":"t""#, r#""name": "t""#)), 0, "a space counts");
    assert_eq!(look(&first.replace(r#""role":"user""#, r#""role":"system""#)), tools);
    let picture = r#"{"type":"image","source":{}},{"type":"text","text":"one""#;
    assert_eq!(look(&first.replace(r#"{"type":"text","text":"one""#, picture)), tools);
}

#[test]
fn what_the_api_would_refuse_is_said() {
    let problems = |body: &[u8]| PrefixCache::new(10).look_up(body, Duration::ZERO).problems;
    assert_eq!(problems(&body(&[("a", MARKER); 4])), Vec::<String>::new());
    assert_eq!(problems(&body(&[("a", MARKER); 5])), ["5 cache markers; 4 are allowed"]);
    assert_eq!(problems(&body(&[("a", HOUR), ("b", MARKER)])), Vec::<String>::new());
    assert_eq!(
        problems(&body(&[("a", MARKER), ("b", HOUR)])),
        ["a cache marker of 1h stands behind one of 5m"]
    );
    let automatic = r#","cache_control":{"type":"ephemeral"}"#;
    assert_eq!(problems(&body_with(automatic, &[("a", MARKER)])), Vec::<String>::new());
    assert_eq!(problems(&body_with(automatic, &[("a", MARKER); 4])).len(), 1);
    assert_eq!(problems(&body_with(automatic, &[("a", HOUR)])).len(), 1);
}

#[test]
fn an_automatic_marker_stands_for_one_on_the_last_block() {
    let automatic = r#","cache_control":{"type":"ephemeral"}"#;
    let mut cache = PrefixCache::new(10);
    let first = send(&mut cache, &body_with(automatic, &[("one", "")]), Duration::ZERO);
    assert!(first.written > 0);
    let second = cache.look_up(&body_with(automatic, &[("one", ""), ("two", "")]), Duration::ZERO);
    assert_eq!(read(&second), first.written);
}

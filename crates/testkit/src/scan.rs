//! Finding places in JSON text without changing a byte of it.
//!
//! Whether two requests share a prefix is a question about bytes, so nothing here decodes or rebuilds
//! JSON. Text that is not JSON has no places: the functions then find nothing.

use std::ops::Range;

/// A member of an object: where its key (with quotes) and its value stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) key: Range<usize>,
    pub(crate) value: Range<usize>,
}

/// The members of the object that starts at `at`, in their order.
pub(crate) fn members(text: &[u8], at: usize) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    let mut at = opened(text, at, b'{')?;
    while text.get(at)? != &b'}' {
        let key = at..string_end(text, at)?;
        let colon = after_space(text, key.end);
        if text.get(colon)? != &b':' {
            return None;
        }
        let start = after_space(text, colon + 1);
        let value = start..value_end(text, start)?;
        at = next_item(text, value.end, b'}')?;
        members.push(Member { key, value });
    }
    Some(members)
}

/// The elements of the array that starts at `at`.
pub(crate) fn elements(text: &[u8], at: usize) -> Option<Vec<Range<usize>>> {
    let mut elements = Vec::new();
    let mut at = opened(text, at, b'[')?;
    while text.get(at)? != &b']' {
        let element = at..value_end(text, at)?;
        at = next_item(text, element.end, b']')?;
        elements.push(element);
    }
    Some(elements)
}

/// Where the value of a member stands, in the object that starts at `at`.
pub(crate) fn find(text: &[u8], at: usize, name: &str) -> Option<Range<usize>> {
    members(text, at)?.into_iter().find(|member| is_key(text, member, name)).map(|m| m.value)
}

/// Whether a member has this name. A name written with escapes is not recognised.
pub(crate) fn is_key(text: &[u8], member: &Member, name: &str) -> bool {
    text.get(member.key.start + 1..member.key.end - 1) == Some(name.as_bytes())
}

/// What to cut out of the object at `at` so that its member `name` is gone, comma included.
pub(crate) fn member_cut(text: &[u8], at: usize, name: &str) -> Option<Range<usize>> {
    let members = members(text, at)?;
    let index = members.iter().position(|member| is_key(text, member, name))?;
    let this = &members[index];
    Some(match (index.checked_sub(1), members.get(index + 1)) {
        (Some(before), _) => members[before].value.end..this.value.end,
        (None, Some(next)) => this.key.start..next.key.start,
        (None, None) => this.key.start..this.value.end,
    })
}

/// The text of `range` without the ranges in `cuts`, which must be in order.
pub(crate) fn without(text: &[u8], range: Range<usize>, cuts: &[Range<usize>]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(range.len());
    let mut at = range.start;
    for cut in cuts {
        kept.extend_from_slice(&text[at..cut.start]);
        at = cut.end;
    }
    kept.extend_from_slice(&text[at..range.end]);
    kept
}

/// A request body without its cache markers: the member `cache_control` of the body itself, of each
/// tool, each system block and each block of a message. The same words inside a string or inside a
/// tool's arguments stay.
pub fn strip_cache_markers(body: &[u8]) -> Vec<u8> {
    let mut cuts = Vec::new();
    let start = after_space(body, 0);
    cuts.extend(member_cut(body, start, "cache_control"));
    for list in ["tools", "system"] {
        cuts.extend(list_cuts(body, find(body, start, list)));
    }
    for message in messages(body) {
        cuts.extend(list_cuts(body, find(body, message.start, "content")));
    }
    cuts.sort_by_key(|cut| cut.start);
    without(body, 0..body.len(), &cuts)
}

fn list_cuts(body: &[u8], list: Option<Range<usize>>) -> Vec<Range<usize>> {
    let blocks = list.and_then(|list| elements(body, list.start)).unwrap_or_default();
    blocks.iter().filter_map(|block| member_cut(body, block.start, "cache_control")).collect()
}

/// Where each message of a request body stands.
pub(crate) fn messages(body: &[u8]) -> Vec<Range<usize>> {
    find(body, after_space(body, 0), "messages")
        .and_then(|list| elements(body, list.start))
        .unwrap_or_default()
}

/// The offset just behind the last message of a request body; 0 if it has none.
pub fn last_message_end(body: &[u8]) -> usize {
    messages(body).last().map_or(0, |message| message.end)
}

pub(crate) fn after_space(text: &[u8], at: usize) -> usize {
    let space = |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\n' | b'\r');
    at + text.iter().skip(at).take_while(space).count()
}

/// Steps into an object or array: the start of its first item, or its closing bracket.
pub(crate) fn opened(text: &[u8], at: usize, bracket: u8) -> Option<usize> {
    (text.get(at)? == &bracket).then(|| after_space(text, at + 1))
}

/// From the end of an item to the start of the next, or to the closing bracket.
pub(crate) fn next_item(text: &[u8], at: usize, close: u8) -> Option<usize> {
    let at = after_space(text, at);
    match text.get(at)? {
        b',' => Some(after_space(text, at + 1)),
        byte if *byte == close => Some(at),
        _ => None,
    }
}

fn string_end(text: &[u8], at: usize) -> Option<usize> {
    if text.get(at)? != &b'"' {
        return None;
    }
    let mut at = at + 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

pub(crate) fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    loop {
        match text.get(at)? {
            b'"' => at = string_end(text, at)?,
            b'{' | b'[' => {
                depth += 1;
                at += 1;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                at += 1;
            }
            _ if depth > 0 => {
                at += 1;
                continue;
            }
            b',' | b':' => return None,
            _ => {
                let scalar = |byte: &&u8| {
                    !matches!(**byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t')
                };
                return Some(at + text.iter().skip(at).take_while(scalar).count());
            }
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_strip(body: &str, expected: &str) {
        let stripped = strip_cache_markers(body.as_bytes());
        assert_eq!(String::from_utf8(stripped).unwrap(), expected);
    }

    #[test]
    fn markers_go_with_their_comma_wherever_they_stand() {
        check_strip(
            r#"{"tools":[{"name":"a","cache_control":{"type":"ephemeral"}}],"messages":[]}"#,
            r#"{"tools":[{"name":"a"}],"messages":[]}"#,
        );
        check_strip(
            r#"{"cache_control":{"type":"ephemeral"}, "system":[{"cache_control" : {"ttl":"1h"},"text":"x"}],"messages":[]}"#,
            r#"{"system":[{"text":"x"}],"messages":[]}"#,
        );
        check_strip(
            r#"{"messages":[{"role":"user","content":[{"text":"a" , "cache_control":{"x":"}"} , "type":"text"},{"cache_control":{}}]}]}"#,
            r#"{"messages":[{"role":"user","content":[{"text":"a" , "type":"text"},{}]}]}"#,
        );
    }

    #[test]
    fn the_same_words_elsewhere_stay() {
        for body in [
            r#"{"messages":[{"role":"user","content":"a\",\"cache_control\":{\"type\":\"x\"}"}]}"#,
            r#"{"messages":[{"role":"assistant","content":[{"type":"tool_use","input":{"a":1,"cache_control":{"b":2}}}]}]}"#,
            r#"{"metadata":{"cache_control":{}},"messages":[]}"#,
            "not json",
            r#"{"messages":[{"role":"user","content":[{"text":"a","cache_control":"#,
        ] {
            check_strip(body, body);
        }
    }

    #[test]
    fn the_last_message_ends_at_its_bracket() {
        let body =
            r#"{"a":"messages","messages":[ {"role":"user","content":"}]"}, {"x":[1,{}]} ] }"#;
        let end = last_message_end(body.as_bytes());
        assert_eq!(body.get(..end), body.strip_suffix(" ] }"));
        assert_eq!(last_message_end(br#"{"messages":[]}"#), 0);
        assert_eq!(last_message_end(b"[]"), 0);
        assert_eq!(last_message_end(br#"{"messages":[{"a":"#), 0);
    }

    #[test]
    fn members_keep_their_order_and_bytes() {
        let text = br#"{"b": 1.10 ,"a":"x\"y","c":[1,2],"d":null}"#;
        let found: Vec<&[u8]> =
            members(text, 0).unwrap().into_iter().map(|member| &text[member.value]).collect();
        let expected: [&[u8]; 4] = [b"1.10", br#""x\"y""#, b"[1,2]", b"null"];
        assert_eq!(found, expected);
        assert!(members(br#"{"a" 1}"#, 0).is_none());
        assert!(members(br#"{"a":}"#, 0).is_none());
        assert_eq!(elements(b"[ ]", 0), Some(Vec::new()));
    }
}

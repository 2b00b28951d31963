//! Addresses of pages: the names of memories and sessions, encoded.

use std::fmt::Write as _;

use dormouse_base::{MessageId, SessionId};
use dormouse_memory::StoreScope;

/// A text as part of an address. A slash between folders stays.
pub(crate) fn encoded(text: &str) -> String {
    let mut address = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            _ => {
                // Writing to a string cannot fail.
                let _infallible = write!(address, "%{byte:02X}");
            }
        }
    }
    address
}

/// The address of a page about a memory; the action is `view`, `edit`, `history` and so on.
pub(crate) fn memory(action: &str, scope: StoreScope, file: &str) -> String {
    format!("/memory/{action}/{scope}/{}", encoded(file))
}

/// The address of a page about a session.
pub(crate) fn session(source: &str, id: &str, part: &str) -> String {
    format!("/session/{source}/{}/{part}", encoded(id))
}

/// The message that a source of a memory names as `session/message`, and its address; none for other sources.
pub(crate) fn source(text: &str) -> Option<(MessageId, String)> {
    let (session, message) = text.split(' ').next()?.split_once('/')?;
    let (session, message): (SessionId, MessageId) = (session.parse().ok()?, message.parse().ok()?);
    let page = self::session("dormouse", &session.to_string(), "transcript");
    Some((message, format!("{page}?message={message}#{message}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_plain_characters() {
        assert_eq!(encoded("a b/<ü>?&\"#%.md"), "a%20b/%3C%C3%BC%3E%3F%26%22%23%25.md");
    }
}

//! Server-sent events out of bytes, however they are cut.
//!
//! Bounded: a line and an event have a largest size, so a server cannot fill the memory. It takes
//! LF, CRLF and bare CR, a byte-order mark, comments, unknown fields and bytes that are not UTF-8.
//! What is fed in one piece or one byte at a time gives the same events.

use thiserror::Error;

/// The longest line.
pub const MAX_LINE: usize = 1024 * 1024;
/// The largest event.
pub const MAX_EVENT: usize = 16 * 1024 * 1024;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SseEvent {
    /// Its name; empty where the stream gives none.
    pub name: String,
    /// Its data lines, joined by newlines.
    pub data: String,
}

/// A stream that is larger than anything a model server sends.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SseError {
    /// A line without an end.
    #[error("a line of the stream is longer than {MAX_LINE} bytes")]
    LineTooLong,
    /// An event without an end.
    #[error("an event of the stream is larger than {MAX_EVENT} bytes")]
    EventTooLarge,
}

/// Turns bytes into events.
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    event: SseEvent,
    has_data: bool,
    /// The last byte was a CR: an LF that follows belongs to it.
    after_cr: bool,
    /// The first line is over: a byte-order mark can no longer come.
    begun: bool,
}

impl SseDecoder {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and gives the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, SseError> {
        let mut events = Vec::new();
        for byte in bytes {
            let after_cr = std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if after_cr => {}
                b'\n' => events.extend(self.end_line()?),
                b'\r' => {
                    events.extend(self.end_line()?);
                    self.after_cr = true;
                }
                other => {
                    if self.line.len() >= MAX_LINE {
                        return Err(SseError::LineTooLong);
                    }
                    self.line.push(*other);
                }
            }
        }
        Ok(events)
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, SseError> {
        let line = std::mem::take(&mut self.line);
        let line = match line.strip_prefix(b"\xef\xbb\xbf") {
            Some(rest) if !self.begun => rest,
            _ => &line,
        };
        self.begun = true;
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => self.add_data(value)?,
            // A comment has an empty field name; ids and retry times mean nothing to us.
            _ => {}
        }
        Ok(None)
    }

    fn add_data(&mut self, value: &str) -> Result<(), SseError> {
        if self.event.data.len() + value.len() >= MAX_EVENT {
            return Err(SseError::EventTooLarge);
        }
        if self.has_data {
            self.event.data.push('\n');
        }
        self.has_data = true;
        self.event.data.push_str(value);
        Ok(())
    }

    /// An event without data is none.
    fn end_event(&mut self) -> Option<SseEvent> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<SseEvent>, SseError> {
        let mut decoder = SseDecoder::new();
        let mut events = Vec::new();
        for piece in pieces {
            events.extend(decoder.push(piece)?);
        }
        Ok(events)
    }

    #[track_caller]
    fn check(bytes: &[u8], expected: &[(&str, &str)]) {
        let expected: Vec<SseEvent> = expected
            .iter()
            .map(|(name, data)| SseEvent { name: (*name).into(), data: (*data).into() })
            .collect();
        assert_eq!(decode(&[bytes]).unwrap(), expected);
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(decode(&single).unwrap(), expected, "one byte at a time");
    }

    #[test]
    fn framings() {
        check(b"event: a\ndata: 1\n\n", &[("a", "1")]);
        check(b"event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", &[("a", "1"), ("", "2")]);
        check(b"event:a\rdata:1\r\rdata:2\r\r", &[("a", "1"), ("", "2")]);
        check(b"\xef\xbb\xbfevent: a\ndata: 1\n\n", &[("a", "1")]);
        check(b": ping\n\ndata: 1\n: ping\ndata: 2\n\n", &[("", "1\n2")]);
        check(b"data\n\nid: 7\nretry: 5\nodd\ndata: x\n\n", &[("", ""), ("", "x")]);
        check(b"event: only\n\ndata: tail without end\n", &[]);
        check("data: 睡鼠\n\n".as_bytes(), &[("", "睡鼠")]);
        check(b"data: \xff\n\n", &[("", "\u{fffd}")]);
        check(b"data: a\n\n\xef\xbb\xbfdata: b\n\n", &[("", "a")]);
    }

    #[test]
    fn bounded() {
        assert_eq!(decode(&[&vec![b'x'; MAX_LINE + 1]]), Err(SseError::LineTooLong));
        let line = [b"data: ".as_slice(), &vec![b'x'; MAX_LINE - 100], b"\n"].concat();
        let many: Vec<&[u8]> = std::iter::repeat_n(line.as_slice(), 17).collect();
        assert_eq!(decode(&many), Err(SseError::EventTooLarge));
    }

    fn bytes_like_sse() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\xef\xbb\xbf".to_vec()),
            Just(b"event: x".to_vec()),
            Just(b"data: ".to_vec()),
            Just(b": c".to_vec()),
            prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(
            bytes in bytes_like_sse(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..10)
        ) {
            let whole = decode(&[&bytes]);
            let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            prop_assert_eq!(decode(&pieces), whole);
        }
    }
}

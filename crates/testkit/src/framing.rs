//! The same events in different bytes: every way of framing a stream that a decoder has to bear.

use dormouse_model::WireFormat;

use dormouse_model::script::WireEvent;
use serde::de::IgnoredAny;

/// How a stream is framed and cut into pieces. Each piece is a chunk of the body and a write of its
/// own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Framing {
    /// All in one piece.
    Whole,
    /// A piece for each event.
    #[default]
    EventAtATime,
    /// A piece for each byte.
    OneByte,
    /// Cut inside every character that has more than one byte.
    SplitInsideCharacters,
    /// Lines end with CR LF, and the pieces between the two.
    Crlf,
    /// Comments and, for Anthropic, `ping` events before every event.
    CommentPings,
    /// A byte order mark at the start.
    Bom,
    /// Lines end with CR.
    BareCr,
    /// Events and fields nobody has heard of before every event.
    UnknownEvents,
    /// JSON over two `data` lines, cut where white space is legal.
    TwoDataLines,
}

impl Framing {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Whole,
        Self::EventAtATime,
        Self::OneByte,
        Self::SplitInsideCharacters,
        Self::Crlf,
        Self::CommentPings,
        Self::Bom,
        Self::BareCr,
        Self::UnknownEvents,
        Self::TwoDataLines,
    ];

    /// What comes before an event, and the event itself.
    pub(crate) fn render(
        self,
        event: &WireEvent,
        first: bool,
        wire: WireFormat,
    ) -> (Vec<u8>, Vec<u8>) {
        let text = event.to_sse();
        let (before, text) = match self {
            Self::Whole | Self::EventAtATime | Self::OneByte | Self::SplitInsideCharacters => {
                (String::new(), text)
            }
            Self::Crlf => (String::new(), text.replace('\n', "\r\n")),
            Self::BareCr => (String::new(), text.replace('\n', "\r")),
            Self::Bom => (if first { "\u{feff}".into() } else { String::new() }, text),
            Self::CommentPings => (ping(wire).to_owned(), text),
            Self::UnknownEvents => (unknown(wire).to_owned(), text),
            Self::TwoDataLines => (String::new(), two_data_lines(event)),
        };
        (before.into_bytes(), text.into_bytes())
    }

    /// Cuts events that follow each other without a stop into pieces.
    pub(crate) fn pieces(self, events: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let pieces = match self {
            Self::Whole => vec![events.concat()],
            Self::OneByte => events.concat().iter().map(|byte| vec![*byte]).collect(),
            Self::SplitInsideCharacters => {
                split(&events.concat(), |_, next| next & 0b1100_0000 == 0b1000_0000)
            }
            Self::Crlf => split(&events.concat(), |last, _| last == b'\r'),
            Self::EventAtATime
            | Self::CommentPings
            | Self::Bom
            | Self::BareCr
            | Self::UnknownEvents
            | Self::TwoDataLines => events.to_vec(),
        };
        // An empty chunk would end the body.
        pieces.into_iter().filter(|piece| !piece.is_empty()).collect()
    }
}

/// Cuts between two bytes wherever `cut` says so.
fn split(bytes: &[u8], cut: impl Fn(u8, u8) -> bool) -> Vec<Vec<u8>> {
    bytes.chunk_by(|last, next| !cut(*last, *next)).map(<[u8]>::to_vec).collect()
}

fn ping(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::Anthropic => ": ping\n\nevent: ping\ndata: {\"type\": \"ping\"}\n\n",
        WireFormat::OpenAi => ": ping\n\n",
    }
}

fn unknown(wire: WireFormat) -> &'static str {
    match wire {
        WireFormat::Anthropic => {
            "id: 7\nretry: 1000\nflavour: odd\nevent: hologram\ndata: {\"type\":\"hologram\",\"depth\":3}\n\n"
        }
        WireFormat::OpenAi => {
            "id: 7\nretry: 1000\nflavour: odd\nevent: hologram\ndata: {\"object\":\"hologram\",\"choices\":[]}\n\n"
        }
    }
}

fn two_data_lines(event: &WireEvent) -> String {
    let Some(at) = legal_cut(&event.data) else { return event.to_sse() };
    let (one, two) = event.data.split_at(at);
    WireEvent { name: event.name, data: format!("{one}\ndata: {two}") }.to_sse()
}

/// A place behind a comma or colon outside all strings, near the middle of the text.
fn legal_cut(data: &str) -> Option<usize> {
    serde_json::from_str::<IgnoredAny>(data).ok()?;
    let (mut inside, mut escaped) = (false, false);
    let mut places = Vec::new();
    for (at, byte) in data.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if inside => escaped = true,
            b'"' => inside = !inside,
            b',' | b':' if !inside => places.push(at + 1),
            _ => {}
        }
    }
    places.into_iter().min_by_key(|at| at.abs_diff(data.len() / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_cut_inside() {
        let pieces = Framing::SplitInsideCharacters.pieces(&["aä€b🐭".as_bytes().to_vec()]);
        let expected: [&[u8]; 7] =
            [b"a\xc3", b"\xa4\xe2", b"\x82", b"\xacb\xf0", b"\x9f", b"\x90", b"\xad"];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn json_is_cut_only_outside_strings() {
        let event = WireEvent { name: "", data: r#"{"a":"x,\",:y,z","b":12}"#.into() };
        assert_eq!(two_data_lines(&event), "data: {\"a\":\"x,\\\",:y,z\",\ndata: \"b\":12}\n\n");
        let done = WireEvent { name: "", data: "[DONE]".into() };
        assert_eq!(two_data_lines(&done), "data: [DONE]\n\n");
    }

    #[test]
    fn crlf_pieces_end_between_the_two() {
        let pieces = Framing::Crlf.pieces(&[b"a\r\n\r\n".to_vec()]);
        let expected: [&[u8]; 3] = [b"a\r", b"\n\r", b"\n"];
        assert_eq!(pieces, expected);
    }
}

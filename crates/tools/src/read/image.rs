//! Pictures: known by their first bytes, whatever their name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_conversation::Block;

/// The most bytes a server takes for a picture, encoded.
const MAX_ENCODED: u64 = 5 * 1024 * 1024;
/// The most bytes of the file: three of them become four.
pub(super) const MAX_BYTES: u64 = MAX_ENCODED / 4 * 3;

/// The kind of picture that begins with these bytes.
pub(super) fn media_type(start: &[u8]) -> Option<&'static str> {
    match start {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

pub(super) fn block(media_type: &str, data: &[u8]) -> Block {
    Block::image(media_type, &STANDARD.encode(data))
}

pub(super) fn too_large() -> String {
    format!(
        "a picture may have {MAX_BYTES} bytes (5 MB when encoded); make a smaller copy and read that"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_their_first_bytes() {
        assert_eq!(media_type(b"\x89PNG\r\n\x1a\n\0"), Some("image/png"));
        assert_eq!(media_type(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(media_type(b"GIF89a"), Some("image/gif"));
        assert_eq!(media_type(b"RIFF\x10\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(media_type(b"RIFF\x10\0\0\0WAVE"), None);
        assert_eq!(media_type(b"GIF"), None);
    }
}

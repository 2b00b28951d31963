//! Token estimates from the length of a text.

/// Bytes of text a token stands for.
const TEXT_BYTES: usize = 4;
/// Bytes of JSON a token stands for.
const JSON_BYTES: usize = 2;
/// The tokens of a text, estimated.
pub fn estimate_text(text: &str) -> u32 {
    bytes_to_tokens(text.len(), TEXT_BYTES)
}

/// The tokens of a text of so many bytes, estimated.
pub fn estimate_bytes(bytes: u64) -> u64 {
    bytes.div_ceil(TEXT_BYTES as u64)
}

/// The tokens of a JSON text, estimated.
pub fn estimate_json(json: &str) -> u32 {
    bytes_to_tokens(json.len(), JSON_BYTES)
}

fn bytes_to_tokens(bytes: usize, per_token: usize) -> u32 {
    u32::try_from(bytes.div_ceil(per_token)).unwrap_or(u32::MAX)
}

//! Blocks for whoever only counts: long texts are cut, and what the whole took is remembered.

use std::sync::{Arc, OnceLock};

use serde_json::Value;

use super::{Block, Inner, ResultContent};

/// Shorter blocks stay as they are.
const LONG_BLOCK: usize = 2_000;
/// Of a long text a tenth is kept, but no less and no more than this. Layers tell by the length of a result that it was not
/// cleared, without a look inside: what is kept must be longer than the text of a cleared one.
const KEPT_CHARS: (usize, usize) = (1_500, 2_000);

/// The length of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextLength {
    /// In characters.
    pub chars: usize,
    /// In bytes.
    pub bytes: usize,
}

impl TextLength {
    /// Measures a text.
    pub fn of(text: &str) -> Self {
        Self { chars: text.chars().count(), bytes: text.len() }
    }
}

impl Block {
    /// The same block with its long texts cut. Its kind, its tokens, its call and the length of its result are those of
    /// the whole.
    #[must_use]
    pub fn abridged(&self) -> Self {
        if self.raw().len() <= LONG_BLOCK {
            return self.clone();
        }
        let Ok(mut value) = serde_json::from_str::<Value>(self.raw()) else { return self.clone() };
        cut(&mut value);
        let Ok(raw) = serde_json::value::to_raw_value(&value) else { return self.clone() };
        let tokens = OnceLock::from(self.tokens());
        let result = self.result_length();
        let call_digest = self.call_digest().map(OnceLock::from).unwrap_or_default();
        Self(Arc::new(Inner { raw, kind: self.0.kind.clone(), tokens, call_digest, result }))
    }

    /// How long the text of a tool result is, or was before the block was abridged; none for results of other blocks.
    pub fn result_length(&self) -> Option<TextLength> {
        self.0.result.or_else(|| match self.result_content()? {
            ResultContent::Text(text) => Some(TextLength::of(&text)),
            ResultContent::Blocks(_) => None,
        })
    }
}

fn cut(value: &mut Value) {
    match value {
        Value::String(text) => {
            let kept = (text.len() / 10).clamp(KEPT_CHARS.0, KEPT_CHARS.1);
            if let Some((at, _)) = text.char_indices().nth(kept) {
                *text = text.get(..at).unwrap_or_default().to_owned();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(cut),
        Value::Object(fields) => fields.values_mut().for_each(cut),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::ToolUseId;

    #[test]
    fn what_counts_stays_and_the_text_goes() {
        let id = ToolUseId::new("t");
        let text = "é".repeat(90_000);
        let whole = Block::tool_result(&id, &ResultContent::Text(text.clone()), true);
        let short = whole.abridged();
        assert_eq!((short.kind(), short.tokens()), (whole.kind(), whole.tokens()));
        assert_eq!(short.result_length(), Some(TextLength { chars: 90_000, bytes: 180_000 }));
        assert!(short.is_error() && short.raw().len() < 5_000, "{}", short.raw().len());
        assert_eq!(short.abridged().result_length(), whole.result_length());
        let blocks =
            ResultContent::Blocks(vec![Block::text(&text), Block::image("image/png", &text)]);
        let whole = Block::tool_result(&id, &blocks, false);
        assert_eq!(whole.abridged().tokens(), whole.tokens());
        assert_eq!(whole.abridged().result_length(), None);
        let little = Block::text("as it is");
        assert_eq!(little.abridged().raw(), little.raw());
    }
}

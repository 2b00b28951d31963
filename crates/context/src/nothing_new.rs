//! What a model is told whose calls brought nothing that it did not have. Small models go on calling after a remark within a
//! result; a text of its own behind the results makes them answer.

use crate::fragment::Fragment;

const TEXT: &str = "You have this already, and it will not change. Make no more calls for it: answer the user now, in words, from what you know, or do something else.";

/// The calls of a round brought nothing new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NothingNew;

impl Fragment for NothingNew {
    const KIND: &'static str = "nothing-new";

    fn max_tokens(&self) -> u32 {
        100
    }

    fn render(&self, out: &mut String) {
        out.push_str(TEXT);
    }
}

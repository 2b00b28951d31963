//! The reminder after calls that brought nothing new. Small models ignore a remark inside a tool result and call again; after a
//! separate reminder they answer.

use crate::fragment::Fragment;

const TEXT: &str = "You have this already, and it will not change. Do not ask for it again: answer the user now, in words, from what you know, or do something else.";

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

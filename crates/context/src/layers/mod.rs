//! The cheap layers (C-6 to C-13): each looks at the messages and plans edits to what is sent.
//!
//! Plain functions; the transcript lines, the forks and the clock are the driver's. Invariants: a tool
//! call is never parted from its result; the last message of the model and what follows it is never
//! touched; what was planned and applied is not planned again; a layer that has nothing to do reads
//! little and plans nothing.

mod cache_edit;
mod clear;
mod clearing_worth;
mod collapse;
mod edit;
mod fold_span;
mod fold_text;
mod results;
mod snip;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod view;

pub use cache_edit::{
    CacheDeletion, CacheEditRule, CacheEdits, SentDeletions, cache_edits_block, is_cache_edit,
};
pub use clear::{
    CLEARED_RESULT, ClearRule, ServerClearRule, clear_results, cleared_ids, is_cleared, plan_clear,
};
pub use clearing_worth::{CacheCharges, ClearingCase, TokenCosts, begins_turn, requests_ahead};
pub use collapse::{folds_to_commit, plan_folds, plan_spans};
pub use edit::{HistoryEdit, LayerPlan, LayerReport, apply_edits};
pub use fold_span::{FoldSpan, SpanFold};
pub use fold_text::{fold_prompt, folded_text};
pub use snip::{SnipRule, plan_snip};
pub use view::{folded_span, is_fold, is_snip_marker};

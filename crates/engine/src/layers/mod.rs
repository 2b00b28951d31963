//! The cheap layers (C-1, C-6, C-7, C-10 to C-13): applies the plans of `dormouse_context::layers` to the conversation,
//! the transcript and the figures.
//!
//! Invariants: the user's view is never changed; a change to sent bytes is announced; what was cleared or left out stays
//! so in every later request, in forks and after a resume, because the transcript records it; thinking that a change
//! makes invalid is dropped with it.

mod apply;
mod cache_edits;
mod clearing;
mod collapse;
mod rules;

pub(crate) use apply::Layers;
pub(crate) use collapse::CollapseState;
pub use rules::LayerRules;

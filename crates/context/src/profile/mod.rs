//! The profiler's arithmetic (C-24): a session replayed request by request.
//!
//! What was sent and paid is taken from the server's counters; where there are none, estimated and said
//! so. Layers that acted are counted as the transcript shows them (`fired.rs`), and their work is undone to see
//! what it saved. What another layer would have done is not guessed from totals: its own plan runs over the
//! messages as they came, every layer by itself, everything else as it was. Its cost is that of the same requests
//! with the counters changed as `counters.rs` describes. All of it is linear in what it reads, as long as the
//! layers are.

mod breaks;
mod compacting;
mod counters;
mod fired;
mod layer_run;
mod removed;
mod results;
mod rules;
mod run;
mod simulated_request;
mod simulated_view;
mod simulations;
mod storing;
#[cfg(test)]
mod tests;
mod worlds;

pub use breaks::{BreakReason, ProfiledBreak};
pub use counters::Rates;
pub use results::{
    CacheUse, CompactionProfile, CounterSource, LayerAvailability, LayerCalls, LayerProfile,
    LayerStatus, Profile, ProfileTotals, RequestProfile,
};
pub use rules::ProfileRules;
pub use run::profile;

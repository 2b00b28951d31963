//! The profiler's arithmetic (C-24): a session replayed request by request.
//!
//! What was sent and paid is taken from the server's counters; where there are none, estimated and said
//! so. What a layer would have done is not guessed from totals: its own plan runs over the messages as
//! they came, every layer by itself, everything else as it was. Its cost is that of the same requests with
//! the counters changed as `counters.rs` describes. All of it is linear in what it reads, as long as the
//! layers are.

mod breaks;
mod compacting;
mod counters;
mod results;
mod run;
mod simulated_request;
mod simulated_view;
mod simulations;
mod storing;
#[cfg(test)]
mod tests;

pub use breaks::{BreakReason, ProfiledBreak};
pub use counters::Rates;
pub use results::{
    CompactionProfile, CounterSource, LayerProfile, LayerStatus, Profile, ProfileTotals,
    RequestProfile,
};
pub use run::{ProfileRules, profile};

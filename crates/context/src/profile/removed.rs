//! The session without the work of a layer that acted in it: what the layer kept out is put back.

use std::sync::Arc;

use dormouse_base::LayerSwitch;
use dormouse_conversation::Message;

use super::counters::{unbroken, with};
use super::layer_run::LayerRun;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulations::LayerSimulation;
use crate::layers::is_cache_edit;

/// A layer that leaves something out of requests, taken away. What it freed stays in every request up to the next
/// compaction, which would have taken it anyway; what a server clears is told with each response.
pub(super) struct Removed {
    layer: LayerSwitch,
    /// Whether it changed what had been sent since the last request.
    broke: bool,
    /// What requests carry more in this world.
    added: u64,
    /// How large the last request and its answer were in this world.
    known: u64,
}

impl Removed {
    pub(super) fn new(layer: LayerSwitch) -> Self {
        Self { layer, broke: false, added: 0, known: 0 }
    }
}

impl LayerSimulation for Removed {
    fn layer(&self) -> LayerSwitch {
        self.layer
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn fired(&mut self, run: &LayerRun) {
        if run.layer == self.layer {
            self.broke |= run.prefix_changed;
            self.added = self.added.saturating_add(run.freed);
        }
    }

    fn put_back(&mut self, tokens: u64) {
        if self.layer == LayerSwitch::Collapse {
            self.added = self.added.saturating_sub(tokens);
        }
    }

    fn view_changed(&mut self, view: &[Arc<Message>]) {
        // Deletions that are no longer sent delete nothing.
        let is_edit = |message: &Arc<Message>| is_cache_edit(message);
        if self.layer == LayerSwitch::CacheEdits && !view.iter().any(is_edit) {
            self.added = 0;
        }
    }

    fn compacted(&mut self, _: &[Arc<Message>], _: u64) {
        self.added = 0;
    }

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        let kept_out = self.added;
        let mut usage = with(moment.usage, kept_out);
        // A cache that had expired is lost with the layer and without it.
        if std::mem::take(&mut self.broke) && moment.is_warm {
            usage = unbroken(&usage, self.known);
        }
        self.known = usage.total();
        if self.layer == LayerSwitch::ServerClearing {
            self.added = 0;
        }
        let overflows = kept_out > 0 && usage.input_total() > u64::from(moment.budget.window);
        SimulatedOutcome { usage, kept_out, overflows, ..SimulatedOutcome::default() }
    }
}

/// A layer that was on and had nothing to do, or one that the server does not offer: nothing changes.
pub(super) struct Unchanged(pub(super) LayerSwitch);

impl LayerSimulation for Unchanged {
    fn layer(&self) -> LayerSwitch {
        self.0
    }

    fn add_message(&mut self, _: &Arc<Message>) {}

    fn compacted(&mut self, _: &[Arc<Message>], _: u64) {}

    fn request(&mut self, moment: &SimulatedRequest<'_>) -> SimulatedOutcome {
        SimulatedOutcome { usage: *moment.usage, ..SimulatedOutcome::default() }
    }
}

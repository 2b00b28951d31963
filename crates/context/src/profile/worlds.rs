//! The worlds to compare a session with, one for each layer: what acted is taken away, what was off is put in, and
//! what was on without anything to do stays as it is. A layer that cannot be simulated has no world.

use dormouse_base::LayerSwitch;
use dormouse_conversation::transcript::Replay;

use super::compacting::{Compacting, NeverCompacted, SummarizedInstead};
use super::fired::{LAYERS, fired_layers};
use super::layer_run::LayerRun;
use super::removed::{Removed, Unchanged};
use super::results::{LayerAvailability, LayerProfile, LayerStatus};
use super::rules::ProfileRules;
use super::simulated_request::SimulatedOutcome;
use super::simulations::{
    CacheEditing, Clearing, ClearingByServer, Collapsing, LayerSimulation, Snipping,
};
use super::storing::Storing;

/// A world with what its layer comes to.
pub(super) struct LayerWorld {
    pub(super) figures: LayerProfile,
    pub(super) simulation: Box<dyn LayerSimulation>,
}

pub(super) fn worlds(replay: &Replay, rules: &ProfileRules<'_>) -> Vec<LayerWorld> {
    let fired = fired_layers(replay);
    let world = |layer: LayerSwitch| {
        if fired.contains(&layer) {
            return Some(LayerWorld::new(LayerStatus::Fired, removed(layer, rules)));
        }
        match (rules.availability)(layer) {
            LayerAvailability::On => {
                Some(LayerWorld::new(LayerStatus::Idle, Box::new(Unchanged(layer))))
            }
            LayerAvailability::NotOffered => {
                Some(LayerWorld::new(LayerStatus::NotOffered, Box::new(Unchanged(layer))))
            }
            LayerAvailability::Off => {
                Some(LayerWorld::new(LayerStatus::Simulated, simulated(layer, rules)?))
            }
        }
    };
    LAYERS.into_iter().filter_map(world).collect()
}

/// The session without a layer that acted in it.
fn removed(layer: LayerSwitch, rules: &ProfileRules<'_>) -> Box<dyn LayerSimulation> {
    match layer {
        LayerSwitch::StoredResults => Box::new(Storing::new(LayerStatus::Fired, &rules.budget)),
        LayerSwitch::AutoCompact => Box::new(NeverCompacted::default()),
        LayerSwitch::NotesCompaction => Box::new(SummarizedInstead::default()),
        other => Box::new(Removed::new(other)),
    }
}

/// The session with a layer that was off; none where nothing in a transcript says what it would have done.
fn simulated(layer: LayerSwitch, rules: &ProfileRules<'_>) -> Option<Box<dyn LayerSimulation>> {
    Some(match layer {
        LayerSwitch::StoredResults => Box::new(Storing::new(LayerStatus::Simulated, &rules.budget)),
        LayerSwitch::Snip => Box::new(Snipping::default()),
        LayerSwitch::TimeClearing => Box::new(Clearing::default()),
        LayerSwitch::CacheEdits => Box::new(CacheEditing::default()),
        LayerSwitch::ServerClearing => Box::new(ClearingByServer::default()),
        LayerSwitch::Collapse => Box::new(Collapsing::default()),
        LayerSwitch::AutoCompact => Box::new(Compacting::default()),
        _ => return None,
    })
}

impl LayerWorld {
    fn new(status: LayerStatus, simulation: Box<dyn LayerSimulation>) -> Self {
        let layer = simulation.layer();
        let figures = LayerProfile {
            layer: layer.name(),
            status,
            default_on: layer.default_on(),
            runs: 0,
            freed_tokens: 0,
            kept_out_tokens: 0,
            prefix_changes: 0,
            calls: 0,
            cost_with_usd: 0.0,
            cost_without_usd: 0.0,
            overflows_at: None,
        };
        Self { figures, simulation }
    }

    /// A layer acted in the session.
    pub(super) fn fired(&mut self, run: &LayerRun) {
        if run.layer == self.simulation.layer() {
            self.figures.runs += 1;
            self.figures.prefix_changes += u64::from(run.prefix_changed);
            self.add_freed(run.freed);
        }
        self.simulation.fired(run);
    }

    pub(super) fn add_freed(&mut self, tokens: u64) {
        self.figures.freed_tokens = self.figures.freed_tokens.saturating_add(tokens);
    }

    /// Adds a request: what it really cost and what it costs in this world.
    pub(super) fn add(&mut self, outcome: &SimulatedOutcome, paid: f64, other: f64, number: u64) {
        let figures = &mut self.figures;
        match figures.status {
            LayerStatus::Fired => {
                figures.cost_with_usd += paid;
                figures.cost_without_usd += other;
            }
            LayerStatus::Simulated => {
                figures.cost_with_usd += other;
                figures.cost_without_usd += paid;
                figures.runs += outcome.runs;
                figures.prefix_changes += u64::from(outcome.prefix_changed);
                figures.calls += outcome.calls.len() as u64;
                figures.freed_tokens = figures.freed_tokens.saturating_add(outcome.freed);
            }
            LayerStatus::Idle | LayerStatus::NotOffered => {
                figures.cost_with_usd += paid;
                figures.cost_without_usd += paid;
            }
        }
        figures.kept_out_tokens = figures.kept_out_tokens.saturating_add(outcome.kept_out);
        if outcome.overflows {
            figures.overflows_at.get_or_insert(number);
        }
    }

    /// The layer's profile, with the calls that it really made.
    pub(super) fn finish(self, rules: &ProfileRules<'_>) -> LayerProfile {
        let mut figures = self.figures;
        if figures.status == LayerStatus::Fired {
            let calls = (rules.calls)(self.simulation.layer());
            figures.calls = calls.requests;
            figures.cost_with_usd += calls.cost_usd;
        }
        figures
    }
}

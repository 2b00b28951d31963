//! The replay itself: events in, metrics out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{LayerSwitch, MessageId};
use dormouse_conversation::transcript::{Replay, ReplayEvent, ReplayedCompaction, ReplayedMessage};
use dormouse_conversation::{Block, Message, Role, Usage};
use jiff::Timestamp;

use super::breaks::{self, Between, BreakReason};
use super::counters::Rates;
use super::fired::{cleared_tokens, compacting_layer, left_out_run, runs_in};
use super::layer_run::LayerRun;
use super::results::{CacheUse, CompactionProfile, CounterSource, Profile, RequestProfile};
use super::rules::ProfileRules;
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::worlds::{LayerWorld, worlds};
use crate::layers::{CacheCharges, TokenCosts};

/// Replays a session.
pub fn profile(replay: &Replay, rules: &ProfileRules<'_>) -> Profile {
    let mut run = Run::new(replay, rules);
    for event in &replay.events {
        match event {
            ReplayEvent::Message(said) => run.said(said),
            ReplayEvent::Compacted(compaction) => run.compacted(compaction),
            ReplayEvent::LeftOut(change) => run.leave_out(change),
            ReplayEvent::ResultsReplaced { message, blocks } => {
                run.results_replaced(*message, blocks);
            }
            ReplayEvent::PrefixBuilt(tokens) => {
                run.prefix_tokens = *tokens;
                run.between.saw(BreakReason::PrefixRebuilt);
            }
            ReplayEvent::ThinkingDropped => run.between.saw(BreakReason::ThinkingDropped),
        }
    }
    run.finish()
}

/// An hour.
const HOUR: Duration = Duration::from_hours(1);

/// Something by layer.
type ByLayer<T> = BTreeMap<&'static str, T>;

/// What a request's tokens cost, if anybody knows.
struct Tariff {
    rates: Option<Rates>,
    for_an_hour: bool,
}

impl Tariff {
    fn cost(&self, usage: &Usage) -> Option<f64> {
        self.rates.map(|rates| rates.cost(usage, self.for_an_hour))
    }

    /// What the request costs in a world, with the calls that the layer makes for it.
    fn cost_in(&self, effect: &SimulatedOutcome) -> Option<f64> {
        let calls: f64 = effect.calls.iter().filter_map(|call| self.cost(call)).sum();
        self.cost(&effect.usage).map(|cost| cost + calls)
    }
}

/// A request that was sent before.
struct Before {
    usage: Usage,
    started: Timestamp,
    answered: Timestamp,
    model: String,
}

struct Run<'a> {
    rules: &'a ProfileRules<'a>,
    worlds: Vec<LayerWorld>,
    /// What is sent, as far as it is known.
    view: Vec<Arc<Message>>,
    /// Messages that a layer left out and that may be put back.
    left_out: HashMap<MessageId, Arc<Message>>,
    /// What the view takes, estimated.
    view_tokens: u64,
    /// What the prefix takes, estimated, where the transcript holds it.
    prefix_tokens: u64,
    /// What comes in front of the messages: what the server counted more than the first messages take.
    overhead: Option<u64>,
    before: Option<Before>,
    between: Between,
    /// Results that are being cleared: one run, over several messages.
    clearing: Option<LayerRun>,
    /// Compactions that no request has followed yet.
    compactions: Vec<ReplayedCompaction>,
    profile: Profile,
}

impl<'a> Run<'a> {
    fn new(replay: &Replay, rules: &'a ProfileRules<'a>) -> Self {
        Self {
            rules,
            worlds: worlds(replay, rules),
            view: Vec::new(),
            left_out: HashMap::new(),
            view_tokens: 0,
            prefix_tokens: 0,
            overhead: None,
            before: None,
            between: Between::default(),
            clearing: None,
            compactions: Vec::new(),
            profile: Profile::default(),
        }
    }

    fn finish(mut self) -> Profile {
        self.finish_clearing();
        let next = self.profile.requests.len() as u64 + 1;
        for compaction in std::mem::take(&mut self.compactions) {
            let after = compaction.post_tokens;
            self.note_compaction(compaction, next, after);
        }
        let rules = self.rules;
        self.profile.layers = self.worlds.into_iter().map(|world| world.finish(rules)).collect();
        let total = &mut self.profile.total;
        total.cache = if total.usage.input_total() > total.usage.input_tokens {
            CacheUse::Used
        } else if total.estimated < total.requests {
            CacheUse::None
        } else {
            CacheUse::Unknown
        };
        self.profile
    }

    fn fire(&mut self, run: &LayerRun) {
        for world in &mut self.worlds {
            world.fired(run);
        }
    }

    fn said(&mut self, said: &ReplayedMessage) {
        self.finish_clearing();
        let message = &said.message;
        let answers = message.role == Role::Assistant && !message.is_synthetic();
        let counted = message.response.as_ref().is_some_and(|response| response.usage.total() > 0);
        if answers && (counted || !message.blocks.is_empty()) {
            self.request(said);
        }
        if said.withdrawn || message.blocks.is_empty() {
            return;
        }
        for run in runs_in(message, &self.view) {
            self.fire(&run);
        }
        for world in &mut self.worlds {
            world.simulation.add_message(message);
        }
        self.view_tokens = self.view_tokens.saturating_add(message.tokens());
        self.view.push(Arc::clone(message));
    }

    /// The messages with these ids, in that order. Others that belong to the view follow.
    fn view_of(&self, ids: &[MessageId]) -> Vec<Arc<Message>> {
        let known: HashMap<MessageId, &Arc<Message>> =
            self.view.iter().map(|message| (message.id, message)).collect();
        let find = |id: &MessageId| known.get(id).copied().or_else(|| self.left_out.get(id));
        ids.iter().filter_map(find).map(Arc::clone).collect()
    }

    fn set_view(&mut self, view: Vec<Arc<Message>>) {
        self.view_tokens = view.iter().map(|message| message.tokens()).sum();
        self.view = view;
    }

    fn compacted(&mut self, compaction: &ReplayedCompaction) {
        self.finish_clearing();
        let last = self.before.as_ref().map_or(0, |before| before.usage.total());
        let before = if compaction.pre_tokens > 0 { compaction.pre_tokens } else { last };
        let after = compaction.post_tokens;
        self.fire(&LayerRun {
            layer: compacting_layer(compaction),
            // Other agents do not write how much is left: the next request tells.
            freed: if after > 0 { before.saturating_sub(after) } else { 0 },
            prefix_changed: true,
        });
        let view = self.view_of(&compaction.view);
        for world in &mut self.worlds {
            world.simulation.compacted(&view, before);
        }
        self.set_view(view);
        self.between.saw(BreakReason::Compacted);
        self.compactions.push(ReplayedCompaction { pre_tokens: before, ..compaction.clone() });
    }

    /// A layer left messages out of what is sent, or put them back.
    fn leave_out(&mut self, change: &ReplayedCompaction) {
        let tokens_before = self.view_tokens;
        let view = self.view_of(&change.view);
        self.left_out.extend(self.view.iter().map(|message| (message.id, Arc::clone(message))));
        if let Some(run) = left_out_run(change) {
            self.fire(&run);
        }
        for world in &mut self.worlds {
            world.simulation.view_changed(&view);
        }
        self.set_view(view);
        let back = self.view_tokens.saturating_sub(tokens_before);
        for world in &mut self.worlds {
            world.simulation.put_back(back);
        }
        self.between.saw(BreakReason::Edited);
    }

    /// Results of an earlier message are sent as other blocks.
    fn results_replaced(&mut self, id: MessageId, blocks: &[Block]) {
        let Some(place) = self.view.iter().position(|message| message.id == id) else { return };
        let Some(message) = self.view.get(place) else { return };
        if let Some(freed) = cleared_tokens(message, blocks) {
            let earlier = self.clearing.map_or(0, |run| run.freed);
            let freed = freed.saturating_add(earlier);
            let layer = LayerSwitch::TimeClearing;
            self.clearing = Some(LayerRun { layer, freed, prefix_changed: true });
        }
        let replaced =
            |old: &Block| blocks.iter().find(|new| new.kind() == old.kind()).unwrap_or(old).clone();
        let changed = Message {
            blocks: message.blocks.iter().map(replaced).collect(),
            ..Message::clone(message)
        };
        let mut view = std::mem::take(&mut self.view);
        if let Some(message) = view.get_mut(place) {
            *message = Arc::new(changed);
        }
        self.set_view(view);
        self.between.saw(BreakReason::Edited);
    }

    /// All results of a batch have been replaced.
    fn finish_clearing(&mut self) {
        let Some(run) = self.clearing.take() else { return };
        self.fire(&run);
        for world in &mut self.worlds {
            world.simulation.view_changed(&self.view);
        }
    }

    fn request(&mut self, said: &ReplayedMessage) {
        let Some(response) = &said.message.response else { return };
        if let Some(freed) = said.server_cleared {
            let layer = LayerSwitch::ServerClearing;
            self.fire(&LayerRun { layer, freed, prefix_changed: true });
            self.between.saw(BreakReason::Edited);
        }
        let (usage, counted) = self.counters(&said.message, response.usage);
        let started = self.view.last().map_or(said.message.timestamp, |last| last.timestamp);
        let lives = if said.one_hour_cache { HOUR } else { self.rules.cache_lives };
        let tariff =
            Tariff { rates: (self.rules.rates)(&response.model), for_an_hour: lives >= HOUR };
        let cost_usd = tariff.cost(&usage);
        let number = self.profile.requests.len() as u64 + 1;
        let (freed, other_cost_usd) = self.ask_worlds(&usage, started, lives, &tariff, number);
        let broke = self.broke(&usage, started, &response.model, lives);
        self.count(&usage, counted, cost_usd, broke.map_or(0, |broke| broke.lost_tokens));
        for compaction in std::mem::take(&mut self.compactions) {
            self.note_compaction(compaction, number, usage.input_total());
        }
        let model = response.model.clone();
        let answered = said.message.timestamp;
        self.before = Some(Before { usage, started, answered, model: model.clone() });
        let context_tokens = usage.input_total();
        self.profile.requests.push(RequestProfile {
            number,
            at: started,
            model,
            usage,
            context_tokens,
            counted,
            cost_usd,
            freed,
            other_cost_usd,
            broke,
        });
    }

    /// What every layer makes of a request: tokens it keeps out, and what the request costs in its world.
    fn ask_worlds(
        &mut self,
        usage: &Usage,
        started: Timestamp,
        lives: Duration,
        tariff: &Tariff,
        number: u64,
    ) -> (ByLayer<u64>, ByLayer<f64>) {
        let overhead =
            *self.overhead.get_or_insert(usage.input_total().saturating_sub(self.view_tokens));
        let answered = self.before.as_ref().map(|before| before.answered);
        let idle = answered.map_or(Duration::ZERO, |answered| since(answered, started));
        let is_warm =
            self.before.as_ref().is_some_and(|before| since(before.started, started) <= lives);
        let uses_cache = |before: &Before| charges(&before.usage) != CacheCharges::NoCache;
        let shown = charges(&self.profile.total.usage);
        let moment = SimulatedRequest {
            usage,
            idle,
            is_warm,
            is_cached: is_warm && self.before.as_ref().is_some_and(uses_cache),
            cache_lives: lives,
            costs: TokenCosts::new(shown, |usage| tariff.cost(usage)),
            budget: &self.rules.budget,
            overhead,
        };
        let paid = tariff.cost(usage);
        let (mut freed, mut other_cost) = (ByLayer::new(), ByLayer::new());
        for world in &mut self.worlds {
            let outcome = world.simulation.request(&moment);
            let other = tariff.cost_in(&outcome);
            let layer = world.figures.layer;
            if outcome.kept_out > 0 {
                freed.insert(layer, outcome.kept_out);
            }
            if let Some(other) = other.filter(|_| other != paid) {
                other_cost.insert(layer, other);
            }
            world.add(&outcome, paid.unwrap_or(0.0), other.unwrap_or(0.0), number);
        }
        (freed, other_cost)
    }

    /// What the server counted, or an estimate.
    fn counters(&self, message: &Message, told: Usage) -> (Usage, CounterSource) {
        if told.total() > 0 {
            return (told, CounterSource::Server);
        }
        let usage = Usage {
            input_tokens: self.prefix_tokens.saturating_add(self.view_tokens),
            output_tokens: message.tokens(),
            ..Usage::default()
        };
        (usage, CounterSource::Estimated)
    }

    fn broke(
        &mut self,
        usage: &Usage,
        started: Timestamp,
        model: &str,
        lives: Duration,
    ) -> Option<breaks::ProfiledBreak> {
        let mut between = std::mem::take(&mut self.between);
        let before = self.before.as_ref()?;
        if before.model != model {
            between.saw(BreakReason::ModelChanged);
        }
        between.gap = since(before.started, started);
        breaks::find(&before.usage, usage, between, lives)
    }

    fn count(&mut self, usage: &Usage, counted: CounterSource, cost: Option<f64>, lost: u64) {
        let total = &mut self.profile.total;
        total.requests += 1;
        total.estimated += u64::from(counted == CounterSource::Estimated);
        total.unpriced += u64::from(cost.is_none());
        total.usage = total.usage.plus(*usage);
        total.cost_usd += cost.unwrap_or(0.0);
        total.lost_tokens = total.lost_tokens.saturating_add(lost);
    }

    /// A compaction with the size of the first request after it.
    fn note_compaction(&mut self, compaction: ReplayedCompaction, request: u64, after: u64) {
        if compaction.post_tokens == 0 {
            let freed = compaction.pre_tokens.saturating_sub(after);
            let layer = compacting_layer(&compaction).name();
            let own = self.worlds.iter_mut().find(|world| world.figures.layer == layer);
            if let Some(world) = own {
                world.add_freed(freed);
            }
        }
        self.profile.compactions.push(CompactionProfile {
            request,
            trigger: compaction.trigger,
            method: compaction.method,
            tokens_before: compaction.pre_tokens,
            tokens_after: after,
            fidelity: compaction.fidelity,
        });
    }
}

/// How the server charges for its cache, as far as its counters show.
fn charges(usage: &Usage) -> CacheCharges {
    match (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) {
        (0, 0) => CacheCharges::NoCache,
        (_, 0) => CacheCharges::Reads,
        _ => CacheCharges::ReadsAndWrites,
    }
}

/// The time from one moment to another; none if they are the wrong way round.
fn since(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

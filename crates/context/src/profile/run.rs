//! The replay itself: events in, metrics out.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::MessageId;
use dormouse_conversation::transcript::{Replay, ReplayEvent, ReplayedCompaction, ReplayedMessage};
use dormouse_conversation::{Budget, Message, Role, Usage};
use jiff::Timestamp;

use super::breaks::{self, Between, BreakReason};
use super::compacting::{Compacting, NeverCompacted};
use super::counters::Rates;
use super::results::{
    CompactionProfile, CounterSource, LayerProfile, LayerStatus, Profile, RequestProfile,
};
use super::simulated_request::{SimulatedOutcome, SimulatedRequest};
use super::simulations::{CacheEditing, Clearing, Collapsing, LayerSimulation, Snipping};
use super::storing::{Storing, holds_stored};

/// What a profile goes by.
pub struct ProfileRules<'a> {
    /// The numbers for the session's window.
    pub budget: Budget,
    /// How long the server's cache lives, where the transcript does not tell.
    pub cache_lives: Duration,
    /// What a model costs.
    pub rates: &'a dyn Fn(&str) -> Option<Rates>,
}

/// Replays a session.
pub fn profile(replay: &Replay, rules: &ProfileRules<'_>) -> Profile {
    let mut run = Run::new(replay, rules);
    for event in &replay.events {
        match event {
            ReplayEvent::Message(said) => run.said(said),
            ReplayEvent::Compacted(compaction) => run.compacted(compaction),
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
    worlds: Vec<(LayerProfile, Box<dyn LayerSimulation>)>,
    /// What is sent, as far as it is known.
    view: Vec<Arc<Message>>,
    /// What the view takes, estimated.
    view_tokens: u64,
    /// What the prefix takes, estimated, where the transcript holds it.
    prefix_tokens: u64,
    /// What comes in front of the messages: what the server counted more than the first messages take.
    overhead: Option<u64>,
    before: Option<Before>,
    between: Between,
    /// A compaction that no request has followed yet.
    compaction: Option<ReplayedCompaction>,
    profile: Profile,
}

impl<'a> Run<'a> {
    fn new(replay: &Replay, rules: &'a ProfileRules<'a>) -> Self {
        let with_figures = |world: Box<dyn LayerSimulation>| (tally(&*world), world);
        let worlds = worlds(replay, &rules.budget).into_iter().map(with_figures).collect();
        Self {
            rules,
            worlds,
            view: Vec::new(),
            view_tokens: 0,
            prefix_tokens: 0,
            overhead: None,
            before: None,
            between: Between::default(),
            compaction: None,
            profile: Profile::default(),
        }
    }

    fn finish(mut self) -> Profile {
        self.profile.layers = self.worlds.into_iter().map(|(figures, _)| figures).collect();
        self.profile
    }

    fn said(&mut self, said: &ReplayedMessage) {
        let message = &said.message;
        let answers = message.role == Role::Assistant && !message.is_synthetic();
        if answers && !message.blocks.is_empty() {
            self.request(said);
        }
        if said.withdrawn || message.blocks.is_empty() {
            return;
        }
        for (_, world) in &mut self.worlds {
            world.add_message(message);
        }
        self.view_tokens = self.view_tokens.saturating_add(message.tokens());
        self.view.push(Arc::clone(message));
    }

    fn compacted(&mut self, compaction: &ReplayedCompaction) {
        let known: HashMap<MessageId, &Arc<Message>> =
            self.view.iter().map(|message| (message.id, message)).collect();
        let stay = compaction.view.iter().filter_map(|id| known.get(id));
        let view: Vec<Arc<Message>> = stay.map(|message| Arc::clone(message)).collect();
        let last = self.before.as_ref().map_or(0, |before| before.usage.total());
        let before = if compaction.pre_tokens > 0 { compaction.pre_tokens } else { last };
        for (_, world) in &mut self.worlds {
            world.compacted(&view, before);
        }
        self.view_tokens = view.iter().map(|message| message.tokens()).sum();
        self.view = view;
        self.between.saw(BreakReason::Compacted);
        self.compaction = Some(ReplayedCompaction { pre_tokens: before, ..compaction.clone() });
    }

    fn request(&mut self, said: &ReplayedMessage) {
        let Some(response) = &said.message.response else { return };
        let (usage, counted) = self.counters(&said.message, response.usage);
        let started = self.view.last().map_or(said.message.timestamp, |last| last.timestamp);
        let lives = if said.one_hour_cache { HOUR } else { self.rules.cache_lives };
        let tariff =
            Tariff { rates: (self.rules.rates)(&response.model), for_an_hour: lives >= HOUR };
        let cost_usd = tariff.cost(&usage);
        let number = self.profile.requests.len() as u64 + 1;
        let (freed, other_cost_usd) = self.ask_worlds(&usage, started, &tariff, number);
        let broke = self.broke(&usage, started, &response.model, lives);
        self.count(&usage, counted, cost_usd, broke.map_or(0, |broke| broke.lost_tokens));
        self.note_compaction(number, &usage);
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
        tariff: &Tariff,
        number: u64,
    ) -> (ByLayer<u64>, ByLayer<f64>) {
        let overhead =
            *self.overhead.get_or_insert(usage.input_total().saturating_sub(self.view_tokens));
        let answered = self.before.as_ref().map(|before| before.answered);
        let idle = answered.map_or(Duration::ZERO, |answered| since(answered, started));
        let moment = SimulatedRequest { usage, idle, budget: &self.rules.budget, overhead };
        let paid = tariff.cost(usage);
        let (mut freed, mut other_cost) = (ByLayer::new(), ByLayer::new());
        for (figures, world) in &mut self.worlds {
            let effect = world.request(&moment);
            let other = tariff.cost_in(&effect);
            if effect.freed > 0 {
                freed.insert(figures.layer, effect.freed);
            }
            if let Some(other) = other.filter(|_| other != paid) {
                other_cost.insert(figures.layer, other);
            }
            add(figures, &effect, (paid.unwrap_or(0.0), other.unwrap_or(0.0)), number);
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

    fn note_compaction(&mut self, request: u64, usage: &Usage) {
        let Some(compaction) = self.compaction.take() else { return };
        self.profile.compactions.push(CompactionProfile {
            request,
            trigger: compaction.trigger,
            method: compaction.method,
            tokens_before: compaction.pre_tokens,
            tokens_after: usage.input_total(),
            fidelity: compaction.fidelity,
        });
    }
}

/// The worlds to compare a session with: layers that were at work are taken away, the others put in.
fn worlds(replay: &Replay, budget: &Budget) -> Vec<Box<dyn LayerSimulation>> {
    let compacted = replay.events.iter().any(|event| matches!(event, ReplayEvent::Compacted(_)));
    let stored = replay
        .events
        .iter()
        .any(|event| matches!(event, ReplayEvent::Message(said) if holds_stored(&said.message)));
    let storing = if stored { LayerStatus::Worked } else { LayerStatus::Replayed };
    let compacting: Box<dyn LayerSimulation> = if compacted {
        Box::new(NeverCompacted::default())
    } else {
        Box::new(Compacting::default())
    };
    vec![
        Box::new(Storing::new(storing, budget)),
        Box::new(Snipping::default()),
        Box::new(Clearing::default()),
        Box::new(CacheEditing::default()),
        Box::new(Collapsing::default()),
        compacting,
    ]
}

fn tally(world: &dyn LayerSimulation) -> LayerProfile {
    LayerProfile {
        layer: world.layer(),
        standing: world.standing(),
        runs: 0,
        freed_tokens: 0,
        prefix_changes: 0,
        calls: 0,
        cost_with_usd: 0.0,
        cost_without_usd: 0.0,
        overflows_at: None,
    }
}

/// Adds a request in a world to the layer's metrics.
fn add(
    figures: &mut LayerProfile,
    effect: &SimulatedOutcome,
    (paid, other): (f64, f64),
    number: u64,
) {
    let (with, without) = match figures.standing {
        LayerStatus::Worked => (paid, other),
        LayerStatus::Replayed => (other, paid),
    };
    figures.cost_with_usd += with;
    figures.cost_without_usd += without;
    figures.runs += u64::from(effect.ran);
    figures.prefix_changes += u64::from(effect.prefix_changed);
    figures.calls += effect.calls.len() as u64;
    figures.freed_tokens = figures.freed_tokens.saturating_add(effect.freed);
    if effect.overflows {
        figures.overflows_at.get_or_insert(number);
    }
}

/// The time from one moment to another; none if they are the wrong way round.
fn since(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

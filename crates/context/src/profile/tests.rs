//! Whole sessions, profiled.

use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{LayerSwitch, MessageId};
use dormouse_conversation::transcript::{Replay, ReplayEvent, ReplayedCompaction, ReplayedMessage};
use dormouse_conversation::{Block, BlockKind, Message, Response, ResultContent, Usage};
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::layers::CLEARED_RESULT;
use crate::layers::testing::{Maker, budget, text_of};

/// A session that a server with a cache answers: what was sent before is read, the rest written.
struct Session {
    maker: Maker,
    now: Timestamp,
    model: &'static str,
    /// What the next request carries.
    context: u64,
    /// What the cache holds.
    cached: u64,
    events: Vec<ReplayEvent>,
}

const PROMPT: u64 = 5_000;

impl Session {
    fn new() -> Self {
        let now = "2026-11-15T08:00:00Z".parse().unwrap();
        let maker = Maker::new(1);
        let mut session =
            Self { maker, now, model: "m", context: PROMPT, cached: 0, events: Vec::new() };
        let hello = session.maker.user("do it");
        session.say(&hello);
        session
    }

    fn say(&mut self, message: &Message) {
        self.now += SignedDuration::from_secs(1);
        let message = Arc::new(Message { timestamp: self.now, ..message.clone() });
        self.context += message.tokens();
        self.events.push(ReplayEvent::Message(ReplayedMessage {
            message,
            one_hour_cache: false,
            withdrawn: false,
            server_cleared: None,
            recalled: Vec::new(),
        }));
    }

    /// A request, answered with a call of Read, and its result of so many tokens.
    fn round(&mut self, result: usize) {
        let usage = self.usage();
        self.round_with(usage, result);
    }

    /// The counters of a request that is sent now.
    fn usage(&mut self) -> Usage {
        let usage = Usage {
            cache_read_input_tokens: self.cached.min(self.context),
            cache_creation_input_tokens: self.context.saturating_sub(self.cached),
            ..Usage::default()
        };
        self.cached = self.context;
        usage
    }

    /// A request that ends the turn, and the user's next message.
    fn next_turn(&mut self, usage: Usage) {
        let answer = self.maker.says("done");
        let response =
            Response { model: self.model.to_owned(), usage, ..answer.response.clone().unwrap() };
        self.say(&Message { response: Some(response), ..Message::clone(&answer) });
        let words = self.maker.user("go on");
        self.say(&words);
    }

    fn round_with(&mut self, usage: Usage, result: usize) {
        let [call, results] = self.maker.round(&["Read"], &text_of(result));
        let response =
            Response { model: self.model.to_owned(), usage, ..call.response.clone().unwrap() };
        self.say(&Message { response: Some(response), ..Message::clone(&call) });
        self.say(&results);
    }

    /// The turn ends, and the user pauses before the next one.
    fn pause(&mut self, minutes: i64) {
        let usage = self.usage();
        self.next_turn(usage);
        self.wait(minutes);
    }

    fn wait(&mut self, minutes: i64) {
        self.now += SignedDuration::from_mins(minutes);
        self.cached = 0;
        let words = self.maker.user("go on");
        self.say(&words);
    }

    fn profile(self) -> Profile {
        self.profile_with(&|_| LayerAvailability::Off)
    }

    fn profile_with(self, availability: &dyn Fn(LayerSwitch) -> LayerAvailability) -> Profile {
        let rates = |model: &str| {
            let rates = Rates {
                input: 10.0,
                output: 50.0,
                cache_read: 1.0,
                cache_write: 12.0,
                cache_write_hour: 20.0,
                long_prompts: None,
            };
            (model == "m").then_some(rates)
        };
        let replay = Replay { events: self.events, ..Replay::default() };
        let rules = ProfileRules {
            budget: budget(100_000),
            cache_lives: Duration::from_mins(5),
            rates: &rates,
            availability,
            calls: &|_| LayerCalls { requests: 7, cost_usd: 0.01 },
        };
        profile(&replay, &rules)
    }
}

fn layer<'a>(profile: &'a Profile, name: &str) -> &'a LayerProfile {
    profile.layers.iter().find(|layer| layer.layer == name).unwrap()
}

fn breaks(profile: &Profile) -> Vec<(u64, BreakReason)> {
    let requests = profile.requests.iter();
    requests.filter_map(|request| Some((request.number, request.broke?.reason))).collect()
}

#[test]
fn a_short_session_has_nothing_to_save() {
    let mut session = Session::new();
    (0..5).for_each(|_| session.round(1_000));
    let profile = session.profile();
    let sum = profile.requests.iter().fold(Usage::default(), |sum, one| sum.plus(one.usage));
    assert_eq!((profile.total.requests, profile.total.usage), (5, sum));
    let cost: f64 = profile.requests.iter().filter_map(|request| request.cost_usd).sum();
    assert!(cost > 0.0 && (profile.total.cost_usd - cost).abs() < 1e-12);
    assert_eq!(breaks(&profile), []);
    for layer in &profile.layers {
        assert_eq!((layer.runs, layer.freed_tokens, layer.calls), (0, 0, 0), "{layer:?}");
        assert!(layer.saved_usd().abs() < 1e-12 && layer.status == LayerStatus::Simulated);
    }
}

#[test]
fn a_pause_costs_the_cache_and_clearing_makes_it_cheaper() {
    let mut session = Session::new();
    (0..10).for_each(|_| session.round(2_000));
    session.pause(61);
    (0..3).for_each(|_| session.round(2_000));
    let profile = session.profile();
    assert_eq!(breaks(&profile), [(12, BreakReason::Expired)]);
    let clearing = layer(&profile, "time_clearing");
    assert_eq!((clearing.runs, clearing.prefix_changes), (1, 1));
    // Five of ten results go, in three requests; the note is short.
    assert!((29_000..30_000).contains(&clearing.kept_out_tokens), "{clearing:?}");
    assert_eq!(profile.requests[10].freed.get("time_clearing"), None);
    assert!(profile.requests[13].freed["time_clearing"] > 9_000);
    // Written once at 12 dollars a million, read twice at 1: about 9,900 x 14.
    assert!((clearing.saved_usd() - 0.139).abs() < 0.002, "{clearing:?}");
    assert_eq!(layer(&profile, "snip").runs, 0);
    let one_by_one: f64 = profile.requests.iter().map(|one| clearing.saved_at(one)).sum();
    assert!((one_by_one - clearing.saved_usd()).abs() < 1e-9);
    assert!(profile.requests[10].other_cost_usd.is_empty(), "nothing differs yet");
}

/// By the arithmetic of the engine (C-31): a cold cache is paid for in any case, a warm one is broken only late.
#[test]
fn clearing_is_simulated_as_the_engine_decides_it() {
    for (minutes, expected) in [(4, 0), (6, 1), (59, 1)] {
        let mut session = Session::new();
        (0..10).for_each(|_| session.round(2_000));
        session.pause(minutes);
        session.round(2_000);
        let profile = session.profile();
        assert_eq!(layer(&profile, "time_clearing").runs, expected, "after {minutes} minutes");
    }
    let mut session = Session::new();
    (0..10).for_each(|_| session.round(2_000));
    session.now += SignedDuration::from_mins(59);
    session.round(2_000);
    let profile = session.profile();
    assert_eq!(layer(&profile, "time_clearing").runs, 0, "in the middle of a turn");
}

/// A server without a cache reads everything again and again: clearing pays without a pause.
#[test]
fn without_a_cache_clearing_is_simulated_in_a_session_without_pauses() {
    let mut session = Session::new();
    for _ in 0..30 {
        let usage = Usage { input_tokens: session.context, ..Usage::default() };
        session.round_with(usage, 1_500);
        let usage = Usage { input_tokens: session.context, ..Usage::default() };
        session.next_turn(usage);
    }
    let profile = session.profile();
    let clearing = layer(&profile, "time_clearing");
    assert!(clearing.runs > 0 && clearing.saved_usd() > 0.0, "{clearing:?}");
}

#[test]
fn a_full_window_is_snipped_folded_and_compacted_each_in_its_world() {
    let mut session = Session::new();
    (0..18).for_each(|_| session.round(4_000));
    let profile = session.profile();
    // The effective window is 80,000. Snip is due above 68,000, and compaction at 72,000.
    let snip = layer(&profile, "snip");
    assert_eq!((snip.runs, snip.prefix_changes, snip.calls), (1, 1, 0));
    let first = profile.requests.iter().find(|one| one.freed.contains_key("snip")).unwrap();
    assert!((68_001..72_100).contains(&first.context_tokens), "{first:?}");
    assert!(first.freed["snip"] >= first.context_tokens - 48_000);
    // It costs the cache once, and pays only when the session continues.
    assert!(snip.saved_usd() < 0.0, "{snip:?}");
    let collapse = layer(&profile, "collapse");
    assert!(collapse.calls > 0 && collapse.cost_with_usd > collapse.cost_without_usd);
    let compact = layer(&profile, "auto_compact");
    assert_eq!((compact.runs, compact.calls, compact.status), (1, 1, LayerStatus::Simulated));
}

#[test]
fn a_compaction_is_compared_with_a_session_that_only_grows() {
    let mut session = Session::new();
    (0..17).for_each(|_| session.round(4_000));
    let before = session.context;
    session.events.push(ReplayEvent::Compacted(ReplayedCompaction {
        trigger: "auto".into(),
        pre_tokens: before,
        ..ReplayedCompaction::default()
    }));
    (session.context, session.cached) = (PROMPT, 0);
    let summary = session.maker.summary(&"word".repeat(3_000));
    session.say(&summary);
    (0..10).for_each(|_| session.round(4_000));
    let profile = session.profile();
    assert_eq!(breaks(&profile), [(18, BreakReason::Compacted)]);
    let [compaction] = profile.compactions.as_slice() else { panic!("{profile:?}") };
    assert_eq!((compaction.request, compaction.tokens_before), (18, before));
    assert_eq!(compaction.tokens_after, profile.requests[17].context_tokens);
    let compact = layer(&profile, "auto_compact");
    assert_eq!((compact.status, compact.runs), (LayerStatus::Fired, 1));
    assert!((compact.cost_with_usd - profile.total.cost_usd - 0.01).abs() < 1e-9, "and its calls");
    let added = before - compaction.tokens_after;
    assert_eq!(profile.requests[17].freed["auto_compact"], added);
    assert_eq!((compact.freed_tokens, compact.kept_out_tokens), (added, 10 * added));
    assert_eq!(compact.overflows_at, Some(25), "more than 100,000");
    // The first request after it would have read what the one before had sent, and written the rest.
    let known = profile.requests[16].usage.total();
    let other = profile.requests[17].other_cost_usd["auto_compact"];
    assert!((other - dollars(known, before - known)).abs() < 1e-9, "{other}");
    // What a layer left out before it is gone with it.
    let snipped = |request: usize| profile.requests[request].freed.contains_key("snip");
    assert!(snipped(16) && !snipped(17));
    // Carrying the old messages along is cheap as long as they are read from the cache.
    assert!(compact.saved_usd() > 0.5, "{compact:?}");
}

/// At the rates of these tests.
fn dollars(read: u64, written: u64) -> f64 {
    let number = |tokens: u64| f64::from(u32::try_from(tokens).unwrap());
    (number(read) + 12.0 * number(written)) / 1_000_000.0
}

#[test]
fn what_the_program_wrote_in_the_models_place_is_no_request() {
    let mut session = Session::new();
    session.round(1_000);
    let id = session.maker.user("x").id;
    session.say(&Message::synthetic_response(id, session.now, "no answer came"));
    session.round(1_000);
    assert_eq!(session.profile().total.requests, 2);
}

#[test]
fn without_counters_the_texts_are_counted() {
    let mut session = Session::new();
    session.events.insert(0, ReplayEvent::PrefixBuilt(700));
    (0..3).for_each(|_| session.round_with(Usage::default(), 1_000));
    session.model = "of somebody else";
    session.round_with(Usage::default(), 1_000);
    let profile = session.profile();
    assert_eq!((profile.total.estimated, profile.total.unpriced), (4, 1));
    let sizes: Vec<u64> = profile.requests.iter().map(|one| one.context_tokens).collect();
    assert!(sizes.is_sorted() && (700..720).contains(&sizes[0]), "{sizes:?}");
    assert!((3_700..3_900).contains(&sizes[3]), "{sizes:?}");
    assert_eq!(breaks(&profile), [], "nothing is known of the cache");
}

#[test]
fn other_models_and_new_prompts_explain_a_break() {
    let mut session = Session::new();
    (0..3).for_each(|_| session.round(4_000));
    (session.model, session.cached) = ("m2", 0);
    session.round(4_000);
    session.cached = 0;
    session.events.push(ReplayEvent::PrefixBuilt(700));
    session.round(4_000);
    session.cached = 0;
    session.events.push(ReplayEvent::ThinkingDropped);
    session.round(4_000);
    session.cached = 0;
    session.round(4_000);
    let reasons: Vec<BreakReason> = breaks(&session.profile()).iter().map(|one| one.1).collect();
    assert_eq!(
        reasons,
        [
            BreakReason::ModelChanged,
            BreakReason::PrefixRebuilt,
            BreakReason::ThinkingDropped,
            BreakReason::Unexplained
        ]
    );
}

#[test]
fn large_results_are_stored_or_were() {
    let mut session = Session::new();
    let [call, results] = session.maker.round(&["Bash"], &text_of(20_000));
    session.say(&call);
    session.say(&results);
    session.round(100);
    session.round(100);
    let profile = session.profile();
    let storing = layer(&profile, "stored_results");
    assert_eq!((storing.status, storing.runs), (LayerStatus::Simulated, 1));
    assert!((38_000..39_500).contains(&storing.kept_out_tokens), "twice: {storing:?}");
    assert!(storing.saved_usd() > 0.0);
}

#[test]
fn cache_edits_free_without_a_break() {
    let mut session = Session::new();
    (0..25).for_each(|_| session.round(1_000));
    let profile = session.profile();
    let edits = layer(&profile, "cache_edits");
    assert_eq!((edits.runs, edits.prefix_changes, edits.calls), (1, 0, 0));
    assert!(edits.saved_usd() > 0.0);
}

/// The message that came at this place.
fn said_at(session: &Session, place: usize) -> Arc<Message> {
    let mut messages = session.events.iter().filter_map(|event| match event {
        ReplayEvent::Message(said) => Some(&said.message),
        _ => None,
    });
    Arc::clone(messages.nth(place).unwrap())
}

fn ids(session: &Session, from: usize) -> Vec<MessageId> {
    let messages = session.events.iter().filter_map(|event| match event {
        ReplayEvent::Message(said) => Some(said.message.id),
        _ => None,
    });
    messages.skip(from).collect()
}

#[test]
fn a_snip_that_happened_is_undone_to_see_what_it_saved() {
    let mut session = Session::new();
    (0..10).for_each(|_| session.round(4_000));
    let before = session.context;
    let view = ids(&session, 9);
    session.events.push(ReplayEvent::LeftOut(ReplayedCompaction {
        trigger: "auto".into(),
        method: "snip".into(),
        pre_tokens: before,
        post_tokens: before - 16_000,
        view,
        ..ReplayedCompaction::default()
    }));
    (session.context, session.cached) = (before - 16_000, PROMPT);
    (0..4).for_each(|_| session.round(4_000));
    let profile = session.profile();
    assert_eq!(breaks(&profile), [(11, BreakReason::Edited)]);
    let snip = layer(&profile, "snip");
    assert_eq!((snip.status, snip.runs, snip.freed_tokens), (LayerStatus::Fired, 1, 16_000));
    assert_eq!((snip.prefix_changes, snip.kept_out_tokens), (1, 4 * 16_000));
    assert!((snip.cost_with_usd - profile.total.cost_usd - 0.01).abs() < 1e-9, "and its calls");
    // Without it, the request after it would have read all that had been sent.
    let known = profile.requests[9].usage.total();
    let request = profile.requests[10].context_tokens + 16_000;
    let other = profile.requests[10].other_cost_usd["snip"];
    assert!((other - dollars(known, request - known)).abs() < 1e-9, "{other}");
}

#[test]
fn results_cleared_in_one_go_are_one_run() {
    let mut session = Session::new();
    (0..8).for_each(|_| session.round(2_000));
    session.wait(61);
    let note = ResultContent::Text(CLEARED_RESULT.to_owned());
    for place in [2, 4] {
        let message = said_at(&session, place);
        let BlockKind::ToolResult { id } = message.blocks[0].kind() else { panic!("{message:?}") };
        let blocks = vec![Block::tool_result(id, &note, false)];
        session.events.push(ReplayEvent::ResultsReplaced { message: message.id, blocks });
    }
    session.context -= 3_900;
    session.round(2_000);
    let profile = session.profile();
    let clearing = layer(&profile, "time_clearing");
    assert_eq!((clearing.status, clearing.runs), (LayerStatus::Fired, 1));
    assert!((3_900..4_000).contains(&clearing.freed_tokens), "{clearing:?}");
    assert_eq!(clearing.kept_out_tokens, clearing.freed_tokens, "one request");
    assert!(clearing.saved_usd() > 0.0);
}

#[test]
fn what_the_server_cleared_counts_for_its_request_alone() {
    let mut session = Session::new();
    (0..3).for_each(|_| session.round(2_000));
    for event in &mut session.events {
        if let ReplayEvent::Message(said) = event
            && said.message.response.is_some()
        {
            said.server_cleared = Some(1_000);
        }
    }
    let profile = session.profile();
    let cleared = layer(&profile, "server_clearing");
    assert_eq!((cleared.status, cleared.runs), (LayerStatus::Fired, 3));
    assert_eq!((cleared.freed_tokens, cleared.kept_out_tokens), (3_000, 3_000));
}

#[test]
fn a_compaction_from_notes_saves_a_call_and_what_the_notes_cost_is_counted() {
    let mut session = Session::new();
    (0..5).for_each(|_| session.round(4_000));
    let before = session.context;
    session.events.push(ReplayEvent::Compacted(ReplayedCompaction {
        method: "notes".into(),
        pre_tokens: before,
        post_tokens: PROMPT,
        ..ReplayedCompaction::default()
    }));
    (session.context, session.cached) = (PROMPT, 0);
    session.round(4_000);
    let profile = session.profile_with(&|_| LayerAvailability::On);
    let notes = layer(&profile, "notes_compaction");
    assert_eq!((notes.status, notes.runs, notes.calls), (LayerStatus::Fired, 1, 7));
    assert_eq!(notes.freed_tokens, before - PROMPT);
    assert!((notes.cost_with_usd - profile.total.cost_usd - 0.01).abs() < 1e-9, "{notes:?}");
    assert!(notes.cost_without_usd > profile.total.cost_usd, "a summary by the model");
    for layer in profile.layers.iter().filter(|layer| layer.layer != "notes_compaction") {
        assert_eq!((layer.status, layer.runs), (LayerStatus::Idle, 0), "{layer:?}");
        assert!(layer.saved_usd().abs() < 1e-12, "{layer:?}");
    }
}

#[test]
fn whether_there_was_a_cache_is_told() {
    let cache = |usage: Usage| {
        let mut session = Session::new();
        (0..2).for_each(|_| session.round_with(usage, 100));
        session.profile().total.cache
    };
    let plain = Usage { input_tokens: 900, ..Usage::default() };
    assert_eq!(cache(plain), CacheUse::None);
    assert_eq!(cache(Usage { cache_read_input_tokens: 1, ..plain }), CacheUse::Used);
    assert_eq!(cache(Usage::default()), CacheUse::Unknown);
}

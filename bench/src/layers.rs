//! What the cheap layers cost before a request, and a long session in the profiler.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::names;
use dormouse_context::layers::{
    CacheEditRule, CacheEdits, ClearRule, SnipRule, SpanFold, apply_edits, plan_clear, plan_folds,
    plan_snip, plan_spans,
};
use dormouse_context::profile::{LayerAvailability, LayerCalls, ProfileRules, profile};
use dormouse_conversation::transcript::replay_transcript;
use dormouse_conversation::{Block, Budget, ContextWindow, Message, MessageFlags};

use crate::generate::{Sizes, Story};
use crate::measure::Samples;
use crate::memory::megabytes;
use crate::report::{BenchFigure, BenchSection};
use crate::resume::{ResumedSession, WINDOW};
use crate::world::BenchWorld;

const RUNS: usize = 51;
const PROFILE_RUNS: usize = 5;
/// For a conversation on which nothing is due, in milliseconds.
const AIM: f64 = 1.0;
/// For the profiler, in milliseconds.
const PROFILE_AIM: f64 = 2_000.0;

/// Measures the layers in this process, then the profiler, here and in the binary.
pub(crate) fn run(binary: &Path) -> Vec<BenchSection> {
    let mut section = BenchSection::new(
        "layers",
        format!(
            "All cheap layers one after the other on a conversation of short messages, as before a \
             request; {RUNS} runs each. Nothing due: each looks and finds nothing to do. Everything \
             due: snip, clearing, cache edits and collapse each plan, and the edits are applied. The \
             first look at a message estimates its tokens; that has happened before."
        ),
    );
    for count in [2_000, 20_000] {
        section.add(of(count));
    }
    vec![section, profiler(binary)]
}

fn of(count: usize) -> Vec<BenchFigure> {
    let mut story = Story::new(Sizes::OF_TALK);
    let messages: Vec<Arc<Message>> = (0..count).map(|_| Arc::new(story.message())).collect();
    let tokens: u64 = messages.iter().map(|message| message.tokens()).sum();
    let window = u32::try_from(tokens).unwrap_or(u32::MAX);
    let room =
        |window: u32| Budget::for_window(ContextWindow::new(window).expect("a window"), 32_000);
    // In a window of twice the size nothing is due; in one of the very size everything is.
    let (wide, tight) = (room(window.saturating_mul(2)), room(window));
    // As many results as there can be without a deletion being due.
    let all = CacheEditRule { above: usize::MAX, keep: 5 };
    let (mut nothing, mut everything) = (Samples::default(), Samples::default());
    for _ in 0..RUNS {
        nothing.time(|| assert!(!look(&messages, tokens, &wide, Duration::ZERO, &all)));
        everything.time(|| {
            let rule = CacheEditRule::default();
            assert!(look(&messages, tokens, &tight, Duration::from_hours(2), &rule));
        });
    }
    vec![
        BenchFigure::median(format!("{count} messages, {tokens} tokens, nothing due"), &nothing)
            .aim_below(if count == 2_000 { AIM } else { AIM * 10.0 }),
        BenchFigure::median(format!("{count} messages, everything due"), &everything),
    ]
}

/// Every layer once; whether any had something to do.
fn look(
    messages: &[Arc<Message>],
    used: u64,
    budget: &Budget,
    idle: Duration,
    rule: &CacheEditRule,
) -> bool {
    let mut edits = CacheEdits::default();
    let snip = plan_snip(messages, used, budget, &SnipRule::default(), false);
    let clear = plan_clear(messages, idle, &ClearRule::default());
    let deleted = edits.plan(messages, rule);
    let found = plan_spans(messages, &[], used, budget);
    let folds: Vec<SpanFold> =
        found.iter().map(|span| SpanFold { span: *span, summary: "in short".to_owned() }).collect();
    let folded = plan_folds(messages, &folds, "the transcript");
    let mut any = deleted.is_some();
    for plan in [snip, clear, folded].into_iter().flatten() {
        any = true;
        drop(black_box(apply_edits(messages, &plan.edits, |text| made(messages, &text))));
    }
    any
}

fn made(messages: &[Arc<Message>], text: &str) -> Message {
    let first = messages.first().expect("a message");
    Message::user(first.id, first.timestamp, vec![Block::text(text)], MessageFlags::default())
}

fn profiler(binary: &Path) -> BenchSection {
    let mut world = BenchWorld::new(binary);
    world.home.set_env(names::CONTEXT_WINDOW, WINDOW);
    let session = ResumedSession::write(&world);
    let bytes = fs::read(&session.path).expect("the transcript");
    let mut section = BenchSection::new(
        "profiler",
        format!(
            "The transcript of `resume`, {:.1} MB, replayed: the reader, the arithmetic with every \
             layer's world, then the binary with `context FILE --json`, from its spawn to its end. \
             {PROFILE_RUNS} runs each.",
            megabytes(session.length)
        ),
    );
    let budget = Budget::for_window(ContextWindow::new(200_000).expect("a window"), 32_000);
    let rules = ProfileRules {
        budget,
        cache_lives: Duration::from_mins(5),
        rates: &|_| None,
        availability: &|_| LayerAvailability::Off,
        calls: &|_| LayerCalls::default(),
    };
    let (mut reading, mut counting, mut whole) =
        (Samples::default(), Samples::default(), Samples::default());
    let mut requests = 0;
    for _ in 0..PROFILE_RUNS {
        let replay = reading.time(|| replay_transcript(&bytes));
        requests = counting.time(|| profile(&replay, &rules)).requests.len();
        drop(replay);
        let path = session.path.to_str().expect("a path");
        whole.time(|| {
            let output = world.binary().args(["context", path, "--json"]).output();
            assert!(output.expect("a run").status.success(), "the profiler failed");
        });
    }
    section.add([
        BenchFigure::median("the reader", &reading),
        BenchFigure::median(format!("the arithmetic, {requests} requests"), &counting),
        BenchFigure::median("the binary", &whole).aim_below(PROFILE_AIM),
    ]);
    section
}

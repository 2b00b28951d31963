//! How long it takes to plan a compaction, and what memory it takes, for a long conversation and for one
//! ten times as long.

use std::fs;
use std::hint::black_box;
use std::sync::Arc;

use dormouse_context::compact::{
    CompactionMethod, CompactionSummary, FoldInput, INDEX_CHARS, TailRule, UserText,
    compose_summary, fold_messages, identifier_index, keep_user_texts, measure_fidelity, plan_tail,
    user_text_in,
};
use dormouse_conversation::{Budget, ContextWindow, Message};

use crate::generate::{Sizes, Story};
use crate::measure::Samples;
use crate::memory::{megabytes, peak};
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const SMALL: usize = 2_000;
const LARGE: usize = 20_000;
const RUNS: usize = 15;
/// Milliseconds for planning the large one; and how much more it may take than the small one.
const AIM: f64 = 10.0;
const AIM_RATIO: f64 = 15.0;

/// Measures both.
pub(crate) fn run() -> BenchSection {
    let mut section = BenchSection::new(
        "planning",
        format!(
            "Conversations of {SMALL} and {LARGE} messages, the older half covered by notes. *first*: rounds and the \
             kept tail, nothing known of any message; *again*: the same with the messages' sizes known, as in a \
             session. *texts*: fold, the user's words, index, summary message and fidelity, from all messages. \
             Medians of {RUNS}; memory is what the peak of resident memory grows by."
        ),
    );
    let (small, large) = (Times::of(SMALL), Times::of(LARGE));
    section.add([
        BenchFigure::median(format!("{LARGE} messages, first"), &large.first).aim_below(AIM * 10.0),
        BenchFigure::median(format!("{LARGE} messages, again"), &large.again).aim_below(AIM),
        BenchFigure::median(format!("{SMALL} messages, again"), &small.again),
        BenchFigure::ratio("again, to each other", &large.again, &small.again).aim_below(AIM_RATIO),
        BenchFigure::median(format!("{LARGE} messages, texts"), &large.texts),
        BenchFigure::median(format!("{SMALL} messages, texts"), &small.texts),
        BenchFigure::ratio("texts, to each other", &large.texts, &small.texts).aim_below(AIM_RATIO),
        BenchFigure::new(
            format!("{LARGE} messages: memory of planning"),
            large.plan_memory,
            FigureUnit::Megabytes,
        ),
        BenchFigure::new(
            format!("{LARGE} messages: memory of the texts"),
            large.text_memory,
            FigureUnit::Megabytes,
        ),
        BenchFigure::new(
            format!("{SMALL} messages: memory of the texts"),
            small.text_memory,
            FigureUnit::Megabytes,
        ),
    ]);
    section
}

struct Times {
    first: Samples,
    again: Samples,
    texts: Samples,
    plan_memory: f64,
    text_memory: f64,
}

impl Times {
    fn of(count: usize) -> Self {
        let mut story = Story::new(Sizes::OF_TALK);
        let messages: Vec<Arc<Message>> = (0..count).map(|_| Arc::new(story.message())).collect();
        // The story adds up sizes as it goes: what it made is read anew, with nothing known of it.
        let messages: Vec<Arc<Message>> = messages.iter().map(unknown).collect();
        let (mut first, mut again, mut texts) =
            (Samples::default(), Samples::default(), Samples::default());
        first.time(|| plan(&messages));
        let plan_memory = growth(|| again.time(|| plan(&messages)));
        let text_memory = growth(|| texts.time(|| write(&messages)));
        for _ in 1..RUNS {
            again.time(|| plan(black_box(&messages)));
            texts.time(|| write(black_box(&messages)));
        }
        Self { first, again, texts, plan_memory, text_memory }
    }
}

/// The same message, of blocks that nobody has looked at.
fn unknown(message: &Arc<Message>) -> Arc<Message> {
    let read = |block: &dormouse_conversation::Block| {
        dormouse_conversation::Block::from_json(block.raw()).expect("a block")
    };
    let blocks = message.blocks.iter().map(read).collect();
    Arc::new(Message { blocks, ..Message::clone(message) })
}

fn plan(messages: &[Arc<Message>]) -> usize {
    plan_tail(messages, messages.len() / 2, &TailRule::of(&budget())).from
}

fn write(messages: &[Arc<Message>]) -> String {
    let transcript = "/home/person/session.jsonl";
    let text = fold_messages(&FoldInput {
        dropped: messages,
        earlier_summary: None,
        notes: None,
        open_tasks: &[],
        transcript,
        budget_tokens: u64::from(budget().compaction.summary_tokens),
    });
    let words = keep_user_texts(&said(messages), u64::from(budget().compaction.user_words_tokens));
    let index = identifier_index(messages, &text, INDEX_CHARS);
    let summary = CompactionSummary {
        method: CompactionMethod::Fold,
        text: &text,
        user_words: &words,
        index: &index,
        transcript,
        lost_words: "",
        lost_uncovered: false,
    };
    let after = compose_summary(&summary);
    black_box(measure_fidelity(messages, &[], &after));
    after
}

fn said(messages: &[Arc<Message>]) -> Vec<UserText> {
    let one = |message: &Arc<Message>| {
        Some(UserText {
            message: message.id,
            at: message.timestamp,
            text: user_text_in(message)?,
            location: "the transcript".to_owned(),
        })
    };
    messages.iter().filter_map(one).collect()
}

fn budget() -> Budget {
    Budget::for_window(ContextWindow::new(200_000).expect("a window"), 64_000)
}

/// How much the peak of this process's memory grows while something runs. The kernel forgets the peak so
/// far when asked to; where it does not, growth below an earlier peak is not seen.
fn growth<T>(work: impl FnOnce() -> T) -> f64 {
    let process = std::process::id();
    drop(fs::write("/proc/self/clear_refs", "5"));
    let before = peak(process).unwrap_or(0);
    black_box(work());
    megabytes(peak(process).unwrap_or(0).saturating_sub(before))
}

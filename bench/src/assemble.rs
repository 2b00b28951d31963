//! How long it takes from a new message to the bytes of a request, in a long conversation.

use std::hint::black_box;
use std::time::{Duration, Instant};

use dormouse_context::{TurnShape, plan_breakpoints};
use dormouse_conversation::{Message, Prefix, RequestOptions};
use dormouse_model::{CacheTtl, Dialect, WireBody, WireFormat};

use crate::generate::{Sizes, Story, prefix};
use crate::measure::Samples;
use crate::report::{BenchFigure, BenchSection, FigureUnit};

const MESSAGES: usize = 2_000;
const STEPS: usize = 200;
/// The whole body is built anew beside every one of so many steps.
const NAIVE_EVERY: usize = 5;
/// In milliseconds.
const AIM: f64 = 1.0;

/// Measures both wire formats.
pub(crate) fn run() -> BenchSection {
    let mut story = Story::new(Sizes::OF_TALK);
    let messages: Vec<Message> = (0..MESSAGES + STEPS).map(|_| story.message()).collect();
    let tokens: u64 = messages.iter().take(MESSAGES).map(Message::tokens).sum();
    let mut section = BenchSection::new(
        "assemble",
        format!(
            "A conversation of {MESSAGES} messages, {tokens} tokens by the program's estimate, all of \
             it sent once; then a message more, {STEPS} times over: append, plan the cache \
             breakpoints, render to bytes, note as sent. Beside it the same with the body built anew \
             from all messages, every {NAIVE_EVERY}th time."
        ),
    );
    for (name, wire) in [("Anthropic", WireFormat::Anthropic), ("OpenAI", WireFormat::OpenAi)] {
        section.add(measure(name, wire, &messages));
    }
    section
}

/// A body, and where its last request put its newest breakpoint.
struct Conversation {
    body: WireBody,
    last: Option<usize>,
}

impl Conversation {
    fn new(wire: WireFormat, prefix: &Prefix) -> Self {
        let dialect = Dialect::new(wire, CacheTtl::FiveMinutes);
        let options = RequestOptions::new("scripted-1", 32_000);
        Self { body: WireBody::new(dialect, prefix, &options), last: None }
    }

    fn plan(&mut self) -> Vec<usize> {
        let shape = |turn: &dormouse_model::WireTurn| TurnShape {
            role: turn.role,
            can_be_marked: turn.can_be_marked(),
        };
        let shapes: Vec<TurnShape> = self.body.turns().iter().map(shape).collect();
        let marks = plan_breakpoints(&shapes, self.last);
        self.last = marks.last().copied();
        marks
    }
}

/// The times of the four steps, and of all together.
#[derive(Default)]
struct Times {
    append: Samples,
    plan: Samples,
    render: Samples,
    mark: Samples,
    all: Samples,
    naive: Samples,
}

fn measure(name: &str, wire: WireFormat, messages: &[Message]) -> Vec<BenchFigure> {
    let prefix = prefix();
    let (old, new) = messages.split_at(MESSAGES);
    let mut conversation = Conversation::new(wire, &prefix);
    for message in old {
        conversation.body.append(message);
    }
    let marks = conversation.plan();
    let size = black_box(conversation.body.render(&marks)).len();
    drop(black_box(conversation.body.mark_sent(Duration::ZERO)));
    let mut times = Times::default();
    for (step, message) in new.iter().enumerate() {
        let start = Instant::now();
        let body = &mut conversation.body;
        times.append.time(|| body.append(black_box(message)));
        let marks = times.plan.time(|| conversation.plan());
        let bytes = times.render.time(|| conversation.body.render(&marks));
        let sent = times.mark.time(|| conversation.body.mark_sent(Duration::ZERO));
        times.all.add(start.elapsed());
        if step % NAIVE_EVERY == 0 {
            let known = messages.get(..=MESSAGES + step).unwrap_or_default();
            let (anew, _) = times.naive.time(|| anew(wire, &prefix, black_box(known)));
            assert_eq!(anew.len(), bytes.len(), "the two ways differ");
        }
        drop((bytes, sent));
    }
    let part = |part: &str, samples: &Samples| {
        BenchFigure::median(format!("{name}: of it, {part}"), samples)
    };
    vec![
        BenchFigure::median(format!("{name}: a request of {} kB, median", size / 1000), &times.all)
            .aim_below(AIM),
        BenchFigure::new(format!("{name}: the worst"), times.all.worst(), FigureUnit::Milliseconds)
            .aim_below(AIM),
        part("append", &times.append),
        part("plan", &times.plan),
        part("render", &times.render),
        part("note as sent", &times.mark),
        BenchFigure::median(format!("{name}: built anew"), &times.naive),
        BenchFigure::ratio(format!("{name}: built anew, to this"), &times.naive, &times.all),
    ]
}

/// The naive way: everything from the messages, every time.
fn anew(wire: WireFormat, prefix: &Prefix, messages: &[Message]) -> (Vec<u8>, Conversation) {
    let mut conversation = Conversation::new(wire, prefix);
    for message in messages {
        conversation.body.append(message);
    }
    let marks = conversation.plan();
    let bytes = conversation.body.render(&marks);
    drop(black_box(conversation.body.mark_sent(Duration::ZERO)));
    (bytes, conversation)
}

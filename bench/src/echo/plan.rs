//! What is said in the hundred sessions: questions, news and chatter. The same in every run.

use super::facts::{Fact, FactOrigin};

/// How many sessions are replayed.
pub(super) const SESSIONS: usize = 100;

/// What a session is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A few turns.
    Plain,
    /// The assistant reads the instruction file with a tool.
    Reading,
    /// So long that it is compacted, by a summary.
    Compacted,
    /// The same, with notes kept beside it.
    Noted,
}

/// A turn.
#[derive(Debug, Clone, Default)]
pub(super) struct EchoTurn {
    /// What the user types.
    pub(super) prompt: String,
    /// What the assistant says in the end.
    pub(super) answer: String,
    /// The facts that are news in it, with the wording in which they are said.
    pub(super) news: Vec<(usize, usize)>,
    /// Facts that the assistant echoes, with the wording.
    pub(super) echoes: Vec<(usize, usize)>,
}

/// A session.
#[derive(Debug, Clone)]
pub(super) struct EchoSession {
    pub(super) number: usize,
    pub(super) shape: Shape,
    pub(super) turns: Vec<EchoTurn>,
}

const CHATTER: &[&str] = &[
    "Thanks, that helps.",
    "Let me think about it for a moment.",
    "好的，谢谢。",
    "What a day. Anyway, let us go on.",
    "I will be back after a coffee.",
    "这个先放一放。",
    "Looks good to me so far.",
    "Hm, I expected something else here.",
    "继续吧。",
];

/// A number that looks like chance and is the same every time.
pub(super) fn chance(first: usize, second: usize, below: usize) -> usize {
    let mixed = (first.wrapping_mul(0x9E37_79B9) ^ second.wrapping_mul(0x85EB_CA6B))
        .wrapping_mul(0xC2B2_AE35);
    ((mixed >> 13) ^ mixed) % below.max(1)
}

/// The sessions.
pub(super) fn sessions(facts: &[Fact]) -> Vec<EchoSession> {
    let of = |wanted: fn(FactOrigin) -> bool| -> Vec<usize> {
        facts.iter().enumerate().filter(|(_, fact)| wanted(fact.origin)).map(|(at, _)| at).collect()
    };
    let news = of(FactOrigin::is_news);
    let mut known = of(|origin| !origin.is_news());
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let range = number * news.len() / SESSIONS..(number + 1) * news.len() / SESSIONS;
        let fresh = news.get(range).unwrap_or_default();
        sessions.push(session(number, facts, fresh, &known));
        known.extend(fresh);
    }
    sessions
}

fn session(number: usize, facts: &[Fact], fresh: &[usize], known: &[usize]) -> EchoSession {
    let (shape, count) = match number % 5 {
        2 => (Shape::Compacted, 4),
        3 => (Shape::Noted, 4),
        4 => (Shape::Reading, 2),
        _ => (Shape::Plain, 2),
    };
    let mut turns: Vec<EchoTurn> =
        (0..count).map(|turn| talk(number, turn, facts, known)).collect();
    for (place, fact) in fresh.iter().enumerate() {
        // In a session with tools what the assistant concludes is quarantined: it concludes elsewhere.
        let turn = (place + number) % count;
        if let (Some(turn), Some(said)) = (turns.get_mut(turn), facts.get(*fact)) {
            tell(turn, *fact, said, chance(number, place + 71, 3));
        }
    }
    EchoSession { number, shape, turns }
}

/// A question about what is known, echoed by the assistant in its own words, and chatter.
fn talk(number: usize, turn: usize, facts: &[Fact], known: &[usize]) -> EchoTurn {
    let asked: Vec<usize> = (0..2)
        .filter_map(|place| known.get(chance(number * 8 + turn, place + 3, known.len())).copied())
        .collect();
    let mut questions = Vec::new();
    let (mut answer, mut echoes) = (Vec::new(), Vec::new());
    for (place, fact) in asked.into_iter().enumerate() {
        let Some(said) = facts.get(fact) else { continue };
        let wording = chance(number + 17, turn * 5 + place, 3);
        questions.push(said.question.clone());
        answer.push(format!("As far as I know: {}", said.wording(wording)));
        echoes.push((fact, wording));
    }
    let chat = |salt: usize| {
        CHATTER.get(chance(number, turn + salt, CHATTER.len())).copied().unwrap_or_default()
    };
    let prompt = format!("{}\n{}\n{}", chat(1), questions.join(" "), chat(2));
    EchoTurn { prompt, answer: answer.join("\n"), news: Vec::new(), echoes }
}

/// Adds a fact that is new.
fn tell(turn: &mut EchoTurn, fact: usize, said: &Fact, chance: usize) {
    let wording = if chance == 0 { 2 } else { 0 };
    turn.news.push((fact, wording));
    let into = if said.origin == FactOrigin::Agent { &mut turn.answer } else { &mut turn.prompt };
    into.push('\n');
    into.push_str(said.wording(wording));
}

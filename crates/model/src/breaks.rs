//! Did the server read from its cache what it should have? Where not, why (L-23).
//!
//! Whatever changes the prefix on purpose announces it first. A drop that nobody announced is a bug of
//! ours, a time to live that passed, or the server's doing; it is reported with what changed.

use std::time::Duration;

use dormouse_conversation::Usage;

/// A drop of less than this share is noise.
const LEAST_SHARE: f64 = 0.05;
/// A drop of fewer tokens is noise.
const LEAST_TOKENS: u64 = 2_000;

/// Why the prefix is about to change, said by whoever changes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RebuildReason {
    /// In words, for the log.
    pub reason: String,
}

impl RebuildReason {
    /// Announces a change.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

/// What a request looked like, as hashes: enough to say where two part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    model: String,
    head: HeadHashes,
    turns: Vec<blake3::Hash>,
    at: Duration,
}

/// What stands in front of the messages, as hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HeadHashes {
    pub(crate) system: blake3::Hash,
    pub(crate) tools: blake3::Hash,
    /// All of it, with the options of the request.
    pub(crate) whole: blake3::Hash,
}

/// What changed between two requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakCause {
    /// Another model.
    Model,
    /// The system prompt.
    System,
    /// The tools.
    Tools,
    /// Options that stand in front of the messages, such as the longest answer.
    Options,
    /// A message that had been sent, by its number.
    Message(usize),
    /// Nothing: the cache's time to live has passed.
    TimeToLive,
    /// Nothing that we know of.
    Unknown,
}

impl BreakCause {
    /// A word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::System => "system",
            Self::Tools => "tools",
            Self::Options => "options",
            Self::Message(_) => "message",
            Self::TimeToLive => "time_to_live",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for BreakCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Model => f.write_str("the model changed"),
            Self::System => f.write_str("the system prompt changed"),
            Self::Tools => f.write_str("the tools changed"),
            Self::Options => f.write_str("the options of the request changed"),
            Self::Message(index) => write!(f, "message {index} changed"),
            Self::TimeToLive => f.write_str("the cache's time to live has passed"),
            Self::Unknown => f.write_str("nothing we sent changed"),
        }
    }
}

/// A cache break that nobody announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheBreak {
    /// Why, as far as we can tell.
    pub cause: BreakCause,
    /// Tokens that should have been read.
    pub expected: u64,
    /// Tokens that were.
    pub read: u64,
}

/// Compares every response with what the one before it promised.
#[derive(Debug, Default)]
pub struct BreakDetector {
    last: Option<(SentRequest, u64)>,
    announced: Option<RebuildReason>,
    breaks: u64,
}

impl BreakDetector {
    /// Takes an announcement: the next drop is expected.
    pub fn announce(&mut self, announcement: RebuildReason) {
        self.announced = Some(announcement);
    }

    /// Takes up where an earlier process left off: what it sent, and what the server had cached then.
    pub fn resume_from(&mut self, sent: SentRequest, cached: u64) {
        self.last = Some((sent, cached));
    }

    /// How many breaks nobody announced.
    pub fn breaks(&self) -> u64 {
        self.breaks
    }

    /// Looks at a response. `ttl` is how long the server keeps its cache.
    pub fn observe(
        &mut self,
        sent: &SentRequest,
        usage: &Usage,
        ttl: Duration,
    ) -> Option<CacheBreak> {
        let announced = self.announced.take().is_some();
        let cached =
            usage.cache_read_input_tokens.saturating_add(usage.cache_creation_input_tokens);
        let before = self.last.replace((sent.clone(), cached));
        let (previous, expected) = before?;
        let read = usage.cache_read_input_tokens;
        let dropped = expected.saturating_sub(read);
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let share = dropped as f64 / expected.max(1) as f64;
        if announced || dropped <= LEAST_TOKENS || share <= LEAST_SHARE {
            return None;
        }
        self.breaks += 1;
        Some(CacheBreak { cause: cause(&previous, sent, ttl), expected, read })
    }
}

fn cause(previous: &SentRequest, now: &SentRequest, ttl: Duration) -> BreakCause {
    if previous.model != now.model {
        return BreakCause::Model;
    }
    let (before, after) = (previous.head, now.head);
    // In the order of the cache: a server reads the tools first.
    if before.tools != after.tools {
        return BreakCause::Tools;
    }
    if before.system != after.system {
        return BreakCause::System;
    }
    if before.whole != after.whole {
        return BreakCause::Options;
    }
    let parted = previous.turns.iter().zip(&now.turns).position(|(before, after)| before != after);
    if let Some(index) = parted {
        return BreakCause::Message(index);
    }
    if previous.turns.len() > now.turns.len() {
        return BreakCause::Message(now.turns.len());
    }
    if now.at.saturating_sub(previous.at) >= ttl {
        return BreakCause::TimeToLive;
    }
    BreakCause::Unknown
}

impl SentRequest {
    pub(crate) fn new(
        model: String,
        head: HeadHashes,
        turns: Vec<blake3::Hash>,
        at: Duration,
    ) -> Self {
        Self { model, head, turns, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_mins(5);

    fn sent(model: &str, head: &str, turns: &[&str], at: u64) -> SentRequest {
        let hash = |text: &str| blake3::hash(text.as_bytes());
        let turns = turns.iter().map(|turn| hash(turn)).collect();
        let part = |prefix: char| {
            hash(head.split(' ').find(|part| part.starts_with(prefix)).unwrap_or_default())
        };
        let head = HeadHashes { system: part('s'), tools: part('t'), whole: hash(head) };
        SentRequest::new(model.to_owned(), head, turns, Duration::from_secs(at))
    }

    fn usage(read: u64, written: u64) -> Usage {
        Usage {
            cache_read_input_tokens: read,
            cache_creation_input_tokens: written,
            ..Usage::default()
        }
    }

    #[track_caller]
    fn check(now: &SentRequest, read: u64, expected: Option<&BreakCause>) {
        let mut detector = BreakDetector::default();
        assert_eq!(
            detector.observe(&sent("m", "s1 t1 o1", &["a", "b"], 0), &usage(0, 10_000), TTL),
            None
        );
        let found = detector.observe(now, &usage(read, 0), TTL);
        assert_eq!(found.as_ref().map(|found| &found.cause), expected);
    }

    #[test]
    fn drops_have_a_cause() {
        check(&sent("m", "s1 t1 o1", &["a", "b", "c"], 1), 10_000, None);
        check(&sent("m", "s1 t1 o1", &["a", "b", "c"], 1), 9_600, None);
        check(&sent("m", "s1 t1 o1", &["a", "b", "c"], 1), 7_000, Some(&BreakCause::Unknown));
        check(&sent("m", "s1 t1 o1", &["a", "b", "c"], 301), 0, Some(&BreakCause::TimeToLive));
        check(&sent("m", "s1 t1 o1", &["a", "x", "c"], 1), 0, Some(&BreakCause::Message(1)));
        check(&sent("m", "s1 t1 o1", &["a"], 1), 0, Some(&BreakCause::Message(1)));
        check(&sent("m", "s2 t1 o1", &["a", "b", "c"], 1), 0, Some(&BreakCause::System));
        check(&sent("m", "s1 t2 o1", &["a", "b", "c"], 1), 0, Some(&BreakCause::Tools));
        check(&sent("m", "s2 t2 o1", &["a", "b", "c"], 1), 0, Some(&BreakCause::Tools));
        check(&sent("m", "s1 t1 o2", &["a", "b", "c"], 1), 0, Some(&BreakCause::Options));
        check(&sent("n", "s1 t1 o1", &["a", "b", "c"], 1), 0, Some(&BreakCause::Model));
    }

    #[test]
    fn an_announced_break_is_none_and_the_next_one_is() {
        let mut detector = BreakDetector::default();
        detector.observe(&sent("m", "s1 t1 o1", &["a"], 0), &usage(0, 10_000), TTL);
        detector.announce(RebuildReason::new("compaction"));
        assert_eq!(
            detector.observe(&sent("m", "s1 t1 o1", &["s"], 1), &usage(0, 10_000), TTL),
            None
        );
        assert!(
            detector.observe(&sent("m", "s1 t1 o1", &["t"], 2), &usage(0, 10_000), TTL).is_some()
        );
        assert_eq!(detector.breaks(), 1);
    }
}

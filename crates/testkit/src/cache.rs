//! The prompt cache of the Anthropic API, emulated: what a request reads from it and writes to it.
//!
//! Pure: time comes in, nothing is sent. A request is a row of positions (tools, then system blocks,
//! then message blocks); what is known of a position is a hash over all bytes up to it, with the cache
//! markers taken out. An entry is written only at a marker and lives for the marker's time.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::time::Duration;

use dormouse_conversation::Usage;

use crate::clearing::{self, LeftOut};
use crate::scan;

/// How far a read looks back from a marker, the marker's own position included.
const LOOK_BACK: usize = 20;
/// How many markers a request may carry.
const MAX_MARKERS: usize = 4;

/// How long an entry lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ttl {
    /// Five minutes, the default.
    FiveMinutes,
    /// An hour.
    OneHour,
}

impl Ttl {
    /// The time itself.
    pub fn duration(self) -> Duration {
        match self {
            Self::FiveMinutes => Duration::from_mins(5),
            Self::OneHour => Duration::from_hours(1),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    ttl: Ttl,
    expires: Duration,
}

/// A place in a request at which a prefix may end.
#[derive(Debug, Clone)]
pub(crate) struct Position {
    pub(crate) hash: blake3::Hash,
    /// Tokens up to and with this position.
    pub(crate) tokens: u64,
    pub(crate) marker: Option<Ttl>,
}

/// What a request meets in the cache, and what it would leave there.
#[derive(Debug, Clone, Default)]
pub struct CacheOutcome {
    /// The input side of the usage.
    pub usage: Usage,
    /// Tokens up to the last marker whose prefix is large enough to be kept; 0 if there is none. The
    /// next request of the same conversation reads exactly this many.
    pub written: u64,
    /// What the API would refuse about the markers, or about what it is asked to clear.
    pub problems: Vec<String>,
    /// Tokens that were sent and do not count: deleted from the cache, or cleared by the server.
    pub left_out: u64,
    /// What the server cleared for this request, as its answer tells it.
    pub applied: Option<serde_json::Value>,
    pub(crate) cleared: HashSet<String>,
    pub(crate) hits: Vec<blake3::Hash>,
    pub(crate) writes: Vec<(blake3::Hash, Ttl)>,
}

/// The cache of one workspace.
#[derive(Debug)]
pub struct PrefixCache {
    minimum: u64,
    entries: HashMap<blake3::Hash, Entry>,
    /// Calls whose results the server has cleared.
    cleared: HashSet<String>,
}

impl PrefixCache {
    /// An empty cache, in which prefixes below `minimum` tokens are silently not kept.
    pub fn new(minimum: u64) -> Self {
        Self { minimum, entries: HashMap::new(), cleared: HashSet::new() }
    }

    /// What this request would read and write at the moment `now`.
    pub fn look_up(&self, body: &[u8], now: Duration) -> CacheOutcome {
        let left_out = clearing::left_out(body, &self.cleared);
        let (positions, problems, gone) = positions(body, &left_out);
        CacheOutcome {
            problems: problems.into_iter().chain(left_out.problems).collect(),
            left_out: gone,
            applied: left_out.applied,
            cleared: left_out.cleared,
            ..self.look_up_at(&positions, now)
        }
    }

    pub(crate) fn look_up_at(&self, positions: &[Position], now: Duration) -> CacheOutcome {
        let total = positions.last().map_or(0, |position| position.tokens);
        let alive = |hash| self.entries.get(hash).is_some_and(|entry| now < entry.expires);
        let mut outcome = CacheOutcome::default();
        let mut read = 0;
        for (index, position) in positions.iter().enumerate() {
            let Some(ttl) = position.marker else { continue };
            let reachable = &positions[(index + 1).saturating_sub(LOOK_BACK)..=index];
            if let Some(hit) = reachable.iter().rev().find(|earlier| alive(&earlier.hash)) {
                read = read.max(hit.tokens);
                outcome.hits.push(hit.hash);
            }
            if position.tokens >= self.minimum {
                outcome.writes.push((position.hash, ttl));
                outcome.written = position.tokens;
            }
        }
        let created = outcome.written.saturating_sub(read);
        outcome.usage = Usage {
            input_tokens: total - read - created,
            cache_creation_input_tokens: created,
            cache_read_input_tokens: read,
            output_tokens: 0,
        };
        outcome
    }

    /// Forgets what nobody can read any more.
    pub fn forget_old(&mut self, now: Duration) {
        self.entries.retain(|_, entry| now < entry.expires);
    }

    /// Keeps what an answered request has written and refreshes what it has read; `now` is the moment
    /// at which the request started.
    pub fn commit(&mut self, outcome: &CacheOutcome, now: Duration) {
        self.cleared.extend(outcome.cleared.iter().cloned());
        for hash in &outcome.hits {
            if let Some(entry) = self.entries.get_mut(hash) {
                entry.expires = now + entry.ttl.duration();
            }
        }
        for (hash, ttl) in &outcome.writes {
            let alive = self.entries.get(hash).filter(|entry| now < entry.expires);
            let ttl = alive.map_or(*ttl, |entry| entry.ttl.max(*ttl));
            self.entries.insert(*hash, Entry { ttl, expires: now + ttl.duration() });
        }
    }
}

/// What the positions of a request are gathered with.
struct Walk<'a> {
    body: &'a [u8],
    hasher: blake3::Hasher,
    tokens: u64,
    positions: Vec<Position>,
    problems: Vec<String>,
    left_out: &'a LeftOut,
    /// Tokens that do not count.
    gone: u64,
}

impl Walk<'_> {
    /// Mixes something into all positions that follow.
    fn mix(&mut self, label: &str, text: &[u8]) {
        for part in [label.as_bytes(), text] {
            self.hasher.update(&(part.len() as u64).to_le_bytes());
            self.hasher.update(part);
        }
    }

    fn mix_member(&mut self, name: &str) {
        let range = scan::find(self.body, scan::after_space(self.body, 0), name);
        let body = self.body;
        self.mix(name, range.map_or(&[], |range| &body[range]));
    }

    /// Adds a position.
    fn block(&mut self, label: &str, range: Range<usize>) {
        let cut = scan::member_cut(self.body, range.start, "cache_control");
        let marker = scan::find(self.body, range.start, "cache_control");
        let text = scan::without(self.body, range.clone(), cut.as_slice());
        let tokens = (text.len() as u64).div_ceil(4);
        let call = self.answered(range.start);
        if call.as_ref().is_some_and(|call| self.left_out.cleared.contains(call)) {
            self.mix(label, b"(cleared)");
            self.gone += tokens;
        } else {
            self.mix(label, &text);
            let deleted = call.as_ref().is_some_and(|call| self.left_out.deleted.contains(call));
            *(if deleted { &mut self.gone } else { &mut self.tokens }) += tokens;
        }
        let marker = marker.map(|range| ttl_of(self.body, range));
        self.positions.push(Position { hash: self.hasher.finalize(), tokens: self.tokens, marker });
    }

    /// The call that a block is the result of.
    fn answered(&self, at: usize) -> Option<String> {
        let id = scan::find(self.body, at, "tool_use_id")?;
        serde_json::from_slice(&self.body[id]).ok()
    }

    /// Adds a position for each element of a list, or one for a plain string.
    fn blocks(&mut self, label: &str, value: Option<Range<usize>>) {
        let Some(value) = value else { return };
        match scan::elements(self.body, value.start) {
            Some(elements) => elements.into_iter().for_each(|range| self.block(label, range)),
            None => self.block(label, value),
        }
    }
}

/// A request's positions, what is wrong with its markers, and the tokens of it that do not count.
fn positions(body: &[u8], left_out: &LeftOut) -> (Vec<Position>, Vec<String>, u64) {
    let start = scan::after_space(body, 0);
    let hasher = blake3::Hasher::new();
    let (positions, problems) = (Vec::new(), Vec::new());
    let mut walk = Walk { body, hasher, tokens: 0, positions, problems, left_out, gone: 0 };
    walk.mix_member("model");
    walk.blocks("tool", scan::find(body, start, "tools"));
    walk.mix_member("speed");
    walk.blocks("system", scan::find(body, start, "system"));
    for name in ["tool_choice", "thinking", "output_config"] {
        walk.mix_member(name);
    }
    // The first picture, wherever it stands, makes all messages new.
    let messages = scan::messages(body);
    walk.mix("images", if has_image(body, &messages) { b"some" } else { b"none" });
    for message in messages {
        let role = scan::find(body, message.start, "role").map_or(&[][..], |range| &body[range]);
        walk.mix("role", role);
        walk.blocks("message", scan::find(body, message.start, "content"));
    }
    automatic_marker(&mut walk);
    check_markers(&mut walk);
    (walk.positions, walk.problems, walk.gone)
}

fn has_image(body: &[u8], messages: &[Range<usize>]) -> bool {
    let is_image = |block: &Range<usize>| {
        scan::find(body, block.start, "type").is_some_and(|kind| &body[kind] == b"\"image\"")
    };
    let content = |at: usize| {
        scan::find(body, at, "content").and_then(|list| scan::elements(body, list.start))
    };
    messages.iter().filter_map(|message| content(message.start)).flatten().any(|block| {
        is_image(&block) || content(block.start).is_some_and(|inner| inner.iter().any(is_image))
    })
}

/// A marker on the request as a whole stands for one on its last block.
fn automatic_marker(walk: &mut Walk<'_>) {
    let start = scan::after_space(walk.body, 0);
    let Some(range) = scan::find(walk.body, start, "cache_control") else { return };
    let ttl = ttl_of(walk.body, range);
    let explicit = walk.positions.iter().filter(|position| position.marker.is_some()).count();
    if explicit >= MAX_MARKERS {
        walk.problems.push(format!("an automatic cache marker besides {explicit} explicit ones"));
    }
    let Some(last) = walk.positions.last_mut() else { return };
    match last.marker {
        None => last.marker = Some(ttl),
        Some(other) if other == ttl => {}
        Some(_) => walk.problems.push(
            "the automatic cache marker and the one on the last block differ in their ttl".into(),
        ),
    }
}

fn check_markers(walk: &mut Walk<'_>) {
    let markers: Vec<Ttl> = walk.positions.iter().filter_map(|position| position.marker).collect();
    if markers.len() > MAX_MARKERS {
        walk.problems.push(format!("{} cache markers; {MAX_MARKERS} are allowed", markers.len()));
    }
    if markers.windows(2).any(|pair| pair[0] < pair[1]) {
        walk.problems.push("a cache marker of 1h stands behind one of 5m".into());
    }
}

fn ttl_of(body: &[u8], marker: Range<usize>) -> Ttl {
    match scan::find(body, marker.start, "ttl") {
        Some(range) if &body[range.clone()] == b"\"1h\"" => Ttl::OneHour,
        _ => Ttl::FiveMinutes,
    }
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;

//! The requests of one conversation, each read only where it differs from the one before.
//!
//! A session of thousands of turns sends the same bytes again and again; reading all of them for every request
//! takes time that grows with its square. A [`Trail`] keeps the last body without its cache markers, finds by
//! plain comparison how far the next one is the same, and reads what is new. Invariant: what it says of a
//! request is what reading all of it would have said.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use memchr::memmem;

use crate::cache::{CacheOutcome, Position, PrefixCache, Ttl};
use crate::scan;

/// So many bodies that were not continued are kept: a copy that was made before may still be at work.
const KEPT_BREAKS: usize = 4;
/// How a marker begins. Inside of a string its quotation marks would be escaped.
const MARKER: &[u8] = b"\"cache_control\":{";

/// A request, seen behind the one before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Whether it begins with all of the request before it.
    pub continues: bool,
    /// How many bytes they share, markers aside.
    pub shared: usize,
}

/// A message of the last body.
#[derive(Debug, Clone)]
struct Sent {
    range: Range<usize>,
    /// Its places in the row of positions.
    positions: Range<usize>,
    has_image: bool,
}

/// A block, and from where on its bytes count for the hash.
#[derive(Debug, Clone)]
struct Block {
    from: usize,
    range: Range<usize>,
}

/// The last request of a conversation.
#[derive(Debug, Default)]
pub struct Trail {
    /// Without markers.
    body: Vec<u8>,
    /// Those before the last ones that did not continue them, the newest first.
    broken: VecDeque<Vec<u8>>,
    /// Where the list of messages begins.
    list: usize,
    messages: Vec<Sent>,
    /// Where each position's block stands.
    blocks: Vec<Block>,
    positions: Vec<Position>,
    /// Positions before the first message, and what they come to.
    head: usize,
    head_hash: Option<blake3::Hash>,
    with_image: bool,
}

impl Trail {
    /// Goes on to the next request.
    pub fn follow(&mut self, body: &[u8]) -> Step {
        let (body, markers) = without_markers(body);
        let shared = common(&self.body, &body);
        let before = self.messages.last().map_or(0, |message| message.range.end);
        let step = Step { continues: shared >= before, shared };
        let last = std::mem::replace(&mut self.body, body);
        if !step.continues {
            self.broken.push_front(last);
            self.broken.truncate(KEPT_BREAKS);
        }
        let same = if self.list > 0 && shared > self.list { shared } else { 0 };
        if same == 0 {
            self.read_head();
        }
        self.read_messages(same);
        self.mark(&markers);
        step
    }

    /// The last request without its markers.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Its messages, as they were sent.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &[u8]> + ExactSizeIterator {
        self.messages.iter().map(|message| &self.body[message.range.clone()])
    }

    /// Whether the last request of a copy of this conversation begins as this one does, or did before it broke
    /// (a copy may have been made earlier): up to the copy's own messages, from `own` on, as far as they had been
    /// sent.
    pub fn is_copied_by(&self, copy: &Self, own: usize) -> bool {
        let own = copy.start_of(own);
        let begins = |body: &[u8], end: usize| common(body, &copy.body) >= own.min(end).max(1);
        begins(&self.body, self.end())
            || self.broken.iter().any(|broken| begins(broken, scan::last_message_end(broken)))
    }

    /// Where a message begins.
    fn start_of(&self, message: usize) -> usize {
        self.messages.get(message).map_or(self.body.len(), |message| message.range.start)
    }

    /// Where the last message ends.
    fn end(&self) -> usize {
        self.messages.last().map_or(0, |message| message.range.end)
    }

    /// What a server's cache holds of the last request. Deletions and clearing by the server are not known here; one cache
    /// is asked either with whole requests or through a trail, because their entries differ.
    pub fn look_up(&self, cache: &PrefixCache, now: Duration) -> CacheOutcome {
        cache.look_up_at(&self.positions, now)
    }

    fn read_head(&mut self) {
        let start = scan::after_space(&self.body, 0);
        let members = scan::members(&self.body, start).unwrap_or_default();
        let find = |name| {
            let member = members.iter().find(|member| scan::is_key(&self.body, member, name));
            member.map(|member| member.value.clone())
        };
        let options = ["tool_choice", "thinking", "output_config"].map(find);
        let (tools, speed, system) = (find("tools"), find("speed"), find("system"));
        let (model, list) = (find("model"), find("messages"));
        self.list = list.map_or(self.body.len(), |list| list.start);
        self.messages.clear();
        self.blocks.clear();
        self.positions.clear();
        let mut hash = self.mixed(None, [model]);
        for block in self.elements(tools) {
            hash = self.push(hash, Block { from: block.start, range: block });
        }
        hash = self.mixed(Some(hash), [speed]);
        for block in self.elements(system) {
            hash = self.push(hash, Block { from: block.start, range: block });
        }
        self.head = self.positions.len();
        self.head_hash = Some(self.mixed(Some(hash), options));
    }

    /// The elements of a list; a plain string is one.
    fn elements(&self, value: Option<Range<usize>>) -> Vec<Range<usize>> {
        let elements = value.clone().and_then(|value| scan::elements(&self.body, value.start));
        elements.unwrap_or_else(|| value.into_iter().collect())
    }

    /// A hash with more mixed in; what is not there counts as nothing.
    fn mixed<const N: usize>(
        &self,
        before: Option<blake3::Hash>,
        more: [Option<Range<usize>>; N],
    ) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(before.as_ref().map_or(&[], |hash| hash.as_bytes()));
        for range in more {
            let text = range.map_or(&[][..], |range| &self.body[range]);
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text);
        }
        hasher.finalize()
    }

    /// Reads the messages behind those that are the same.
    fn read_messages(&mut self, same: usize) {
        let kept = self.messages.partition_point(|message| message.range.end <= same);
        self.messages.truncate(kept);
        let positions = self.messages.last().map_or(self.head, |message| message.positions.end);
        self.blocks.truncate(positions);
        self.positions.truncate(positions);
        let mut at = match self.messages.last() {
            Some(last) => scan::next_item(&self.body, last.range.end, b']'),
            None => scan::opened(&self.body, self.list, b'['),
        };
        let mut new = Vec::new();
        while let Some(start) = at
            && let Some(end) = scan::value_end(&self.body, start)
        {
            new.push(start..end);
            at = scan::next_item(&self.body, end, b']');
        }
        for range in new {
            self.read_message(range);
        }
        let with_image = self.messages.iter().any(|message| message.has_image);
        // The first picture, wherever it stands, makes all messages new.
        if with_image != self.with_image {
            self.with_image = with_image;
            self.hash_again();
        }
    }

    fn read_message(&mut self, message: Range<usize>) {
        let content = scan::find(&self.body, message.start, "content");
        let first = self.positions.len();
        let has_image = memmem::find(&self.body[message.clone()], b"\"type\":\"image\"").is_some();
        // Who speaks counts with the first block.
        let mut from = message.start;
        for range in self.elements(content) {
            let end = range.end;
            self.push(self.last_hash(), Block { from, range });
            from = end;
        }
        let positions = first..self.positions.len();
        self.messages.push(Sent { range: message, positions, has_image });
    }

    /// What the next position's hash begins with.
    fn last_hash(&self) -> blake3::Hash {
        match self.positions.get(self.head..).and_then(<[Position]>::last) {
            Some(last) => last.hash,
            None => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(self.head_hash.as_ref().map_or(&[], |hash| hash.as_bytes()));
                hasher.update(if self.with_image { b"some" } else { b"none" });
                hasher.finalize()
            }
        }
    }

    /// Adds a position: its hash is over all that stands before it too.
    fn push(&mut self, before: blake3::Hash, block: Block) -> blake3::Hash {
        let hash = self.mixed(Some(before), [Some(block.from..block.range.end)]);
        let tokens = self.positions.last().map_or(0, |last| last.tokens);
        let tokens = tokens + (block.range.len() as u64).div_ceil(4);
        self.positions.push(Position { hash, tokens, marker: None });
        self.blocks.push(block);
        hash
    }

    fn hash_again(&mut self) {
        let blocks: Vec<Block> = self.blocks.drain(self.head..).collect();
        self.positions.truncate(self.head);
        for block in blocks {
            self.push(self.last_hash(), block);
        }
    }

    /// Puts the markers onto the blocks that they stood in.
    fn mark(&mut self, markers: &[(usize, Ttl)]) {
        self.positions.iter_mut().for_each(|position| position.marker = None);
        for (at, ttl) in markers {
            // Tools and system come in the order of the cache, messages in that of the bytes.
            let (head, messages) = self.blocks.split_at(self.head);
            let in_head = head.iter().position(|block| block.range.contains(at));
            let behind = || self.head + messages.partition_point(|block| block.range.end <= *at);
            if let Some(position) = self.positions.get_mut(in_head.unwrap_or_else(behind)) {
                position.marker = Some(*ttl);
            }
        }
    }
}

/// A body without its markers, and where in it they stood.
fn without_markers(body: &[u8]) -> (Vec<u8>, Vec<(usize, Ttl)>) {
    let (mut kept, mut markers) = (Vec::with_capacity(body.len()), Vec::new());
    let mut from = 0;
    for start in memmem::find_iter(body, MARKER) {
        let Some(value) = scan::value_end(body, start + MARKER.len() - 1) else { break };
        let hour = memmem::find(&body[start..value], b"\"1h\"").is_some();
        let (cut, end) = match body.get(start - 1) {
            Some(b',') => (start - 1, value),
            _ if body.get(value) == Some(&b',') => (start, value + 1),
            _ => (start, value),
        };
        kept.extend_from_slice(&body[from..cut]);
        markers.push((kept.len(), if hour { Ttl::OneHour } else { Ttl::FiveMinutes }));
        from = end;
    }
    kept.extend_from_slice(&body[from..]);
    (kept, markers)
}

/// How many bytes two texts begin with alike.
fn common(one: &[u8], other: &[u8]) -> usize {
    const PIECE: usize = 4096;
    let pieces = one.chunks(PIECE).zip(other.chunks(PIECE));
    let whole = pieces.take_while(|(a, b)| a == b && a.len() == PIECE).count() * PIECE;
    let rest = one[whole..].iter().zip(&other[whole..]);
    whole + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
#[path = "trail_tests.rs"]
mod tests;

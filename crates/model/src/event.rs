//! What a streamed answer consists of, in neutral terms.

use dormouse_conversation::{Block, StopReason, Usage};

/// A step of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum StreamEvent {
    /// The server has begun.
    Started {
        /// Its id of the message.
        id: String,
        /// What the model calls itself.
        model: String,
        /// What the request cost, as far as known.
        usage: Usage,
    },
    /// Text, to show at once. It comes again, whole, in its block.
    Text(String),
    /// Thinking, to show at once. It comes again, whole, in its block.
    Thinking(String),
    /// A block is complete.
    Block(Block),
    /// The server has cleared something by itself before it answered.
    Cleared(ClearedContext),
    /// The answer is complete.
    Finished {
        /// Why it stopped.
        stop_reason: Option<StopReason>,
        /// What it cost.
        usage: Usage,
    },
}

/// What a server has cleared by itself (C-9).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClearedContext {
    /// Results of tools.
    pub tool_uses: u64,
    /// Turns that lost their thinking.
    pub thinking_turns: u64,
    /// The tokens of both.
    pub tokens: u64,
}

/// A whole answer, for questions on the side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completion {
    /// Its blocks.
    pub blocks: Vec<Block>,
    /// Why it stopped.
    pub stop_reason: Option<StopReason>,
    /// What it cost.
    pub usage: Usage,
}

impl Completion {
    /// Takes the next step of the answer in.
    pub fn add(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Block(block) => self.blocks.push(block),
            StreamEvent::Finished { stop_reason, usage } => {
                self.stop_reason = stop_reason;
                self.usage = usage;
            }
            StreamEvent::Started { .. }
            | StreamEvent::Text(_)
            | StreamEvent::Thinking(_)
            | StreamEvent::Cleared(_) => {}
        }
    }

    /// Its text.
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(Block::as_text).collect()
    }
}

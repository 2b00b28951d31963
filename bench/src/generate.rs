//! Conversations that look like work, and are the same in every run: prompts, thinking, text, tool
//! calls, and results that are listings of code.

use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Clock, IdSource, ManualClock, MessageId, SeededIds};
use dormouse_conversation::{
    Block, Message, MessageFlags, Prefix, PromptSize, Response, ResultContent, StopReason,
    ToolUseId, Usage,
};
use dormouse_engine::{PromptOverrides, StartupContext, Surroundings, build_prefix};
use dormouse_tools::ToolSet;

/// Sizes in bytes, each from one number to the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// What the user says.
    pub(crate) prompt: (usize, usize),
    /// What the model thinks.
    pub(crate) thinking: (usize, usize),
    /// What the model says.
    pub(crate) text: (usize, usize),
    /// What a tool answers.
    pub(crate) result: (usize, usize),
    /// What a thought is signed with.
    pub(crate) signature: usize,
}

impl Sizes {
    /// Such that 2,000 messages have about 200,000 tokens by the program's own estimate.
    pub(crate) const OF_TALK: Self = Self {
        prompt: (40, 240),
        thinking: (40, 160),
        text: (40, 240),
        result: (40, 123),
        signature: 64,
    };
}

/// Numbers that look random and follow from a seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn between(&mut self, (from, to): (usize, usize)) -> usize {
        let width = u64::try_from(to - from + 1).unwrap_or(1);
        from + usize::try_from(self.next() % width).unwrap_or(0)
    }

    /// Whether something happens that does so in this many cases of a hundred.
    pub(crate) fn happens(&mut self, in_hundred: u64) -> bool {
        self.next() % 100 < in_hundred
    }

    pub(crate) fn word(&mut self) -> &'static str {
        WORDS.get(self.between((0, WORDS.len() - 1))).copied().unwrap_or("word")
    }
}

const WORDS: &[&str] = &[
    "buffer", "the", "parser", "and", "session", "request", "is", "a", "token", "stream", "of",
    "index", "to", "cache", "that", "error", "in", "retry", "config", "path", "not", "reader",
    "field", "with", "handle", "state", "message", "for", "block", "value", "naïve", "größe",
];

/// What comes next in a conversation.
enum Next {
    Prompt,
    Answer,
    Results(Vec<ToolUseId>),
}

/// A conversation that goes on for as long as it is asked to.
pub(crate) struct Story {
    dice: Dice,
    sizes: Sizes,
    next: Next,
    calls: u64,
    tokens: u64,
    clock: Arc<ManualClock>,
    ids: Arc<dyn IdSource>,
}

impl Story {
    /// A conversation with messages of these sizes.
    pub(crate) fn new(sizes: Sizes) -> Self {
        let now = "2026-11-02T09:00:00Z".parse().expect("a time");
        let clock = Arc::new(ManualClock::new(now));
        let ids = Arc::new(SeededIds::new(Arc::clone(&clock) as Arc<dyn Clock>, 7));
        Self { dice: Dice(7), sizes, next: Next::Prompt, calls: 0, tokens: 3_000, clock, ids }
    }

    /// Where its time comes from.
    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as Arc<dyn Clock>
    }

    /// Where its ids come from.
    pub(crate) fn ids(&self) -> Arc<dyn IdSource> {
        Arc::clone(&self.ids)
    }

    /// Whether the model has said its last word on the last prompt.
    pub(crate) fn is_at_rest(&self) -> bool {
        matches!(self.next, Next::Prompt)
    }

    /// The next message.
    pub(crate) fn message(&mut self) -> Message {
        self.clock.advance(Duration::from_millis(1_700));
        let message = match std::mem::replace(&mut self.next, Next::Answer) {
            Next::Prompt => {
                let bytes = self.dice.between(self.sizes.prompt);
                let prompt = Block::text(&self.dice.prose(bytes));
                self.user(vec![prompt])
            }
            Next::Answer => self.answer(),
            Next::Results(calls) => {
                let results = calls.iter().map(|call| self.result(call)).collect();
                self.user(results)
            }
        };
        self.tokens += message.tokens();
        message
    }

    fn user(&self, blocks: Vec<Block>) -> Message {
        Message::user(self.id(), self.clock.now(), blocks, MessageFlags::default())
    }

    fn id(&self) -> MessageId {
        MessageId::generate(&*self.ids)
    }

    fn answer(&mut self) -> Message {
        let mut blocks = Vec::new();
        if self.dice.happens(60) {
            blocks.push(self.thinking());
        }
        let calls = if self.dice.happens(85) { self.dice.between((1, 3)) } else { 0 };
        if calls == 0 || self.dice.happens(50) {
            let bytes = self.dice.between(self.sizes.text);
            blocks.push(Block::text(&self.dice.prose(bytes)));
        }
        let calls: Vec<Block> = (0..calls).map(|_| self.call()).collect();
        blocks.extend(calls);
        let reason = if self.calls_in(&blocks) { StopReason::ToolUse } else { StopReason::EndTurn };
        let response = Response {
            id: format!("msg_{:012x}", self.dice.next() >> 16),
            model: "scripted-1".to_owned(),
            stop_reason: Some(reason),
            usage: Usage {
                input_tokens: 4,
                cache_creation_input_tokens: 1_200,
                cache_read_input_tokens: self.tokens,
                output_tokens: blocks.iter().map(|block| u64::from(block.tokens())).sum(),
            },
            request_id: Some(format!("req_{:012x}", self.dice.next() >> 16)),
        };
        Message::assistant(self.id(), self.clock.now(), blocks, response)
    }

    /// Whether there are calls; they are what comes next.
    fn calls_in(&mut self, blocks: &[Block]) -> bool {
        let calls: Vec<ToolUseId> =
            blocks.iter().filter_map(|block| Some(block.as_tool_use()?.id.clone())).collect();
        let any = !calls.is_empty();
        self.next = if any { Next::Results(calls) } else { Next::Prompt };
        any
    }

    fn thinking(&mut self) -> Block {
        let bytes = self.dice.between(self.sizes.thinking);
        let thought = serde_json::Value::from(self.dice.prose(bytes));
        let mut signature = String::new();
        while signature.len() < self.sizes.signature {
            signature.push_str(&format!("{:016x}", self.dice.next()));
        }
        block(format!(r#"{{"type":"thinking","thinking":{thought},"signature":"{signature}"}}"#))
    }

    fn call(&mut self) -> Block {
        self.calls += 1;
        let (file, line) = (self.dice.word(), self.dice.between((1, 900)));
        let (name, input) = match self.calls % 3 {
            0 => ("Glob", format!(r#"{{"pattern":"src/**/{file}*.rs"}}"#)),
            1 => ("Read", format!(r#"{{"file_path":"src/{file}.rs","offset":{line}}}"#)),
            _ => ("Bash", format!(r#"{{"command":"grep -rn \"{file}\" src | head -{line}"}}"#)),
        };
        block(format!(
            r#"{{"type":"tool_use","id":"toolu_{:08}","name":"{name}","input":{input}}}"#,
            self.calls
        ))
    }

    fn result(&mut self, call: &ToolUseId) -> Block {
        let bytes = self.dice.between(self.sizes.result);
        let text = ResultContent::Text(self.dice.listing(bytes));
        Block::tool_result(call, &text, self.dice.happens(4))
    }
}

impl Dice {
    /// Sentences of about this many bytes.
    pub(crate) fn prose(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 16);
        while text.len() < bytes {
            text.push_str(self.word());
            text.push_str(match self.next() % 40 {
                0 => ".\n\n",
                1 | 2 => ". ",
                3 => " `self.len()` ",
                _ => " ",
            });
        }
        text
    }

    /// Numbered lines of code of about this many bytes, as a file is shown to a model.
    pub(crate) fn listing(&mut self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 100);
        let mut number = self.between((1, 400));
        while text.len() < bytes {
            let (a, b, c) = (self.word(), self.word(), self.word());
            let indent = "    ".repeat(self.between((0, 4)));
            let line = match self.next() % 6 {
                0 => format!("let {a} = {b}(\"{c}\", {number});"),
                1 => format!("if {a}.{b}().is_some_and(|{c}| {c} > {number}) {{"),
                2 => format!("// The {a} of the {b} is what the {c} waits for."),
                3 => format!("return Err(Error::new(\"no {a}\\n\", {b}));"),
                4 => "}".to_owned(),
                _ => format!("{a}.{b}({c}.iter().map(|x| x + {number}).collect::<Vec<_>>());"),
            };
            text.push_str(&format!("{number:>6}\t{indent}{line}\n"));
            number += 1;
        }
        text
    }
}

fn block(json: String) -> Block {
    Block::from_json(json).expect("a block")
}

/// The prefix that the program itself would build, in a made-up project.
pub(crate) fn prefix() -> Arc<Prefix> {
    let surroundings = Surroundings {
        date: "Monday, 2026-11-02".to_owned(),
        folder: "/home/person/project".to_owned(),
        system: "linux (x86_64)".to_owned(),
        shell: Some("bash".to_owned()),
        branch: Some("main".to_owned()),
        git_status: Some("clean".to_owned()),
    };
    let overrides = PromptOverrides::default();
    build_prefix(
        &surroundings,
        &ToolSet::builtin(),
        PromptSize::Full,
        &overrides,
        &StartupContext::default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_conversation::pairing_violations;

    #[test]
    fn a_story_keeps_the_rules_and_repeats() {
        let sizes = Sizes {
            prompt: (20, 60),
            thinking: (20, 60),
            text: (20, 60),
            result: (200, 400),
            signature: 32,
        };
        let tell = || {
            let mut story = Story::new(sizes);
            (0..300).map(|_| story.message()).collect::<Vec<Message>>()
        };
        let messages = tell();
        assert_eq!(pairing_violations(&messages), Vec::<String>::new());
        assert_eq!(messages, tell());
        assert!(messages.iter().any(|message| message.tool_calls().count() == 3));
    }
}

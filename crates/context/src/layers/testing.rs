//! Messages and conversations for the tests of this folder.

use std::sync::Arc;

use dormouse_base::{IdSource, MessageId, SeededIds, SystemClock};
use dormouse_conversation::{
    Block, Budget, ContextWindow, Message, MessageFlags, Response, ResultContent, ToolUseId, Usage,
};
use proptest::prelude::*;

/// Makes messages, each with an id of its own.
pub(crate) struct Maker {
    ids: SeededIds,
    calls: usize,
}

impl Maker {
    pub(crate) fn new(seed: u64) -> Self {
        Self { ids: SeededIds::new(Arc::new(SystemClock::default()), seed), calls: 0 }
    }

    fn of_user(&self, blocks: Vec<Block>, flags: MessageFlags) -> Message {
        let id = MessageId::generate(&self.ids as &dyn IdSource);
        Message::user(id, "2026-11-15T08:00:00Z".parse().unwrap(), blocks, flags)
    }

    pub(crate) fn user(&self, text: &str) -> Arc<Message> {
        Arc::new(self.of_user(vec![Block::text(text)], MessageFlags::default()))
    }

    pub(crate) fn meta(&self, text: &str) -> Message {
        self.of_user(
            vec![Block::text(text)],
            MessageFlags { meta: true, ..MessageFlags::default() },
        )
    }

    pub(crate) fn summary(&self, text: &str) -> Arc<Message> {
        let flags = MessageFlags { meta: true, compact_summary: true, ..MessageFlags::default() };
        Arc::new(self.of_user(vec![Block::text(text)], flags))
    }

    pub(crate) fn assistant(&self, blocks: Vec<Block>) -> Arc<Message> {
        let id = MessageId::generate(&self.ids as &dyn IdSource);
        let response = Response {
            id: id.to_string(),
            model: "x".into(),
            stop_reason: None,
            usage: Usage::default(),
            request_id: None,
        };
        let now = "2026-11-15T08:00:00Z".parse().unwrap();
        Arc::new(Message::assistant(id, now, blocks, response))
    }

    pub(crate) fn says(&self, text: &str) -> Arc<Message> {
        self.assistant(vec![Block::text(text)])
    }

    /// An answer with a call of each tool, and the message with their results.
    pub(crate) fn round(&mut self, tools: &[&str], result: &ResultContent) -> [Arc<Message>; 2] {
        let names: Vec<(ToolUseId, &str)> = tools
            .iter()
            .map(|tool| {
                self.calls += 1;
                (ToolUseId::new(format!("call_{}", self.calls)), *tool)
            })
            .collect();
        let call = |(id, name): &(ToolUseId, &str)| {
            Block::from_json(format!(
                r#"{{"type":"tool_use","id":"{id}","name":"{name}","input":{{}}}}"#
            ))
            .unwrap()
        };
        let calls = names.iter().map(call).collect();
        let results = names.iter().map(|(id, _)| Block::tool_result(id, result, false)).collect();
        [self.assistant(calls), Arc::new(self.of_user(results, MessageFlags::default()))]
    }

    /// A round of Read with a result of about so many tokens.
    pub(crate) fn read(&mut self, tokens: usize) -> [Arc<Message>; 2] {
        self.round(&["Read"], &text_of(tokens))
    }
}

pub(crate) fn text_of(tokens: usize) -> ResultContent {
    ResultContent::Text("word".repeat(tokens))
}

pub(crate) fn budget(window: u32) -> Budget {
    Budget::for_window(ContextWindow::new(window).unwrap(), 32_000)
}

pub(crate) fn tokens(messages: &[Arc<Message>]) -> u64 {
    messages.iter().map(|message| message.tokens()).sum()
}

/// What can follow in a conversation.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Person(usize),
    Answer(usize),
    Tools(Vec<usize>, usize),
    Summary(usize),
}

const TOOLS: [&str; 4] = ["Read", "Bash", "mcp__server__tool", "Task"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_usize..400).prop_map(Step::Person),
        3 => (1_usize..400).prop_map(Step::Answer),
        6 => (prop::collection::vec(0..TOOLS.len(), 1..4), 0_usize..3_000)
            .prop_map(|(tools, tokens)| Step::Tools(tools, tokens)),
        1 => (1_usize..500).prop_map(Step::Summary),
    ]
}

/// Any conversation that keeps the rules.
pub(crate) fn conversation() -> impl Strategy<Value = Vec<Arc<Message>>> {
    prop::collection::vec(step(), 0..60).prop_map(|steps| {
        let mut maker = Maker::new(7);
        steps.iter().flat_map(|step| messages_of(&mut maker, step)).collect()
    })
}

fn messages_of(maker: &mut Maker, step: &Step) -> Vec<Arc<Message>> {
    match step {
        Step::Person(tokens) => vec![maker.user(&"word".repeat(*tokens))],
        Step::Answer(tokens) => vec![maker.says(&"word".repeat(*tokens))],
        Step::Tools(tools, tokens) => {
            let tools: Vec<&str> = tools.iter().map(|tool| TOOLS[*tool]).collect();
            maker.round(&tools, &text_of(*tokens)).to_vec()
        }
        Step::Summary(tokens) => vec![maker.summary(&"word".repeat(*tokens))],
    }
}

//! Who wrote each part of a conversation (M-17, B-26): the user, the model, a tool, an outside author, or the program,
//! whose words (memories, summaries, notes, instructions) are never a source.

use std::collections::HashMap;

use dormouse_base::MessageId;
use dormouse_conversation::known_tools::{BASH, traits_of};
use dormouse_conversation::{
    Block, BlockKind, Message, OutputAuthor, ResultContent, Role, ToolUse, ToolUseId, is_reminder,
};

/// The folder of results that were too long to send, as it appears in paths.
pub const STORED_RESULTS: &str = "/tool-results/";
/// Programs that fetch text from outside.
const FETCH_PROGRAMS: &[&str] =
    &["curl", "wget", "gh", "glab", "lynx", "w3m", "links", "http", "https", "xh", "nc", "ncat"];
/// Files that are given to the model as instructions, or hold memories.
const INSTRUCTION_FILES: &[&str] = &["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "MEMORY.md"];

/// Who wrote a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribution {
    /// Typed by the user.
    User,
    /// Concluded by the model.
    Model,
    /// Brought by a tool, from the project.
    Tool,
    /// Brought from outside: anybody may have written it.
    Outside,
    /// Put in by the program: memories, and summaries of earlier messages.
    Program,
}

/// A part of a message with its author.
#[derive(Debug, Clone)]
pub struct AttributedText {
    /// The message it is in.
    pub message: MessageId,
    /// Its author.
    pub attribution: Attribution,
    /// The text.
    pub text: String,
}

/// Attributes messages part by part. Files read below `own_folders`, such as memory directories, are the program's.
pub fn attribute<'m>(
    messages: impl Iterator<Item = &'m Message>,
    own_folders: &[String],
) -> Vec<AttributedText> {
    let mut attributor =
        Attributor { own_folders, calls: HashMap::new(), fetched: false, texts: Vec::new() };
    for message in messages {
        match message.role {
            Role::Assistant => attributor.add_response(message),
            Role::User => attributor.add_user_message(message),
        }
    }
    attributor.texts
}

struct Attributor<'a> {
    own_folders: &'a [String],
    /// The calls of the last response with the attribution of their results.
    calls: HashMap<ToolUseId, Attribution>,
    /// Whether a call has fetched something from outside: stored results may be of it.
    fetched: bool,
    texts: Vec<AttributedText>,
}

impl Attributor<'_> {
    fn add_response(&mut self, message: &Message) {
        self.calls.clear();
        for call in message.blocks.iter().filter_map(Block::as_tool_use) {
            let attribution = self.attribution_of_result(&call);
            self.fetched |= attribution == Attribution::Outside;
            self.calls.insert(call.id.clone(), attribution);
        }
        if !message.is_synthetic() {
            self.add(message.id, Attribution::Model, message.text());
        }
    }

    fn add_user_message(&mut self, message: &Message) {
        let flags = message.flags;
        let inserted = flags.meta || flags.compact_summary || flags.attachment;
        let has_results = message.tool_results().next().is_some();
        for block in &message.blocks {
            match block.kind() {
                BlockKind::ToolResult { id } => {
                    let attribution = self.calls.get(id).copied().unwrap_or(Attribution::Tool);
                    self.add(message.id, attribution, result_text(block));
                }
                BlockKind::Text => {
                    let text = block.as_text().unwrap_or_default();
                    // Text after tool results was put there by the program.
                    let is_program = inserted || has_results || is_reminder(&text);
                    let attribution =
                        if is_program { Attribution::Program } else { Attribution::User };
                    self.add(message.id, attribution, text);
                }
                BlockKind::Thinking
                | BlockKind::RedactedThinking
                | BlockKind::ToolUse { .. }
                | BlockKind::Image
                | BlockKind::Document
                | BlockKind::Other(_) => {}
            }
        }
    }

    fn attribution_of_result(&self, call: &ToolUse<'_>) -> Attribution {
        let input = call.input.get();
        if traits_of(call.name).author == OutputAuthor::Program {
            Attribution::Program
        } else if is_from_outside(call) || (self.fetched && input.contains(STORED_RESULTS)) {
            Attribution::Outside
        } else if INSTRUCTION_FILES.iter().any(|name| input.contains(name))
            || self.own_folders.iter().any(|folder| input.contains(folder.as_str()))
        {
            Attribution::Program
        } else {
            Attribution::Tool
        }
    }

    fn add(&mut self, message: MessageId, attribution: Attribution, text: String) {
        if !text.trim().is_empty() {
            self.texts.push(AttributedText { message, attribution, text });
        }
    }
}

fn result_text(block: &Block) -> String {
    match block.result_content() {
        Some(ResultContent::Text(text)) => text,
        Some(ResultContent::Blocks(blocks)) => {
            let texts: Vec<String> = blocks.iter().filter_map(Block::as_text).collect();
            texts.join("\n")
        }
        None => String::new(),
    }
}

/// Whether anybody may have written the result of a call.
pub fn is_from_outside(call: &ToolUse<'_>) -> bool {
    traits_of(call.name).author == OutputAuthor::Outside
        || (call.name == BASH.name && names_fetch_program(call.input.get()))
}

/// Judged by the words of the command: one too many costs trust, one too few lets a page through.
fn names_fetch_program(input: &str) -> bool {
    let words = input.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    words.into_iter().any(|word| FETCH_PROGRAMS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_base::{IdSource, SeededIds, SystemClock};
    use dormouse_conversation::{MessageFlags, Response, Usage};
    use jiff::Timestamp;

    struct Maker(SeededIds);

    impl Maker {
        fn id(&self) -> MessageId {
            MessageId::generate(&self.0 as &dyn IdSource)
        }

        fn user(&self, blocks: Vec<Block>, flags: MessageFlags) -> Message {
            Message::user(self.id(), Timestamp::UNIX_EPOCH, blocks, flags)
        }

        fn call(&self, name: &str, input: &str) -> [Message; 2] {
            let response = Response {
                id: String::new(),
                model: "m".to_owned(),
                stop_reason: None,
                usage: Usage::default(),
                request_id: None,
            };
            let json = format!(r#"{{"type":"tool_use","id":"t","name":"{name}","input":{input}}}"#);
            let call = Block::from_json(json).unwrap();
            let answer = vec![Block::text("I look"), call];
            let answer = Message::assistant(self.id(), Timestamp::UNIX_EPOCH, answer, response);
            let content = ResultContent::Text("what it brought".to_owned());
            let result = Block::tool_result(&ToolUseId::new("t"), &content, false);
            [answer, self.user(vec![result, Block::text("a reminder")], MessageFlags::default())]
        }
    }

    #[test]
    fn every_part_is_attributed() {
        let maker = Maker(SeededIds::new(std::sync::Arc::new(SystemClock::default()), 1));
        let meta = MessageFlags { meta: true, ..MessageFlags::default() };
        let typed =
            vec![Block::text("do it"), Block::text("<system-reminder>\nM\n</system-reminder>")];
        let mut messages = vec![
            maker.user(typed, MessageFlags::default()),
            maker.user(vec![Block::text("x")], meta),
        ];
        let tools = [
            ("Bash", r#"{"command":"cat a"}"#, Attribution::Tool),
            ("Bash", r#"{"command":"curl -s h"}"#, Attribution::Outside),
            ("Read", r#"{"file_path":"/s/tool-results/t.txt"}"#, Attribution::Outside),
            ("mcp__a__b", "{}", Attribution::Outside),
            ("McpCall", "{}", Attribution::Outside),
            ("MemorySearch", "{}", Attribution::Program),
            ("ExitPlan", "{}", Attribution::Program),
            ("Read", r#"{"file_path":"/mem/a.md"}"#, Attribution::Program),
            ("Read", r#"{"file_path":"/p/AGENTS.md"}"#, Attribution::Program),
        ];
        for (name, input, _) in tools {
            messages.extend(maker.call(name, input));
        }
        let texts = attribute(messages.iter(), &["/mem".to_owned()]);
        let attributions: Vec<Attribution> = texts.iter().map(|text| text.attribution).collect();
        assert_eq!(
            attributions[..3],
            [Attribution::User, Attribution::Program, Attribution::Program]
        );
        for (index, (name, _, expected)) in tools.iter().enumerate() {
            let turn = &attributions[3 + 3 * index..6 + 3 * index];
            assert_eq!(turn, [Attribution::Model, *expected, Attribution::Program], "{name}");
        }
    }
}

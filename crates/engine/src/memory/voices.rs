//! Whose word each part of a conversation is (M-17, B-26): the person's, the model's, a tool's, somebody's from
//! outside, or the program's own, which is never a source of anything: memories, summaries, notes, instructions.

use std::collections::HashMap;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, Role, ToolUse, ToolUseId};

use super::tool_specs::MEMORY_TOOLS;

/// Programs that bring text from outside.
const FETCHERS: &[&str] =
    &["curl", "wget", "gh", "glab", "lynx", "w3m", "links", "http", "https", "xh", "nc", "ncat"];
/// The folder of results that were too long to send, as paths to it have it.
pub(super) const STORED: &str = "/tool-results/";
/// Tools that bring what a skill or the program itself says; the last as another agent names its own.
const OF_THE_PROGRAM: &[&str] = &["Skill", "TodoWrite", "ExitPlan", "ExitPlanMode"];
/// Files that are given to the model as instructions, or hold what memory says.
const INSTRUCTIONS: &[&str] = &["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "MEMORY.md"];
/// How text begins that the program puts into a message.
const REMINDER: &str = "<system-reminder>";

/// Whose word something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Voice {
    /// Typed by the person.
    Person,
    /// Concluded by the model.
    Model,
    /// Brought by a tool, from the project.
    Tool,
    /// From outside: anybody may have written it.
    Outside,
    /// Put in by the program: what memory itself said, and what stands for what was said before.
    Program,
}

/// Something that was said.
#[derive(Debug, Clone)]
pub struct Said {
    /// In which message.
    pub message: MessageId,
    /// By whom.
    pub voice: Voice,
    /// The words.
    pub text: String,
}

/// What was said in these messages, part by part. `ours` are folders of the program's own, such as memory
/// directories: what is read there is its own word.
pub fn voices<'m>(messages: impl Iterator<Item = &'m Message>, ours: &[String]) -> Vec<Said> {
    let mut listener = Listener { ours, calls: HashMap::new(), outside: false, said: Vec::new() };
    for message in messages {
        match message.role {
            Role::Assistant => listener.answer(message),
            Role::User => listener.message(message),
        }
    }
    listener.said
}

struct Listener<'a> {
    ours: &'a [String],
    /// The calls of the answer before, with the voice of what they bring.
    calls: HashMap<ToolUseId, Voice>,
    /// Something came from outside: what was stored of it is still from there.
    outside: bool,
    said: Vec<Said>,
}

impl Listener<'_> {
    fn answer(&mut self, message: &Message) {
        self.calls.clear();
        for call in message.blocks.iter().filter_map(Block::as_tool_use) {
            let voice = self.brought_by(&call);
            self.outside |= voice == Voice::Outside;
            self.calls.insert(call.id.clone(), voice);
        }
        if !message.is_synthetic() {
            self.say(message.id, Voice::Model, message.text());
        }
    }

    fn message(&mut self, message: &Message) {
        let flags = message.flags;
        let program = flags.meta || flags.compact_summary || flags.attachment;
        let answers = message.tool_results().next().is_some();
        for block in &message.blocks {
            match block.kind() {
                BlockKind::ToolResult { id } => {
                    let voice = self.calls.get(id).copied().unwrap_or(Voice::Tool);
                    self.say(message.id, voice, result_text(block));
                }
                BlockKind::Text => {
                    let text = block.as_text().unwrap_or_default();
                    // What stands behind results was put there.
                    let ours = program || answers || text.starts_with(REMINDER);
                    self.say(message.id, if ours { Voice::Program } else { Voice::Person }, text);
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

    fn brought_by(&self, call: &ToolUse<'_>) -> Voice {
        let input = call.input.get();
        if MEMORY_TOOLS.contains(&call.name) || OF_THE_PROGRAM.contains(&call.name) {
            Voice::Program
        } else if is_from_outside(call) || (self.outside && input.contains(STORED)) {
            Voice::Outside
        } else if INSTRUCTIONS.iter().any(|name| input.contains(name))
            || self.ours.iter().any(|folder| input.contains(folder.as_str()))
        {
            Voice::Program
        } else {
            Voice::Tool
        }
    }

    fn say(&mut self, message: MessageId, voice: Voice, text: String) {
        if !text.trim().is_empty() {
            self.said.push(Said { message, voice, text });
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

/// Whether anybody may have written what a call brings.
pub(super) fn is_from_outside(call: &ToolUse<'_>) -> bool {
    matches!(call.name, "WebFetch" | "WebSearch")
        || call.name.starts_with("mcp__")
        || (call.name == "Bash" && names_a_fetcher(call.input.get()))
}

/// Taken from the words of the command: one too many costs trust, one too few lets a page through.
fn names_a_fetcher(input: &str) -> bool {
    let words = input.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    words.into_iter().any(|word| FETCHERS.contains(&word))
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
    fn every_part_has_its_voice() {
        let maker = Maker(SeededIds::new(std::sync::Arc::new(SystemClock::default()), 1));
        let meta = MessageFlags { meta: true, ..MessageFlags::default() };
        let typed =
            vec![Block::text("do it"), Block::text("<system-reminder>\nM\n</system-reminder>")];
        let mut messages = vec![
            maker.user(typed, MessageFlags::default()),
            maker.user(vec![Block::text("x")], meta),
        ];
        let tools = [
            ("Bash", r#"{"command":"cat a"}"#, Voice::Tool),
            ("Bash", r#"{"command":"curl -s h"}"#, Voice::Outside),
            ("Read", r#"{"file_path":"/s/tool-results/t.txt"}"#, Voice::Outside),
            ("mcp__a__b", "{}", Voice::Outside),
            ("MemorySearch", "{}", Voice::Program),
            ("ExitPlan", "{}", Voice::Program),
            ("Read", r#"{"file_path":"/mem/a.md"}"#, Voice::Program),
            ("Read", r#"{"file_path":"/p/AGENTS.md"}"#, Voice::Program),
        ];
        for (name, input, _) in tools {
            messages.extend(maker.call(name, input));
        }
        let said = voices(messages.iter(), &["/mem".to_owned()]);
        let heard: Vec<Voice> = said.iter().map(|said| said.voice).collect();
        assert_eq!(heard[..3], [Voice::Person, Voice::Program, Voice::Program]);
        for (index, (name, _, voice)) in tools.iter().enumerate() {
            let turn = &heard[3 + 3 * index..6 + 3 * index];
            assert_eq!(turn, [Voice::Model, *voice, Voice::Program], "{name}");
        }
    }
}

//! Keeps a conversation small, with nothing but this crate: old tool results are left out, everything else stays.
//!
//!     cargo run -p dormouse-context --example clear_old_results

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Clock, IdSource, MessageId, RandomIds, SystemClock};
use dormouse_context::layers::{ClearRule, apply_edits, plan_clear};
use dormouse_conversation::{Block, Message, MessageFlags, Response, Usage};
use serde_json::json;

/// Makes messages as an agent does.
struct Agent {
    clock: Arc<dyn Clock>,
    ids: RandomIds,
}

impl Agent {
    fn new() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        Self { ids: RandomIds::new(Arc::clone(&clock)), clock }
    }

    fn user(&self, block: Block) -> Message {
        let id = MessageId::generate(&self.ids as &dyn IdSource);
        Message::user(id, self.clock.now(), vec![block], MessageFlags::default())
    }

    /// A file that the model reads: the call, and its result.
    fn reads(&self, file: &str, content: &str) -> Result<[Arc<Message>; 2], serde_json::Error> {
        let id = MessageId::generate(&self.ids as &dyn IdSource);
        let call = format!("call_{file}");
        let asks =
            json!({"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": file}});
        let gets = json!({"type": "tool_result", "tool_use_id": call, "content": content});
        let response = Response {
            id: id.to_string(),
            model: "example".into(),
            stop_reason: None,
            usage: Usage::default(),
            request_id: None,
        };
        let blocks = vec![serde_json::from_value(asks)?];
        let asked = Message::assistant(id, self.clock.now(), blocks, response);
        Ok([Arc::new(asked), Arc::new(self.user(serde_json::from_value(gets)?))])
    }
}

fn tokens(messages: &[Arc<Message>]) -> u32 {
    messages.iter().flat_map(|message| &message.blocks).map(Block::tokens).sum()
}

/// Tokens of a conversation with ten long files, before and after all results but the last two are left out.
fn sizes() -> Result<(u32, u32), Box<dyn Error>> {
    let agent = Agent::new();
    let mut messages = vec![Arc::new(agent.user(Block::text("what do these files do?")))];
    for number in 0..10 {
        messages.extend(agent.reads(&format!("{number}.rs"), &"let x = 1;\n".repeat(500))?);
    }
    let rule = ClearRule { keep: 2, ..ClearRule::default() };
    let plan = plan_clear(&messages, Duration::ZERO, &rule).ok_or("there is nothing to clear")?;
    let smaller = apply_edits(&messages, &plan.edits, |text| agent.user(Block::text(&text)));
    Ok((tokens(&messages), tokens(&smaller)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (before, after) = sizes()?;
    println!("{before} tokens before, {after} after");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_of_it_is_gone() {
        let (before, after) = sizes().unwrap();
        assert!(after * 3 < before, "{before} {after}");
    }
}

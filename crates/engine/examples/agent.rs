//! A small agent that remembers: a loop around a server that speaks the Messages API, with one tool, recalled memories in
//! front of the question, and old tool results left out once there are many.
//!
//!     cargo run -p dormouse-engine --example agent -- 127.0.0.1:8080 FOLDER "which port do the tests use?"

#![expect(clippy::print_stdout, reason = "an example prints the answer")]

use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Clock, IdSource, MessageId, RandomIds, SystemClock};
use dormouse_context::layers::{ClearRule, apply_edits, plan_clear};
use dormouse_context::{Fragment, RecalledMemories};
use dormouse_conversation::{Block, Message, MessageFlags, Response, ResultContent, Usage};
use dormouse_memory::recall::{MemoryHit, MemoryQuery, MemorySearch};
use dormouse_memory::{Scope, Store, StoreOptions};
use serde::Deserialize;
use serde_json::{Value, json};

/// What the server answers with.
#[derive(Deserialize)]
struct Answer {
    id: String,
    model: String,
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct ReadInput {
    file_path: PathBuf,
}

struct Agent {
    server: String,
    memory: PathBuf,
    search: MemorySearch,
    clock: Arc<dyn Clock>,
    ids: RandomIds,
}

impl Agent {
    fn new(server: &str, folder: &Path) -> Result<Self, Box<dyn Error>> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::default());
        let options = StoreOptions::new(Scope::Project, |_| Vec::new(), Arc::clone(&clock));
        let memory = folder.join("memory");
        let store = Store::open(&memory, &folder.join("state"), options)?;
        let search = MemorySearch::open(vec![Arc::new(store)], None);
        let (server, ids) = (server.to_owned(), RandomIds::new(Arc::clone(&clock)));
        Ok(Self { server, memory, search, clock, ids })
    }

    /// The memories that help with a message.
    fn recalled(&self, text: &str) -> Result<Option<Block>, Box<dyn Error>> {
        let found = self.search.search(&MemoryQuery::new(text, 3, self.clock.now()))?.hits;
        let path = |hit: &MemoryHit| self.memory.join(hit.memory.file.as_str());
        let texts = found.iter().map(|hit| std::fs::read_to_string(path(hit)));
        let text = texts.collect::<Result<Vec<_>, _>>()?.join("\n\n");
        Ok((!found.is_empty()).then(|| RecalledMemories { text }.to_block()))
    }

    fn user(&self, blocks: Vec<Block>) -> Message {
        let id = MessageId::generate(&self.ids as &dyn IdSource);
        Message::user(id, self.clock.now(), blocks, MessageFlags::default())
    }

    /// Asks the model, and runs the tools that it calls, until it calls no more.
    fn ask(&self, prompt: &str) -> Result<String, Box<dyn Error>> {
        let blocks = self.recalled(prompt)?.into_iter().chain([Block::text(prompt)]);
        let mut messages = vec![Arc::new(self.user(blocks.collect()))];
        loop {
            if let Some(plan) = plan_clear(&messages, Duration::ZERO, &ClearRule::default()) {
                let said = |text: String| self.user(vec![Block::text(&text)]);
                messages = apply_edits(&messages, &plan.edits, said);
            }
            let answer = Arc::new(self.request(&messages)?);
            let results: Vec<Block> = answer.blocks.iter().filter_map(run_tool).collect();
            if results.is_empty() {
                return Ok(answer.text());
            }
            messages.extend([answer, Arc::new(self.user(results))]);
        }
    }

    fn request(&self, messages: &[Arc<Message>]) -> Result<Message, Box<dyn Error>> {
        let wire =
            |message: &Arc<Message>| json!({"role": message.role, "content": message.blocks});
        let input = json!({"type": "object", "properties": {"file_path": {"type": "string"}}});
        let read = json!({"name": "Read", "description": "Reads a file.", "input_schema": input});
        let messages: Vec<Value> = messages.iter().map(wire).collect();
        let body =
            json!({"model": "default", "max_tokens": 1_000, "tools": [read], "messages": messages})
                .to_string();
        let mut stream = std::net::TcpStream::connect(&self.server)?;
        let length = body.len();
        write!(
            stream,
            "POST /v1/messages HTTP/1.0\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer.split_once("\r\n\r\n").ok_or("the server did not answer")?;
        let Answer { id, model, content } = serde_json::from_str(body)?;
        let response =
            Response { id, model, stop_reason: None, usage: Usage::default(), request_id: None };
        let id = MessageId::generate(&self.ids as &dyn IdSource);
        Ok(Message::assistant(id, self.clock.now(), content, response))
    }
}

fn run_tool(block: &Block) -> Option<Block> {
    let call = block.as_tool_use()?;
    let file = serde_json::from_str::<ReadInput>(call.input.get()).map_err(std::io::Error::from);
    let text = file.and_then(|input| std::fs::read_to_string(input.file_path));
    let is_error = text.is_err();
    let text = text.unwrap_or_else(|error| error.to_string());
    Some(Block::tool_result(call.id, &ResultContent::Text(text), is_error))
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, folder, prompt] = arguments.as_slice() else {
        return Err("usage: agent HOST:PORT FOLDER PROMPT".into());
    };
    println!("{}", Agent::new(server, Path::new(folder))?.ask(prompt)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Answers requests with these contents, and gives back the bodies of the requests.
    fn serve(listener: &TcpListener, contents: &[Value]) -> Vec<String> {
        let answer = |content: &Value| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            let length = |head: &str| head.rsplit(' ').next()?.parse::<usize>().ok();
            loop {
                let mut bytes = [0; 4_096];
                let read = stream.read(&mut bytes).unwrap();
                request.push_str(std::str::from_utf8(&bytes[..read]).unwrap());
                let parts = request.split_once("\r\n\r\n");
                if parts.is_some_and(|(head, body)| length(head) == Some(body.len())) {
                    break;
                }
            }
            let body = json!({"id": "m", "model": "test", "content": content});
            write!(stream, "HTTP/1.0 200 OK\r\n\r\n{body}").unwrap();
            request
        };
        contents.iter().map(answer).collect()
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a person writes these files")]
    fn it_recalls_reads_and_answers() {
        let folder = tempfile::tempdir().unwrap();
        let memory = folder.path().join("memory");
        std::fs::create_dir(&memory).unwrap();
        let text = "---\nname: Test database\ndescription: the port of the test database\n---\nPort 5433.\n";
        std::fs::write(memory.join("test-database.md"), text).unwrap();
        let file = folder.path().join("compose.yml");
        std::fs::write(&file, "ports: 5433").unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap().to_string();
        let call =
            json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": file}}]);
        let says = json!([{"type": "text", "text": "5433, as compose.yml says."}]);
        let served = std::thread::spawn(move || serve(&listener, &[call, says]));
        let agent = Agent::new(&server, folder.path()).unwrap();
        assert_eq!(
            agent.ask("which port does the test database use?").unwrap(),
            "5433, as compose.yml says."
        );
        let requests = served.join().unwrap();
        assert!(requests[0].contains("Port 5433.") && !requests[0].contains("ports: 5433"));
        assert!(
            requests[1].contains("ports: 5433") && requests[1].contains(r#""tool_use_id":"t1""#)
        );
    }
}

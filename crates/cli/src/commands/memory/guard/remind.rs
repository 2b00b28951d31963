//! A guard's hook: puts a memory in front of the model when what it is about comes up. Whatever goes wrong, nothing
//! is said and the turn goes on.

use std::io::Read;
use std::path::Path;

use dormouse_memory::beginning;
use dormouse_memory::effect::{Arrival, Happened, InContext, comes_up};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::commands::memory::desk::Desk;
use crate::wiring::print;
use crate::wiring::world::World;

/// What is longer is cut: the rest says no more about what comes up.
const LONGEST_INPUT: u64 = 4 * 1024 * 1024;

/// What the hook is told.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    hook_event_name: String,
    prompt: String,
    tool_input: Map<String, Value>,
}

pub(super) async fn run(file: &Path, world: &World) {
    if let Some(text) = reminder(file, world).await {
        print::data_line(&text);
    }
}

async fn reminder(file: &Path, world: &World) -> Option<String> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut bytes).ok()?;
    let told: Told = serde_json::from_slice(&bytes).ok()?;
    // A memory of another project is not found here, and says nothing here.
    let desk = Desk::open(world, None).await.ok()?;
    let found = desk.named(file.to_str()?).ok()?;
    if found.memory.header.quarantined {
        return None;
    }
    let (entry, _) = found.entry().ok()?;
    let memory = InContext {
        file: found.memory.file.to_string(),
        name: found.memory.name().to_owned(),
        description: found.memory.header.description.clone().unwrap_or_default(),
        kind: found.memory.header.kind,
        body: entry.text().to_owned(),
        anchors: Vec::new(),
        arrival: Arrival::Before,
        updated: false,
    };
    comes_up(&memory, &happening(&told)).then(|| said(&told.hook_event_name, &memory))
}

/// What is about to happen.
fn happening(told: &Told) -> Happened {
    let texts = told.tool_input.values().filter_map(Value::as_str).map(str::to_owned);
    let words = texts.chain([told.prompt.clone()]).filter(|text| !text.is_empty()).collect();
    Happened { words, ..Happened::default() }
}

fn said(event: &str, memory: &InContext) -> String {
    let InContext { name, body, .. } = memory;
    let context = format!(
        "The person had to say this several times, and has asked for it to be said here again:\n{name}\n{}",
        beginning(body.trim())
    );
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})
        .to_string()
}

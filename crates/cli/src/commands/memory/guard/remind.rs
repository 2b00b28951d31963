//! The hook of a guard: reminds the model of a memory when its topic comes up. On any error it prints nothing, so
//! that the turn continues.

use std::io::Read;
use std::path::Path;

use dormouse_memory::RecalledMemoryText;
use dormouse_memory::memory_usage::{ContextTiming, MemoryInContext, TurnActivity, is_relevant};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::commands::memory::stores::SelectedStores;
use crate::wiring::print;
use crate::wiring::world::World;

/// Longer input is truncated.
const MAX_INPUT: u64 = 4 * 1024 * 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReminderInput {
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
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes).ok()?;
    let input: ReminderInput = serde_json::from_slice(&bytes).ok()?;
    // A memory of another project is not found, and there is no reminder.
    let stores = SelectedStores::open(world, None).await.ok()?;
    let found = stores.find_by_name(file.to_str()?).ok()?;
    if found.memory.header.quarantined {
        return None;
    }
    let (entry, _) = found.read().ok()?;
    let shown = RecalledMemoryText::read(&stores.reachable, &found, world.clock.now())?;
    let memory = MemoryInContext {
        file: found.memory.file.to_string(),
        name: found.memory.name().to_owned(),
        description: found.memory.header.description.clone().unwrap_or_default(),
        kind: found.memory.header.kind,
        body: entry.text().to_owned(),
        anchors: Vec::new(),
        arrival: ContextTiming::BeforeTurn,
        updated: false,
    };
    is_relevant(&memory, &happening(&input)).then(|| render(&input.hook_event_name, &shown))
}

fn happening(input: &ReminderInput) -> TurnActivity {
    let texts = input.tool_input.values().filter_map(Value::as_str).map(str::to_owned);
    let words = texts.chain([input.prompt.clone()]).filter(|text| !text.is_empty()).collect();
    TurnActivity { words, ..TurnActivity::default() }
}

/// As recall shows it: a session sees by that that it need not bring the memory once more.
fn render(event: &str, memory: &RecalledMemoryText) -> String {
    let context = format!(
        "The user had to say this several times, and has asked for it to be said here again:\n{}",
        memory.render()
    );
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})
        .to_string()
}

//! Scenes 5 and 6: session notes that make compaction free, and a full context window.

use std::sync::Arc;
use std::time::Duration;

use dormouse_background::SESSION_NOTES;
use dormouse_background::{NotesConfig, SessionNotes};
use dormouse_base::SessionNotesSettings;
use dormouse_conversation::Block;
use dormouse_conversation::known_tools::{BASH, EDIT};
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_engine::{CompactionRequest, CompactionScope, Engine, FORK_TAG, TurnContext};
use dormouse_model::ScriptedModel;
use dormouse_model::script::ScriptedTurn;
use tokio_util::sync::CancellationToken;

use crate::wiring::exit::Failure;

use super::narration::{explain, line, narrate, narrate_briefly, show_excerpt};
use super::playback::play_with;
use super::sandbox::{DemoModel, DemoSandbox};

/// The text of the notes, and the heading each part goes before.
const NOTES: &[(&str, &str)] = &[
    ("Current State", "What the larder holds on its winter shelves"),
    ("Task Specification", "Shelves 1 to 3 were counted; what is left is to tell the sum."),
    ("Worklog", "| shelf | nuts |\n| 1 | 900 |\n| 2 | 900 |\n| 3 | 900 |"),
];
/// A scripted background task takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A background task keeps notes, and compaction needs no request.
pub(super) async fn session_notes(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 5: session notes and compaction");
    let mut script =
        counting(3, 900)
            .into_iter()
            .chain([ScriptedTurn::new()
                .text("The three shelves hold 900 nuts each: 2700, or 225 dozen.")]);
    let model = ScriptedModel::answering(move |request| {
        let request = String::from_utf8_lossy(request);
        if request.contains(FORK_TAG) { notes_turn(&request) } else { script.next() }
    });
    // Once, after the third shelf.
    let settings = SessionNotesSettings {
        first_tokens: Some(10_000),
        every_tokens: Some(100_000),
        every_calls: None,
    };
    let keeper = SessionNotes::new(NotesConfig::default(), settings);
    let model =
        DemoModel { script: model, window: 40_000, background_task: Some(Arc::new(keeper)) };
    let question = "Count the nuts on shelves 1 to 3. How many are there?";
    let (mut engine, _) =
        play_with(sandbox, model, question, &mut |event| narrate_briefly(&event)).await?;
    engine.jobs().drained(&[SESSION_NOTES], PATIENCE).await;
    explain("A fork of the conversation kept notes in the background:");
    if let Some(notes) = engine.saved_notes() {
        let written = notes.text.lines().skip_while(|line| !line.starts_with("# Current State"));
        let shown: Vec<&str> = written.take(4).collect();
        show_excerpt(&shown.join("\n"));
    }
    line("\n> /compact\n");
    let order = CompactionRequest {
        trigger: CompactionTrigger::Manual,
        instructions: None,
        scope: CompactionScope::Whole,
    };
    let interrupt = CancellationToken::new();
    let mut sink = |event| narrate(&event);
    engine.compact(order, &mut TurnContext::new(&interrupt, &mut sink)).await?;
    explain("The notes replace the messages they cover; the newest messages are kept.");
    Ok(())
}

/// The context window is full, the model returns no summary, and the session continues.
pub(super) async fn full_window(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 6: a full context window, and no summary from the model");
    let mut script = counting(5, 200).into_iter().chain([ScriptedTurn::new()
        .text("The five shelves hold 84 dozen, rounded up, and there are the acorns in the box.")]);
    let model = ScriptedModel::answering(move |request| {
        let request = String::from_utf8_lossy(request);
        // The summary request gets an empty response.
        if request.contains(FORK_TAG) { Some(ScriptedTurn::new().text(" ")) } else { script.next() }
    });
    let model = DemoModel { script: model, window: 8_000, background_task: None };
    let question = "Count shelves 1 to 5 again, in dozens. Include the acorns in the tin box.";
    let (engine, _) =
        play_with(sandbox, model, question, &mut |event| narrate_briefly(&event)).await?;
    explain("A list made without a model replaces the messages; your words are in it:");
    show_excerpt(&words_kept(&engine).unwrap_or_default());
    explain("The transcript keeps every message, and the model is told where it is.");
    Ok(())
}

/// Calls that each return a long list.
fn counting(shelves: usize, nuts: usize) -> Vec<ScriptedTurn> {
    let call = |shelf: usize| {
        let command = format!(r#"{{"command":"seq {nuts} | sed 's/^/shelf {shelf}, nut /'"}}"#);
        ScriptedTurn::new().call(format!("call_{shelf}"), BASH.name, command)
    };
    (1..=shelves).map(call).collect()
}

/// The turns of the fork that keeps the notes: one edit of the notes file.
fn notes_turn(request: &str) -> Option<ScriptedTurn> {
    if request.contains("\"tool_use_id\":\"note_0\"") {
        return Some(ScriptedTurn::new().text("The notes are up to date."));
    }
    let (before, _) = request.split_once("/session-memory/summary.md")?;
    let folder = before.get(before.rfind(['"', '`', ' ', '\n'])? + 1..)?;
    let path = format!("{folder}/session-memory/summary.md");
    let edits = NOTES.iter().enumerate().map(|(number, (heading, text))| {
        let (old, new) = (format!("\n\n# {heading}"), format!("\n{text}\n\n# {heading}"));
        let input = serde_json::json!({"file_path": path, "old_string": old, "new_string": new});
        (format!("note_{number}"), input.to_string())
    });
    Some(edits.fold(ScriptedTurn::new(), |turn, (id, input)| turn.call(id, EDIT.name, input)))
}

/// The user's words in the summary.
fn words_kept(engine: &Engine) -> Option<String> {
    let message = engine
        .conversation()
        .history()
        .messages()
        .iter()
        .find(|message| message.flags.compact_summary)?;
    let text = message.blocks.iter().find_map(Block::as_text)?;
    let line = text.lines().find(|line| line.contains("acorns in the tin box"))?;
    Some(line.to_owned())
}

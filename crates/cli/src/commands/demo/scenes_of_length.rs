//! The scenes of a conversation that grows: notes that make its compaction free, and a window that is full.

use std::sync::Arc;
use std::time::Duration;

use dormouse_background::{NotesConfig, SessionNotes};
use dormouse_base::SessionNotesSettings;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Block, ResultContent};
use dormouse_engine::{CompactionRequest, CompactionScope, Engine, EngineEvent, FORK_TAG};
use dormouse_model::ScriptedModel;
use dormouse_model::script::ScriptedTurn;
use tokio_util::sync::CancellationToken;

use super::scenes::play_for;
use super::stage::{Cast, Stage};
use super::{line, narrate, show_result, why};
use crate::wiring::exit::Failure;

/// What the notes get to say, and in front of which heading.
const NOTES: &[(&str, &str)] = &[
    ("Current State", "What the larder holds on its winter shelves"),
    ("Task Specification", "Shelves 1 to 3 were counted; what is left is to tell the sum."),
    ("Worklog", "| shelf | nuts |\n| 1 | 900 |\n| 2 | 900 |\n| 3 | 900 |"),
];
/// A scripted job takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Notes are kept beside the conversation, and compaction needs no model.
pub(super) async fn notes_for_free(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 5: a long conversation takes notes, and makes room for free.");
    let mut script =
        counting(3, 900)
            .into_iter()
            .chain([ScriptedTurn::new()
                .text("The three shelves hold 900 nuts each: 2700, or 225 dozen.")]);
    let model = ScriptedModel::answering(move |request| {
        let request = String::from_utf8_lossy(request);
        if request.contains(FORK_TAG) { notes_turn(&request) } else { script.next() }
    });
    // Once, when the third shelf has come in.
    let settings = SessionNotesSettings {
        first_tokens: Some(14_000),
        every_tokens: Some(100_000),
        every_calls: None,
    };
    let keeper = SessionNotes::new(NotesConfig::default(), settings);
    let cast = Cast { model, window: 40_000, beside: Some(Arc::new(keeper)) };
    let question = "Count the nuts on shelves 1 to 3. How many are there?";
    let (mut engine, _) = play_for(stage, cast, question, &mut briefly).await?;
    engine.jobs().drained(&["session_notes"], PATIENCE).await;
    why("beside the work a copy of the conversation kept notes, in a file of the session:");
    if let Some(notes) = engine.kept_notes() {
        let written = notes.text.lines().skip_while(|line| !line.starts_with("# Current State"));
        let shown: Vec<&str> = written.take(4).collect();
        show_result(&shown.join("\n"));
    }
    line("\n> /compact\n");
    let order = CompactionRequest {
        trigger: CompactionTrigger::Manual,
        instructions: None,
        span: CompactionScope::Whole,
    };
    engine.compact(order, &CancellationToken::new(), &mut |event| narrate(&event)).await?;
    why("the notes stand in place of what they cover; the newest messages are kept as they were.");
    Ok(())
}

/// The window is full, the model gives no summary, and the conversation goes on.
pub(super) async fn an_overflow(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 6: the window is full, and the model is of no help.");
    let mut script = counting(5, 200).into_iter().chain([ScriptedTurn::new()
        .text("The five shelves hold 84 dozen, rounded up, and there are the acorns in the box.")]);
    let model = ScriptedModel::answering(move |request| {
        let request = String::from_utf8_lossy(request);
        // Asked for a summary it says nothing at all.
        if request.contains(FORK_TAG) { Some(ScriptedTurn::new().text(" ")) } else { script.next() }
    });
    let cast = Cast { model, window: 8_000, beside: None };
    let question =
        "Count shelves 1 to 5 again, in dozens. Do not forget the acorns in the tin box.";
    let (engine, _) = play_for(stage, cast, question, &mut briefly).await?;
    why(
        "a list made by the program took the place of what was said; your words are in it as you typed them:",
    );
    show_result(&words_kept(&engine).unwrap_or_default());
    why("and every message is still in the transcript, where the model is told to look.");
    Ok(())
}

/// One list is like the other: how long it is says enough.
#[expect(clippy::needless_pass_by_value, reason = "events are given away")]
fn briefly(event: EngineEvent) {
    let EngineEvent::Message(message) = &event else { return narrate(&event) };
    for result in message.blocks.iter().filter_map(Block::result_content) {
        if let ResultContent::Text(text) = result {
            line(&format!("  | {} lines", text.lines().count()));
        }
    }
}

/// Calls that each bring a long list.
fn counting(shelves: usize, nuts: usize) -> Vec<ScriptedTurn> {
    let call = |shelf: usize| {
        let command = format!(r#"{{"command":"seq -f 'shelf {shelf}, nut %.0f' {nuts}"}}"#);
        ScriptedTurn::new().call(format!("call_{shelf}"), "Bash", command)
    };
    (1..=shelves).map(call).collect()
}

/// What the copy does that keeps the notes: it changes their file, once.
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
    Some(edits.fold(ScriptedTurn::new(), |turn, (id, input)| turn.call(id, "Edit", input)))
}

/// The part of the summary that holds the person's words.
fn words_kept(engine: &Engine) -> Option<String> {
    let message =
        engine.history().messages().iter().find(|message| message.flags.compact_summary)?;
    let text = message.blocks.iter().find_map(Block::as_text)?;
    let line = text.lines().find(|line| line.contains("acorns in the tin box"))?;
    Some(line.to_owned())
}

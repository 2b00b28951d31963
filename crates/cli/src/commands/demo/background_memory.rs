//! Scenes 7 and 8: memories extracted in the background, a dream that merges them, and its undo.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_background::{DreamTiming, EXTRACTION, Extraction, ExtractionRules, dream};
use dormouse_conversation::known_tools::MEMORY_SAVE;
use dormouse_engine::FORK_TAG;
use dormouse_memory::{ApplyMode, ChangeOrigin, Scope, Store};
use dormouse_model::ScriptedModel;
use dormouse_model::script::ScriptedTurn;

use crate::wiring::dream::report_lines;
use crate::wiring::exit::Failure;

use super::narration::{explain, line, narrate, show_excerpt};
use super::playback::play_with;
use super::sandbox::{DemoModel, DemoSandbox, start_session};

/// A scripted background task takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A prompt, the response, and the memory that the extraction saves.
struct ScriptedSession {
    prompt: &'static str,
    answer: &'static str,
    saved: &'static str,
}

const SESSIONS: [ScriptedSession; 2] = [
    ScriptedSession {
        prompt: "Put the acorns down as well. They go into the tin box, because mice eat them on the shelves.",
        answer: "The acorns are down, for the tin box.",
        saved: r#"{"name":"Acorns in the tin box","description":"where acorns are kept","type":"project","content":"Acorns are kept in the tin box.\n\n**Why:** mice eat them on the shelves.","quotes":["They go into the tin box, because mice eat them on the shelves"]}"#,
    },
    ScriptedSession {
        prompt: "When do we count again? The tin box is opened on Sundays only, by the way.",
        answer: "On Sunday, then.",
        saved: r#"{"name":"Tin box on Sundays","description":"when the tin box is opened","type":"project","content":"The tin box is opened on Sundays only.\n\n**How to apply:** plan counts for a Sunday.","quotes":["The tin box is opened on Sundays only"]}"#,
    },
];

const MERGED: &str = r#"{"name":"The tin box","description":"what the tin box is for, and when it is opened","type":"project","content":"Acorns are kept in the tin box, which is opened on Sundays only.\n\n**Why:** mice eat them on the shelves.\n\n**How to apply:** plan counts for a Sunday.","supersedes":["acorns-in-the-tin-box.md","tin-box-on-sundays.md"]}"#;

/// Two sessions scope facts are saved without a request of the user.
pub(super) async fn extraction(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 7: extraction in the background");
    for session in SESSIONS {
        let extraction =
            Extraction::new(ExtractionRules { every_turns: Some(1), ..ExtractionRules::default() });
        let model = model(session.saved, Some(session.answer));
        let demo_model = DemoModel {
            script: model,
            window: 200_000,
            background_task: Some(Arc::new(extraction)),
        };
        let sink = &mut |event| narrate(&event);
        let (engine, _) = play_with(sandbox, demo_model, session.prompt, sink).await?;
        engine.jobs().drained(&[EXTRACTION], PATIENCE).await;
        for notice in engine.take_memory_notices() {
            line(&format!("  memory: {notice}"));
        }
    }
    explain(
        "A fork of each session looks for facts worth keeping. It has to quote your messages, and every quotation is checked.",
    );
    Ok(())
}

/// A dream merges the two memories; undo restores them.
pub(super) async fn dream_and_undo(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 8: a dream, and undo");
    line("\n> dormouse dream --now\n");
    let setup = sandbox.dream_setup().await?;
    let of_project = |store: &&Arc<Store>| store.scope() == Scope::Project;
    let store = setup.access.memories().stores().iter().find(of_project).cloned();
    let store = store.ok_or_else(|| Failure::failed(anyhow::anyhow!("the demo has no memory")))?;
    let before = files(store.dir().path())?;
    let seed = async |_: &Path| {
        let demo_model =
            DemoModel { script: model(MERGED, None), window: 200_000, background_task: None };
        let begun =
            start_session(sandbox, demo_model).await.map_err(|failure| failure.message())?;
        Ok::<_, String>(begun.0.fork_source())
    };
    let dreamt = Box::pin(dream(setup, seed, DreamTiming::Now, ApplyMode::Apply)).await;
    let dreamt = dreamt.map_err(|closed| Failure::failed(anyhow::anyhow!("{closed}")))?;
    for text in report_lines(&dreamt.report) {
        line(&format!("  {text}"));
    }
    show_excerpt(&names(&files(store.dir().path())?));
    explain(
        "The dream worked on a copy, which was checked and applied as one change. One undo reverts it:",
    );
    line("\n> dormouse memory undo\n");
    store.history().undo(&ChangeOrigin::user("demo"), None)?;
    let after = files(store.dir().path())?;
    show_excerpt(&names(&after));
    if after != before {
        return Err(Failure::failed(anyhow::anyhow!("the dream was not undone to the byte")));
    }
    explain("Compared: every byte is as it was before the dream.");
    Ok(())
}

/// Saves once in the fork; answers in the session itself.
fn model(saved: &'static str, answer: Option<&'static str>) -> ScriptedModel {
    let mut answer = answer.map(|answer| ScriptedTurn::new().text(answer));
    ScriptedModel::answering(move |request| {
        let request = String::from_utf8_lossy(request);
        if !request.contains(FORK_TAG) {
            return answer.take();
        }
        let is_saved = request.contains("\"tool_use_id\":\"save_1\"");
        let saves = || ScriptedTurn::new().call("save_1", MEMORY_SAVE.name, saved);
        Some(if is_saved { ScriptedTurn::new().text("Done.") } else { saves() })
    })
}

/// The memory files of a folder with their contents.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let unreadable =
        |error| Failure::failed(anyhow::anyhow!("cannot read {}: {error}", folder.display()));
    let mut files = BTreeMap::new();
    for entry in folder.read_dir().map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            let bytes = std::fs::read(&path).map_err(unreadable)?;
            files.insert(name.to_string_lossy().into_owned(), bytes);
        }
    }
    Ok(files)
}

fn names(files: &BTreeMap<String, Vec<u8>>) -> String {
    files.keys().filter(|name| *name != "MEMORY.md").cloned().collect::<Vec<_>>().join("\n")
}

//! The last scenes: memories that two sessions leave without being asked for, a dream that merges them, and the
//! dream undone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_background::{DreamTiming, EXTRACTION, Extraction, ExtractionRules, dream};
use dormouse_engine::FORK_TAG;
use dormouse_memory::{ApplyMode, ChangeOrigin, Scope, Store};
use dormouse_model::ScriptedModel;
use dormouse_model::script::ScriptedTurn;

use super::scenes::play_for;
use super::stage::{Cast, Stage, begin};
use super::{line, narrate, show_result, why};
use crate::wiring::dream as dreams;
use crate::wiring::exit::Failure;

/// A scripted job takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is said in a session, what the model answers, and what a copy of the session makes of it.
struct Session {
    said: &'static str,
    answer: &'static str,
    saved: &'static str,
}

const SESSIONS: [Session; 2] = [
    Session {
        said: "Put the acorns down as well. They go into the tin box, because mice eat them on the shelves.",
        answer: "The acorns are down, for the tin box.",
        saved: r#"{"name":"Acorns in the tin box","description":"where acorns are kept","type":"project","content":"Acorns are kept in the tin box.\n\n**Why:** mice eat them on the shelves.","quotes":["They go into the tin box, because mice eat them on the shelves"]}"#,
    },
    Session {
        said: "DreamTiming do we count again? The tin box is opened on Sundays only, by the way.",
        answer: "On Sunday, then.",
        saved: r#"{"name":"Tin box on Sundays","description":"when the tin box is opened","type":"project","content":"The tin box is opened on Sundays only.\n\n**How to apply:** plan counts for a Sunday.","quotes":["The tin box is opened on Sundays only"]}"#,
    },
];

const MERGED: &str = r#"{"name":"The tin box","description":"what the tin box is for, and when it is opened","type":"project","content":"Acorns are kept in the tin box, which is opened on Sundays only.\n\n**Why:** mice eat them on the shelves.\n\n**How to apply:** plan counts for a Sunday.","supersedes":["acorns-in-the-tin-box.md","tin-box-on-sundays.md"]}"#;

/// Two sessions, each with something worth keeping, and nobody says "remember".
pub(super) async fn unasked(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 7: what you say by the way is kept, too.");
    for session in SESSIONS {
        let beside = Extraction::new(ExtractionRules::default());
        let model = model(session.saved, Some(session.answer));
        let cast = Cast { model, window: 200_000, beside: Some(Arc::new(beside)) };
        let told = &mut |event| narrate(&event);
        let (engine, _) = play_for(stage, cast, session.said, told).await?;
        engine.jobs().drained(&[EXTRACTION], PATIENCE).await;
        for notice in engine.take_memory_notices() {
            line(&format!("  memory: {notice}"));
        }
    }
    why(
        "beside each session a copy of it looked for what is worth keeping. It has to quote, and the program looked its quotations up in your messages.",
    );
    Ok(())
}

/// What two sessions left is merged; somebody changes their mind; it is as before.
pub(super) async fn a_dream(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 8: a dream, and a change of mind.");
    line("\n> dormouse dream --now\n");
    let setup = stage.dream_setup().await?;
    let of_project = |store: &&Arc<Store>| store.scope() == Scope::Project;
    let store = setup.access.memories().stores().iter().find(of_project).cloned();
    let store = store.ok_or_else(|| Failure::failed(anyhow::anyhow!("the demo has no memory")))?;
    let before = files(store.dir().path())?;
    let seed = async |_: &Path| {
        let cast = Cast { model: model(MERGED, None), window: 200_000, beside: None };
        let begun = begin(stage, cast).await.map_err(|failure| failure.message())?;
        Ok::<_, String>(begun.0.fork_source())
    };
    let dreamt = Box::pin(dream(setup, seed, DreamTiming::Now, ApplyMode::Apply)).await;
    let dreamt = dreamt.map_err(|closed| Failure::failed(anyhow::anyhow!("{closed}")))?;
    for said in dreams::report_lines(&dreamt.report) {
        line(&format!("  {said}"));
    }
    show_result(&names(&files(store.dir().path())?));
    why(
        "it worked on a copy, which was checked, and all of it is one change. So it can be taken back as one:",
    );
    line("\n> dormouse memory undo\n");
    store.history().undo(&ChangeOrigin::user("a change of mind"), None)?;
    let after = files(store.dir().path())?;
    show_result(&names(&after));
    if after != before {
        return Err(Failure::failed(anyhow::anyhow!("the dream was not undone to the byte")));
    }
    why("every byte is as it was before the dream; this was compared just now.");
    Ok(())
}

/// Saves, once, in the copy; answers in the session itself.
fn model(saved: &'static str, answer: Option<&'static str>) -> ScriptedModel {
    let mut answer = answer.map(|answer| ScriptedTurn::new().text(answer));
    ScriptedModel::answering(move |request| {
        let request = String::from_utf8_lossy(request);
        if !request.contains(FORK_TAG) {
            return answer.take();
        }
        let is_saved = request.contains("\"tool_use_id\":\"save_1\"");
        let saves = || ScriptedTurn::new().call("save_1", "MemorySave", saved);
        Some(if is_saved { ScriptedTurn::new().text("Done.") } else { saves() })
    })
}

/// The memories of a folder, with what is in them.
fn files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let unreadable =
        |error| Failure::failed(anyhow::anyhow!("can not read {}: {error}", folder.display()));
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

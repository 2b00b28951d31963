//! Session notes: a fork of the conversation writes them, and a fork that fails leaves them as they were.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_background::{NotesConfig, SessionNotes};
use dormouse_base::SessionNotesSettings;
use dormouse_engine::EngineConfig;
use dormouse_model::script::ScriptedTurn;
use dormouse_testkit::{HANGS, RecordedRequest, Reply, ScriptedServer};
use serde_json::json;

use crate::loopback::{Session, config};

/// Longer than any run in these tests takes, also on a busy machine.
/// A heading of the template, with the line below it.
const STATE: &str = "# Current State\n";

fn with_notes(mut config: EngineConfig) -> EngineConfig {
    let settings =
        SessionNotesSettings { first_tokens: Some(1), every_tokens: Some(1), every_calls: Some(1) };
    let notes = SessionNotes::new(NotesConfig::default(), settings);
    config.extensions.background_tasks.push(Arc::new(notes));
    config
}

fn text(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// The path of the notes in the fork's prompt.
fn path_in(request: &RecordedRequest) -> String {
    const FILE: &str = "/session-memory/summary.md";
    let text = request.text();
    let (before, _) = text.split_once(FILE).unwrap();
    format!("{}{FILE}", before.rsplit([' ', '"']).next().unwrap())
}

/// A fork that puts this in place of the heading, and is done.
fn replaces_heading(new: String) -> impl FnMut(&RecordedRequest) -> Reply + Send + 'static {
    move |request| {
        if !request.raw_messages().last().unwrap().contains("<forked-conversation>") {
            return text("done").into();
        }
        let input = json!({"file_path": path_in(request), "old_string": STATE, "new_string": new});
        ScriptedTurn::new().call("n", "Edit", input.to_string()).into()
    }
}

fn notes_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(notes_below(&path));
        } else if path.ends_with("session-memory/summary.md") {
            found.push(path);
        }
    }
    found
}

#[tokio::test]
async fn a_fork_writes_the_notes_behind_the_bytes_of_the_conversation() {
    let home = tempfile::tempdir().unwrap();
    let server = ScriptedServer::builder()
        .fork_with(replaces_heading(format!("{STATE}The cache is being fixed.\n")))
        .reply(text("the cache is broken"))
        .start();
    let mut session = Session::begin(home.path(), with_notes(config(home.path(), &server))).await;
    session.turn("why is it slow?").await;
    assert!(session.engine.jobs().drained(&["session_notes"], HANGS).await);
    let (main, fork) = (server.requests(), server.fork_requests());
    assert_eq!(fork[0].raw_field("system"), main[0].raw_field("system"));
    let notes = notes_below(home.path());
    assert_eq!(notes.len(), 1);
    assert!(fs::read_to_string(&notes[0]).unwrap().contains("The cache is being fixed."));
    server.finish();
}

#[tokio::test]
async fn a_fork_that_damages_the_notes_is_undone() {
    let home = tempfile::tempdir().unwrap();
    let server = ScriptedServer::builder()
        // Takes the heading out, which the notes are checked by.
        .fork_with(replaces_heading("pwned\n".to_owned()))
        .reply(text("the cache is broken"))
        .start();
    let mut session = Session::begin(home.path(), with_notes(config(home.path(), &server))).await;
    session.turn("why is it slow?").await;
    assert!(session.engine.jobs().drained(&["session_notes"], HANGS).await);
    // The edit itself was made: otherwise the fork would have gone on.
    assert_eq!(server.fork_requests().len(), 1);
    for notes in notes_below(home.path()) {
        assert!(!fs::read_to_string(notes).unwrap().contains("pwned"));
    }
    server.finish();
}

//! The scenes, one after the other: what is asked, what the scripted model does about it, and why the
//! program did what it did.

use std::path::Path;

use dormouse_conversation::Block;
use dormouse_engine::{Engine, EngineEvent, TurnEnd, TurnReport};
use dormouse_model::script::ScriptedTurn;
use tokio_util::sync::CancellationToken;

use super::stage::{Cast, Stage, begin};
use super::{line, narrate, show_result, why};
use crate::wiring::exit::Failure;

/// It reads a file, runs a command, answers.
pub(super) async fn a_question(stage: &Stage) -> Result<(), Failure> {
    line("Scene 1: a question that needs a look.");
    let script = vec![
        ScriptedTurn::new().text("I'll read the plan first.").call(
            "call_1",
            "Read",
            r#"{"file_path":"plan.md"}"#,
        ),
        ScriptedTurn::new().text("Now its length.").call(
            "call_2",
            "Bash",
            r#"{"command":"wc -l < plan.md"}"#,
        ),
        ScriptedTurn::new()
            .text("It asks for 52 nuts (40 hazelnuts and 12 acorns), and yes: it has five lines."),
    ];
    let question = "How many nuts does the plan ask for, and is the plan longer than three lines?";
    let (engine, report) = play(stage, script, question).await?;
    let lines = count_lines(engine.transcript_path())?;
    why(&format!(
        "{} requests were sent; each began with the bytes of the one before, so a server reads them from its cache.",
        report.requests
    ));
    why(&format!(
        "the transcript has {lines} lines of JSON, one a block as it completed: a crash at any point loses none of them."
    ));
    Ok(())
}

/// A command prints far more than anybody reads.
pub(super) async fn a_huge_result(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 2: a command with a huge result.");
    let script = vec![
        ScriptedTurn::new().call("call_1", "Bash", r#"{"command":"seq -f 'nut %.0f: round' 20000"}"#),
        ScriptedTurn::new().text("The list is stored; I only need one line of it.").call(
            "call_2",
            "Grep",
            r#"{"pattern":"^nut 19999:","path":"../home/projects","output_mode":"content","glob":"*.txt"}"#,
        ),
        ScriptedTurn::new().text("Nut 19999 is round."),
    ];
    let question = "List all 20,000 nuts. What is number 19999 like?";
    let (engine, _) = play(stage, script, question).await?;
    let sent: usize = engine
        .history()
        .messages()
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| block.result_content().is_some())
        .map(|block: &Block| block.raw().len())
        .sum();
    let stored = stored_bytes(engine.transcript_path())?;
    why(&format!(
        "{stored} bytes of output are in a file; of both results together {sent} bytes went to the model. Every later \
         request carries the same bytes, also after a resume."
    ));
    Ok(())
}

/// What the person says in one session is known in the next.
pub(super) async fn something_to_remember(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 3: something to remember.");
    let script = vec![
        ScriptedTurn::new().call(
            "call_1",
            "MemorySave",
            r#"{"name":"Nuts in dozens","description":"counts nuts in dozens, rounded up","type":"feedback","content":"Give numbers of nuts in dozens, rounded up.\n\n**Why:** the larder's shelves hold twelve.\n\n**How to apply:** in answers; files keep exact numbers."}"#,
        ),
        ScriptedTurn::new().text("I'll count in dozens from now on."),
    ];
    play(stage, script, "Remember: count nuts in dozens, rounded up. The shelves hold twelve.")
        .await?;
    why("a memory is a markdown file that you can read, edit and delete:");
    let file = stage.home().join("memory/nuts-in-dozens.md");
    show_result(&std::fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?);
    line("\nA new session begins. It has not heard any of this.");
    let script = vec![ScriptedTurn::new().text("Five dozen, rounded up: the plan asks for 52.")];
    let (engine, _) = play(stage, script, "How many nuts does the plan ask for?").await?;
    why("its first message carried the index of what is remembered:");
    let first: Vec<String> =
        engine.prefix().opening_blocks().iter().filter_map(Block::as_text).collect();
    let lines = first.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.starts_with("- [")).for_each(show_result);
    Ok(())
}

/// The whole of a memory comes by itself when a message is about it.
pub(super) async fn something_recalled(stage: &Stage) -> Result<(), Failure> {
    line("\nScene 4: it comes to mind by itself.");
    let script =
        vec![ScriptedTurn::new().text("In dozens, rounded up: the shelves hold twelve. So five.")];
    let (engine, _) =
        play(stage, script, "Do we count nuts in dozens, rounded up or down?").await?;
    let said = engine.history().messages().first().map(|message| message.blocks.clone());
    why("the message carried, behind your words, what the ranking on this machine was sure of:");
    let shown = said.unwrap_or_default().iter().filter_map(Block::as_text).nth(1);
    show_result(shown.unwrap_or_default().trim());
    why(
        "no model chose it. A request waits for this for at most 20 ms; a small model may add more later, beside the work.",
    );
    Ok(())
}

/// What the session has stored beside its transcript.
fn stored_bytes(transcript: &Path) -> Result<u64, Failure> {
    let folder = transcript.with_extension("").join("tool-results");
    let unreadable = |error| unreadable(&folder, &error);
    let mut bytes = 0;
    for entry in folder.read_dir().map_err(unreadable)? {
        bytes += entry.and_then(|entry| entry.metadata()).map_err(unreadable)?.len();
    }
    Ok(bytes)
}

/// Asks the question in a new session and shows what happens.
pub(super) async fn play(
    stage: &Stage,
    cast: impl Into<Cast>,
    question: &str,
) -> Result<(Engine, TurnReport), Failure> {
    play_for(stage, cast, question, &mut |event| narrate(&event)).await
}

/// The same, for whoever shows it in another way.
pub(super) async fn play_for(
    stage: &Stage,
    cast: impl Into<Cast>,
    question: &str,
    sink: &mut (dyn FnMut(EngineEvent) + Send),
) -> Result<(Engine, TurnReport), Failure> {
    line(&format!("\n> {question}\n"));
    let (mut engine, surroundings) = begin(stage, cast).await?;
    let interrupt = CancellationToken::new();
    let report = engine.run_turn(question, &surroundings, None, &interrupt, sink).await?;
    if report.end != TurnEnd::Completed {
        return Err(Failure::failed(anyhow::anyhow!(
            "the demo's turn ended with {:?}",
            report.end
        )));
    }
    line("\n");
    Ok((engine, report))
}

fn count_lines(path: &Path) -> Result<usize, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Ok(text.lines().count())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(anyhow::anyhow!("can not read {}: {error}", path.display()))
}

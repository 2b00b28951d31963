//! Scenes 1 to 4: tool calls, large output, saving and recalling a memory.

use std::path::Path;

use dormouse_conversation::Block;
use dormouse_conversation::known_tools::{BASH, GREP, MEMORY_SAVE, READ};
use dormouse_model::script::ScriptedTurn;

use crate::wiring::exit::Failure;

use super::narration::{explain, line, show_excerpt};
use super::playback::play;
use super::sandbox::DemoSandbox;

/// The model reads a file, runs a command, and answers.
pub(super) async fn tool_calls(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 1: tool calls");
    let script = vec![
        ScriptedTurn::new().text("I'll read the plan first.").call(
            "call_1",
            READ.name,
            r#"{"file_path":"plan.md"}"#,
        ),
        ScriptedTurn::new().text("Now its length.").call(
            "call_2",
            BASH.name,
            r#"{"command":"wc -l < plan.md"}"#,
        ),
        ScriptedTurn::new()
            .text("It asks for 52 nuts (40 hazelnuts and 12 acorns), and yes: it has five lines."),
    ];
    let question = "How many nuts does the plan ask for, and is the plan longer than three lines?";
    let (engine, report) = play(sandbox, script, question).await?;
    let lines = count_lines(engine.conversation().transcript_path())?;
    explain(&format!(
        "{} requests. Each repeats the bytes of the previous one, so the server's prompt cache works.",
        report.requests
    ));
    explain(&format!(
        "The transcript has {lines} JSON lines, each written as soon as it was complete: a crash loses nothing."
    ));
    Ok(())
}

/// A command prints more than fits into a request.
pub(super) async fn large_output(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 2: a command with large output");
    let script = vec![
        ScriptedTurn::new().call("call_1", BASH.name, r#"{"command":"seq 20000 | sed 's/.*/nut &: round/'"}"#),
        ScriptedTurn::new().text("The list is stored; I only need one line of it.").call(
            "call_2",
            GREP.name,
            r#"{"pattern":"^nut 19999:","path":"../home/projects","output_mode":"content","glob":"*.txt"}"#,
        ),
        ScriptedTurn::new().text("Nut 19999 is round."),
    ];
    let question = "List all 20,000 nuts. What is number 19999 like?";
    let (engine, _) = play(sandbox, script, question).await?;
    let sent: usize = engine
        .conversation()
        .messages()
        .iter()
        .flat_map(|message| &message.blocks)
        .filter(|block| block.result_content().is_some())
        .map(|block: &Block| block.raw().len())
        .sum();
    let stored = stored_bytes(engine.conversation().transcript_path())?;
    explain(&format!(
        "{stored} bytes of output are in a file; both tool results sent only {sent} bytes to the model. Later requests \
         repeat these bytes, also after a resume."
    ));
    Ok(())
}

/// The user states a rule in one session; the next session has it.
pub(super) async fn save_a_memory(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 3: a memory");
    let script = vec![
        ScriptedTurn::new().call(
            "call_1",
            MEMORY_SAVE.name,
            r#"{"name":"Nuts in dozens","description":"counts nuts in dozens, rounded up","type":"feedback","content":"Give numbers of nuts in dozens, rounded up.\n\n**Why:** the larder's shelves hold twelve.\n\n**How to apply:** in answers; files keep exact numbers."}"#,
        ),
        ScriptedTurn::new().text("I'll count in dozens from now on."),
    ];
    play(sandbox, script, "Remember: count nuts in dozens, rounded up. The shelves hold twelve.")
        .await?;
    explain("A memory is a Markdown file that you can read, edit and delete:");
    let file = sandbox.home().join("memory/nuts-in-dozens.md");
    show_excerpt(&std::fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?);
    line("A new session, without the messages of the first one:");
    let script = vec![ScriptedTurn::new().text("Five dozen, rounded up: the plan asks for 52.")];
    let (engine, _) =
        play(sandbox, script, "How large is the stock that the plan asks for?").await?;
    explain("Its first message contains the memory index:");
    let first: Vec<String> =
        engine.conversation().prefix().opening_blocks().iter().filter_map(Block::as_text).collect();
    let lines = first.iter().flat_map(|text| text.lines());
    lines.filter(|line| line.starts_with("- [")).for_each(show_excerpt);
    Ok(())
}

/// The full text of a memory is added to a message about it.
pub(super) async fn recall(sandbox: &DemoSandbox) -> Result<(), Failure> {
    line("Scene 4: recall");
    let script =
        vec![ScriptedTurn::new().text("In dozens, rounded up: the shelves hold twelve. So five.")];
    let (engine, _) =
        play(sandbox, script, "Do we count nuts in dozens, rounded up or down?").await?;
    let said = engine.conversation().messages().first().map(|message| message.blocks.clone());
    explain("After your text, the message contains the memories that local ranking found:");
    let shown = said.unwrap_or_default().iter().filter_map(Block::as_text).nth(1);
    show_excerpt(shown.unwrap_or_default().trim());
    explain(
        "No model is involved. A first request waits at most 150 ms for recall, later ones 20; a small model may add more later, in the background.",
    );
    Ok(())
}

/// The size of the tool results that the session has stored.
fn stored_bytes(transcript: &Path) -> Result<u64, Failure> {
    let folder = transcript.with_extension("").join("tool-results");
    let unreadable = |error| unreadable(&folder, &error);
    let mut bytes = 0;
    for entry in folder.read_dir().map_err(unreadable)? {
        bytes += entry.and_then(|entry| entry.metadata()).map_err(unreadable)?.len();
    }
    Ok(bytes)
}

fn count_lines(path: &Path) -> Result<usize, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, &error))?;
    Ok(text.lines().count())
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(anyhow::anyhow!("cannot read {}: {error}", path.display()))
}

//! The prompt of a dream (B-22): rules, four phases, and the material.

use std::fmt::Write as _;
use std::path::Path;

use dormouse_base::SessionId;
use dormouse_memory::{ChangeError, FindingKind, ScanCache, Store, manifest_line};
use jiff::Timestamp;

use super::workspace::DreamWorkspace;

/// Memories of a directory that are listed.
const LISTED: usize = 400;
/// Sessions that are named.
const SESSIONS: usize = 40;
/// Bytes of a log that are shown; the fork can read the rest.
const LOG_BYTES: usize = 20_000;

const RULES: &str = "\
This is a dream: nobody waits for an answer, and nobody can be asked. Look through what is remembered, and leave it truer,
shorter and better ordered than you found it. You work on a copy of the memories; when you are done it is checked, and
what passes is applied as one change, which the user can undo.

- MemorySave and MemoryDelete are the only ways to change something, and work on the copy. Reading, searching and commands
  that only read are allowed; all else is denied.
- To change a memory, give its file name as `file`. To merge memories, save one text that keeps everything in them that still
  holds, with its why, and name the others in `supersedes`.
- Remove a memory only where something shows that it is wrong or over, and say in `reason` what does.
- Something new is saved only if somebody said it in the logs or sessions named below: quote their words, verbatim, in
  `quotes`. Nothing is learned from memories, the index, instruction files, summaries or notes.
- What the user wrote by hand is not changed: such a change is put before them.
- What code, git history or an instruction file says already is no memory, nor is the state of a task.
- If nothing needs to be done, do nothing: that is a good dream too.
";

const PHASES: &str = "\
1. **Orient.** List the memories (MemoryList), read the indexes, and skim those that look alike, old or odd.
2. **Gather.** The daily logs first; then the memories of which the code says otherwise, below: look at the code. Where a
   memory is in doubt, search the transcripts for a few narrow words, such as `grep -h 'word' FILE | tail -n 50`; never read a
   whole transcript.
3. **Consolidate.** Merge what says the same into the memory that says it best. Make \"yesterday\" and \"next week\" dates. Where
   two memories contradict each other, find out which holds and correct the other at its source. Remove what was disproved.
4. **Prune and put in order.** The index is kept by the program, from names and descriptions, and holds 200 lines and 25,000
   bytes: shorten descriptions over 200 characters to what tells whether the memory matters, one line each.

Read everything that you mean to change in one step, and write in the next. Then say in a few lines what you did and why.
";

/// Renders the prompt. `folder` has the transcripts.
pub(super) fn prompt(
    workspaces: &[DreamWorkspace],
    folder: &Path,
    sessions: &[SessionId],
    now: Timestamp,
) -> Result<String, ChangeError> {
    let mut text = format!("{RULES}\nToday is {}.\n\n{PHASES}", now.strftime("%Y-%m-%d"));
    for workspace in workspaces {
        text.push('\n');
        list_memories(&mut text, workspace, now)?;
        list_outdated(&mut text, &workspace.store)?;
        show_logs(&mut text, workspace);
    }
    list_sessions(&mut text, folder, sessions);
    Ok(text)
}

fn list_memories(
    text: &mut String,
    workspace: &DreamWorkspace,
    now: Timestamp,
) -> Result<(), ChangeError> {
    let copy = workspace.draft.store();
    let scope = workspace.store.scope();
    let scan = copy.scan(&mut ScanCache::default())?;
    // Writing to a text does not fail.
    let _written = writeln!(
        text,
        "## The {scope} memory: {} memories; the copy is in {}\n",
        scan.memories.len(),
        copy.dir().path().display()
    );
    for memory in scan.memories.iter().take(LISTED) {
        let line = manifest_line(memory, scope, workspace.store.changed_at(memory), now);
        let _written = writeln!(text, "{line}");
    }
    if scan.memories.len() > LISTED {
        let _written = writeln!(text, "… MemoryList shows {} more", scan.memories.len() - LISTED);
    }
    Ok(())
}

/// Lists memories about code that has changed.
fn list_outdated(text: &mut String, store: &Store) -> Result<(), ChangeError> {
    let findings = store.doctor(store.project_root())?;
    let anchors = findings.iter().filter(|finding| finding.kind == FindingKind::Anchor);
    let lines: Vec<String> =
        anchors.map(|finding| format!("- {}: {}", finding.file, finding.message)).collect();
    if !lines.is_empty() {
        let _written = writeln!(text, "\nThe code has changed under these:\n{}", lines.join("\n"));
    }
    Ok(())
}

fn show_logs(text: &mut String, workspace: &DreamWorkspace) {
    for log in &workspace.logs {
        let path = workspace.store.dir().path().join(&log.path);
        let shown = log.text.get(..log.text.floor_char_boundary(LOG_BYTES)).unwrap_or_default();
        let rest = if shown.len() < log.text.len() { "\n[the rest is in the file]" } else { "" };
        let _written = writeln!(
            text,
            "\nA daily log of which no memories were made yet, {} from line {} on (each note ends with how far it can be \
             trusted):\n{}{rest}",
            path.display(),
            log.first_line,
            shown.trim_end()
        );
    }
}

fn list_sessions(text: &mut String, folder: &Path, sessions: &[SessionId]) {
    let _written = writeln!(text, "\n## Sessions since the last dream: {}\n", sessions.len());
    if sessions.is_empty() {
        return;
    }
    let _written = writeln!(text, "Their transcripts are in {}:\n", folder.display());
    for session in sessions.iter().take(SESSIONS) {
        let _written = writeln!(text, "- {session}.jsonl");
    }
    if sessions.len() > SESSIONS {
        let _written = writeln!(text, "- and {} older ones", sessions.len() - SESSIONS);
    }
}

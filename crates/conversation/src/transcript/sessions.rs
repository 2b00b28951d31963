//! The sessions of a project: which there are, what each is about, which was last.

use std::io::{BufRead, BufReader, Read};
use std::time::SystemTime;

use dormouse_base::{AgentId, Dir, EntryKind, FileAction, FileError, RelPath, SessionId};

use super::read::load_transcript;
use crate::block::BlockKind;
use crate::context_tokens::context_tokens;
use crate::message::{Message, Role};
use crate::reminder_tags::is_reminder;

/// The transcript's file in the project's folder.
pub fn session_file(session: SessionId) -> RelPath {
    plain(format!("{session}.jsonl"))
}

/// The folder of what else belongs to the session.
pub(super) fn session_folder(session: SessionId) -> RelPath {
    plain(session.to_string())
}

/// The folder of the side chains below a session, in the session's own.
pub(super) fn side_chains() -> RelPath {
    plain("subagents".to_owned())
}

/// An agent's side chain, in that folder.
pub(super) fn side_file(agent: AgentId) -> RelPath {
    plain(format!("agent-{agent}.jsonl"))
}

/// The folder of what else belongs to the agent.
pub(super) fn side_folder(agent: AgentId) -> RelPath {
    plain(format!("agent-{agent}"))
}

pub(super) fn lock_file() -> RelPath {
    plain("session.lock".to_owned())
}

#[expect(clippy::expect_used, reason = "a uuid and a fixed ending are a plain file name")]
fn plain(name: String) -> RelPath {
    RelPath::new(name).expect("a plain name")
}

/// A session, in a line of a list.
#[derive(Debug, Clone)]
pub struct SessionSummary {
    /// Which.
    pub session: SessionId,
    /// The first thing the user said in it.
    pub title: String,
    /// The first line that the user said in it, and the last one, if that is another.
    pub first_prompt: String,
    /// The last one.
    pub last_prompt: Option<String>,
    /// The branch that was checked out when the model was last told of it.
    pub branch: Option<String>,
    /// When it was last written.
    pub modified: SystemTime,
    /// The folder it was last used in.
    pub folder: Option<String>,
    /// The model it was begun with.
    pub model: Option<String>,
    /// How many messages it has, those of the program left out.
    pub messages: usize,
    /// How large the conversation is, in tokens.
    pub tokens: u64,
}

/// Longer titles are cut.
const LONGEST_TITLE: usize = 80;

/// The project's sessions, newest first; with `text`, only those that contain it (in any case).
/// Sessions without a word of the user are left out.
pub fn list_sessions(dir: &Dir, text: Option<&str>) -> Result<Vec<SessionSummary>, FileError> {
    let wanted = text.map(str::to_lowercase);
    let mut summaries = Vec::new();
    for (session, modified) in session_files(dir)? {
        // A file that went away between the listing and here is no longer a session.
        let Ok(bytes) = dir.read(&session_file(session)) else { continue };
        let loaded = load_transcript(&bytes);
        // Of a conversation that was rewound to its beginning, the first words are in the file alone.
        let in_file = || bytes.split(|byte| *byte == b'\n').find_map(title_in_line);
        let Some(title) = loaded.all_messages().find_map(title).or_else(in_file) else { continue };
        let contains = |wanted: &String| {
            loaded.all_messages().any(|m| m.text().to_lowercase().contains(wanted))
        };
        if wanted.as_ref().is_some_and(|wanted| !contains(wanted)) {
            continue;
        }
        let prefix = loaded.prefix.as_ref().map_or(0, |prefix| prefix.tokens());
        let messages = loaded.all_messages().filter(|message| !message.flags.meta).count();
        summaries.push(SessionSummary {
            session,
            first_prompt: title.clone(),
            last_prompt: loaded.all_messages().skip(1).filter_map(self::title).last(),
            branch: loaded
                .facts
                .as_ref()
                .and_then(|facts| facts.get("git branch"))
                .map(str::to_owned),
            title,
            modified,
            folder: loaded.folder,
            model: loaded.origin.map(|origin| origin.model),
            messages,
            tokens: context_tokens(prefix, loaded.messages.iter()).total(),
        });
    }
    Ok(summaries)
}

/// A session as its first lines tell it: cheap, however long it is.
#[derive(Debug, Clone)]
pub struct SessionHead {
    /// Its id.
    pub session: SessionId,
    /// The first thing the user said in it; none if that is not near the beginning.
    pub title: Option<String>,
    /// When it was last written.
    pub modified: SystemTime,
    /// The size of the transcript.
    pub bytes: u64,
}

/// Bytes at the beginning of a transcript in which its title is looked for.
const HEAD_BYTES: u64 = 1024 * 1024;

/// The newest sessions of a folder after the first `skip`, and how many there are. Only the beginning of each is read.
pub fn session_heads(
    dir: &Dir,
    skip: usize,
    most: usize,
) -> Result<(Vec<SessionHead>, usize), FileError> {
    let files = session_files(dir)?;
    // A file that went away between the listing and here is no longer a session.
    let head = |(session, _): &(SessionId, SystemTime)| session_head(dir, *session).ok();
    Ok((files.iter().skip(skip).take(most).filter_map(head).collect(), files.len()))
}

/// A session as its first lines tell it.
pub fn session_head(dir: &Dir, session: SessionId) -> Result<SessionHead, FileError> {
    let path = session_file(session);
    let entry = dir.entry(&path)?;
    let file = dir.open_file(&path)?;
    let lines = BufReader::new(file.take(HEAD_BYTES)).split(b'\n').map_while(Result::ok);
    let title = lines.into_iter().find_map(|line| title_in_line(&line));
    Ok(SessionHead { session, title, modified: entry.modified, bytes: entry.size })
}

/// The session that was written last, if there is one with a word of the user in it.
pub fn newest_session(dir: &Dir) -> Result<Option<SessionId>, FileError> {
    for (session, _) in session_files(dir)? {
        if has_words(dir, session)? {
            return Ok(Some(session));
        }
    }
    Ok(None)
}

/// The sessions that were written to after a time, newest first. The files' times alone are looked at.
pub fn sessions_since(dir: &Dir, since: SystemTime) -> Result<Vec<SessionId>, FileError> {
    let newer = session_files(dir)?.into_iter().take_while(|(_, modified)| *modified > since);
    Ok(newer.map(|(session, _)| session).collect())
}

/// Whether the user said anything in a session. The file may be large and the answer is near its
/// beginning, so it is read line by line, and no further.
fn has_words(dir: &Dir, session: SessionId) -> Result<bool, FileError> {
    let path = session_file(session);
    let fail = |error| FileError::new(FileAction::Read, dir.path().join(path.as_path()), error);
    let file = match dir.open_file(&path) {
        Ok(file) => file,
        // It went away since it was listed.
        Err(error) if error.is_not_found() => return Ok(false),
        Err(error) => return Err(error),
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).map_err(fail)? > 0 {
        if title_in_line(&line).is_some() {
            return Ok(true);
        }
        line.clear();
    }
    Ok(false)
}

/// The transcripts in a folder, newest first.
pub(super) fn session_files(dir: &Dir) -> Result<Vec<(SessionId, SystemTime)>, FileError> {
    let mut files: Vec<(SessionId, SystemTime)> = dir
        .entries()?
        .into_iter()
        .filter(|entry| entry.kind == EntryKind::File)
        .filter_map(|entry| {
            Some((entry.name.strip_suffix(".jsonl")?.parse().ok()?, entry.modified))
        })
        .collect();
    files.sort_by_key(|(session, modified)| std::cmp::Reverse((*modified, *session)));
    Ok(files)
}

/// The title that a message in one line of a transcript gives.
fn title_in_line(line: &[u8]) -> Option<String> {
    load_transcript(line).messages.iter().find_map(title)
}

fn title(message: &Message) -> Option<String> {
    if message.role != Role::User || message.flags.meta {
        return None;
    }
    let text = message
        .blocks
        .iter()
        .filter(|block| *block.kind() == BlockKind::Text)
        .filter_map(crate::Block::as_text)
        // What the program attached is not what the user said.
        .find(|text| !is_reminder(text))?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let mut title: String = line.chars().take(LONGEST_TITLE).collect();
    if title.len() < line.len() {
        title.push('…');
    }
    Some(title)
}

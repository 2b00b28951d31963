//! The memories that the conversation has seen. They are read from the conversation itself, so they are right
//! after a resume and after a rewrite of the history.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_context::{HookContext, RecalledMemories};
use dormouse_conversation::known_tools::{MEMORY_FILES, MEMORY_SAVE};
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, Role, ToolUseId};
use dormouse_memory::RecalledTexts;
use dormouse_tools::ToolSet;

use crate::memory::{ChangeText, SessionMemory, file_of_command};
use crate::note_text::without_notes;

/// The files that were recalled, read or written, and the bytes that recall has used.
#[derive(Debug, Default)]
pub(crate) struct SeenMemories {
    files: HashSet<PathBuf>,
    /// Files of memories that were only named.
    named: HashSet<PathBuf>,
    bytes: usize,
    /// Bytes of memories that are about to be shown, in no message yet.
    announced: usize,
    /// Messages that were read.
    messages: usize,
    /// Calls of memory tools without a result yet.
    open: HashMap<ToolUseId, OpenCall>,
}

/// The memory that a call is about.
#[derive(Debug)]
enum OpenCall {
    /// The result names the file.
    Saving,
    /// A known file.
    File(PathBuf),
}

/// What is needed to find the files of calls.
pub(super) struct SessionFiles<'a> {
    pub(super) tools: &'a ToolSet,
    /// The folder that paths in calls are relative to.
    pub(super) folder: &'a Path,
    pub(super) memory: &'a SessionMemory,
}

impl SeenMemories {
    /// Reads the messages since the last call.
    pub(super) fn catch_up(&mut self, messages: &[Arc<Message>], session: &SessionFiles<'_>) {
        if messages.len() < self.messages {
            *self = Self::default();
        }
        if messages.len() > self.messages {
            self.announced = 0;
        }
        for message in messages.iter().skip(self.messages) {
            for block in &message.blocks {
                self.read_block(message.role, block, session);
            }
        }
        self.messages = messages.len();
    }

    fn read_block(&mut self, role: Role, block: &Block, session: &SessionFiles<'_>) {
        let SessionFiles { tools, folder, memory } = session;
        if let Some(call) = block.as_tool_use() {
            if call.name == MEMORY_SAVE.name {
                self.open.insert(call.id.clone(), OpenCall::Saving);
            } else if call.name == MEMORY_FILES.name {
                let file = file_of_command(call.input.get(), memory).map(OpenCall::File);
                self.open.extend(file.map(|file| (call.id.clone(), file)));
            } else {
                self.files.extend(tools.file_of(call).map(|file| folder.join(file)));
            }
        } else if let (BlockKind::ToolResult { id }, Some(ResultContent::Text(text))) =
            (block.kind(), without_notes(block).result_content())
        {
            match self.open.remove(id) {
                Some(OpenCall::Saving) => self.files.extend(saved_files(&text, memory)),
                Some(OpenCall::File(file)) if !block.is_error() => drop(self.files.insert(file)),
                Some(OpenCall::File(_)) | None => {}
            }
        } else if role == Role::User
            && let Some(text) = block.as_text()
        {
            self.read_text(&text);
        }
    }

    /// Recalled memories, and those that the hook of a guard has brought.
    fn read_text(&mut self, text: &str) {
        if let Some(recalled) = RecalledMemories::text_in(text) {
            self.bytes += text.len();
            self.named.extend(RecalledTexts::named_in(recalled).into_iter().map(PathBuf::from));
        }
        let shown = RecalledMemories::text_in(text).or_else(|| HookContext::text_in(text));
        let shown = shown.map(RecalledTexts::shown_in).unwrap_or_default();
        self.files.extend(shown.into_iter().map(PathBuf::from));
    }

    /// A memory is about to be shown.
    pub(super) fn announce(&mut self, path: PathBuf, bytes: usize) {
        self.files.insert(path);
        self.announced += bytes;
    }

    /// A memory is about to be named.
    pub(super) fn announce_line(&mut self, path: PathBuf, bytes: usize) {
        self.named.insert(path);
        self.announced += bytes;
    }

    /// Whether the conversation has seen this memory or its name.
    pub(super) fn has_or_names(&self, path: &Path) -> bool {
        self.has(path) || self.named.contains(path)
    }

    /// Whether the conversation has seen this memory.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    /// The files that it has seen.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.files.iter().cloned().collect()
    }

    /// The bytes that recall has used.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.announced
    }
}

/// The files of a saved memory and of the memories that it replaced.
fn saved_files(result: &str, memory: &SessionMemory) -> Vec<PathBuf> {
    let Some(change) = ChangeText::parse(result) else { return Vec::new() };
    let Ok(store) = memory.memories().store(change.scope) else { return Vec::new() };
    change.files.iter().map(|(file, _)| store.dir().path().join(file.as_str())).collect()
}

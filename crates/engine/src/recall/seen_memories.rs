//! What the conversation has seen of memory already. It is read from the conversation itself, so it
//! is right after a resume, and starts anew when the conversation does.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_context::RecalledMemories;
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, Role, ToolUseId};
use dormouse_memory::file_commands;
use serde_json::Value;

use crate::memory::{SessionMemory, file_of_command};

/// The files that were shown, read or written, and the bytes that were spent on showing.
#[derive(Debug, Default)]
pub(crate) struct SeenMemories {
    files: HashSet<PathBuf>,
    bytes: usize,
    /// Bytes of what is about to be shown, and in no message yet.
    announced: usize,
    /// Messages that were looked at.
    messages: usize,
    /// Calls to tools for memory, until their result says that they came off.
    open: HashMap<ToolUseId, Open>,
}

/// Which memory a call is about.
#[derive(Debug)]
enum Open {
    /// The result says.
    Saving,
    /// This one.
    File(PathBuf),
}

impl SeenMemories {
    /// Looks at the messages since it was last asked.
    pub(super) fn catch_up(
        &mut self,
        messages: &[Arc<Message>],
        folder: &Path,
        access: &SessionMemory,
    ) {
        if messages.len() < self.messages {
            *self = Self::default();
        }
        if messages.len() > self.messages {
            self.announced = 0;
        }
        for message in messages.iter().skip(self.messages) {
            for block in &message.blocks {
                self.look(message.role, block, folder, access);
            }
        }
        self.messages = messages.len();
    }

    fn look(&mut self, role: Role, block: &Block, folder: &Path, access: &SessionMemory) {
        if let Some(call) = block.as_tool_use() {
            match call.name {
                "Read" | "Write" | "Edit" => {
                    self.files.extend(named_file(call.input.get(), folder));
                }
                "MemorySave" => drop(self.open.insert(call.id.clone(), Open::Saving)),
                file_commands::NAME => {
                    let file = file_of_command(call.input.get(), access).map(Open::File);
                    self.open.extend(file.map(|file| (call.id.clone(), file)));
                }
                _ => {}
            }
        } else if let (BlockKind::ToolResult { id }, Some(ResultContent::Text(text))) =
            (block.kind(), block.result_content())
        {
            match self.open.remove(id) {
                Some(Open::Saving) => self.files.extend(saved_file(&text, access)),
                Some(Open::File(file)) if !block.is_error() => drop(self.files.insert(file)),
                Some(Open::File(_)) | None => {}
            }
        } else if role == Role::User
            && let Some(text) = block.as_text()
            && let Some(paths) = RecalledMemories::paths_in(&text)
        {
            self.bytes += text.len();
            self.files.extend(paths.into_iter().map(PathBuf::from));
        }
    }

    /// A memory is about to be shown.
    pub(super) fn announce(&mut self, path: PathBuf, bytes: usize) {
        self.files.insert(path);
        self.announced += bytes;
    }

    /// Whether the conversation has this memory.
    pub(super) fn has(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    /// The files it has.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        self.files.iter().cloned().collect()
    }

    /// The bytes that recall has spent.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.announced
    }
}

fn named_file(input: &str, folder: &Path) -> Option<PathBuf> {
    let input: BTreeMap<String, Value> = serde_json::from_str(input).ok()?;
    Some(folder.join(input.get("file_path")?.as_str()?))
}

/// Where a memory was saved, by the tool's own words.
fn saved_file(result: &str, access: &SessionMemory) -> Option<PathBuf> {
    access.stores().iter().find_map(|store| {
        let said = result.strip_suffix(&format!(" ({} memory)", store.scope()))?;
        let file = said.strip_prefix("saved ").or_else(|| said.strip_prefix("changed "))?;
        Some(store.dir().path().join(file))
    })
}

//! An agent's memory: a memory store in a separate directory, and file tools limited to that directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{Clock, Dir, RelPath};
use dormouse_conversation::FileUse;
use dormouse_conversation::known_tools::{EDIT, READ, WRITE};
use dormouse_engine::{MemorySetup, Saving, SessionMemory};
use dormouse_memory::{RankingSetup, ReachableMemories, Store, StoreOptions};
use dormouse_permissions::{Access, PermissionGate, PermissionMode};
use dormouse_tools::{
    CallContext, FileChangePreview, FileGuard, FileRoute, Tool, ToolError, ToolOutput, ToolSet,
    ToolSpec,
};
use futures_util::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::definition::MemoryScope;

/// The folder in the program's home folder and in `.dormouse` of a repository.
const SHARED: &str = "agent-memory";
/// The folder in `.dormouse` of a repository that git ignores.
const LOCAL: &str = "agent-memory-local";

/// A memory of an agent that cannot be opened.
#[derive(Debug, Error)]
#[error("cannot use the memory of `{agent}`: {source}")]
pub struct AgentMemoryError {
    agent: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// The folders and options of agents' memories.
pub struct AgentMemories {
    /// The home folder of the program.
    pub home: PathBuf,
    /// The main folder of the repository, shared by its worktrees.
    pub root: PathBuf,
    /// Replaces the folder for local memories, if set: for machines without persistent checkouts.
    pub remote: Option<PathBuf>,
    /// The folder of memory state, such as usage counts.
    pub state: PathBuf,
    /// The options of the stores.
    pub options: StoreOptions,
    /// The clock.
    pub clock: Arc<dyn Clock>,
}

impl AgentMemories {
    /// Returns the directory of an agent's memory.
    pub fn directory(&self, scope: MemoryScope, agent: &str) -> PathBuf {
        let (root, below) = self.location(scope, agent);
        root.join(below)
    }

    /// Returns the root folder and the path below it. Links in that path are not followed.
    fn location(&self, scope: MemoryScope, agent: &str) -> (&Path, String) {
        let name = agent.replace(':', "-");
        match (scope, &self.remote) {
            (MemoryScope::User, _) => (&self.home, format!("{SHARED}/{name}")),
            (MemoryScope::Project, _) => (&self.root, format!(".dormouse/{SHARED}/{name}")),
            (MemoryScope::Local, Some(remote)) => (remote, format!("{LOCAL}/{name}")),
            (MemoryScope::Local, None) => (&self.root, format!(".dormouse/{LOCAL}/{name}")),
        }
    }

    /// Opens an agent's memory, creating its directory if needed.
    pub fn open(
        &self,
        scope: MemoryScope,
        agent: &str,
    ) -> Result<Arc<SessionMemory>, AgentMemoryError> {
        self.try_open(scope, agent)
            .map_err(|source| AgentMemoryError { agent: agent.to_owned(), source })
    }

    fn try_open(
        &self,
        scope: MemoryScope,
        agent: &str,
    ) -> Result<Arc<SessionMemory>, Box<dyn std::error::Error + Send + Sync>> {
        let (root, below) = self.location(scope, agent);
        let below = RelPath::new(&below)?;
        // Links are not followed: a repository could point one anywhere.
        let root = Dir::create(root)?;
        let directory = root.create_folder(&below)?;
        if scope == MemoryScope::Local && self.remote.is_none() {
            hide_from_git(&root)?;
        }
        let store = Store::open(directory.path(), &self.state, self.options.clone())?;
        let stores = vec![Arc::new(store)];
        let memories = Arc::new(ReachableMemories::new(stores, RankingSetup::default()));
        Ok(SessionMemory::new(memories, Saving::Entries, Arc::clone(&self.clock)))
    }

    /// Opens an agent's memory if its directory exists.
    pub fn existing(&self, scope: MemoryScope, agent: &str) -> Option<Arc<SessionMemory>> {
        let (root, below) = self.location(scope, agent);
        let below = RelPath::new(&below).ok()?;
        Dir::open(root).ok()?.open_folder(&below).ok()?;
        self.open(scope, agent).ok()
    }
}

/// Writes a `.gitignore` into the folder itself, so that no file of the user's has to change.
fn hide_from_git(root: &Dir) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let file = RelPath::new(format!(".dormouse/{LOCAL}/.gitignore"))?;
    if root.read(&file).is_ok() {
        return Ok(());
    }
    let text = "# Memories of agents for one user; not committed.\n*\n";
    Ok(root.replace(&file, text.as_bytes())?)
}

/// Returns the memory setup of an agent's conversation. Its prompt contains the rules.
pub(crate) fn setup(access: &Arc<SessionMemory>) -> MemorySetup {
    MemorySetup { access: Arc::clone(access), rules: None, recall: None }
}

/// Returns the instructions on memory for the agent's prompt.
pub(crate) fn rules(scope: MemoryScope, directory: &Path) -> String {
    let whose = match scope {
        MemoryScope::User => {
            "It goes with you into every project of this user: keep what holds everywhere, and say where something holds for one project only."
        }
        MemoryScope::Project => {
            "It belongs to this project and is committed with it: everybody who works on it reads it. Keep what helps them all, and nothing private."
        }
        MemoryScope::Local => "It is for this user in this project, and is not committed.",
    };
    format!(
        "# Your memory\n\
         You have a memory of your own that outlasts this task: the folder {}, which exists already. {whose}\n\n\
         - Its index, MEMORY.md, stands in your first message as far as there is one: a line for each memory, `- [Title](file.md): what it says, in a few words`. Read the files that bear on the task before you begin.\n\
         - When you have learnt something that will help the next time (where things are, what went wrong and why, how this project wants it), write it down before you answer: one markdown file for each thing, beginning with lines `---`, `name:`, `description:`, `type:` (user, feedback, project or reference), `---`. Its line in MEMORY.md is made of these by itself. Read, Edit and Write work in that folder.\n\
         - Mend what turned out wrong instead of adding to it. Never write down secrets, the state of this one task, or what the code itself says.\n\
         - A memory is a claim about the past: check what it says about code before you rely on it.",
        directory.display()
    )
}

/// Adds Read, Edit and Write for the memory directory. A tool that the agent has anyway keeps its access elsewhere; the
/// others work in that directory only.
pub(crate) fn with_memory_files(
    tools: ToolSet,
    all: &ToolSet,
    directory: &Path,
    conversation: &PermissionGate,
) -> ToolSet {
    let mut added: Vec<Arc<dyn Tool>> = Vec::new();
    for name in [READ.name, EDIT.name, WRITE.name] {
        let elsewhere =
            if tools.get(name).is_some() { Elsewhere::Allowed } else { Elsewhere::Refused };
        let inner = tools.get(name).or_else(|| all.get(name)).cloned();
        let Some(inner) = inner else { continue };
        let (directory, conversation) = (directory.to_owned(), conversation.clone());
        added.push(Arc::new(MemoryFiles { inner, directory, elsewhere, conversation }));
    }
    tools.with(added)
}

/// The treatment of calls outside the memory directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elsewhere {
    Allowed,
    Refused,
}

/// A file tool that needs no confirmation in an agent's own memory.
struct MemoryFiles {
    inner: Arc<dyn Tool>,
    directory: PathBuf,
    elsewhere: Elsewhere,
    /// The gate of the parent conversation: its plan mode also forbids writing memory.
    conversation: PermissionGate,
}

impl MemoryFiles {
    fn changes_files(&self) -> bool {
        self.inner.spec().traits.file_use.is_some_and(FileUse::changes)
    }

    /// Whether the path of a call is in the memory directory. Links are checked when the file is written.
    fn is_own(&self, input: &RawValue, folder: &Path) -> bool {
        #[derive(Deserialize)]
        struct FileInput {
            file_path: PathBuf,
        }
        let Ok(named) = serde_json::from_str::<FileInput>(input.get()) else { return false };
        let path = folder.join(named.file_path);
        let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
        !climbs && path.starts_with(&self.directory) && path != self.directory
    }
}

impl Tool for MemoryFiles {
    fn spec(&self) -> &ToolSpec {
        self.inner.spec()
    }

    fn access(&self, input: &RawValue, folder: &Path) -> Access {
        // The file guard asks for confirmation of memory changes where needed; a call that is refused anyway needs none.
        let unasked = self.elsewhere == Elsewhere::Refused || self.is_own(input, folder);
        if unasked { Access::Reads } else { self.inner.access(input, folder) }
    }

    fn file(&self, input: &RawValue) -> Option<PathBuf> {
        self.inner.file(input)
    }

    fn change<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<Option<FileChangePreview>, ToolError>> {
        self.inner.change(input, context)
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let leads_out =
            self.elsewhere == Elsewhere::Refused && self.leads_out(input, &context.folder);
        if leads_out || !self.is_own(input, &context.folder) {
            return match self.elsewhere {
                Elsewhere::Allowed => self.inner.call(input, context),
                Elsewhere::Refused => Box::pin(ready(Err(self.refusal()))),
            };
        }
        if self.changes_files() && self.conversation.mode() == PermissionMode::Plan {
            let message = "memory cannot be written in plan mode".to_owned();
            return Box::pin(ready(Err(ToolError::Failed { message })));
        }
        Box::pin(async move {
            let mut context = context.clone();
            let directory = self.directory.clone();
            let inner = context.file_guard.take();
            context.file_guard = Some(Arc::new(DirectoryGuard { directory, inner }));
            self.inner.call(input, &context).await
        })
    }
}

impl MemoryFiles {
    /// Whether a link in the path leads out of the memory directory.
    fn leads_out(&self, input: &RawValue, folder: &Path) -> bool {
        let named = self.inner.file(input).map(|file| folder.join(file));
        let real = named.and_then(|path| path.canonicalize().ok());
        real.is_some_and(|real| !real.starts_with(&self.directory))
    }

    fn refusal(&self) -> ToolError {
        let (name, folder) = (self.inner.name(), self.directory.display());
        ToolError::Failed {
            message: format!("{name} is only for your memory and works only in {folder}"),
        }
    }
}

/// Refuses writes outside the memory directory, also through links.
struct DirectoryGuard {
    directory: PathBuf,
    inner: Option<Arc<dyn FileGuard>>,
}

impl FileGuard for DirectoryGuard {
    fn route(&self, path: &Path) -> FileRoute {
        if !path.starts_with(&self.directory) {
            let (path, folder) = (path.display(), self.directory.display());
            return FileRoute::Refused(format!("{path} is not in your memory, {folder}"));
        }
        self.inner.as_ref().map_or(FileRoute::Plain, |inner| inner.route(path))
    }
}

//! An agent's memory: a directory of its own, through the one door of `memory`, and file tools that reach no
//! further than that.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{Clock, Dir, RelPath};
use dormouse_engine::{MemorySetup, Saving, SessionMemory};
use dormouse_memory::{Store, StoreOptions};
use dormouse_permissions::{Access, PermissionGate, PermissionMode};
use dormouse_tools::{
    CallContext, FileChangePreview, FileGuard, FileRoute, Tool, ToolError, ToolOutput, ToolSet,
    ToolSpec,
};
use futures_util::future::{BoxFuture, ready};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::MemoryScope;

/// Below the program's folder, and below `.dormouse` of a repository.
const SHARED: &str = "agent-memory";
/// Below `.dormouse` of a repository: git does not see it.
const LOCAL: &str = "agent-memory-local";

/// Where agents' memories are.
pub struct AgentMemories {
    /// The program's folder.
    pub home: PathBuf,
    /// The repository's main folder, one for all its worktrees.
    pub root: PathBuf,
    /// Where what is local goes instead, where that is set: on a machine that belongs to nobody.
    pub remote: Option<PathBuf>,
    /// The folder of what is kept about memories.
    pub state: PathBuf,
    /// How their stores behave.
    pub options: StoreOptions,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

impl AgentMemories {
    /// The directory of an agent's memory.
    pub fn directory(&self, scope: MemoryScope, agent: &str) -> PathBuf {
        let (root, below) = self.place(scope, agent);
        root.join(below)
    }

    /// What it stands below, which is not to be left, and the way from there.
    fn place(&self, scope: MemoryScope, agent: &str) -> (&Path, String) {
        let name = agent.replace(':', "-");
        match (scope, &self.remote) {
            (MemoryScope::User, _) => (&self.home, format!("{SHARED}/{name}")),
            (MemoryScope::Project, _) => (&self.root, format!(".dormouse/{SHARED}/{name}")),
            (MemoryScope::Local, Some(remote)) => (remote, format!("{LOCAL}/{name}")),
            (MemoryScope::Local, None) => (&self.root, format!(".dormouse/{LOCAL}/{name}")),
        }
    }

    /// Opens an agent's memory, making its directory; else why it has none.
    pub fn open(&self, scope: MemoryScope, agent: &str) -> Result<Arc<SessionMemory>, String> {
        let (root, below) = self.place(scope, agent);
        let failed = |error: &dyn std::fmt::Display| {
            format!("the memory of `{agent}` cannot be used: {error}")
        };
        let way = RelPath::new(&below).map_err(|error| failed(&error))?;
        // No link is followed: a repository could lead it anywhere.
        let top = Dir::create(root).map_err(|error| failed(&error))?;
        let directory = top.create_folder(&way).map_err(|error| failed(&error))?;
        if scope == MemoryScope::Local && self.remote.is_none() {
            hide_from_git(&top).map_err(|error| failed(&error))?;
        }
        let store = Store::open(directory.path(), &self.state, self.options.clone())
            .map_err(|error| failed(&error))?;
        let stores = vec![Arc::new(store)];
        Ok(SessionMemory::new(stores, Saving::Entries, None, Arc::clone(&self.clock), None))
    }

    /// The same if its directory is there: looking makes nothing.
    pub fn existing(&self, scope: MemoryScope, agent: &str) -> Option<Arc<SessionMemory>> {
        let (root, below) = self.place(scope, agent);
        let way = RelPath::new(&below).ok()?;
        Dir::open(root).ok()?.open_folder(&way).ok()?;
        self.open(scope, agent).ok()
    }
}

/// A file that hides its own folder: no other file of the person's has to change.
fn hide_from_git(root: &Dir) -> Result<(), String> {
    let file =
        RelPath::new(format!(".dormouse/{LOCAL}/.gitignore")).map_err(|error| error.to_string())?;
    if root.read(&file).is_ok() {
        return Ok(());
    }
    let text = "# Memories of agents that are for one person alone.\n*\n";
    root.replace(&file, text.as_bytes()).map_err(|error| error.to_string())
}

/// Memory for the set-up of an agent's conversation. The rules stand in its prompt.
pub(crate) fn setup(access: &Arc<SessionMemory>) -> MemorySetup {
    MemorySetup { access: Arc::clone(access), rules: None, recall: None }
}

/// What the agent is told about it.
pub(crate) fn rules(scope: MemoryScope, directory: &Path) -> String {
    let whose = match scope {
        MemoryScope::User => {
            "It goes with you into every project of this person: keep what holds everywhere, and say where something holds for one project only."
        }
        MemoryScope::Project => {
            "It belongs to this project and is committed with it: everybody who works on it reads it. Keep what helps them all, and nothing private."
        }
        MemoryScope::Local => "It is for this person in this project, and is not committed.",
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

/// The agent's tools with Read, Edit and Write for its memory: those that it has otherwise reach as far as before, the
/// others no further than that folder.
pub(crate) fn with_memory_files(
    tools: ToolSet,
    all: &ToolSet,
    directory: &Path,
    conversation: &PermissionGate,
) -> ToolSet {
    let mut added: Vec<Arc<dyn Tool>> = Vec::new();
    for name in ["Read", "Edit", "Write"] {
        let elsewhere =
            if tools.get(name).is_some() { Elsewhere::AsBefore } else { Elsewhere::Refused };
        let inner = tools.get(name).or_else(|| all.get(name)).cloned();
        let Some(inner) = inner else { continue };
        let (directory, conversation) = (directory.to_owned(), conversation.clone());
        added.push(Arc::new(MemoryFiles { inner, directory, elsewhere, conversation }));
    }
    tools.with(added)
}

/// What becomes of a call outside the memory's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Elsewhere {
    AsBefore,
    Refused,
}

/// A file tool that needs no question in an agent's own memory.
struct MemoryFiles {
    inner: Arc<dyn Tool>,
    directory: PathBuf,
    elsewhere: Elsewhere,
    /// That of the conversation above: in its plan mode memory is not written either.
    conversation: PermissionGate,
}

impl MemoryFiles {
    /// Whether a call is about a file of the memory, as its path is written. Where that leads in truth is decided when
    /// it is written.
    fn is_own(&self, input: &RawValue, folder: &Path) -> bool {
        #[derive(Deserialize)]
        struct Named {
            file_path: PathBuf,
        }
        let Ok(named) = serde_json::from_str::<Named>(input.get()) else { return false };
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
        // What is written to its memory goes through the door of memory, which asks where it has to; what the call
        // would refuse anyway needs no question.
        let needs_none = self.elsewhere == Elsewhere::Refused || self.is_own(input, folder);
        if needs_none { Access::Reads } else { self.inner.access(input, folder) }
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
                Elsewhere::AsBefore => self.inner.call(input, context),
                Elsewhere::Refused => Box::pin(ready(Err(self.refusal()))),
            };
        }
        if self.inner.name() != "Read" && self.conversation.mode() == PermissionMode::Plan {
            let message = "in plan mode memory is not written".to_owned();
            return Box::pin(ready(Err(ToolError::Failed { message })));
        }
        Box::pin(async move {
            let mut context = context.clone();
            let (directory, door) = (self.directory.clone(), context.file_guard.take());
            context.file_guard = Some(Arc::new(OnlyBelow { directory, door }));
            self.inner.call(input, &context).await
        })
    }
}

impl MemoryFiles {
    /// Whether a link on the way to the file leads out of the memory.
    fn leads_out(&self, input: &RawValue, folder: &Path) -> bool {
        let named = self.inner.file(input).map(|file| folder.join(file));
        let real = named.and_then(|path| path.canonicalize().ok());
        real.is_some_and(|real| !real.starts_with(&self.directory))
    }

    fn refusal(&self) -> ToolError {
        let (name, folder) = (self.inner.name(), self.directory.display());
        ToolError::Failed {
            message: format!(
                "{name} is for your memory alone: it works in {folder} and nowhere else"
            ),
        }
    }
}

/// Lets nothing be written outside the memory, wherever a link leads.
struct OnlyBelow {
    directory: PathBuf,
    door: Option<Arc<dyn FileGuard>>,
}

impl FileGuard for OnlyBelow {
    fn route(&self, path: &Path) -> FileRoute {
        if !path.starts_with(&self.directory) {
            let (path, folder) = (path.display(), self.directory.display());
            return FileRoute::Refused(format!("{path} is not in your memory, {folder}"));
        }
        self.door.as_ref().map_or(FileRoute::Plain, |door| door.route(path))
    }
}

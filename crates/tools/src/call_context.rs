//! What a call is given besides its arguments.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dormouse_base::{Environment, Redactor};
use dormouse_checkpoint::Checkpoints;
use dormouse_permissions::{HostPattern, PermissionGate};
use tokio_util::sync::CancellationToken;

use crate::command_setup::CommandSetup;
use crate::editor_files::EditorFiles;
use crate::editor_terminals::EditorTerminals;
use crate::file_guard::FileGuard;
use crate::output_file::OutputFile;
use crate::progress::CommandProgress;
use crate::read_cache::ReadCache;
use crate::todo_list::TodoList;

/// What goes through the user's editor.
#[derive(Debug, Clone, Default)]
pub struct EditorTools {
    /// Its files; none where only the disk counts.
    pub files: Option<Arc<dyn EditorFiles>>,
    /// Its terminals; none where commands run in our own shell.
    pub terminals: Option<Arc<dyn EditorTerminals>>,
}

/// What a call is given besides its arguments.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The working directory, absolute; relative paths start here.
    pub folder: PathBuf,
    /// The environment that children inherit, without the model's API keys.
    pub environment: Environment,
    /// Cancelled when the call has to stop.
    pub cancel: CancellationToken,
    /// The files that the conversation has read.
    pub read_cache: Arc<Mutex<ReadCache>>,
    /// The most tokens that one Read may return: `Budget::read_tokens`.
    pub read_tokens: u32,
    /// Decides which files may be written, besides the permission gate.
    pub file_guard: Option<Arc<dyn FileGuard>>,
    /// The list that `TodoWrite` keeps.
    pub todos: Arc<Mutex<TodoList>>,
    /// How commands are run.
    pub commands: CommandSetup,
    /// Records what files were before they are changed.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// Where this call may store output that is too long to keep in memory.
    pub overflow: Option<OutputFile>,
    /// Removes secrets from output that is shown or stored before the call ends.
    pub redactor: Redactor,
    /// Shows what a running command prints.
    pub progress: Option<Arc<dyn CommandProgress>>,
    /// Says which files a search may not read, and which commands run outside the sandbox.
    pub gate: Option<PermissionGate>,
    /// Hosts that rules of the user name: these may be in a private network.
    pub private_hosts: Vec<HostPattern>,
    /// The user's editor, where files and commands go through it.
    pub editor: EditorTools,
}

impl CallContext {
    /// A context with an empty read cache and its own cancellation token.
    pub fn new(folder: impl Into<PathBuf>, environment: Environment, read_tokens: u32) -> Self {
        Self {
            folder: folder.into(),
            environment,
            cancel: CancellationToken::new(),
            read_cache: Arc::default(),
            read_tokens,
            file_guard: None,
            todos: Arc::default(),
            commands: CommandSetup::default(),
            checkpoints: None,
            overflow: None,
            redactor: Redactor::default(),
            progress: None,
            gate: None,
            private_hosts: Vec::new(),
            editor: EditorTools::default(),
        }
    }
}

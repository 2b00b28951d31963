//! What tool calls of a session share: the files that were read, the list of steps, the shells in the background.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_hooks::{HookObserver, HookRunner};
use dormouse_tools::{
    CallContext, CallObserver, CallRunner, CommandSandbox, CommandSetup, FileGuard, ReadCache,
    Shells, TodoList, TodoStatus,
};
use tokio_util::sync::CancellationToken;

use crate::config::EngineConfig;
use crate::memory::MemoryFileGuard;

/// What tool calls of a session share. Clones share it too.
#[derive(Default)]
pub(crate) struct ToolState {
    read_cache: Arc<Mutex<ReadCache>>,
    todos: Arc<Mutex<TodoList>>,
    shells: Arc<Shells>,
}

impl ToolState {
    /// For a session of this configuration.
    pub(crate) fn new(config: &EngineConfig) -> Self {
        if config.is_subagent() {
            return Self::default();
        }
        Self { shells: Arc::clone(&config.tools.shells), ..Self::default() }
    }

    /// A session that begins with files that another has read.
    pub(crate) fn with_read_cache(cache: ReadCache) -> Self {
        Self { read_cache: Arc::new(Mutex::new(cache)), ..Self::default() }
    }

    pub(crate) fn read_cache(&self) -> MutexGuard<'_, ReadCache> {
        self.read_cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn replace_read_cache(&mut self, cache: Arc<Mutex<ReadCache>>) {
        self.read_cache = cache;
    }

    /// Forgets what was read: files may be others now.
    pub(crate) fn forget_files(&self) {
        *self.read_cache() = ReadCache::default();
    }

    /// Whether a command runs in the background.
    pub(crate) fn has_running_shells(&self) -> bool {
        self.shells.are_running()
    }

    /// The steps of the task that are not completed.
    pub(crate) fn open_tasks(&self) -> Vec<String> {
        let todos = self.todos.lock().unwrap_or_else(PoisonError::into_inner);
        let open = todos.items.iter().filter(|item| item.status != TodoStatus::Completed);
        open.map(|item| item.content.clone()).collect()
    }

    pub(crate) fn call_context(
        &self,
        config: &EngineConfig,
        cancel: CancellationToken,
    ) -> CallContext {
        let tools = &config.tools;
        let read_tokens = config.model.budget.results.read_tokens;
        let mut context =
            CallContext::new(&config.project.folder, tools.environment.clone(), read_tokens);
        context.cancel = cancel;
        context.read_cache = Arc::clone(&self.read_cache);
        context.todos = Arc::clone(&self.todos);
        context.file_guard = config.memory.as_ref().map(|memory| {
            Arc::new(MemoryFileGuard(Arc::clone(&memory.access))) as Arc<dyn FileGuard>
        });
        context.commands = CommandSetup {
            limits: tools.commands,
            reaper: tools.reaper.clone(),
            shells: Arc::clone(&self.shells),
            sandbox: tools
                .sandbox
                .clone()
                .map(|policy| CommandSandbox { policy, confirmer: tools.confirmer.clone() }),
        };
        context.checkpoints.clone_from(&tools.checkpoints);
        context.editor = tools.editor.clone();
        context.redactor = tools.redactor.clone();
        context.gate = Some(tools.gate.clone());
        context.private_hosts = tools.gate.named_hosts();
        context
    }

    /// The context of a fork's calls, with copies of its own.
    pub(crate) fn forked_context(&self, config: &EngineConfig) -> CallContext {
        let mut context = self.call_context(config, CancellationToken::new());
        context.read_cache = Arc::new(Mutex::new(self.read_cache().clone()));
        let todos = self.todos.lock().unwrap_or_else(PoisonError::into_inner).clone();
        context.todos = Arc::new(Mutex::new(todos));
        context.commands.shells = Arc::default();
        // What forks write are memories, which have a history of their own.
        context.checkpoints = None;
        context
    }
}

/// Runs calls through the permission gate, the user and the hooks.
pub(crate) fn caller(config: &EngineConfig, hooks: Option<&Arc<HookRunner>>) -> CallRunner {
    let has_user = config.tools.confirmer.is_some();
    CallRunner {
        tools: Arc::clone(&config.tools.set),
        gate: config.tools.gate.clone(),
        confirmer: config.tools.confirmer.clone(),
        observer: hooks
            .cloned()
            .map(|runner| Arc::new(HookObserver { runner, has_user }) as Arc<dyn CallObserver>),
    }
}

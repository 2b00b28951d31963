//! Forks: a second conversation that starts as an exact copy of the first (B-1 to B-4).
//!
//! A fork sends the parent's bytes and then one message of its own, so the server reads what the parent's
//! last request wrote to its cache. It has its own copy of what the parent has read, its own counts, and a
//! gate that says what it may really call. Nothing of it reaches the transcript.
//!
//! Invariant: a [`ForkSource`] is made from an engine and from nothing else, so a fork has none: there are no forks
//! of forks.

mod gate;
mod run;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dormouse_base::{Clock, DirEntry, IdSource};
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::{Message, RequestOptions, Usage};
use dormouse_hooks::HookNotifier;
use dormouse_model::{Dialect, Model, ModelError, PriceTable, RetryPolicy, WireBody};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{CachedFile, CallContext, CallObserver, ReadExtent, Tool, ToolSet};

pub use gate::{ForkGate, Writes};

use crate::Engine;
use crate::results::ResultStore;

/// How the message that begins a fork begins: whoever reads it knows that it is one.
pub const FORK_TAG: &str = "<forked-conversation>";

/// Of so many denied calls it is kept what was said.
const DENIALS_KEPT: usize = 20;
/// A failed request of a fork is tried again so often: nobody sees it wait.
const RETRIES: u32 = 2;

/// A conversation as it stands, to start a fork from.
#[derive(Clone)]
pub struct ForkSource {
    body: WireBody,
    /// Where the parent's last request wrote to the cache.
    last_breakpoint: Option<usize>,
    messages: Vec<Arc<Message>>,
    model: Arc<Model>,
    model_name: String,
    dialect: Dialect,
    options: RequestOptions,
    prefix: Arc<dormouse_conversation::Prefix>,
    retry: RetryPolicy,
    prices: PriceTable,
    tools: Arc<ToolSet>,
    gate: PermissionGate,
    context: CallContext,
    /// Who looks at the parent's calls looks at the fork's too.
    observer: Option<Arc<dyn CallObserver>>,
    results: ResultStore,
    figures: SessionMetrics,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    spent: SharedCost,
    hook_notifier: HookNotifier,
}

/// What forks have spent, in dollars, as far as prices are known. Clones are the same purse.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedCost(Arc<Mutex<f64>>);

impl SharedCost {
    pub(crate) fn add(&self, usd: f64) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += usd;
    }

    pub(crate) fn usd(&self) -> f64 {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// What a fork is to do.
#[derive(Clone)]
pub struct ForkOrder {
    /// What it is for, in the figures.
    pub purpose: &'static str,
    /// What it is told.
    pub message: String,
    /// What it may call.
    pub gate: ForkGate,
    /// Tools of its own, which stand in for the parent's of the same names: what is told of them stays.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The most requests it may make.
    pub most_turns: u32,
}

/// How a fork ended.
#[derive(Debug, Clone, PartialEq)]
pub enum ForkEnd {
    /// The model was done.
    Completed,
    /// Its answer reached the token limit.
    Cut,
    /// It wanted more turns than it may have.
    MaxTurns,
    /// The model could not be asked.
    Failed(ModelError),
}

/// A fork, afterwards.
#[derive(Debug, Clone)]
pub struct ForkReport {
    /// How it ended.
    pub end: ForkEnd,
    /// The text of its last answer.
    pub text: String,
    /// Requests made.
    pub turns: u32,
    /// The tokens they took together.
    pub usage: Usage,
    /// Calls that its gate denied.
    pub denied: u32,
    /// What it was told about the first of them.
    pub denials: Vec<String>,
}

impl Engine {
    /// The conversation as it stands. No call may wait for its result at this point.
    pub fn fork_source(&self) -> ForkSource {
        let mut seed = self.empty_fork_source();
        seed.body = self.body.clone();
        seed.last_breakpoint = self.last_breakpoint;
        seed.messages = self.history.messages().to_vec();
        seed
    }

    /// The same with nothing in it but the prefix.
    pub(crate) fn empty_fork_source(&self) -> ForkSource {
        let mut context = self.call_context(tokio_util::sync::CancellationToken::new());
        let locked = self.read_cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        context.read_cache = Arc::new(Mutex::new(locked.clone()));
        drop(locked);
        let todos = context.todos.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        context.todos = Arc::new(Mutex::new(todos));
        context.shells = Arc::default();
        let options = self.config.request_options();
        ForkSource {
            body: WireBody::new(self.config.dialect.clone(), &self.prefix, &options),
            last_breakpoint: None,
            messages: Vec::new(),
            model: Arc::clone(&self.config.model),
            model_name: self.config.model_name.clone(),
            dialect: self.config.dialect.clone(),
            options,
            prefix: Arc::clone(&self.prefix),
            retry: RetryPolicy {
                retries: RETRIES.min(self.config.retry.retries),
                ..self.config.retry
            },
            prices: self.config.prices.clone(),
            tools: Arc::clone(&self.config.tools),
            gate: self.config.gate.clone(),
            context,
            observer: self.caller().observer,
            results: self.result_store(),
            figures: self.figures.clone(),
            clock: Arc::clone(&self.config.clock),
            ids: Arc::clone(&self.config.ids),
            spent: self.forks_spent.clone(),
            hook_notifier: HookNotifier::new(self.hooks.clone()),
        }
    }
}

impl ForkSource {
    /// The messages that the fork starts with.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// What stands in front of the conversation: the system prompt, instruction files, the index of memories.
    pub fn standing_texts(&self) -> Vec<String> {
        let system = self.prefix.system().iter().map(|block| block.text.clone());
        let first =
            self.prefix.opening_blocks().iter().filter_map(dormouse_conversation::Block::as_text);
        system.chain(first).collect()
    }

    /// Whether the model was told of this tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.prefix.tools().iter().any(|tool| tool.name == name)
    }

    /// What was read so far, as the fork has it: its own copy.
    pub fn read_cache(&self) -> &Mutex<dormouse_tools::ReadCache> {
        &self.context.read_cache
    }

    /// A file counts as read by the fork, which may then change it: it is about to be shown what is in it.
    pub fn has_read(&self, path: PathBuf, file: &DirEntry, content: String) {
        let (modified, size) = (file.modified, file.size);
        let known = CachedFile { modified, size, extent: ReadExtent::Whole, content };
        let mut cache =
            self.context.read_cache.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        cache.insert(path, known);
    }

    /// Runs hooks for a background task.
    pub fn hook_notifier(&self) -> &HookNotifier {
        &self.hook_notifier
    }

    /// For a hook, which starts with nothing: what it does is no event for other hooks, or it would never end.
    pub(crate) fn for_hook(mut self, model: Option<&str>) -> Self {
        self.observer = None;
        self.hook_notifier = HookNotifier::default();
        if let Some(model) = model {
            model.clone_into(&mut self.model_name);
            self.options = RequestOptions::new(model, self.options.max_tokens);
        }
        self.with_messages([])
    }

    /// The same with other messages behind the same prefix: no copy any more, and the cache holds little of it.
    #[must_use]
    pub fn with_messages<'a>(mut self, messages: impl IntoIterator<Item = &'a Message>) -> Self {
        self.body = WireBody::new(self.dialect.clone(), &self.prefix, &self.options);
        self.last_breakpoint = None;
        self.messages.clear();
        for message in messages {
            self.body.append(message);
        }
        self
    }
}

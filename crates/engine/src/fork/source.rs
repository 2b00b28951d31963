//! A conversation at one point, from which background tasks fork.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::DirEntry;
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::{Block, Message, RequestOptions};
use dormouse_hooks::HookNotifier;
use dormouse_model::{Model, RetryPolicy};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{CachedFile, CallContext, CallObserver, ReadCache, ReadExtent, ToolSet};

use super::cached::CachedConversation;
use crate::config::services::Services;
use crate::recall::SmallModel;
use crate::spending::{Pricing, SharedCost};
use crate::stored_results::ResultStore;
use crate::wire_state::WireState;

/// A conversation at one point, from which background tasks fork.
#[derive(Clone)]
pub struct ForkSource {
    pub(super) wire: WireState,
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) model: Arc<Model>,
    pub(super) model_name: String,
    /// A cheaper model, for what does not need the conversation.
    pub(super) small: Option<SmallModel>,
    /// What the server has of the conversation.
    pub(super) cached: CachedConversation,
    pub(super) retry: RetryPolicy,
    pub(super) pricing: Pricing,
    pub(super) shared_cost: SharedCost,
    pub(super) calls: ForkCalls,
    pub(super) services: Services,
    pub(super) figures: SessionMetrics,
    pub(super) hook_notifier: HookNotifier,
    /// The longest answer, in tokens; none: as the model likes.
    pub(super) longest_answer: Option<u32>,
}

/// What the calls of a fork need.
#[derive(Clone)]
pub(super) struct ForkCalls {
    pub(super) tools: Arc<ToolSet>,
    pub(super) gate: PermissionGate,
    pub(super) context: CallContext,
    /// Hooks that observe the parent's calls observe the fork's too.
    pub(super) observer: Option<Arc<dyn CallObserver>>,
    pub(super) results: ResultStore,
}

impl ForkSource {
    /// The messages that the fork starts with.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// The tokens that the conversation uses.
    pub fn tokens(&self) -> u64 {
        self.cached.tokens
    }

    /// The texts of the prefix: the system prompt, instruction files, the index of memories.
    pub fn standing_texts(&self) -> Vec<String> {
        let prefix = self.wire.prefix();
        let system = prefix.system().iter().map(|block| block.text.clone());
        let first = prefix.opening_blocks().iter().filter_map(Block::as_text);
        system.chain(first).collect()
    }

    /// Whether the prefix lists this tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.wire.prefix().tools().iter().any(|tool| tool.name == name)
    }

    /// The fork's own copy of the files that were read so far.
    pub fn read_cache(&self) -> &Mutex<ReadCache> {
        &self.calls.context.read_cache
    }

    /// Counts a file as read by the fork, which may then change it: its task shows the content.
    pub fn has_read(&self, path: PathBuf, file: &DirEntry, content: String) {
        let (modified, size) = (file.modified, file.size);
        let extent = ReadExtent::Whole;
        let known = CachedFile { modified, size, extent, content, in_editor: None };
        let mut cache = self.read_cache().lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(path, known);
    }

    /// Tells hooks of changes to memory.
    pub fn hook_notifier(&self) -> &HookNotifier {
        &self.hook_notifier
    }

    /// For a hook's own request: without messages, and no event for other hooks, or it would never end.
    pub(crate) fn for_hook(mut self, model: Option<&str>) -> Self {
        self.calls.observer = None;
        self.hook_notifier = HookNotifier::default();
        if let Some(model) = model {
            model.clone_into(&mut self.model_name);
            self.pricing = self.pricing.for_model(model);
            let options = RequestOptions::new(model, self.wire.options().max_tokens);
            self.wire = self.wire.for_model(options);
        }
        self.with_messages([])
    }

    /// The same with answers that end at so many tokens.
    #[must_use]
    pub fn with_longest_answer(mut self, tokens: Option<u32>) -> Self {
        self.longest_answer = tokens;
        self
    }

    /// The same prefix with other messages: not a copy any more, and little of it is in the cache.
    #[must_use]
    pub fn with_messages<'a>(mut self, messages: impl IntoIterator<Item = &'a Message>) -> Self {
        self.wire = self.wire.without_messages().with_messages(messages);
        self.messages.clear();
        self
    }
}

//! Forks of a session.

use std::sync::Arc;

use dormouse_hooks::HookNotifier;
use dormouse_model::RetryPolicy;

use super::cached::CachedConversation;
use super::source::{ForkCalls, ForkSource};
use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::engine::Engine;
use crate::tool_state::caller;

/// Failed requests of a fork are retried this often: no user sees it wait.
const RETRIES: u32 = 2;

impl Engine {
    /// The conversation at this point. No call may wait for its result.
    pub fn fork_source(&self) -> ForkSource {
        let config = &self.config;
        let caller = caller(config, self.hooks.runner());
        ForkSource {
            wire: self.conversation.wire().clone(),
            messages: self.conversation.messages().to_vec(),
            model: Arc::clone(&config.model.client),
            model_name: config.model.name.clone(),
            small: config.small.clone(),
            cached: cached(config, &self.conversation),
            retry: RetryPolicy { retries: RETRIES.min(config.retry.retries), ..config.retry },
            pricing: self.spending.pricing().clone(),
            shared_cost: self.spending.shared().clone(),
            calls: ForkCalls {
                tools: caller.tools,
                gate: caller.gate,
                context: self.tool_state.forked_context(config),
                observer: caller.observer,
                results: config.result_store(&self.conversation, &self.figures),
            },
            services: config.services.clone(),
            figures: self.figures.clone(),
            hook_notifier: HookNotifier::new(self.hooks.runner().cloned()),
            longest_answer: None,
        }
    }
}

/// What the server has of a conversation. The cache of a local server does not expire.
pub(crate) fn cached(config: &EngineConfig, conversation: &Conversation) -> CachedConversation {
    let ttl = (!config.model.client.is_local()).then(|| conversation.cache_ttl());
    let now = config.services.clock.now();
    let cached =
        CachedConversation::of(conversation.messages(), conversation.tokens_used(), now, ttl);
    CachedConversation { is_cached: cached.is_cached || config.model.client.is_free(), ..cached }
}

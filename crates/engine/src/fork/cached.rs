//! What a server has of a conversation in its cache.

use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::Message;
use jiff::Timestamp;

/// What the server has of the conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CachedConversation {
    /// The tokens of the conversation.
    pub(crate) tokens: u64,
    /// Whether the server has them in its cache.
    pub(crate) is_cached: bool,
}

impl CachedConversation {
    /// All of it is cached, if the last response read or wrote a cache that has not expired since; none: it never expires.
    pub(crate) fn of(
        messages: &[Arc<Message>],
        tokens: u64,
        now: Timestamp,
        ttl: Option<Duration>,
    ) -> Self {
        // What the program itself put in as an answer says nothing about the server.
        let answered =
            |message: &&Arc<Message>| message.response.is_some() && !message.is_synthetic();
        let last = messages.iter().rev().find(answered);
        let is_cached = last.is_some_and(|message| {
            let usage = message.response.as_ref().map(|response| response.usage);
            let usage = usage.unwrap_or_default();
            let age = Duration::try_from(now.duration_since(message.timestamp)).unwrap_or_default();
            let uses_cache =
                usage.cache_read_input_tokens > 0 || usage.cache_creation_input_tokens > 0;
            uses_cache && ttl.is_none_or(|ttl| age < ttl)
        });
        Self { tokens, is_cached }
    }
}

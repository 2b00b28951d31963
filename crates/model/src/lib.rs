//! Clients for model servers: the Anthropic Messages API, OpenAI-compatible servers, and a scripted
//! model that needs neither.
//!
//! Owns wire bodies, streaming, typed errors, the retry rule, what servers tell about their models,
//! prices and the detection of cache breaks. It touches the network and nothing else: no disk, no
//! prompts. Start reading at [`Model`] and [`WireBody`].

#![forbid(unsafe_code)]

mod answering;
mod anthropic;
mod assemble;
mod binding;
mod body;
mod breaks;
mod classify;
mod client;
mod embeddings;
mod endpoint;
mod error;
mod event;
mod info;
mod json_text;
mod openai;
mod prices;
mod provider;
mod quota;
mod retry;
pub mod script;
mod scripted;
mod server_tools;
mod sse;

pub use answering::{Answering, decode_recorded};
pub use binding::binds_thinking;
pub use body::{
    CLEARING_BETA, CacheTtl, Dialect, MaxTokensField, ServerClearing, Wire, WireBody, WireTurn,
};
pub use breaks::{Announcement, BreakCause, BreakDetector, CacheBreak, Sent};
pub use classify::{Refusal, classify};
pub use client::{HttpModel, Model};
pub use embeddings::EmbeddingServer;
pub use endpoint::{Credential, Endpoint, Timeouts};
pub use error::{ModelError, Retryable};
pub use event::{Cleared, Completion, StreamEvent};
pub use info::ModelInfo;
pub use prices::{PRICES_DATED, Price, PriceTable, cost_usd, list_price};
pub use provider::{
    LocalServer, Provider, ProviderError, choose_provider, find_local_servers, retry_policy,
    usual_ttl,
};
pub use retry::RetryPolicy;
pub use scripted::ScriptedModel;
pub use sse::{MAX_EVENT, MAX_LINE, SseDecoder, SseError, SseEvent};

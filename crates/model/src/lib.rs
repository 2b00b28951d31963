//! Clients for model servers: the Anthropic Messages API, OpenAI-compatible servers, and a scripted
//! model that needs neither.
//!
//! Owns wire bodies, streaming, typed errors, the retry rule, what servers tell about their models,
//! prices and the detection of cache breaks. It touches the network and nothing else: no disk, no
//! prompts. Start reading at [`Model`] and [`WireBody`].

#![forbid(unsafe_code)]

mod answer_watch;
mod anthropic;
mod assemble;
mod body;
mod breaks;
mod classify;
mod client;
mod embeddings;
mod endpoint;
mod error;
mod event;
mod families;
mod info;
mod json_text;
mod knowledge;
mod openai;
mod prices;
mod provider;
mod quota;
mod response_stream;
mod retry;
pub mod script;
mod scripted;
mod server_tools;
mod small_model;
mod sse;
mod thinking;
mod wire_format;

pub use answer_watch::{AnswerCut, AnswerWatch};
pub use body::{WireBody, is_server_summary, server_summary_text};
pub use breaks::{BreakCause, BreakDetector, CacheBreak, RebuildReason, SentRequest};
pub use classify::{HttpRefusal, classify_refusal};
pub use client::{HttpModel, Model};
pub use embeddings::EmbeddingClient;
pub use endpoint::{Credential, Endpoint, Timeouts};
pub use error::{ModelError, Retryable};
pub use event::{ClearedContext, Completion, StreamEvent};
pub use families::{is_model_family, model_of_family};
pub use info::ModelInfo;
pub use knowledge::knowledge_cutoff;
pub use prices::{LongPrompts, PRICES_DATED, Price, PriceTable, cost_usd, list_price};
pub use provider::{
    ANTHROPIC_URL, LocalServer, OPENAI_URL, Provider, ProviderError, choose_provider,
    default_cache_ttl, find_local_servers, retry_policy,
};
pub use response_stream::{ResponseStream, decode_recorded};
pub use retry::RetryPolicy;
pub use scripted::ScriptedModel;
pub use sse::{MAX_EVENT, MAX_LINE, SseDecoder, SseError, SseEvent};
pub use thinking::{ThinkingMode, binds_thinking, keeps_thinking};
pub use wire_format::{
    CLEARING_BETA, COMPACTION_BETA, CacheTtl, Dialect, MaxTokensField, ServerClearing, WireFormat,
    WireTurn,
};

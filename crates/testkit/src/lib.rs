//! The test harness of the program; never shipped.
//!
//! Owns the scripted model server ([`ScriptedServer`]), which speaks real HTTP on the loopback
//! interface, plays answers and faults byte for byte and checks every request it gets; the emulation
//! of a server's prompt cache; the hermetic world in which a test runs the binary ([`TestHome`]), with a
//! terminal around it if wanted ([`Terminal`]); and
//! the tidy checks of the source tree. It has no async runtime: each connection is a thread, so every
//! byte written is under control.

#![forbid(unsafe_code)]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "the test harness: a failed expectation is a failed test"
)]

mod browser;
mod cache;
mod checks;
mod clearing;
mod embeddings;
mod error_body;
mod errors;
mod framing;
mod gate;
mod home;
mod http;
mod openai_cache;
mod parts;
mod picture;
mod play;
mod record;
mod reply;
mod running;
mod scan;
mod secret_samples;
mod server;
mod state;
pub mod structure;
mod terminal;
pub mod tidy;
mod trail;
mod waiting;
mod wire;

pub use browser::Browser;
pub use cache::{CacheOutcome, PrefixCache, Ttl};
pub use checks::{PrefixChanged, Rules, check_prefix, check_request};
pub use dormouse_model::WireFormat;
pub use embeddings::{EmbeddingReply, EmbeddingRequest, EmbeddingServer};
pub use error_body::ErrorBody;
pub use framing::Framing;
pub use gate::Gate;
pub use home::TestHome;
pub use openai_cache::CommonPrefixCache;
pub use parts::test_part;
pub use picture::picture;
pub use record::RecordedRequest;
pub use reply::{Alterations, End, Reply};
pub use running::{Output, Running};
pub use scan::{last_message_end, strip_cache_markers};
pub use secret_samples::{SecretSample, harmless_samples, secret_samples};
pub use server::{ScriptedServer, ServerBuilder};
pub use state::{Attended, output_tokens};
pub use terminal::Terminal;
pub use trail::{Step, Trail};
pub use vt100::{Cell, Color as CellColor, Screen};
pub use waiting::{HANGS, wait_until};
pub use wire::{request_path, typed_text};

//! The viewer: memories, sessions, dreams and figures in a browser, served on loopback (U-13).
//!
//! Layers: `access` says who may ask, `model` gathers what a page shows, `pages` are pure functions from that to
//! HTML, `handlers` connect them to requests. `charts` and `profile_page` also make the page of `dormouse context --html`.
//!
//! Invariants: every request needs the cookie that a one-time code was exchanged for, a host name of this machine, and for
//! changes the page's own origin and token. Text of memories and transcripts reaches a page only through `maud`, which
//! escapes it; no script or style is inline. Every change goes through `Store::change` as the user's.
//!
//! Deliberately absent: the model, settings, arguments.

#![forbid(unsafe_code)]

mod access;
mod assets;
mod charts;
mod error;
mod evidence_words;
mod handlers;
mod message_catalog;
mod model;
mod pages;
mod profile_page;
mod server;
mod slow_pages;
mod viewer;

pub use access::ViewerAccess;
pub use error::ViewerError;
pub use evidence_words::evidence_words;
pub use profile_page::{SessionProfile, offline_profile_page};
pub use server::ViewerServer;
pub use viewer::{
    SessionProfiler, TranscriptSource, Viewer, ViewerMode, ViewerSources, ViewerStore,
};

//! Clients for model servers.

#![forbid(unsafe_code)]

pub mod script;

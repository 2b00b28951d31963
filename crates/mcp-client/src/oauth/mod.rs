//! Logging in at remote servers with OAuth 2.1: authorization code with PKCE on a loopback redirect.
//!
//! `discovery` finds the authorization server of an MCP server, `registration` makes this program known there, `callback` waits for
//! the browser, `login` does these in order and ends logins, `token_request` asks for tokens, `token_store` keeps them, and
//! `server_login` hands them to requests. `addresses` says where requests may go.
//!
//! Invariants: tokens go only to the server that they were issued for and to the authorization server that issued them; they do not
//! print. One process at a time uses a refresh token. Everything is over https, except on this machine.

mod addresses;
mod callback;
mod challenge;
mod client_identity;
mod discovery;
mod error;
mod login;
mod registration;
mod server_login;
mod token_request;
mod token_store;

pub(crate) use addresses::is_protected;
pub(crate) use challenge::Challenge;
pub use error::OAuthError;
pub use login::{LoginPrompt, log_in, log_out};
pub(crate) use server_login::ServerLogin;
pub use token_store::TokenStore;

//! Tokens on disk: one file for each server, readable by the user alone.
//!
//! Invariant: what is read for a server was issued for exactly its address.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{
    Clock, Dir, FileError, Lock, LockError, RelPath, RelPathError, Secret, stable_hash,
};
use serde::{Deserialize, Serialize};

use super::client_identity::ClientIdentity;
use super::error::OAuthError;
use super::token_request::Granted;

/// A token that expires this soon is renewed first.
const MARGIN_SECONDS: i64 = 30;
/// How long to wait for another process that renews the same tokens.
const LOCK_TIMEOUT: Duration = Duration::from_secs(45);
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// The folder of tokens.
#[derive(Clone)]
pub struct TokenStore {
    folder: PathBuf,
    clock: Arc<dyn Clock>,
}

impl fmt::Debug for TokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tokens in {}", self.folder.display())
    }
}

/// The tokens of a login, with all that is needed to renew and to end them.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredTokens {
    /// The address of the MCP server.
    pub(super) server: String,
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) token_endpoint: String,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) client: ClientIdentity,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    /// Seconds since 1970.
    pub(super) expires: Option<i64>,
    pub(super) scope: Option<String>,
}

impl StoredTokens {
    /// What nobody else may see.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        let all = [
            Some(&self.access_token),
            self.refresh_token.as_ref(),
            self.client.client_secret.as_ref(),
        ];
        all.into_iter().flatten().map(Secret::new).collect()
    }
}

impl TokenStore {
    /// The tokens in the program's own folder.
    pub fn new(home: &std::path::Path, clock: Arc<dyn Clock>) -> Self {
        Self { folder: home.join("mcp-tokens"), clock }
    }

    fn dir(&self) -> Result<Dir, FileError> {
        Dir::create(&self.folder)
    }

    /// The tokens for a server; none if there are none, or none that can be read.
    pub(super) fn read(&self, server: &str) -> Option<StoredTokens> {
        let bytes = Dir::open(&self.folder).ok()?.read(&file(server, "json").ok()?).ok()?;
        let stored: StoredTokens = serde_json::from_slice(&bytes).ok()?;
        (stored.server == server).then_some(stored)
    }

    pub(super) fn write(&self, tokens: &StoredTokens) -> Result<(), OAuthError> {
        let text = serde_json::to_vec_pretty(tokens).unwrap_or_default();
        let name = file(&tokens.server, "json").map_err(|error| invalid_name(&error))?;
        Ok(self.dir()?.replace(&name, &text)?)
    }

    /// Removes the tokens for a server; whether there were any.
    pub(super) fn remove(&self, server: &str) -> Result<bool, OAuthError> {
        let name = file(server, "json").map_err(|error| invalid_name(&error))?;
        match self.dir()?.remove_file(&name) {
            Ok(()) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits for the right to change the tokens for a server, for all processes.
    pub(super) async fn lock(&self, server: &str) -> Result<Lock, OAuthError> {
        let (dir, name) =
            (self.dir()?, file(server, "lock").map_err(|error| invalid_name(&error))?);
        let since = self.clock.elapsed();
        loop {
            match Lock::acquire_within(&dir, &name, Duration::ZERO) {
                Err(LockError::Held { .. })
                    if self.clock.elapsed().saturating_sub(since) < LOCK_TIMEOUT =>
                {
                    tokio::time::sleep(LOCK_PAUSE).await;
                }
                taken => return Ok(taken?),
            }
        }
    }

    /// Whether a token can still be used.
    pub(super) fn is_current(&self, tokens: &StoredTokens) -> bool {
        tokens.expires.is_none_or(|at| self.clock.now().as_second() + MARGIN_SECONDS < at)
    }

    /// The same login with new tokens. A server that sends no other refresh token means the one that it got.
    pub(super) fn renewed(&self, before: StoredTokens, granted: Granted) -> StoredTokens {
        StoredTokens {
            expires: granted.expires_in.map(|seconds| self.clock.now().as_second() + seconds),
            access_token: granted.access_token,
            refresh_token: granted.refresh_token.or(before.refresh_token),
            scope: granted.scope.or(before.scope),
            ..before
        }
    }
}

fn file(server: &str, ending: &str) -> Result<RelPath, RelPathError> {
    RelPath::new(format!("{:016x}.{ending}", stable_hash(server.as_bytes())))
}

fn invalid_name(error: &RelPathError) -> OAuthError {
    OAuthError::Address { address: String::new(), reason: error.to_string() }
}

//! The tokens of one server for its requests: read when needed, renewed before they expire or when they are refused.

use std::sync::{Mutex, PoisonError};

use dormouse_base::Redactor;

use super::addresses::LoginAddresses;
use super::error::OAuthError;
use super::token_request::request_tokens;
use super::token_store::{StoredTokens, TokenStore};
use crate::server_spec::OAuthSettings;

/// The login at one server.
#[derive(Debug)]
pub(crate) struct ServerLogin {
    store: TokenStore,
    name: String,
    server: String,
    settings: OAuthSettings,
    /// Knows all tokens that were used.
    redactor: Mutex<Redactor>,
}

impl ServerLogin {
    /// The login at the server `name`, which is at `server`.
    pub(crate) fn new(
        store: TokenStore,
        name: &str,
        server: &str,
        settings: OAuthSettings,
    ) -> Self {
        let (name, server) = (name.to_owned(), server.to_owned());
        Self { store, name, server, settings, redactor: Mutex::default() }
    }

    /// The server's name in the settings.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A token to send, renewed if it is about to expire; none without a login.
    pub(crate) async fn token(&self) -> Result<Option<String>, OAuthError> {
        let Some(stored) = self.store.read(&self.server) else { return Ok(None) };
        self.remember(&stored);
        if self.store.is_current(&stored) {
            return Ok(Some(stored.access_token));
        }
        self.renewed(&stored.access_token).await
    }

    /// Another token after one was refused or has expired; none if the login has ended.
    pub(crate) async fn renewed(&self, refused: &str) -> Result<Option<String>, OAuthError> {
        Ok(self.renew(refused).await?.map(|tokens| tokens.access_token))
    }

    async fn renew(&self, refused: &str) -> Result<Option<StoredTokens>, OAuthError> {
        // A refresh token is good for one use: whoever comes second takes what the first one got.
        let _lock = self.store.lock(&self.server).await?;
        let Some(stored) = self.store.read(&self.server) else { return Ok(None) };
        self.remember(&stored);
        if stored.access_token != refused && self.store.is_current(&stored) {
            return Ok(Some(stored));
        }
        let Some(refresh_token) = stored.refresh_token.clone() else { return Ok(None) };
        let addresses = LoginAddresses::of(&self.server, &self.settings)?;
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.as_str()),
            ("resource", stored.resource.as_str()),
        ];
        let endpoint = addresses.check(&stored.token_endpoint)?;
        let granted = request_tokens("new tokens", &endpoint, &stored.client, &fields).await;
        match granted {
            Ok(granted) => {
                let tokens = self.store.renewed(stored, granted);
                self.remember(&tokens);
                self.store.write(&tokens)?;
                Ok(Some(tokens))
            }
            // The login has ended: nothing is left that could be used.
            Err(OAuthError::Refused { code, .. }) if code == "invalid_grant" => {
                self.store.remove(&self.server)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn remember(&self, tokens: &StoredTokens) {
        let mut known = self.redactor.lock().unwrap_or_else(PoisonError::into_inner);
        *known = std::mem::take(&mut *known).with(tokens.secrets());
    }

    /// A text without the tokens.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor.lock().unwrap_or_else(PoisonError::into_inner).redact(text)
    }
}

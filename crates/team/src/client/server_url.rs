//! The address of a server. A token is never sent in plain text over a network by mistake.

use std::fmt;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Whether `http://` is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainHttp {
    /// Only to this machine.
    LocalOnly,
    /// Everywhere: the user has confirmed that the network is their own.
    Allowed,
}

/// Scheme, host and port of a server, perhaps with a path before `/v1`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerUrl(String);

/// Why a text is not a server's address.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ServerUrlError {
    /// Not a URL of a server.
    #[error(
        "`{0}` is not the address of a server; `https://host` or `http://127.0.0.1:PORT` is expected"
    )]
    Form(String),
    /// Plain text over a network.
    #[error(
        "`{0}` would send the token in plain text; use https, or pass --plain-http on a network of your own"
    )]
    PlainText(String),
}

impl ServerUrl {
    /// Validates an address.
    pub fn parse(text: &str, plain: PlainHttp) -> Result<Self, ServerUrlError> {
        let shown = || dormouse_base::printable(text.trim()).into_owned();
        let wrong = |()| ServerUrlError::Form(shown());
        let url = Url::parse(text.trim()).map_err(|_| wrong(()))?;
        let has_more =
            url.query().is_some() || url.fragment().is_some() || !url.username().is_empty();
        let host = url.host_str().ok_or(()).map_err(wrong)?;
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        let is_local = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
        match url.scheme() {
            _ if has_more => Err(wrong(())),
            "https" => Ok(()),
            "http" if is_local || plain == PlainHttp::Allowed => Ok(()),
            "http" => Err(ServerUrlError::PlainText(shown())),
            _ => Err(wrong(())),
        }?;
        Ok(Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    /// Whether it needs no certificates.
    pub(super) fn is_plain(&self) -> bool {
        self.0.starts_with("http://")
    }

    /// The address, without `/` at its end.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_not_sent_in_plain_text_by_mistake() {
        let local = |text| ServerUrl::parse(text, PlainHttp::LocalOnly).map(|url| url.0);
        assert_eq!(local("https://team.example/"), Ok("https://team.example".into()));
        assert_eq!(local("http://127.0.0.1:8080"), Ok("http://127.0.0.1:8080".into()));
        assert!(matches!(local("http://team.example"), Err(ServerUrlError::PlainText(_))));
        assert!(matches!(local("http://127.0.0.1.example"), Err(ServerUrlError::PlainText(_))));
        assert!(local("http://[::1]:1").is_ok());
        assert!(ServerUrl::parse("http://team.example", PlainHttp::Allowed).is_ok());
        for wrong in ["", "team.example", "ftp://a", "https://u:p@a", "https://a?b=c", "https://"] {
            assert!(matches!(local(wrong), Err(ServerUrlError::Form(_))), "{wrong}");
        }
    }
}

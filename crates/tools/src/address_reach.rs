//! Which addresses a request may go to. What is checked is what is connected to: nothing is resolved a second time.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use dormouse_base::innermost_error;
use dormouse_permissions::{HOST_RULE, normalize_host};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};
use thiserror::Error;

use crate::public_address::is_public;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The addresses that may be connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressReach {
    /// Those of the public internet.
    Public,
    /// Any: the user has named the host.
    Anywhere,
}

/// An address in a private network, for a host that the user has not named.
#[derive(Debug, Error)]
#[error(
    "`{host}` is at {address}, which is not a public address; the user can allow it with a rule that names the host: \
     {HOST_RULE}(domain:{host})"
)]
pub struct PrivateAddress {
    host: String,
    address: IpAddr,
}

/// Why a request cannot be made.
#[derive(Debug, Error)]
pub enum ReachError {
    /// The address is private.
    #[error(transparent)]
    Private(#[from] PrivateAddress),
    /// There is no client.
    #[error("{}", innermost_error(.0))]
    Client(#[from] reqwest::Error),
}

impl AddressReach {
    /// Checks a numeric host, which is not resolved; names are checked when they are.
    pub fn check_host(self, url: &Url) -> Result<(), PrivateAddress> {
        let host = normalize_host(url.host_str().unwrap_or_default());
        match host.parse::<IpAddr>() {
            Ok(address) => self.check(&host, address),
            Err(_) => Ok(()),
        }
    }

    fn check(self, host: &str, address: IpAddr) -> Result<(), PrivateAddress> {
        if self == Self::Anywhere || is_public(address) {
            return Ok(());
        }
        Err(PrivateAddress { host: host.to_owned(), address })
    }

    /// A client for requests to this address. It follows no redirects.
    pub fn client(self, url: &Url) -> Result<Client, ReachError> {
        self.check_host(url)?;
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            // A proxy would resolve names itself, without a check of the address.
            .no_proxy()
            .dns_resolver(self)
            .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
        // An error only means that one is installed already.
        let _already = rustls::crypto::ring::default_provider().install_default();
        if url.scheme() == "http" {
            // Loading the system's certificates takes milliseconds, and fails where there are none.
            builder = builder.tls_certs_only([]);
        }
        Ok(builder.build()?)
    }
}

impl Resolve for AddressReach {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = *self;
        Box::pin(async move {
            let host = name.as_str();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            for address in &found {
                reach.check(host, address.ip())?;
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

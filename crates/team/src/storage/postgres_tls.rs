//! TLS to PostgreSQL: with `sslmode=require` in the address the connection is encrypted and the certificate verified,
//! against the system's or `sslrootcert=FILE`.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::SslMode;
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_postgres::{Config, Socket};
use tokio_rustls::TlsConnector;

use super::error::StorageError;

/// The name of the parameter with the certificates to trust, as in PostgreSQL's own clients.
const ROOT_CERTIFICATE: &str = "sslrootcert";

/// An address as the driver takes it, and how connections to it are encrypted.
pub(super) fn parse(address: &str) -> Result<(Config, PostgresTls), StorageError> {
    let (rest, roots) = without_root_certificate(address);
    let mut config: Config = rest.parse()?;
    if config.get_ssl_mode() != SslMode::Require {
        // An encrypted connection whose certificate nobody verified would only look safe.
        config.ssl_mode(SslMode::Disable);
        return Ok((config, PostgresTls(None)));
    }
    let mut store = RootCertStore::empty();
    match roots {
        Some(file) => {
            let wrong = |error: rustls::pki_types::pem::Error| StorageError::Certificate {
                reason: format!("{file}: {error}"),
            };
            for certificate in CertificateDer::pem_file_iter(&file).map_err(wrong)? {
                store.add(certificate.map_err(wrong)?).map_err(|error| {
                    StorageError::Certificate { reason: format!("{file}: {error}") }
                })?;
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            store.add_parsable_certificates(found.certs);
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let client = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StorageError::Certificate { reason: error.to_string() })?
        .with_root_certificates(store)
        .with_no_client_auth();
    Ok((config, PostgresTls(Some(Arc::new(client)))))
}

/// Takes out the parameter that the driver does not know.
fn without_root_certificate(address: &str) -> (String, Option<String>) {
    let Some((front, query)) = address.split_once('?') else { return (address.to_owned(), None) };
    let (mut kept, mut roots) = (Vec::new(), None);
    for parameter in query.split('&') {
        match parameter.split_once('=') {
            Some((ROOT_CERTIFICATE, file)) => roots = Some(file.to_owned()),
            Some(_) | None => kept.push(parameter),
        }
    }
    (format!("{front}?{}", kept.join("&")), roots)
}

/// How connections are encrypted; without a configuration they are not.
#[derive(Clone)]
pub(super) struct PostgresTls(Option<Arc<ClientConfig>>);

impl MakeTlsConnect<Socket> for PostgresTls {
    type Stream = EncryptedSocket;
    type TlsConnect = PostgresConnect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<PostgresConnect, io::Error> {
        Ok(PostgresConnect { config: self.0.clone(), host: host.to_owned() })
    }
}

/// One connection about to be encrypted.
pub(super) struct PostgresConnect {
    config: Option<Arc<ClientConfig>>,
    host: String,
}

impl TlsConnect<Socket> for PostgresConnect {
    type Stream = EncryptedSocket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<EncryptedSocket, io::Error>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let config = self.config.ok_or_else(|| io::Error::other("TLS was not asked for"))?;
            let name = ServerName::try_from(self.host).map_err(io::Error::other)?;
            let stream = TlsConnector::from(config).connect(name, socket).await?;
            Ok(EncryptedSocket(Box::new(stream)))
        })
    }
}

/// An encrypted connection.
pub(super) struct EncryptedSocket(Box<tokio_rustls::client::TlsStream<Socket>>);

impl TlsStream for EncryptedSocket {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for EncryptedSocket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_connection_is_encrypted_only_if_it_is_required() {
        for address in ["postgres://u@h/d", "postgres://u@h/d?sslmode=prefer"] {
            let (config, tls) = parse(address).unwrap();
            assert!(config.get_ssl_mode() == SslMode::Disable && tls.0.is_none(), "{address}");
        }
        let (config, tls) = parse("postgres://u@h/d?sslmode=require&connect_timeout=3").unwrap();
        assert!(config.get_ssl_mode() == SslMode::Require && tls.0.is_some());
        let missing = parse("postgres://u@h/d?sslrootcert=/nowhere.pem&sslmode=require");
        assert!(matches!(missing, Err(StorageError::Certificate { .. })));
    }
}

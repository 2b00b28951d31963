//! TLS to a real PostgreSQL, through a proxy that ends the encryption.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_rustls::TlsAcceptor;

use super::store_tests::{new_database, postgres, wait};
use super::{DatabaseAddress, TeamStore};

/// Accepts a client that asks for TLS, and speaks plain text to the database's socket.
async fn end_encryption(mut client: TcpStream, acceptor: TlsAcceptor, socket: String) {
    let mut request = [0_u8; 8];
    client.read_exact(&mut request).await.unwrap();
    assert_eq!(request, [0, 0, 0, 8, 4, 210, 22, 47], "the client asks for TLS first");
    client.write_all(b"S").await.unwrap();
    // A client that does not trust the certificate leaves here.
    let Ok(mut client) = acceptor.accept(client).await else { return };
    let mut server = UnixStream::connect(socket).await.unwrap();
    let _closed = copy_bidirectional(&mut client, &mut server).await;
}

#[test]
fn a_required_certificate_is_verified() {
    let Some(server) = postgres() else { return };
    wait(async {
        let DatabaseAddress::Postgres(plain) = new_database(&server).await else { panic!() };
        // postgresql://user@/database?host=FOLDER
        let (front, folder) = plain.expose().split_once("?host=").unwrap();
        let folder = folder.split('&').next().unwrap().replace("%2F", "/");
        let (_, front) = front.split_once("://").unwrap();
        let (user, database) = front.split_once('/').unwrap();
        let user = user.trim_end_matches('@');
        let socket = format!("{folder}/.s.PGSQL.5432");

        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let roots = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(roots.path(), made.cert.pem()).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(end_encryption(client, acceptor.clone(), socket.clone()));
            }
        });
        let address = format!("postgres://{user}@localhost:{port}/{database}?sslmode=require");
        let trusted = format!("{address}&sslrootcert={}", roots.path().display());
        let store = TeamStore::open(&trusted.parse().unwrap()).await.unwrap();
        store.check().await.unwrap();
        let unknown = TeamStore::open(&address.parse().unwrap()).await.err().unwrap().to_string();
        assert!(unknown.contains("certificate"), "{unknown}");
    });
}

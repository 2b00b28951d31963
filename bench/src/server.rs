//! A model server that tells when a request arrived, to the moment. It checks nothing: the scripted
//! server of the tests does that, and takes its time.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use dormouse_conversation::Usage;
use dormouse_model::script::{ResponseFrame, ScriptedTurn, WireEvent, anthropic_events};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The name of its model.
pub(crate) const MODEL: &str = "scripted-1";
/// How long a request is waited for before whoever waits looks around.
const LOOK: Duration = Duration::from_secs(1);
/// How much of a body is read at a time.
const PIECE: usize = 256 * 1024;

/// Where Debian keeps the certificates of the system.
const SYSTEM_CERTIFICATES: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Serves a connection until the client closes it.
type Serve = Arc<dyn Fn(TcpStream, &Sender<RequestArrival>, &[u8]) -> io::Result<()> + Send + Sync>;

/// A request to the model, as it came in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestArrival {
    /// When its headers were there.
    pub(crate) headers: Instant,
    /// When the last byte of its body was there.
    pub(crate) body: Instant,
    /// How large the body was.
    pub(crate) bytes: usize,
}

/// The server. It stops when it is dropped.
pub(crate) struct TimingServer {
    address: SocketAddr,
    scheme: &'static str,
    arrivals: Receiver<RequestArrival>,
    stopped: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl TimingServer {
    /// Starts it on a free port of the loopback interface.
    pub(crate) fn start() -> Self {
        Self::start_as("http", Arc::new(serve::<TcpStream>))
    }

    /// Starts it with TLS, and gives the system's certificates with its own among them.
    pub(crate) fn start_with_tls() -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]);
        let made = made.expect("a certificate");
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("its key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("a configuration");
        let config = Arc::new(config);
        let serve_encrypted: Serve = Arc::new(move |stream, arrivals, answer| {
            let connection =
                ServerConnection::new(Arc::clone(&config)).map_err(io::Error::other)?;
            serve(StreamOwned::new(connection, stream), arrivals, answer)
        });
        let system = std::fs::read_to_string(SYSTEM_CERTIFICATES).unwrap_or_default();
        (Self::start_as("https", serve_encrypted), system + &made.cert.pem())
    }

    fn start_as(scheme: &'static str, serve: Serve) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("the port's address");
        let (sender, arrivals) = channel();
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stopped);
        let acceptor = std::thread::spawn(move || accept(&listener, &serve, &sender, &flag));
        Self { address, scheme, arrivals, stopped, acceptor: Some(acceptor) }
    }

    /// Its base URL.
    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Waits a while for the next request to the model.
    pub(crate) fn arrival(&self) -> Option<RequestArrival> {
        self.arrivals.recv_timeout(LOOK).ok()
    }
}

impl Drop for TimingServer {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        drop(TcpStream::connect(self.address));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

/// Takes connections until the server is stopped. A client that goes away ends its thread.
fn accept(
    listener: &TcpListener,
    serve: &Serve,
    arrivals: &Sender<RequestArrival>,
    stopped: &AtomicBool,
) {
    let answer = answer();
    for stream in listener.incoming() {
        if stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let (serve, arrivals, answer) = (Arc::clone(serve), arrivals.clone(), answer.clone());
        std::thread::spawn(move || {
            stream.set_nodelay(true)?;
            serve(stream, &arrivals, &answer)
        });
    }
}

/// Serves a connection until the client closes it.
fn serve<S: Read + Write>(
    mut stream: S,
    arrivals: &Sender<RequestArrival>,
    answer: &[u8],
) -> io::Result<()> {
    let info = info();
    let mut buffer = Vec::new();
    while let Some(head) = read_head(&mut stream, &mut buffer)? {
        let headers = Instant::now();
        let bytes = content_length(&head);
        skip(&mut stream, &mut buffer, bytes)?;
        let body = Instant::now();
        if !head.starts_with("POST ") {
            stream.write_all(&info)?;
            stream.flush()?;
            continue;
        }
        stream.write_all(answer)?;
        stream.flush()?;
        // Nobody waits any more: the benchmark has ended.
        let _unheard = arrivals.send(RequestArrival { headers, body, bytes });
    }
    Ok(())
}

/// The next request's line and headers; nothing if the client has closed the connection.
fn read_head(stream: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<Option<String>> {
    let mut piece = vec![0; PIECE];
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head: Vec<u8> = buffer.drain(..end + 4).collect();
            return Ok(Some(String::from_utf8_lossy(&head).into_owned()));
        }
        let count = stream.read(&mut piece)?;
        if count == 0 {
            return Ok(None);
        }
        buffer.extend_from_slice(piece.get(..count).unwrap_or_default());
    }
}

fn content_length(head: &str) -> usize {
    head.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.trim().parse().ok())
        .unwrap_or(0)
}

/// Reads a body and lets it go.
fn skip(stream: &mut impl Read, buffer: &mut Vec<u8>, bytes: usize) -> io::Result<()> {
    let at_hand = buffer.len().min(bytes);
    buffer.drain(..at_hand);
    let mut left = bytes - at_hand;
    let mut piece = vec![0; PIECE];
    while left > 0 {
        let wanted = left.min(PIECE);
        let count = stream.read(piece.get_mut(..wanted).unwrap_or_default())?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left -= count;
    }
    Ok(())
}

/// What it says to a question about its model.
fn info() -> Vec<u8> {
    let body = format!(
        r#"{{"type":"model","id":"{MODEL}","display_name":"{MODEL}","created_at":"2026-01-01T00:00:00Z","max_input_tokens":200000,"max_tokens":32000}}"#
    );
    whole("application/json", &body)
}

/// What it says to everything else.
fn answer() -> Vec<u8> {
    let frame = ResponseFrame {
        message_id: "msg_1".to_owned(),
        model: MODEL.to_owned(),
        usage: Usage { input_tokens: 2_000, output_tokens: 5, ..Usage::default() },
    };
    let turn = ScriptedTurn::new().text("Hello. What shall we look at?");
    let body: String = anthropic_events(&turn, &frame).iter().map(WireEvent::to_sse).collect();
    whole("text/event-stream", &body)
}

fn whole(content_type: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_timed_and_answered() {
        let server = TimingServer::start();
        let mut stream = TcpStream::connect(server.address).unwrap();
        let before = Instant::now();
        stream.write_all(b"GET /v1/models/x HTTP/1.1\r\n\r\n").unwrap();
        stream.write_all(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        stream.write_all(b"lo").unwrap();
        let arrival = server.arrival().unwrap();
        assert!(before <= arrival.headers && arrival.headers < arrival.body);
        assert_eq!(arrival.bytes, 5);
        let mut got = [0; 15];
        stream.read_exact(&mut got).unwrap();
        assert_eq!(&got, b"HTTP/1.1 200 OK");
    }
}

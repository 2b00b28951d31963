//! A server of `/v1/embeddings` on the loopback interface, whose answers a test decides.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::gate::{Gate, lock};
use crate::http::{Connection, RawRequest};

/// What a request is answered with.
#[derive(Debug, Clone)]
pub enum EmbeddingReply {
    /// A vector for each text, in order.
    Vectors(Vec<Vec<f32>>),
    /// A status and a body, as they are.
    Raw(u16, String),
    /// Not a byte, as long as the server runs.
    Hang,
}

/// A request for vectors.
#[derive(Debug, Clone)]
pub struct EmbeddingRequest {
    /// The model that was asked for.
    pub model: String,
    /// The texts.
    pub texts: Vec<String>,
    /// What came as `Authorization`.
    pub authorization: Option<String>,
}

type Answer = Box<dyn FnMut(&EmbeddingRequest) -> EmbeddingReply + Send>;

struct Shared {
    answer: Mutex<Answer>,
    requests: Mutex<Vec<EmbeddingRequest>>,
    stopped: Gate,
}

/// The server. Dropping it stops it.
pub struct EmbeddingServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl EmbeddingServer {
    /// Starts it; each request is answered by this function.
    pub fn start(answer: impl FnMut(&EmbeddingRequest) -> EmbeddingReply + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("the port's address");
        let shared = Arc::new(Shared {
            answer: Mutex::new(Box::new(answer)),
            requests: Mutex::default(),
            stopped: Gate::new(),
        });
        let of_acceptor = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if of_acceptor.stopped.is_open() {
                    return;
                }
                let Some(connection) = stream.ok().and_then(|s| Connection::new(s).ok()) else {
                    continue;
                };
                let shared = Arc::clone(&of_acceptor);
                std::thread::spawn(move || serve(connection, &shared));
            }
        });
        Self { address, shared, acceptor: Some(acceptor) }
    }

    /// The base URL, with its `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<EmbeddingRequest> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for EmbeddingServer {
    fn drop(&mut self) {
        self.shared.stopped.open();
        drop(TcpStream::connect_timeout(&self.address, Duration::from_secs(1)));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
    }
}

/// A client that goes away is no error.
fn serve(mut connection: Connection, shared: &Shared) {
    while let Ok(Some(raw)) = connection.read_request() {
        let (status, body) = match asked(&raw) {
            None => (404, json!({"error": {"message": "no such address"}}).to_string()),
            Some(request) => {
                lock(&shared.requests).push(request.clone());
                let reply = (lock(&shared.answer))(&request);
                match reply {
                    EmbeddingReply::Raw(status, body) => (status, body),
                    EmbeddingReply::Vectors(vectors) => (200, rendered(&vectors)),
                    EmbeddingReply::Hang => {
                        shared.stopped.pass(|| false);
                        return;
                    }
                }
            }
        };
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        if connection.respond(status, &headers, body.as_bytes()).is_err() {
            return;
        }
    }
}

fn asked(raw: &RawRequest) -> Option<EmbeddingRequest> {
    if raw.method != "POST" || raw.path != "/v1/embeddings" {
        return None;
    }
    let body: Value = serde_json::from_slice(&raw.body).ok()?;
    let texts = body["input"].as_array()?.iter();
    Some(EmbeddingRequest {
        model: body["model"].as_str()?.to_owned(),
        texts: texts.map(|text| text.as_str().unwrap_or_default().to_owned()).collect(),
        authorization: raw
            .headers
            .iter()
            .find(|(name, _)| name == "authorization")
            .map(|(_, value)| value.clone()),
    })
}

/// The last first: the index counts, not the place.
fn rendered(vectors: &[Vec<f32>]) -> String {
    let data: Vec<Value> = vectors
        .iter()
        .enumerate()
        .rev()
        .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
        .collect();
    json!({"object": "list", "data": data, "model": "scripted", "usage": {"prompt_tokens": 1, "total_tokens": 1}}).to_string()
}

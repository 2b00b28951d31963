//! A kept-alive HTTP/1.1 connection as light as it can be: the load must cost less than the server that it measures.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection to a server, with a token.
pub(crate) struct HttpConnection {
    stream: BufReader<TcpStream>,
    authorization: String,
}

/// What came back.
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) etag: String,
    pub(crate) body: Vec<u8>,
}

impl HttpConnection {
    pub(crate) fn open(server: SocketAddr, token: &str) -> Self {
        let stream = TcpStream::connect(server).expect("the server listens");
        stream.set_nodelay(true).expect("a socket takes the option");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket takes a timeout");
        Self { stream: BufReader::new(stream), authorization: format!("Bearer {token}") }
    }

    /// Sends a request without waiting for its answer.
    pub(crate) fn send(&mut self, line: &str, headers: &str, body: &str) {
        let length = body.len();
        let authorization = &self.authorization;
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: {authorization}\r\n{headers}content-length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(head.as_bytes()).expect("the server reads");
    }

    /// Sends a request and reads the answer.
    pub(crate) fn ask(&mut self, line: &str, headers: &str, body: &str) -> HttpAnswer {
        self.send(line, headers, body);
        let mut text = String::new();
        self.stream.read_line(&mut text).expect("the server answers");
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let (mut length, mut etag) = (0, String::new());
        loop {
            text.clear();
            self.stream.read_line(&mut text).expect("the server answers");
            if text.trim_end().is_empty() {
                break;
            }
            let (name, value) = text.trim_end().split_once(": ").unwrap_or((&text, ""));
            match name {
                "content-length" => length = value.parse().unwrap_or(0),
                "etag" => value.clone_into(&mut etag),
                _ => {}
            }
        }
        let mut body = vec![0; if status == 304 { 0 } else { length }];
        self.stream.read_exact(&mut body).expect("the server answers");
        HttpAnswer { status, etag, body }
    }
}

//! A small HTTP client and a decoder of event streams, written by hand so that the server is not
//! checked with what it is meant to check.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dormouse_testkit::{HANGS, ScriptedServer, WireFormat, request_path};

/// A connection to the server.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    wire: WireFormat,
}

/// An answer; `end` says how its body ended.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunks: Vec<Vec<u8>>,
    pub(crate) end: io::Result<()>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.chunks.concat()).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.chunks.concat()).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn events(&self) -> Vec<(String, String)> {
        decode(&self.chunks.concat())
    }
}

impl Client {
    pub(crate) fn new(server: &ScriptedServer) -> Self {
        let stream = TcpStream::connect(server.address()).unwrap();
        stream.set_read_timeout(Some(HANGS)).unwrap();
        Self { stream, buffer: Vec::new(), wire: server.wire() }
    }

    pub(crate) fn set_patience(&self, time: Duration) {
        self.stream.set_read_timeout(Some(time)).unwrap();
    }

    /// Asks the model, with the headers it should have.
    pub(crate) fn post(&mut self, body: &str) -> Answer {
        self.send(body);
        self.read_answer().unwrap()
    }

    pub(crate) fn send(&mut self, body: &str) {
        let headers = match self.wire {
            WireFormat::Anthropic => "anthropic-version: 2023-06-01\r\nX-Api-Key: k\r\n",
            WireFormat::OpenAi => "Authorization: Bearer k\r\n",
        };
        let length = body.len();
        self.send_raw(&format!(
            "POST {} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{body}",
            request_path(self.wire)
        ));
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send_raw(&format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"));
        self.read_answer().unwrap()
    }

    pub(crate) fn send_raw(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).unwrap();
    }

    /// Reads an answer; an error before its headers are complete is returned.
    pub(crate) fn read_answer(&mut self) -> io::Result<Answer> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut answer = Answer { status, headers, chunks: Vec::new(), end: Ok(()) };
        answer.end = match answer.header("content-length").map(|text| text.parse().unwrap()) {
            Some(length) => self.exactly(length).map(|body| answer.chunks.push(body)),
            None => self.read_chunks(&mut answer.chunks),
        };
        Ok(answer)
    }

    fn read_chunks(&mut self, chunks: &mut Vec<Vec<u8>>) -> io::Result<()> {
        loop {
            let size = usize::from_str_radix(&self.line()?, 16).unwrap();
            let chunk = self.exactly(size)?;
            assert_eq!(self.exactly(2)?, b"\r\n");
            if size == 0 {
                return Ok(());
            }
            chunks.push(chunk);
        }
    }

    pub(crate) fn line(&mut self) -> io::Result<String> {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.exactly(at + 2)?;
                return Ok(String::from_utf8(line).unwrap().trim_end().to_owned());
            }
            self.fill()?;
        }
    }

    fn exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < length {
            self.fill()?;
        }
        Ok(self.buffer.drain(..length).collect())
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut piece = [0; 4096];
        let count = self.stream.read(&mut piece)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.buffer.extend_from_slice(&piece[..count]);
        Ok(())
    }
}

/// The events of a stream, by the rules of the event stream format: names and data.
pub(crate) fn decode(bytes: &[u8]) -> Vec<(String, String)> {
    let text = std::str::from_utf8(bytes).unwrap();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    let (mut name, mut data) = (String::new(), Vec::new());
    for line in text.split('\n') {
        if line.is_empty() {
            if !data.is_empty() {
                events.push((std::mem::take(&mut name), data.join("\n")));
            }
            name.clear();
            data.clear();
        } else if let Some(value) = line.strip_prefix("event: ") {
            value.clone_into(&mut name);
        } else if let Some(value) = line.strip_prefix("data: ") {
            data.push(value.to_owned());
        }
    }
    events
}

/// A good body with these messages.
pub(crate) fn body(messages: &[&str]) -> String {
    format!(r#"{{"model":"scripted-1","stream":true,"messages":[{}]}}"#, messages.join(","))
}

pub(crate) fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}"}}"#)
}

pub(crate) fn assistant(text: &str) -> String {
    format!(r#"{{"role":"assistant","content":"{text}"}}"#)
}

pub(crate) fn ask() -> String {
    body(&[&user("go")])
}

//! Just enough HTTP/1.1 on a blocking socket: requests with a length or in chunks, answers whole or in
//! chunks, connections kept alive.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// A request as it came.
#[derive(Debug)]
pub(crate) struct RawRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl RawRequest {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Whether the client wants the connection closed afterwards.
    pub(crate) fn wants_close(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// The server's end of a connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::new() })
    }

    /// The next request; nothing if the client has closed the connection.
    pub(crate) fn read_request(&mut self) -> io::Result<Option<RawRequest>> {
        let Some(first) = self.read_line()? else { return Ok(None) };
        let mut words = first.split(' ').map(str::to_owned);
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(invalid("no request line"));
        };
        let mut headers = Vec::new();
        loop {
            let line = self.read_line()?.ok_or_else(|| invalid("end inside the headers"))?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').ok_or_else(|| invalid("no header"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request = RawRequest { method, path, headers, body: Vec::new() };
        if request.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue"))
        {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        }
        let chunked = request
            .header("transfer-encoding")
            .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"));
        request.body = if chunked {
            self.read_chunks()?
        } else {
            let length = request.header("content-length").map_or(Ok(0), str::parse);
            self.read_exactly(length.map_err(|_| invalid("bad content-length"))?)?
        };
        Ok(Some(request))
    }

    fn read_chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_line()?.ok_or_else(|| invalid("end inside the chunks"))?;
            let size = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| invalid("bad chunk size"))?;
            body.extend(self.read_exactly(size)?);
            if size == 0 {
                // Trailers, up to the empty line.
                while self.read_line()?.is_some_and(|line| !line.is_empty()) {}
                return Ok(body);
            }
            self.read_exactly(2)?;
        }
    }

    fn read_line(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                return Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn read_exactly(&mut self, length: usize) -> io::Result<Vec<u8>> {
        while self.buffer.len() < length {
            if !self.fill()? {
                return Err(invalid("end inside the body"));
            }
        }
        Ok(self.buffer.drain(..length).collect())
    }

    fn fill(&mut self) -> io::Result<bool> {
        let mut piece = [0; 16 * 1024];
        let count = self.stream.read(&mut piece)?;
        self.buffer.extend_from_slice(&piece[..count]);
        Ok(count > 0)
    }

    /// Answers with a whole body.
    pub(crate) fn respond(
        &mut self,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> io::Result<()> {
        let mut text = head(status, headers);
        text.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        self.stream.write_all(&[text.as_bytes(), body].concat())
    }

    /// Begins an answer in chunks.
    pub(crate) fn begin_chunks(&mut self, headers: &[(String, String)]) -> io::Result<()> {
        let text = head(200, headers) + "transfer-encoding: chunked\r\n\r\n";
        self.stream.write_all(text.as_bytes())
    }

    /// Sends a chunk; an empty one ends the body.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        let size = format!("{:x}\r\n", bytes.len());
        self.stream.write_all(&[size.as_bytes(), bytes, b"\r\n"].concat())?;
        self.stream.flush()
    }

    /// Closes the connection in the orderly way.
    pub(crate) fn close(self) {
        // The client may be gone already, which is as good.
        drop(self.stream.shutdown(Shutdown::Both));
    }

    /// Makes closing the connection a reset. It happens when the last handle of the socket is dropped.
    pub(crate) fn reset(self) {
        rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO))
            .expect("SO_LINGER can be set");
    }
}

fn head(status: u16, headers: &[(String, String)]) -> String {
    let mut text = format!("HTTP/1.1 {status} Scripted\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

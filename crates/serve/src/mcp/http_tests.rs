//! Clients that take their time, on real connections.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::JoinHandle;

use dormouse_base::Clock;

use super::*;

const LONG: Duration = Duration::from_mins(10);
/// A limit that a test waits for. A busy machine may keep it waiting longer, and may break it where it should not.
const SHORT: Duration = Duration::from_millis(50);
/// For what hangs.
const HANGS: Duration = Duration::from_mins(5);

/// A server in a thread of its own; it ends with the test's process.
struct Door {
    address: SocketAddr,
    token: String,
    folder: tempfile::TempDir,
}

impl Door {
    fn open(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(dormouse_base::SystemClock::default());
        let ids = dormouse_base::RandomIds::new(clock);
        let home = dormouse_base::Dir::open(folder.path()).unwrap();
        let token = AccessToken::load_or_create(&home, &ids).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let door = HttpListener { limits, ..HttpListener::on(0).await.unwrap() };
                sender.send(door.address).unwrap();
                door.serve(MemoryServer::off(), token).await.unwrap()
            })
        });
        let address = receiver.recv().unwrap();
        let token = std::fs::read_to_string(folder.path().join(AccessToken::file_name())).unwrap();
        Self { address, token: token.trim().to_owned(), folder }
    }

    fn connect(&self) -> TcpStream {
        assert!(self.folder.path().exists());
        let stream = TcpStream::connect(self.address).unwrap();
        // For a server that hangs.
        stream.set_read_timeout(Some(HANGS)).unwrap();
        stream
    }

    /// The head of a request whose body has its length told so.
    fn head(&self, length: &str) -> String {
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{length}\r\n\r\n",
            self.address, self.token
        )
    }

    /// A connection that has shown the token and stays open.
    fn admitted(&self) -> TcpStream {
        let mut stream = self.connect();
        let head = self.head("Content-Length: 0").replacen("/mcp", "/other", 1);
        stream.write_all(head.as_bytes()).unwrap();
        let mut bytes = [0; 12];
        stream.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"HTTP/1.1 404");
        stream
    }

    /// Sends a request that is right until it has an answer: on a busy machine this client too may be cut off at a short limit.
    fn greeting(&self) -> String {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let head = self.head(&format!("Content-Length: {}\r\nConnection: close", body.len()));
        let (text, _) = self.answered(&format!("{head}{body}"), |stream| {
            let mut text = String::new();
            let _reset = stream.read_to_string(&mut text);
            text
        });
        text
    }

    /// What is read of the answer with status 200 that comes in the end, and its connection.
    fn answered(
        &self,
        request: &str,
        read: impl Fn(&mut TcpStream) -> String,
    ) -> (String, TcpStream) {
        let clock = dormouse_base::SystemClock::default();
        loop {
            let mut stream = self.connect();
            let _reset = stream.write_all(request.as_bytes());
            let text = read(&mut stream);
            if text.starts_with("HTTP/1.1 200") {
                return (text, stream);
            }
            assert!(clock.elapsed() < HANGS, "{text}");
        }
    }
}

/// All that still comes, until the server closes.
fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A byte now and then, until nobody takes them any more.
fn drip(stream: &TcpStream) -> JoinHandle<()> {
    let mut stream = stream.try_clone().unwrap();
    std::thread::spawn(move || {
        while stream.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    })
}

#[test]
fn a_head_that_never_ends() {
    let door = Door::open(Limits { head: SHORT, body: LONG, ..Limits::default() });
    let silent = door.connect();
    let mut begun = door.connect();
    begun.write_all(b"POST /mcp HTTP/1.1\r\nX-Long: ").unwrap();
    let dripping = drip(&begun);
    assert_eq!(rest(silent), "");
    let mut answer = String::new();
    // What was sent after the end may cost the answer, and there need not be one.
    let _reset = begun.read_to_string(&mut answer);
    assert!(!answer.contains("200"), "{answer}");
    drop(begun);
    dripping.join().unwrap();
    door.greeting();
}

#[test]
fn a_body_that_drips() {
    let door = Door::open(Limits { head: LONG, body: SHORT, ..Limits::default() });
    let mut stream = door.connect();
    stream.write_all(door.head("Content-Length: 1000000").as_bytes()).unwrap();
    let dripping = drip(&stream);
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 408");
    drop(stream);
    dripping.join().unwrap();
    // Nor does one that sends nothing at all hold it.
    let mut stream = door.connect();
    stream.write_all(door.head("Transfer-Encoding: chunked").as_bytes()).unwrap();
    assert!(rest(stream).starts_with("HTTP/1.1 408"));
    door.greeting();
}

#[test]
fn a_body_without_end() {
    let door = Door::open(Limits { body_bytes: 1_000, ..Limits::default() });
    let mut told = door.connect();
    told.write_all(door.head("Content-Length: 1001").as_bytes()).unwrap();
    told.write_all(&[b' '; 1_001]).unwrap();
    let mut start = [0; 12];
    told.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    let mut untold = door.connect();
    untold.write_all(door.head("Transfer-Encoding: chunked").as_bytes()).unwrap();
    for _ in 0..3 {
        untold.write_all(format!("190\r\n{}\r\n", " ".repeat(400)).as_bytes()).unwrap();
    }
    untold.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    door.greeting();
}

/// A stranger's body is not waited for.
#[test]
fn whoever_has_no_token_is_not_heard_out() {
    let door = Door::open(Limits { head: LONG, body: LONG, ..Limits::default() });
    let mut stream = door.connect();
    let head = door.head("Content-Length: 1000000").replace(&door.token, "guess");
    stream.write_all(head.as_bytes()).unwrap();
    assert!(rest(stream).starts_with("HTTP/1.1 401"));
}

#[test]
fn so_many_and_no_more() {
    let door = Door::open(Limits { head: LONG, connections: 2, ..Limits::default() });
    let held = [door.admitted(), door.admitted()];
    let third = door.connect();
    let mut waiting = third.try_clone().unwrap();
    waiting.write_all(b"nonsense\r\n\r\n").unwrap();
    // Something that must not happen: a slow machine can only miss it.
    third.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    assert!((&third).read(&mut [0; 1]).is_err(), "it was served beside the others");
    third.set_read_timeout(Some(HANGS)).unwrap();
    drop(held);
    assert!(rest(third).starts_with("HTTP/1.1 400"));
}

#[test]
fn the_silent_make_room() {
    let door = Door::open(Limits { head: SHORT, connections: 1, ..Limits::default() });
    let _silent = door.connect();
    door.greeting();
}

/// Whoever listens may do so for as long as they like.
#[test]
fn a_stream_outlasts_the_limits() {
    let door = Door::open(Limits { head: SHORT, body: SHORT, ..Limits::default() });
    let hello = door.greeting();
    let session = hello.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let head = door.head(&format!("Mcp-Session-Id: {session}")).replacen("POST", "GET", 1);
    let (start, mut stream) = door.answered(&head, |stream| {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap_or(0);
        String::from_utf8_lossy(&bytes[..read]).into_owned()
    });
    assert!(start.contains("text/event-stream"), "{start}");
    // Something that must not happen: a slow machine can only miss it.
    stream.set_read_timeout(Some(SHORT * 6)).unwrap();
    loop {
        match stream.read(&mut [0; 4096]) {
            Ok(0) => panic!("the stream was ended"),
            Ok(_) => {}
            Err(_) => break,
        }
    }
}

/// Silent connections must not keep out whoever has the token.
#[test]
fn silent_connections_make_room() {
    let door = Door::open(Limits { head: LONG, connections: 4, ..Limits::default() });
    let silent: Vec<TcpStream> = (0..80).map(|_| door.connect()).collect();
    door.greeting();
    assert_eq!(silent.len(), 80);
}

//! The viewer's port with clients that take their time, or too many of them.

use std::io::{Read, Write};
use std::net::TcpStream;

use dormouse_testkit::{HANGS, TestHome};

use crate::ui_client::{ViewerClient, add_memory};

/// More than the server keeps at once.
const MANY: usize = 200;

fn connect(viewer: &ViewerClient) -> TcpStream {
    let stream = TcpStream::connect(&viewer.address).unwrap();
    // For a server that hangs.
    stream.set_read_timeout(Some(HANGS)).unwrap();
    stream
}

/// All that still comes, until the server closes.
fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn idle_connections_do_not_lock_the_user_out() {
    let home = TestHome::new();
    add_memory(&home, "quay", "where boats land", "Boats land at the north quay.");
    let viewer = ViewerClient::open(&home, &[]);
    // A page that the user has open keeps its connection.
    let mut own = connect(&viewer);
    let ask =
        format!("GET / HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\n", viewer.address, viewer.cookie);
    let mut begun = [0; 12];
    own.write_all(format!("{ask}\r\n").as_bytes()).unwrap();
    own.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200");
    let idle: Vec<TcpStream> = (0..MANY).map(|_| connect(&viewer)).collect();
    // Half a request each: none of them ever ends.
    for mut stream in &idle {
        // The server may have closed it to make room.
        let _closed = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
    }
    for _ in 0..3 {
        viewer.get("/").ok();
    }
    own.write_all(format!("{ask}Connection: close\r\n\r\n").as_bytes()).unwrap();
    let page = rest(own);
    assert_eq!(page.matches("where boats land").count(), 2, "{page}");
    drop(idle);
}

#[test]
fn slow_heads_and_bodies_are_given_up_and_long_ones_refused() {
    let home = TestHome::new();
    add_memory(&home, "quay", "where boats land", "Boats land at the north quay.");
    let viewer = ViewerClient::open(&home, &[]);
    let post = |length: usize| {
        format!(
            "POST /memory/remove/project/quay.md HTTP/1.1\r\nHost: {0}\r\nOrigin: http://{0}\r\nCookie: {1}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\ntoken=",
            viewer.address, viewer.cookie
        )
    };
    let mut head = connect(&viewer);
    head.write_all(format!("GET / HTTP/1.1\r\nCookie: {}\r\nHost: ", viewer.cookie).as_bytes())
        .unwrap();
    let mut body = connect(&viewer);
    body.write_all(post(1_000).as_bytes()).unwrap();
    let mut long = connect(&viewer);
    long.write_all(post(100_000_000).as_bytes()).unwrap();
    assert!(rest(long).starts_with("HTTP/1.1 413"));
    let answer = rest(body);
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    let answer = rest(head);
    assert!(!answer.contains("200 OK") && !answer.contains("where boats land"), "{answer}");
    viewer.get("/memory/view/project/quay.md").ok();
}

//! Accepted messages are in the mailbox, invalid ones are refused, and the folder is private.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use dormouse_base::Environment;
use proptest::prelude::*;

use super::*;
use crate::messages::test_support::{draft, mailboxes, name};
use crate::messages::{MailboxReader, Mailboxes};

fn set_up(folder: &Path) -> (SocketFolder, Mailboxes, MailboxReader) {
    let environment = Environment::from_pairs::<&str, &str>([]);
    let sockets = SocketFolder::open(folder, &environment).unwrap();
    let boxes = mailboxes(&folder.join("project"));
    let reader = boxes.read_as(&name("bob"), &[]).unwrap();
    (sockets, boxes, reader)
}

#[tokio::test]
async fn an_accepted_message_is_in_the_mailbox() {
    let folder = tempfile::tempdir().unwrap();
    let (sockets, boxes, reader) = set_up(folder.path());
    reader.hold(uuid::Uuid::from_u128(1).to_string().parse().unwrap()).unwrap();
    let socket = SessionSocket::listen(&sockets, &reader, &boxes).unwrap();
    let id = send_to_socket(socket.path(), &draft("a", "hi")).await.unwrap();
    let lines = reader.take_lines().unwrap();
    assert_eq!(lines.iter().map(|line| line.id.clone()).collect::<Vec<_>>(), [id.to_string()]);
    let path = socket.path().to_owned();
    drop(socket);
    assert!(!path.exists());
    let gone = send_to_socket(&path, &draft("a", "hi")).await.unwrap_err();
    assert!(matches!(gone, SocketError::NotListening { .. }), "{gone}");
    // The socket of a process that died is replaced; a file that is not a socket is not.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let socket = SessionSocket::listen(&sockets, &reader, &boxes).unwrap();
    send_to_socket(socket.path(), &draft("a", "hi")).await.unwrap();
    drop(socket);
    drop(std::fs::File::options().create(true).append(true).open(&path).unwrap());
    assert!(SessionSocket::listen(&sockets, &reader, &boxes).is_err());
}

#[tokio::test]
async fn an_invalid_message_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let (sockets, boxes, reader) = set_up(folder.path());
    let socket = SessionSocket::listen(&sockets, &reader, &boxes).unwrap();
    let send = async |bytes: &[u8]| {
        let mut stream = UnixStream::connect(socket.path()).await.unwrap();
        // The listener may stop reading early.
        let _written = stream.write_all(bytes).await;
        let _closed = stream.shutdown().await;
        String::from_utf8(read_line(&mut stream).await.unwrap_or_default()).unwrap()
    };
    assert!(send(b"hello\n").await.contains("the line is not a message"));
    assert!(send(b"{\"type\":\"dance\",\"from\":\"a\"}\n").await.contains("unknown variant"));
    assert!(send(b"{\"type\":").await.contains("the line is incomplete"));
    send(&vec![b'x'; MAX_LINE_BYTES * 2]).await;
    assert_eq!(std::fs::read(folder.path().join("project/mailboxes/bob.jsonl")).unwrap(), b"");
}

#[test]
fn a_folder_that_others_can_access_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Environment::from_pairs::<&str, &str>([]);
    SocketFolder::open(folder.path(), &environment).unwrap();
    let run = folder.path().join("run");
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o750)).unwrap();
    let error = SocketFolder::open(folder.path(), &environment).unwrap_err();
    assert!(error.to_string().contains("its mode is 750"), "{error}");
    let long = folder.path().join("x".repeat(90));
    let sockets = SocketFolder::open(&long, &environment).unwrap();
    let path = sockets.socket(Path::new("/p"), &name("bob"));
    assert!(matches!(path, Err(SocketError::TooLong(_))));
    let elsewhere = Environment::from_pairs([("XDG_RUNTIME_DIR", folder.path().to_str().unwrap())]);
    let sockets = SocketFolder::open(&long, &elsewhere).unwrap();
    let path = sockets.socket(Path::new("/p"), &name("bob")).unwrap();
    assert!(path.starts_with(folder.path().join("dormouse")));
}

proptest! {
    #[test]
    fn any_reply_is_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _reply = serde_json::from_slice::<SocketReply>(&bytes);
    }
}

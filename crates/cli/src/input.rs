//! Standard input as (a part of) the prompt.

use std::io::Read;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::exit::Failure;
use crate::show;

/// More than any window holds is not even read.
const MOST_INPUT: u64 = 64 * 1024 * 1024;

/// What a thread finds on standard input.
enum Found {
    /// The first bytes, or the end.
    Something,
    /// All of it.
    Everything(std::io::Result<Vec<u8>>),
}

/// Reads standard input to its end. With `patience`, an input on which nothing happens for that long is
/// left alone: the prompt was typed, and there may be nobody at the other end.
pub(crate) fn read(patience: Option<Duration>) -> Result<String, Failure> {
    let (sender, receiver) = channel();
    // It may wait in a read for ever; the end of the program ends it.
    std::thread::spawn(move || read_all(&sender));
    let mut wait = patience;
    let bytes = loop {
        let found = match wait {
            Some(patience) => receiver.recv_timeout(patience),
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match found {
            Ok(Found::Something) => wait = None,
            Ok(Found::Everything(bytes)) => break bytes,
            Err(RecvTimeoutError::Timeout) => {
                show::note(
                    "note: standard input is open and nothing comes: going on without it (`</dev/null` spares the wait)",
                );
                return Ok(String::new());
            }
            Err(RecvTimeoutError::Disconnected) => break Ok(Vec::new()),
        }
    };
    let bytes = bytes.map_err(|error| {
        Failure::failed(anyhow::anyhow!("can not read standard input: {error}"))
    })?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage(anyhow::anyhow!("standard input is not UTF-8 text"))
            .hint("put it into a file and name the file in the prompt")
    })
}

fn read_all(sender: &Sender<Found>) {
    let mut input = std::io::stdin().lock().take(MOST_INPUT);
    let mut bytes = vec![0; 64 * 1024];
    let first = input.read(&mut bytes);
    // Nobody listens any more if the patience has run out.
    let _gone = sender.send(Found::Something);
    let all = first.and_then(|count| {
        bytes.truncate(count);
        input.read_to_end(&mut bytes).map(|_| bytes)
    });
    let _gone = sender.send(Found::Everything(all));
}

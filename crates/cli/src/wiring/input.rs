//! Standard input: as (a part of) the prompt, and as the answer to a question.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::wiring::exit::Failure;
use crate::wiring::print;

/// More than any window holds is not even read.
const MOST_INPUT: u64 = 64 * 1024 * 1024;

/// What a thread finds on standard input.
enum Found {
    /// The first bytes, or the end.
    Something,
    /// All of it.
    Everything(std::io::Result<Vec<u8>>),
}

/// Somebody should know what is being waited for.
const SILENCE: Duration = Duration::from_secs(2);

/// Reads standard input to its end. A silent one is waited for, and that is said: what a slow command
/// pipes in must not be lost.
pub(crate) fn read() -> Result<String, Failure> {
    let (sender, receiver) = channel();
    // It may wait in a read for ever; the end of the program ends it.
    std::thread::spawn(move || read_all(&sender));
    let mut patience = Some(SILENCE);
    let bytes = loop {
        let found = match patience {
            Some(patience) => receiver.recv_timeout(patience),
            None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match found {
            Ok(Found::Something) => patience = None,
            Ok(Found::Everything(bytes)) => break bytes,
            Err(RecvTimeoutError::Timeout) => {
                print::note(
                    "note: waiting for standard input (if nothing is to come, end it or use </dev/null)",
                );
                patience = None;
            }
            Err(RecvTimeoutError::Disconnected) => break Ok(Vec::new()),
        }
    };
    let bytes = bytes.map_err(|error| {
        Failure::failed(anyhow::anyhow!("can not read standard input: {error}"))
    })?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            print::note("note: standard input is not all UTF-8; what is not is shown as \u{fffd}");
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
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

/// Whether the person answers a question at the terminal with yes; anything else is no.
pub(crate) fn says_yes() -> bool {
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// More is no text that anybody checks or brings in.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// Reads a file that the person names; it may be a pipe.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MOST_READ + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if read as u64 > MOST_READ {
        let error = std::io::Error::other("it is longer than 64 MiB");
        return Err(unreadable(path, &error));
    }
    Ok(bytes)
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(anyhow::anyhow!("can not read {}: {error}", path.display()))
}

//! Standard input and files named by the user; yes/no confirmations.

use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use crate::wiring::exit::Failure;
use crate::wiring::print;

/// More than any context window holds.
const MOST_INPUT: u64 = 64 * 1024 * 1024;

/// Progress of the reading thread.
enum Found {
    /// The first bytes, or the end.
    Something,
    /// All of it.
    Everything(std::io::Result<Vec<u8>>),
}

/// After this long without input a notice is shown.
const SILENCE: Duration = Duration::from_secs(2);

/// Reads standard input to its end. A slow writer is waited for, with a notice.
pub(crate) fn read() -> Result<String, Failure> {
    let (sender, receiver) = channel();
    // It may block in a read until the program ends.
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
                print::note("note: waiting for standard input (use </dev/null if there is none)");
                patience = None;
            }
            Err(RecvTimeoutError::Disconnected) => break Ok(Vec::new()),
        }
    };
    let bytes = bytes
        .map_err(|error| Failure::failed(anyhow::anyhow!("cannot read standard input: {error}")))?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            print::note(
                "note: standard input is not valid UTF-8; invalid bytes are replaced with \u{fffd}",
            );
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        }
    })
}

fn read_all(sender: &Sender<Found>) {
    let mut input = std::io::stdin().lock().take(MOST_INPUT);
    let mut bytes = vec![0; 64 * 1024];
    let first = input.read(&mut bytes);
    // The receiver may be gone.
    let _gone = sender.send(Found::Something);
    let all = first.and_then(|count| {
        bytes.truncate(count);
        input.read_to_end(&mut bytes).map(|_| bytes)
    });
    let _gone = sender.send(Found::Everything(all));
}

/// Reads a confirmation from the terminal; anything but `y` or `yes` is no.
pub(crate) fn confirm() -> bool {
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// The largest file that is read.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// Reads a file that the user names; it may be a pipe.
pub(crate) fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MOST_READ + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if read as u64 > MOST_READ {
        let error = std::io::Error::other("larger than 64 MiB");
        return Err(unreadable(path, &error));
    }
    Ok(bytes)
}

pub(crate) fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(anyhow::anyhow!("cannot read {}: {error}", path.display()))
}

//! Opening a plain file, and nothing else.
//!
//! Invariant: what is not a plain file is refused before it is opened (to open a pipe waits for its
//! writer, to open a tape drive rewinds it), and once more after, should it have been swapped.

use std::ffi::OsStr;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::OFlags;

use crate::ToolError;
use dormouse_base::nearest_name;

/// The most names of a folder that are compared with one that is missing.
const MAX_NAMES: usize = 10_000;
/// Read at a time.
const BUFFER: usize = 64 * 1024;

/// A plain file, open.
pub(crate) struct Opened {
    pub(crate) reader: BufReader<File>,
    pub(super) modified: Option<SystemTime>,
    pub(super) size: u64,
}

pub(crate) fn open(path: &Path) -> Result<Opened, ToolError> {
    let explain = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => missing(path),
        _ => ToolError::unreadable(path, source),
    };
    refuse_environments(path)?;
    plain(path, &path.metadata().map_err(explain)?)?;
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(explain)?;
    let metadata = file.metadata().map_err(explain)?;
    plain(path, &metadata)?;
    Ok(Opened {
        reader: BufReader::with_capacity(BUFFER, file),
        modified: metadata.modified().ok(),
        size: metadata.len(),
    })
}

/// The whole of a file that must be had whole, if it is not too large.
pub(super) fn read_all(
    path: &Path,
    opened: Opened,
    max_bytes: u64,
    too_large: &str,
) -> Result<Vec<u8>, ToolError> {
    let mut data = Vec::new();
    // A file can grow, or lie about its size, so what counts is what comes.
    let mut bounded = opened.reader.take(max_bytes + 1);
    bounded.read_to_end(&mut data).map_err(|source| ToolError::unreadable(path, source))?;
    if data.len() as u64 > max_bytes {
        let size = opened.size;
        let reason = format!("has {size} bytes, which is more than is shown of it: {too_large}");
        return Err(ToolError::Refused { path: path.to_owned(), reason });
    }
    Ok(data)
}

/// A process's environment holds keys, ours among them.
fn refuse_environments(path: &Path) -> Result<(), ToolError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real.starts_with("/proc") && real.file_name().is_some_and(|name| name == "environ") {
        let reason =
            "is the environment of a process, which may hold keys: it is not shown".to_owned();
        return Err(ToolError::Refused { path: path.to_owned(), reason });
    }
    Ok(())
}

/// Refuses what is not a plain file, by its kind.
pub(crate) fn plain(path: &Path, metadata: &Metadata) -> Result<(), ToolError> {
    if metadata.is_file() {
        return Ok(());
    }
    let reason = what_it_is(metadata.file_type()).to_owned();
    Err(ToolError::Refused { path: path.to_owned(), reason })
}

fn what_it_is(kind: FileType) -> &'static str {
    if kind.is_dir() {
        "is a folder; list what is in it with Glob, with it as `path` and the pattern `*`"
    } else if kind.is_fifo() {
        "is a named pipe, not a file; reading it could wait for ever"
    } else if kind.is_char_device() || kind.is_block_device() {
        "is a device, not a file; reading it might never end"
    } else if kind.is_socket() {
        "is a socket, not a file; it cannot be read"
    } else {
        "is not a plain file"
    }
}

fn missing(path: &Path) -> ToolError {
    let hint = near_name(path).unwrap_or_else(|| "use Glob to find the file".to_owned());
    ToolError::NotFound { path: path.to_owned(), hint }
}

/// The error that there is no such file, with the one of the working directory that is probably meant.
pub(crate) fn naming_likely_file(error: ToolError, working_directory: &Path) -> ToolError {
    let ToolError::NotFound { path, hint } = error else { return error };
    let hint = same_ending(&path, working_directory).unwrap_or(hint);
    ToolError::NotFound { path, hint }
}

/// A file below the working directory whose path ends like the one that was asked for: small models put a wrong folder in front.
fn same_ending(path: &Path, working_directory: &Path) -> Option<String> {
    let parts: Vec<&OsStr> = path.iter().skip(1).collect();
    if parts.contains(&OsStr::new("..")) {
        return None;
    }
    let ends = (0..parts.len()).filter_map(|from| parts.get(from..));
    let mut files = ends.map(|end| working_directory.join(end.iter().collect::<PathBuf>()));
    let found = files.find(|file| file.is_file())?;
    Some(format!("there is {}", found.display()))
}

fn near_name(path: &Path) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_name()?.to_str()?);
    let Ok(entries) = folder.read_dir() else {
        return Some(format!(
            "{} is no folder either; use Glob to find the file",
            folder.display()
        ));
    };
    let names =
        entries.take(MAX_NAMES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let near = nearest_name(name, names)?;
    Some(format!("there is {}", folder.join(near).display()))
}

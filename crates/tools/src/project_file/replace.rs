//! One file, replaced whole: temporary file beside it, flush, rename. Every step is a fault point.
//!
//! Invariant: until the rename the file is untouched, and with it everything is done.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use dormouse_base::{MissingFolder, fault, mode_from_bits, open_folder_without_links};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Uid};
use rustix::io::Errno;
use tokio_util::sync::CancellationToken;

use super::{
    EditorState, LoadedFile, WriteTarget, WrittenFile, changed, parts, refused, unwritable,
};
use crate::blocking::check;
use crate::editor_files::editor_for;
use crate::{CallContext, EditorWrite, FileWriteOutcome, FileWriter, TextFingerprint, ToolError};

/// Puts `content` in the place of `current`, or where nothing is yet. Answers with what the file then is. Goes through the
/// editor where that offers it.
pub(crate) fn commit(
    target: &WriteTarget,
    current: Option<&LoadedFile>,
    content: &[u8],
    context: &CallContext,
    cancel: &CancellationToken,
) -> Result<WrittenFile, ToolError> {
    let write = EditorFileWrite { path: &target.real, context, cancel };
    if let Some(current) = current.filter(|current| current.in_editor == Some(EditorState::Unsaved))
    {
        // First what the user has written: a rewind brings that back.
        let saved = write.pass(current.bytes.as_slice())?;
        saved.ok_or_else(|| refused(&target.real, UNSAVED))?;
    }
    let checkpoints = context.checkpoints.as_ref().filter(|_| target.door.is_none());
    if let Some(checkpoints) = checkpoints {
        checkpoints.before_write(&target.real);
    }
    let passed = if target.door.is_some() { Ok(None) } else { write.pass(content) };
    let written = passed.and_then(|passed| match passed {
        Some(written) => Ok(written),
        None => put(target, current, content, cancel)
            .map(|metadata| WrittenFile { metadata, in_editor: None }),
    });
    if let Some(checkpoints) = checkpoints {
        checkpoints.after_write(&target.real);
    }
    written
}

const UNSAVED: &str = "has changes in the editor that are not saved, and the editor does not let them be \
                       written; ask the user to save it, then read it again";

/// A file on its way through the editor.
struct EditorFileWrite<'a> {
    path: &'a Path,
    context: &'a CallContext,
    cancel: &'a CancellationToken,
}

impl EditorFileWrite<'_> {
    /// Writes through the editor; none if that does not write this file.
    fn pass(&self, content: &[u8]) -> Result<Option<WrittenFile>, ToolError> {
        let Self { path, context, cancel } = *self;
        let editor = editor_for(context.editor.files.as_ref(), path, content.len() as u64);
        let (Some(editor), Ok(text)) = (editor, std::str::from_utf8(content)) else {
            return Ok(None);
        };
        check(cancel)?;
        let (parent, _) = parts(path)?;
        open_folder_without_links(parent, MissingFolder::IsMade)
            .map_err(|source| unwritable(path, source))?;
        let written = editor.write(path, text, cancel);
        if written.map_err(|error| refused(path, &error.to_string()))? == EditorWrite::NotOffered {
            return Ok(None);
        }
        let metadata = path.metadata().map_err(|source| unwritable(path, source))?;
        Ok(Some(WrittenFile { metadata, in_editor: Some(TextFingerprint::of(text)) }))
    }
}

fn put(
    target: &WriteTarget,
    current: Option<&LoadedFile>,
    content: &[u8],
    cancel: &CancellationToken,
) -> Result<Metadata, ToolError> {
    let path = target.real.as_path();
    let fail = |source: io::Error| unwritable(path, source);
    let (parent, name) = parts(path)?;
    check(cancel)?;
    if let Some(door) = &target.door {
        return pass(&**door, current, content)
            .and_then(|()| path.metadata().map_err(|source| unwritable(path, source)));
    }
    let missing = if current.is_some() { MissingFolder::Fails } else { MissingFolder::IsMade };
    let folder = open_folder_without_links(parent, missing).map_err(fail)?;
    // Not made from the file's name, which may be as long as names can be.
    let temporary = format!(".dormouse-{}.tmp", uuid::Uuid::new_v4().simple());
    let written =
        write_temporary(&folder, &temporary, current, content).map_err(fail).and_then(|metadata| {
            check(cancel)?;
            put_in_place(target, &folder, (&temporary, name), current)?;
            Ok(metadata)
        });
    if written.is_err() {
        // The file itself is untouched; a temporary one that cannot be removed either is only litter.
        let _litter = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        return written;
    }
    // The change is made and seen by everyone; whether it outlives a power failure this very moment
    // does not make it a failure.
    let _durable = sync(&folder);
    written
}

/// Writes through a door.
fn pass(
    door: &dyn FileWriter,
    current: Option<&LoadedFile>,
    content: &[u8],
) -> Result<(), ToolError> {
    match door.write(current.map(|current| current.bytes.as_slice()), content) {
        Ok(FileWriteOutcome::Written) => Ok(()),
        Ok(FileWriteOutcome::Waits(message)) => Err(ToolError::Failed { message }),
        Err(error) => Err(ToolError::failed(&error)),
    }
}

fn write_temporary(
    folder: &OwnedFd,
    name: &str,
    current: Option<&LoadedFile>,
    content: &[u8],
) -> io::Result<Metadata> {
    fault::point("tools.create_temporary")?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    // A new file gets what the user's umask leaves of this; the copy of a private one is private.
    let mode = if current.is_some() { 0o600 } else { 0o666 };
    let mut file = File::from(rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(mode))?);
    fault::point("tools.write_temporary")?;
    file.write_all(content)?;
    if let Some(current) = current {
        take_over(&file, &current.metadata)?;
    }
    fault::point("tools.sync_temporary")?;
    file.sync_all()?;
    file.metadata()
}

/// Owner, group and mode of the file that goes.
fn take_over(file: &File, old: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    let mut mode = old.mode() & 0o7777;
    if (own.uid(), own.gid()) != (old.uid(), old.gid()) {
        let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
        if rustix::fs::fchown(file, Some(owner), Some(group)).is_err() {
            // The file becomes ours, and must not then run with our rights.
            mode &= 0o777;
        }
    }
    // Changing the owner clears bits of the mode, so the mode comes after it.
    rustix::fs::fchmod(file, mode_from_bits(mode))?;
    Ok(())
}

fn put_in_place(
    target: &WriteTarget,
    folder: &OwnedFd,
    (temporary, name): (&str, &OsStr),
    current: Option<&LoadedFile>,
) -> Result<(), ToolError> {
    let path = target.real.as_path();
    fault::point("tools.rename").map_err(|source| unwritable(path, source))?;
    let Some(current) = current else {
        return match rename_to_nothing(folder, temporary, name) {
            Err(Errno::EXIST) => {
                Err(refused(path, "was made by somebody else just now; read it first"))
            }
            renamed => renamed.map_err(|error| unwritable(path, error.into())),
        };
    };
    let now = metadata_in(folder, name).map_err(|source| unwritable(path, source))?;
    let same = |metadata: &Metadata| {
        let changed = (metadata.mtime(), metadata.mtime_nsec(), metadata.len());
        (metadata.dev(), metadata.ino(), changed)
    };
    if same(&now) != same(&current.metadata) {
        return Err(changed(path, &current.seen, &now));
    }
    rustix::fs::renameat(folder, temporary, folder, name)
        .map_err(|error| unwritable(path, error.into()))
}

fn metadata_in(folder: &OwnedFd, name: &OsStr) -> io::Result<Metadata> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?).metadata()
}

/// Renames, unless there is a file of that name by now.
fn rename_to_nothing(folder: &OwnedFd, temporary: &str, name: &OsStr) -> Result<(), Errno> {
    match rustix::fs::renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
        // Some file systems do not know the flag.
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => rustix::fs::renameat(folder, temporary, folder, name),
                Err(error) => Err(error),
            }
        }
        renamed => renamed,
    }
}

fn sync(folder: &OwnedFd) -> io::Result<()> {
    fault::point("tools.sync_dir")?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::fsync(rustix::fs::openat(folder, ".", flags, Mode::empty())?)?)
}

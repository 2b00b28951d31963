//! The user's files, as Write and Edit change them: found, checked against what was read, replaced.
//!
//! Invariants: a file is replaced whole or not at all; one that exists is replaced only if it was read
//! in this conversation and is still what was read; a failure leaves it as it was.

mod place;
mod replace;

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use dormouse_base::{MissingFolder, open_folder_without_links};
use rustix::fs::{Access as FileAccess, AtFlags, Mode, OFlags};

use crate::editor_files::{editor_for, is_saved};
use crate::{
    CachedFile, CallContext, FileGuard, FileRoute, ReadCache, ReadExtent, TextFingerprint,
    ToolError,
};
pub(crate) use place::{WriteTarget, resolve};
pub(crate) use replace::commit;

/// The largest file that is edited or replaced.
pub(crate) const MAX_BYTES: u64 = 50 * 1024 * 1024;
/// More than this is not kept in the cache: it would push out everything else.
const MAX_REMEMBERED: usize = 1024 * 1024;

/// A file as it is now, which is also as it was read.
pub(crate) struct LoadedFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) seen: CachedFile,
    metadata: Metadata,
    /// Where the editor has it.
    in_editor: Option<EditorState>,
}

/// A file that was just written.
pub(crate) struct WrittenFile {
    metadata: Metadata,
    /// What was written, if it went through the editor.
    in_editor: Option<TextFingerprint>,
}

/// What an editor has of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EditorState {
    Saved,
    /// With changes that the disk does not have.
    Unsaved,
}

impl LoadedFile {
    /// Names of this file beside the one it is replaced under.
    pub(crate) fn other_names(&self) -> u64 {
        self.metadata.nlink().saturating_sub(1)
    }
}

/// Asks the guard, if there is one: for the path as named, and for where it leads.
fn ask_guard(guard: Option<&dyn FileGuard>, target: &mut WriteTarget) -> Result<(), ToolError> {
    let Some(guard) = guard else { return Ok(()) };
    for path in [&target.asked, &target.real] {
        match guard.route(path) {
            FileRoute::Plain => {}
            FileRoute::Refused(message) => return Err(ToolError::Failed { message }),
            FileRoute::Through(door) => target.door = Some(door),
        }
    }
    Ok(())
}

/// The file, if there is one and it may be changed.
pub(crate) fn load(
    target: &WriteTarget,
    context: &CallContext,
) -> Result<Option<LoadedFile>, ToolError> {
    let loaded = load_rendered(target, context)?;
    if loaded.as_ref().is_some_and(|file| file.seen.extent == ReadExtent::Rendered) {
        return Err(refused(
            &target.real,
            "was shown in another form than its text, so its text is not known; change a notebook with \
             NotebookEdit, another file with a program, by Bash",
        ));
    }
    Ok(loaded)
}

/// The same where what was shown may be another form of the file, for a tool that knows that form.
pub(crate) fn load_rendered(
    target: &WriteTarget,
    context: &CallContext,
) -> Result<Option<LoadedFile>, ToolError> {
    let path = target.real.as_path();
    let Some(mut file) = open(path)? else { return Ok(None) };
    let metadata = file.metadata().map_err(|source| ToolError::unreadable(path, source))?;
    crate::read::plain(path, &metadata)?;
    let seen = known(path, &context.read_cache)?;
    let is_same = metadata.modified().ok() == Some(seen.modified) && metadata.len() == seen.size;
    if !is_same && seen.in_editor.is_none() {
        return Err(changed(path, &seen, &metadata));
    }
    if metadata.len() > MAX_BYTES {
        return Err(refused(path, "is larger than 50 MB; change it with a program, by Bash"));
    }
    let mut bytes = Vec::new();
    let mut bounded = (&mut file).take(MAX_BYTES + 1);
    bounded.read_to_end(&mut bytes).map_err(|source| ToolError::unreadable(path, source))?;
    let editor = editor_for(context.editor.files.as_ref(), path, metadata.len());
    // What was shown in another form was read from disk.
    let is_text = seen.extent != ReadExtent::Rendered;
    let editor = editor.filter(|_| target.door.is_none() && is_text);
    let text = editor.and_then(|editor| editor.text(path, &context.cancel));
    let is_saved = text.as_ref().is_none_or(|text| is_saved(&bytes, text));
    let current = text.as_ref().map_or(bytes.as_slice(), String::as_bytes);
    let is_same = match (&text, seen.in_editor) {
        // An editor saves on its own; another change on disk it may not know yet.
        (Some(text), Some(seen)) => seen == TextFingerprint::of(text) && (is_same || is_saved),
        // Within one tick of the clock a file can change and keep its time.
        (None, None) if seen.extent != ReadExtent::Whole => true,
        (None | Some(_), None) | (None, Some(_)) => {
            seen.extent == ReadExtent::Whole && seen.content.as_bytes() == current
        }
    };
    if !is_same && text.is_some() {
        return Err(refused(
            path,
            "was changed in the editor or on disk since it was read; read it again",
        ));
    }
    if !is_same || bytes.len() as u64 != metadata.len() {
        return Err(changed(path, &seen, &metadata));
    }
    let state = if is_saved { EditorState::Saved } else { EditorState::Unsaved };
    let in_editor = text.as_ref().map(|_| state);
    Ok(Some(LoadedFile {
        bytes: text.map_or(bytes, String::into_bytes),
        seen,
        metadata,
        in_editor,
    }))
}

/// Opens it for reading, if it exists; nothing that is not a plain file, and nothing read-only.
fn open(path: &Path) -> Result<Option<File>, ToolError> {
    match path.symlink_metadata() {
        Ok(metadata) => crate::read::plain(path, &metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(ToolError::unreadable(path, source)),
    }
    let (parent, name) = parts(path)?;
    let folder = open_folder_without_links(parent, MissingFolder::Fails)
        .map_err(|source| ToolError::unreadable(parent, source))?;
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&folder, name, flags, Mode::empty())
        .map_err(|error| ToolError::unreadable(path, error.into()))?;
    let file = File::from(file);
    let mode = file.metadata().map_err(|source| ToolError::unreadable(path, source))?.mode();
    let allowed = rustix::fs::accessat(&folder, name, FileAccess::WRITE_OK, AtFlags::EACCESS);
    // Replacing needs the folder's permission only, so the file's own is asked for here. To the
    // superuser all is permitted, but a file without any write bit was meant to stay.
    if mode & 0o222 == 0 || matches!(allowed, Err(rustix::io::Errno::ACCESS)) {
        let reason = format!(
            "is read-only (mode {:o}); if it is to be changed, make it writable first",
            mode & 0o7777
        );
        return Err(refused(path, &reason));
    }
    allowed.map_err(|error| unwritable(path, error.into()))?;
    Ok(Some(file))
}

/// What is remembered of the file.
fn known(path: &Path, cache: &Mutex<ReadCache>) -> Result<CachedFile, ToolError> {
    let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(seen) = cache.get(path).cloned() else {
        return Err(refused(
            path,
            "exists and has not been read in this conversation; read it first, then change it; a \
             file that is not text cannot be read this way: change it with a command",
        ));
    };
    Ok(seen)
}

fn changed(path: &Path, seen: &CachedFile, now: &Metadata) -> ToolError {
    let time = |time: Option<SystemTime>| {
        time.and_then(|time| jiff::Timestamp::try_from(time).ok())
            .map_or_else(|| "an unknown time".to_owned(), |time| format!("{time:.3}"))
    };
    let (then, now_at) = (time(Some(seen.modified)), time(now.modified().ok()));
    let reason = format!(
        "changed since it was read: then it had {} bytes of {then}, now it has {} of {now_at}; read \
         it again",
        seen.size,
        now.len()
    );
    refused(path, &reason)
}

/// What the cache holds of a file after it was written.
pub(crate) fn remember(
    context: &Mutex<ReadCache>,
    path: PathBuf,
    written: &WrittenFile,
    extent: ReadExtent,
    content: String,
) {
    let WrittenFile { metadata, in_editor } = written;
    let (Ok(modified), in_editor) = (metadata.modified(), *in_editor) else { return };
    let size = metadata.len();
    let file = if content.len() > MAX_REMEMBERED {
        let (extent, content) = (ReadExtent::Part, String::new());
        CachedFile { modified, size, extent, content, in_editor }
    } else if content.len() as u64 != size && in_editor.is_none() {
        // A door may have added to it.
        CachedFile { modified, size, extent: ReadExtent::Part, content, in_editor }
    } else {
        CachedFile { modified, size, extent, content, in_editor }
    };
    context.lock().unwrap_or_else(PoisonError::into_inner).insert(path, file);
}

/// The same for a file of which another form than its text is known.
pub(crate) fn remember_rendered(
    cache: &Mutex<ReadCache>,
    path: PathBuf,
    written: &WrittenFile,
    content: String,
) {
    let Ok(modified) = written.metadata.modified() else { return };
    let (size, extent, in_editor) = (written.metadata.len(), ReadExtent::Rendered, None);
    let file = CachedFile { modified, size, extent, content, in_editor };
    cache.lock().unwrap_or_else(PoisonError::into_inner).insert(path, file);
}

/// Where a call's `file_path` leads, if it may be written.
pub(crate) fn permitted(context: &CallContext, file_path: &Path) -> Result<WriteTarget, ToolError> {
    let mut target = resolve(&context.folder, file_path)?;
    ask_guard(context.file_guard.as_deref(), &mut target)?;
    Ok(target)
}

fn parts(path: &Path) -> Result<(&Path, &std::ffi::OsStr), ToolError> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(refused(path, "does not name a file")),
    }
}

pub(crate) fn refused(path: &Path, reason: &str) -> ToolError {
    ToolError::Refused { path: path.to_owned(), reason: reason.to_owned() }
}

fn unwritable(path: &Path, source: io::Error) -> ToolError {
    ToolError::Unwritable { path: path.to_owned(), source }
}

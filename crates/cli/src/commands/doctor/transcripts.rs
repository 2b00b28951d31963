//! The transcripts of this project: whether every line can be read.

use dormouse_base::{Dir, DirEntry, EntryKind, FileError, RelPath};
use dormouse_conversation::transcript::load_transcript;
use dormouse_engine::SessionFolder;

use super::finding::Finding;
use super::scene::Scene;

const AREA: &str = "transcripts";
/// The newest are looked at until they come to this much: a check is to take a moment, not a minute.
const MOST_BYTES: u64 = 100_000_000;
/// As many files with bad lines are named.
const NAMED: usize = 5;

pub(super) fn check(scene: &Scene<'_>) -> Vec<Finding> {
    let folder = match SessionFolder::existing(&scene.home, &scene.project) {
        Ok(None) => return vec![Finding::well(AREA, "none of this project yet")],
        Ok(Some(folder)) => folder,
        Err(error) => return vec![unreadable(&error)],
    };
    let files = match newest(folder.dir()) {
        Ok(files) => files,
        Err(error) => return vec![unreadable(&error)],
    };
    let (mut looked_at, mut bytes, mut bad) = (0, 0_u64, Vec::new());
    for file in &files {
        if bytes > MOST_BYTES {
            break;
        }
        bytes += file.size;
        looked_at += 1;
        bad.extend(look(folder.dir(), file));
    }
    let what = format!("{looked_at} of {} looked at, {} with bad lines", files.len(), bad.len());
    bad.truncate(NAMED);
    bad.insert(0, Finding::well(AREA, what));
    bad
}

fn newest(dir: &Dir) -> Result<Vec<DirEntry>, FileError> {
    let is_transcript = |entry: &DirEntry| {
        entry.kind == EntryKind::File && entry.name.strip_suffix(".jsonl").is_some()
    };
    let mut files: Vec<DirEntry> = dir.entries()?.into_iter().filter(is_transcript).collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.modified));
    Ok(files)
}

fn look(dir: &Dir, file: &DirEntry) -> Option<Finding> {
    let bytes = match RelPath::new(&file.name).map(|path| dir.read(&path)).ok()? {
        Ok(bytes) => bytes,
        // It went away since it was listed.
        Err(error) if error.is_not_found() => return None,
        Err(error) => return Some(unreadable(&error)),
    };
    let warnings = load_transcript(&bytes).warnings;
    let first = warnings.first()?;
    Some(Finding::warning(
        AREA,
        format!("{}: {} lines can not be used; {first}", file.name, warnings.len()),
        "the rest of the session is used; what those lines held is lost, unless there is a backup",
    ))
}

fn unreadable(error: &FileError) -> Finding {
    Finding::problem(AREA, error.to_string(), "check the owner and permissions of the file")
}

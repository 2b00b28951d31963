//! The transcripts of this project: whether every line can be read.

use dormouse_base::{Dir, DirEntry, EntryKind, FileError, RelPath};
use dormouse_conversation::transcript::load_transcript;
use dormouse_engine::SessionFolder;

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;

const AREA: &str = "transcripts";
/// The newest files are checked up to this total size, to keep the check fast.
const MAX_BYTES: u64 = 100_000_000;
/// Maximum number of damaged files listed.
const LISTED_FILES: usize = 5;

pub(super) fn check(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let folder = match SessionFolder::existing(&context.home, &context.project) {
        Ok(None) => return vec![DoctorFinding::ok(AREA, msg!("doctor-transcripts-none"))],
        Ok(Some(folder)) => folder,
        Err(error) => return vec![unreadable(&error)],
    };
    let files = match newest(folder.dir()) {
        Ok(files) => files,
        Err(error) => return vec![unreadable(&error)],
    };
    let mut checked = 0_usize;
    let mut bytes = 0_u64;
    let mut bad = Vec::new();
    for file in &files {
        if bytes > MAX_BYTES {
            break;
        }
        bytes += file.size;
        checked += 1;
        bad.extend(check_file(folder.dir(), file));
    }
    let text = msg!(
        "doctor-transcripts-checked",
        checked = checked,
        all = files.len(),
        damaged = bad.len()
    );
    bad.truncate(LISTED_FILES);
    bad.insert(0, DoctorFinding::ok(AREA, text));
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

fn check_file(dir: &Dir, file: &DirEntry) -> Option<DoctorFinding> {
    let bytes = match RelPath::new(&file.name).map(|path| dir.read(&path)).ok()? {
        Ok(bytes) => bytes,
        // It was removed after it was listed.
        Err(error) if error.is_not_found() => return None,
        Err(error) => return Some(unreadable(&error)),
    };
    let warnings = load_transcript(&bytes).warnings;
    let first = warnings.first()?;
    Some(DoctorFinding::warning(
        AREA,
        msg!(
            "doctor-transcripts-damaged",
            file = file.name.clone(),
            lines = warnings.len(),
            first = first.to_string()
        ),
        msg!("doctor-transcripts-fix"),
    ))
}

fn unreadable(error: &FileError) -> DoctorFinding {
    DoctorFinding::problem(AREA, error.to_string(), msg!("doctor-transcripts-fix-unreadable"))
}

//! The answer: as much as fits, and how much there is besides.

use std::path::Path;

use super::query::{GrepMode, GrepQuery, RESULT_CHARS};
use super::search::{Hits, LineKind, OutputLine, Results};

/// Characters kept for the notes at the end.
const NOTE_CHARS: usize = 400;

/// The text for the model.
pub(super) fn report(results: &Results, query: &GrepQuery) -> String {
    let mut page = Page {
        text: String::new(),
        room: RESULT_CHARS as usize - NOTE_CHARS,
        left: query.max_hits,
        files: 0,
        matches: 0,
    };
    for (path, hits) in &results.files {
        if !page.add_file(&path_text(path), hits, query.mode) {
            break;
        }
    }
    let mut text = page.text.clone();
    for note in page.notes(results, query.mode) {
        text.push_str(&note);
        text.push('\n');
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// A path in one line, whatever is in it.
fn path_text(path: &Path) -> String {
    let text = path.display().to_string();
    if text.contains(char::is_control) { format!("{text:?}") } else { text }
}

/// What is shown so far.
struct Page {
    text: String,
    /// Characters left.
    room: usize,
    /// Matches left, or files where only those are listed. Lines around a match do not count.
    left: usize,
    files: u64,
    matches: u64,
}

impl Page {
    /// Whether all of the file could be added.
    fn add_file(&mut self, path: &str, hits: &Hits, mode: GrepMode) -> bool {
        match mode {
            GrepMode::FilesWithMatches => self.add_counted(path, hits),
            GrepMode::Count => self.add_counted(&format!("{path}:{}", hits.matches), hits),
            GrepMode::Content => {
                let mut counted = false;
                for line in &hits.lines {
                    // Behind a break, lines belong to the next match.
                    let begins_next = matches!(line.kind, LineKind::Match | LineKind::Break);
                    if begins_next && self.left == 0 || !self.push(&line_text(path, line)) {
                        return false;
                    }
                    self.left -= usize::from(line.kind == LineKind::Match);
                    self.matches += u64::from(line.kind == LineKind::Match);
                    self.files += u64::from(line.kind == LineKind::Match && !counted);
                    counted |= line.kind == LineKind::Match;
                }
                true
            }
        }
    }

    fn add_counted(&mut self, line: &str, hits: &Hits) -> bool {
        let added = self.left > 0 && self.push(line);
        if added {
            self.left -= 1;
            self.files += 1;
            self.matches += hits.matches;
        }
        added
    }

    fn push(&mut self, line: &str) -> bool {
        let chars = line.chars().count() + 1;
        if chars > self.room {
            return false;
        }
        self.room -= chars;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    /// What else there is to know.
    fn notes(&self, results: &Results, mode: GrepMode) -> Vec<String> {
        let all_matches =
            results.dropped_matches + results.files.values().map(|hits| hits.matches).sum::<u64>();
        let all_files = results.dropped_files + results.files.len() as u64;
        let (matches, files) = (all_matches - self.matches, all_files - self.files);
        let mut notes = Vec::new();
        if all_files == 0 {
            notes.push("[nothing matches]".to_owned());
            if results.binary > 0 {
                notes.push(format!("[{} binary files were not searched]", results.binary));
            }
        }
        match mode {
            GrepMode::Content if matches > 0 => notes.push(format!(
                "[{matches} more matches are not shown, and {files} files with matches are missing \
                 altogether; make the search narrower to see them]"
            )),
            GrepMode::FilesWithMatches if files > 0 => notes
                .push(format!("[{files} more files match; make the search narrower to see them]")),
            GrepMode::Count if all_files > 0 => {
                let missing = if files > 0 {
                    format!("; {files} of these files, with {matches} matches, are not listed")
                } else {
                    String::new()
                };
                notes.push(format!("[{all_matches} matches in {all_files} files{missing}]"));
            }
            GrepMode::Content | GrepMode::FilesWithMatches | GrepMode::Count => {}
        }
        if results.is_stopped {
            notes.push(
                "[it took too long and was stopped before everything was searched; narrow it with `path` or \
                 `glob`, or use a simpler pattern]"
                    .to_owned(),
            );
        }
        if results.denied > 0 {
            notes
                .push(format!("[{} files were left out: rules deny reading them]", results.denied));
        }
        if results.unreadable > 0 {
            notes.push(format!("[{} files or folders could not be searched]", results.unreadable));
        }
        notes
    }
}

fn line_text(path: &str, line: &OutputLine) -> String {
    let OutputLine { number, text, .. } = line;
    match line.kind {
        LineKind::Match | LineKind::Continued => format!("{path}:{number}:{text}"),
        LineKind::Context => format!("{path}-{number}-{text}"),
        LineKind::Break => "--".to_owned(),
    }
}

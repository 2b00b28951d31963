//! The files of a session's notes, in `session-memory/` of its folder.
//!
//! `summary.md` is the notes, `template.md` their initial text, `reach.json` the messages that they cover. While a run
//! edits the notes, `before.md` is their text before the run: as long as it exists, it is the valid one. So a run that
//! fails, is killed or dies with the process changes nothing: readers take `before.md`, and the next run restores it.
//! Invariant: the reach is never newer than the notes.

use std::path::PathBuf;

use dormouse_base::{Dir, DirEntry, FileError, RelPath};
use dormouse_context::compact::notes::{Damage, Template};
use thiserror::Error;

use super::thresholds::NotesReach;

/// The most bytes of notes: about five times what a compaction takes of them.
const MOST_BYTES: u64 = 256 * 1024;

const NOTES: &str = "session-memory/summary.md";
const BEFORE: &str = "session-memory/before.md";
const TEMPLATE: &str = "session-memory/template.md";
const REACH: &str = "session-memory/reach.json";
/// Notes that cannot be used are kept here: the user may have edited them.
const SET_ASIDE: &str = "session-memory/set-aside.md";

/// Why notes cannot be used.
#[derive(Debug, Error)]
pub enum NotesError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// They are too long.
    #[error("the notes have {0} bytes; the limit is {MOST_BYTES}")]
    TooLong(u64),
    /// They are not text.
    #[error("the notes are not UTF-8 text")]
    NotText,
    /// They lost a line of their template.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// Only the template is left.
    #[error("the notes were emptied: only their template is left")]
    Emptied,
    /// The run changed nothing.
    #[error("the notes were not changed")]
    Unchanged,
}

/// The files of a session's notes.
#[derive(Debug, Clone)]
pub(super) struct NotesFiles {
    session: Dir,
}

/// The text of the notes, and the template that they started from.
#[derive(Debug)]
pub(super) struct CurrentNotes {
    pub(super) text: String,
    pub(super) template: Template,
}

impl NotesFiles {
    pub(super) fn of(session: &Dir) -> Self {
        Self { session: session.clone() }
    }

    /// The path of the notes with links resolved, as the gate of a fork sees it.
    pub(super) fn path(&self) -> PathBuf {
        let folder = self.session.path();
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(NOTES)
    }

    /// The valid notes; none if there are none.
    pub(super) fn read(&self, template: &Template) -> Result<Option<CurrentNotes>, NotesError> {
        let text = match self.text(BEFORE)? {
            Some(text) => Some(text),
            None => self.text(NOTES)?,
        };
        let Some(text) = text else { return Ok(None) };
        let template = self.initial_template(template)?;
        template.check(&text)?;
        Ok(Some(CurrentNotes { text, template }))
    }

    /// The template that the notes started from: the user may have changed it since.
    fn initial_template(&self, template: &Template) -> Result<Template, NotesError> {
        Ok(self.text(TEMPLATE)?.map_or_else(|| template.clone(), |text| Template::parse(&text)))
    }

    /// The messages that the notes cover, if known.
    pub(super) fn reach(&self) -> Option<NotesReach> {
        // With an unreadable reach, the notes are just not used for a compaction.
        let bytes = self.session.read(&fixed_path(REACH)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Prepares the notes for a run: restores them, or starts new ones if there are none that can be used.
    pub(super) fn open(&self, template: &Template) -> Result<(CurrentNotes, DirEntry), NotesError> {
        self.restore()?;
        let current = match self.read(template) {
            Ok(Some(current)) => current,
            Ok(None) => self.create(template)?,
            Err(NotesError::File(error)) => return Err(error.into()),
            Err(_) => {
                self.session.rename(&fixed_path(NOTES), &fixed_path(SET_ASIDE))?;
                self.create(template)?
            }
        };
        self.session.replace(&fixed_path(BEFORE), current.text.as_bytes())?;
        let entry = self.session.entry(&fixed_path(NOTES))?;
        Ok((current, entry))
    }

    fn create(&self, template: &Template) -> Result<CurrentNotes, NotesError> {
        self.remove(REACH)?;
        self.session.replace(&fixed_path(TEMPLATE), template.text().as_bytes())?;
        self.session.replace(&fixed_path(NOTES), template.text().as_bytes())?;
        Ok(CurrentNotes { text: template.text().to_owned(), template: template.clone() })
    }

    /// Writes plain text into one section of the notes, in place of what it said; into the first, if there is no such section.
    pub(super) fn write_plain(
        &self,
        before: &CurrentNotes,
        heading: &str,
        text: &str,
    ) -> Result<(), NotesError> {
        let notes = with_section(before.template.text(), heading, text);
        Ok(self.session.replace(&fixed_path(NOTES), notes.as_bytes())?)
    }

    /// The text after a run, if it can be kept.
    pub(super) fn changed(&self, before: &CurrentNotes) -> Result<String, NotesError> {
        let text = self.text(NOTES)?.unwrap_or_default();
        if text == before.text {
            return Err(NotesError::Unchanged);
        }
        before.template.check(&text)?;
        if before.template.says_nothing(&text) {
            return Err(NotesError::Emptied);
        }
        Ok(text)
    }

    /// Keeps the result of a run. A crash in between leaves an older reach, never a newer one.
    pub(super) fn keep(&self, reach: &NotesReach) -> Result<(), NotesError> {
        self.remove(BEFORE)?;
        // Two plain fields always serialize.
        let reach = serde_json::to_vec(reach).unwrap_or_default();
        Ok(self.session.replace(&fixed_path(REACH), &reach)?)
    }

    /// Restores the notes from before the run.
    pub(super) fn restore(&self) -> Result<(), NotesError> {
        match self.session.rename(&fixed_path(BEFORE), &fixed_path(NOTES)) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn remove(&self, name: &str) -> Result<(), NotesError> {
        match self.session.remove_file(&fixed_path(name)) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// A file as text; none if it does not exist.
    fn text(&self, name: &str) -> Result<Option<String>, NotesError> {
        let size = match self.session.entry(&fixed_path(name)) {
            Ok(entry) => entry.size,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if size > MOST_BYTES {
            return Err(NotesError::TooLong(size));
        }
        let bytes = self.session.read(&fixed_path(name))?;
        String::from_utf8(bytes).map(Some).map_err(|_| NotesError::NotText)
    }
}

/// A template with a text in one section. Headings in the text would look like sections, so they are one level lower.
fn with_section(template: &str, heading: &str, text: &str) -> String {
    let has_heading = template.lines().any(|line| line.trim_end() == heading);
    let is_section =
        |line: &str| line.starts_with("# ") && (!has_heading || line.trim_end() == heading);
    let lower = |line: &str| {
        if line.starts_with("# ") { format!("#{line}\n") } else { format!("{line}\n") }
    };
    let body: String = text.trim().lines().map(lower).collect();
    let mut notes = String::new();
    let mut is_written = false;
    let mut lines = template.lines().peekable();
    while let Some(line) = lines.next() {
        notes.push_str(&format!("{line}\n"));
        if is_written || !is_section(line) {
            continue;
        }
        // The line that says what the section is for stays.
        if let Some(purpose) = lines.next_if(|line| line.starts_with('_')) {
            notes.push_str(&format!("{purpose}\n"));
        }
        notes.push_str(&body);
        is_written = true;
    }
    notes
}

#[expect(clippy::expect_used, reason = "only fixed plain paths are given to it")]
pub(super) fn fixed_path(path: &str) -> RelPath {
    RelPath::new(path).expect("a plain path")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEMPLATE_TEXT: &str = "# Title\n_t_\n\n# Current State\n_s_\n";

    struct Kept {
        _keep: tempfile::TempDir,
        dir: Dir,
        files: NotesFiles,
        template: Template,
    }

    impl Kept {
        fn new() -> Self {
            let keep = tempfile::tempdir().unwrap();
            let dir = Dir::open(keep.path()).unwrap();
            Self {
                files: NotesFiles::of(&dir),
                _keep: keep,
                dir,
                template: Template::parse(TEMPLATE_TEXT),
            }
        }

        fn write(&self, text: &str) {
            self.dir.replace(&fixed_path(NOTES), text.as_bytes()).unwrap();
        }

        fn file(&self, name: &str) -> String {
            String::from_utf8(self.dir.read(&fixed_path(name)).unwrap()).unwrap()
        }

        fn text(&self) -> Option<String> {
            self.files.read(&self.template).unwrap().map(|current| current.text)
        }
    }

    fn mark(tokens: u64) -> NotesReach {
        NotesReach { message: "0193b0a4-0000-7000-8000-000000000000".parse().unwrap(), tokens }
    }

    #[test]
    fn the_notes_before_a_run_are_valid_until_it_is_kept() {
        let kept = Kept::new();
        assert!(kept.text().is_none() && kept.files.reach().is_none());
        let (before, entry) = kept.files.open(&kept.template).unwrap();
        assert_eq!((before.text.as_str(), entry.size), (TEMPLATE_TEXT, TEMPLATE_TEXT.len() as u64));
        let filled = TEMPLATE_TEXT.replace("_s_\n", "_s_\nnuts\n");
        kept.write(&filled);
        assert_eq!(kept.text().as_deref(), Some(TEMPLATE_TEXT), "the run may still fail");
        assert_eq!(kept.files.changed(&before).unwrap(), filled);
        kept.files.keep(&mark(7)).unwrap();
        assert_eq!((kept.text(), kept.files.reach()), (Some(filled.clone()), Some(mark(7))));

        // After a process that died in the middle, readers find the notes from before.
        kept.files.open(&kept.template).unwrap();
        kept.write("half");
        assert_eq!(kept.text().as_deref(), Some(filled.as_str()));
        let (before, _) = kept.files.open(&kept.template).unwrap();
        assert_eq!((before.text, kept.file(NOTES)), (filled.clone(), filled));
        assert_eq!(kept.files.reach(), Some(mark(7)));
    }

    #[test]
    fn results_that_cannot_be_kept() {
        let kept = Kept::new();
        kept.write(&TEMPLATE_TEXT.replace("_s_\n", "_s_\nnuts\n"));
        let (before, _) = kept.files.open(&kept.template).unwrap();
        for (text, why) in [
            (before.text.clone(), "were not changed"),
            (TEMPLATE_TEXT.to_owned(), "emptied"),
            (String::new(), "`# Title` is missing"),
            (before.text.replace("_s_\n", ""), "`_s_` is missing"),
            (before.text.replace("# Title", "# title"), "`# Title` is missing"),
            (format!("{}{}", before.text, "x".repeat(300_000)), "the limit is 262144"),
        ] {
            kept.write(&text);
            let refused = kept.files.changed(&before).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        kept.dir.replace(&fixed_path(NOTES), b"# Title\n_t_\n# Current State\n_s_\n\xff").unwrap();
        assert!(matches!(kept.files.changed(&before), Err(NotesError::NotText)));
        kept.files.restore().unwrap();
        assert_eq!(kept.file(NOTES), before.text);
        kept.files.restore().unwrap();
    }

    #[test]
    fn damaged_notes_are_set_aside() {
        let kept = Kept::new();
        kept.files.open(&kept.template).unwrap();
        kept.write(&format!("{TEMPLATE_TEXT}x\n"));
        kept.files.keep(&mark(7)).unwrap();
        kept.write("# Mine now\n");
        assert!(matches!(kept.files.read(&kept.template), Err(NotesError::Damaged(_))));
        let (current, _) = kept.files.open(&kept.template).unwrap();
        assert_eq!(
            (current.text.as_str(), kept.file(SET_ASIDE)),
            (TEMPLATE_TEXT, "# Mine now\n".into())
        );
        assert_eq!(kept.files.reach(), None);
    }

    #[test]
    fn plain_text_goes_into_one_section() {
        let kept = Kept::new();
        let (before, _) = kept.files.open(&kept.template).unwrap();
        kept.files.write_plain(&before, "# Current State", "# Done\nnuts counted\n").unwrap();
        let text = kept.files.changed(&before).unwrap();
        assert_eq!(text, "# Title\n_t_\n\n# Current State\n_s_\n## Done\nnuts counted\n");
        assert_eq!(with_section("# Mine\n", "# Current State", "nuts"), "# Mine\nnuts\n");
    }

    #[test]
    fn another_template_is_for_other_sessions() {
        let kept = Kept::new();
        let (before, _) = kept.files.open(&kept.template).unwrap();
        kept.write(&format!("{TEMPLATE_TEXT}x\n"));
        kept.files.changed(&before).unwrap();
        kept.files.keep(&mark(1)).unwrap();
        let other = Template::parse("# Other\n_o_\n");
        let current = kept.files.read(&other).unwrap().unwrap();
        assert_eq!(
            (current.text, current.template.text()),
            (format!("{TEMPLATE_TEXT}x\n"), TEMPLATE_TEXT)
        );
    }

    #[test]
    fn a_link_is_not_followed() {
        let kept = Kept::new();
        kept.files.open(&kept.template).unwrap();
        kept.files.restore().unwrap();
        kept.dir.remove_file(&fixed_path(NOTES)).unwrap();
        let link = kept.dir.path().join(NOTES);
        std::os::unix::fs::symlink("/etc/hostname", link).unwrap();
        assert!(kept.files.read(&kept.template).is_err());
        assert!(kept.files.open(&kept.template).is_err());
    }
}

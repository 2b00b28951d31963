//! The files of a session's notes, in `session-memory/` of its folder.
//!
//! `summary.md` is the notes, `template.md` what they began as, `reach.json` how far they go. While a run
//! changes the notes, `before.md` is what stood in them before: as long as it is there, it is what counts.
//! So a run that fails, is killed or dies with the process has changed nothing: whoever reads next takes
//! `before.md`, and the next run puts it back. Invariant: the reach is never newer than the notes.

use std::path::PathBuf;

use dormouse_base::{Dir, DirEntry, FileError, RelPath};
use dormouse_context::compact::notes::{Damage, Template};
use thiserror::Error;

use super::thresholds::NotesReach;

/// More than this is no notes: some five times what a compaction takes of them.
const MOST_BYTES: u64 = 256 * 1024;

const NOTES: &str = "session-memory/summary.md";
const BEFORE: &str = "session-memory/before.md";
const TEMPLATE: &str = "session-memory/template.md";
const REACH: &str = "session-memory/reach.json";
/// Where notes go that can not be used: a person may have worked on them.
const SET_ASIDE: &str = "session-memory/set-aside.md";

/// Notes that can not be used.
#[derive(Debug, Error)]
pub enum NotesError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// They are too long.
    #[error("the notes have {0} bytes, and {MOST_BYTES} are the most")]
    TooLong(u64),
    /// They are no text.
    #[error("the notes are not UTF-8 text")]
    NotText,
    /// They lost a line of their template.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// What was in them is gone: only the template is left.
    #[error("nothing is left in the notes but their template")]
    Emptied,
    /// Nothing was written into them.
    #[error("nothing was changed in the notes")]
    Unchanged,
}

/// The notes of a session.
#[derive(Debug, Clone)]
pub(super) struct NotesFiles {
    session: Dir,
}

/// Notes as they stand on the files.
#[derive(Debug)]
pub(super) struct CurrentNotes {
    pub(super) text: String,
    pub(super) template: Template,
}

impl NotesFiles {
    pub(super) fn of(session: &Dir) -> Self {
        Self { session: session.clone() }
    }

    /// Where the notes are, links followed: so the gate of a fork will see it.
    pub(super) fn path(&self) -> PathBuf {
        let folder = self.session.path();
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).join(NOTES)
    }

    /// The notes that count; none if there are none.
    pub(super) fn read(&self, template: &Template) -> Result<Option<CurrentNotes>, NotesError> {
        let text = match self.text(BEFORE)? {
            Some(text) => Some(text),
            None => self.text(NOTES)?,
        };
        let Some(text) = text else { return Ok(None) };
        let template = self.began_as(template)?;
        template.check(&text)?;
        Ok(Some(CurrentNotes { text, template }))
    }

    /// What the notes began as: the person may have another template by now.
    fn began_as(&self, template: &Template) -> Result<Template, NotesError> {
        Ok(self.text(TEMPLATE)?.map_or_else(|| template.clone(), |text| Template::parse(&text)))
    }

    /// How far the notes go; nothing if nobody can say.
    pub(super) fn reach(&self) -> Option<NotesReach> {
        // A reach that can not be read is none: then the notes are only not used for a compaction.
        let bytes = self.session.read(&plain(REACH)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Makes the notes ready to be changed, and new ones if there are none that can be used.
    pub(super) fn open(&self, template: &Template) -> Result<(CurrentNotes, DirEntry), NotesError> {
        self.restore()?;
        let current = match self.read(template) {
            Ok(Some(current)) => current,
            Ok(None) => self.begin(template)?,
            Err(NotesError::File(error)) => return Err(error.into()),
            Err(_) => {
                self.session.rename(&plain(NOTES), &plain(SET_ASIDE))?;
                self.begin(template)?
            }
        };
        self.session.replace(&plain(BEFORE), current.text.as_bytes())?;
        let entry = self.session.entry(&plain(NOTES))?;
        Ok((current, entry))
    }

    fn begin(&self, template: &Template) -> Result<CurrentNotes, NotesError> {
        self.remove(REACH)?;
        self.session.replace(&plain(TEMPLATE), template.text().as_bytes())?;
        self.session.replace(&plain(NOTES), template.text().as_bytes())?;
        Ok(CurrentNotes { text: template.text().to_owned(), template: template.clone() })
    }

    /// What a run has made of the notes, if it can be kept.
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

    /// The run counts. A crash between the two leaves an older reach, never a newer one.
    pub(super) fn keep(&self, reach: &NotesReach) -> Result<(), NotesError> {
        self.remove(BEFORE)?;
        // Two fields have no way to fail to serialise.
        let reach = serde_json::to_vec(reach).unwrap_or_default();
        Ok(self.session.replace(&plain(REACH), &reach)?)
    }

    /// The run does not count: the notes are what they were before it.
    pub(super) fn restore(&self) -> Result<(), NotesError> {
        match self.session.rename(&plain(BEFORE), &plain(NOTES)) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn remove(&self, name: &str) -> Result<(), NotesError> {
        match self.session.remove_file(&plain(name)) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// A file as text; none if it is not there.
    fn text(&self, name: &str) -> Result<Option<String>, NotesError> {
        let size = match self.session.entry(&plain(name)) {
            Ok(entry) => entry.size,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if size > MOST_BYTES {
            return Err(NotesError::TooLong(size));
        }
        let bytes = self.session.read(&plain(name))?;
        String::from_utf8(bytes).map(Some).map_err(|_| NotesError::NotText)
    }
}

#[expect(clippy::expect_used, reason = "only fixed plain paths are given to it")]
pub(super) fn plain(path: &str) -> RelPath {
    RelPath::new(path).expect("a plain path")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "# Title\n_t_\n\n# Current State\n_s_\n";

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
            Self { files: NotesFiles::of(&dir), _keep: keep, dir, template: Template::parse(SHEET) }
        }

        fn write(&self, text: &str) {
            self.dir.replace(&plain(NOTES), text.as_bytes()).unwrap();
        }

        fn file(&self, name: &str) -> String {
            String::from_utf8(self.dir.read(&plain(name)).unwrap()).unwrap()
        }

        fn text(&self) -> Option<String> {
            self.files.read(&self.template).unwrap().map(|current| current.text)
        }
    }

    fn mark(tokens: u64) -> NotesReach {
        NotesReach { message: "0193b0a4-0000-7000-8000-000000000000".parse().unwrap(), tokens }
    }

    #[test]
    fn what_stood_before_counts_until_a_run_is_kept() {
        let kept = Kept::new();
        assert!(kept.text().is_none() && kept.files.reach().is_none());
        let (before, entry) = kept.files.open(&kept.template).unwrap();
        assert_eq!((before.text.as_str(), entry.size), (SHEET, SHEET.len() as u64));
        let filled = SHEET.replace("_s_\n", "_s_\nnuts\n");
        kept.write(&filled);
        assert_eq!(kept.text().as_deref(), Some(SHEET), "the run may still fail");
        assert_eq!(kept.files.changed(&before).unwrap(), filled);
        kept.files.keep(&mark(7)).unwrap();
        assert_eq!((kept.text(), kept.files.reach()), (Some(filled.clone()), Some(mark(7))));

        // A process that dies in the middle: whoever comes next finds what was there.
        kept.files.open(&kept.template).unwrap();
        kept.write("half");
        assert_eq!(kept.text().as_deref(), Some(filled.as_str()));
        let (before, _) = kept.files.open(&kept.template).unwrap();
        assert_eq!((before.text, kept.file(NOTES)), (filled.clone(), filled));
        assert_eq!(kept.files.reach(), Some(mark(7)));
    }

    #[test]
    fn what_can_not_be_kept() {
        let kept = Kept::new();
        kept.write(&SHEET.replace("_s_\n", "_s_\nnuts\n"));
        let (before, _) = kept.files.open(&kept.template).unwrap();
        for (text, why) in [
            (before.text.clone(), "nothing was changed"),
            (SHEET.to_owned(), "nothing is left"),
            (String::new(), "`# Title` is missing"),
            (before.text.replace("_s_\n", ""), "`_s_` is missing"),
            (before.text.replace("# Title", "# title"), "`# Title` is missing"),
            (format!("{}{}", before.text, "x".repeat(300_000)), "262144 are the most"),
        ] {
            kept.write(&text);
            let refused = kept.files.changed(&before).unwrap_err().to_string();
            assert!(refused.contains(why), "{refused}");
        }
        kept.dir.replace(&plain(NOTES), b"# Title\n_t_\n# Current State\n_s_\n\xff").unwrap();
        assert!(matches!(kept.files.changed(&before), Err(NotesError::NotText)));
        kept.files.restore().unwrap();
        assert_eq!(kept.file(NOTES), before.text);
        kept.files.restore().unwrap();
    }

    #[test]
    fn notes_that_somebody_damaged_are_set_aside() {
        let kept = Kept::new();
        kept.files.open(&kept.template).unwrap();
        kept.write(&format!("{SHEET}x\n"));
        kept.files.keep(&mark(7)).unwrap();
        kept.write("# Mine now\n");
        assert!(matches!(kept.files.read(&kept.template), Err(NotesError::Damaged(_))));
        let (current, _) = kept.files.open(&kept.template).unwrap();
        assert_eq!((current.text.as_str(), kept.file(SET_ASIDE)), (SHEET, "# Mine now\n".into()));
        assert_eq!(kept.files.reach(), None);
    }

    #[test]
    fn another_template_is_for_other_sessions() {
        let kept = Kept::new();
        let (before, _) = kept.files.open(&kept.template).unwrap();
        kept.write(&format!("{SHEET}x\n"));
        kept.files.changed(&before).unwrap();
        kept.files.keep(&mark(1)).unwrap();
        let other = Template::parse("# Other\n_o_\n");
        let current = kept.files.read(&other).unwrap().unwrap();
        assert_eq!((current.text, current.template.text()), (format!("{SHEET}x\n"), SHEET));
    }

    #[test]
    fn a_link_is_not_followed() {
        let kept = Kept::new();
        kept.files.open(&kept.template).unwrap();
        kept.files.restore().unwrap();
        kept.dir.remove_file(&plain(NOTES)).unwrap();
        let link = kept.dir.path().join(NOTES);
        std::os::unix::fs::symlink("/etc/hostname", link).unwrap();
        assert!(kept.files.read(&kept.template).is_err());
        assert!(kept.files.open(&kept.template).is_err());
    }
}

//! The template of the notes and the prompt of the run that keeps them: the person's, where there are some.

use std::path::Path;

use dormouse_base::{Dir, FileError, RelPath};
use dormouse_context::compact::notes::{PROMPT, TEMPLATE, Template, fill, sections};

use super::files::plain;

/// Where the person's own are, below the program's folder.
const FOLDER: &str = "session-memory/config";
/// What the run has to be told: where the notes are, and what stands in them.
const NEEDED: [&str; 2] = ["notesPath", "currentNotes"];

/// What notes begin as, and what the run that keeps them is told.
#[derive(Debug, Clone)]
pub struct NotesConfig {
    pub(super) template: Template,
    pub(super) prompt: String,
}

impl Default for NotesConfig {
    fn default() -> Self {
        Self { template: Template::parse(TEMPLATE), prompt: PROMPT.to_owned() }
    }
}

impl NotesConfig {
    /// Reads the person's own from `session-memory/config` below `home`; with what is to be said about those
    /// that can not be used. Ours stand in for them.
    pub fn read(home: &Path) -> (Self, Vec<String>) {
        let (mut config, mut problems) = (Self::default(), Vec::new());
        let folder = home.join(FOLDER);
        match own(&folder, "template.md") {
            Ok(Some(text)) => match template(&text) {
                Ok(template) => config.template = template,
                Err(why) => problems.push(instead(&folder.join("template.md"), &why)),
            },
            Ok(None) => {}
            Err(why) => problems.push(instead(&folder.join("template.md"), &why)),
        }
        match own(&folder, "prompt.md") {
            Ok(Some(text)) => {
                problems.extend(unsaid(&folder.join("prompt.md"), &text));
                config.prompt = text;
            }
            Ok(None) => {}
            Err(why) => problems.push(instead(&folder.join("prompt.md"), &why)),
        }
        (config, problems)
    }
}

fn instead(path: &Path, why: &str) -> String {
    format!("{} is not used for session notes: {why}; ours is", path.display())
}

/// The text of one of them; none if it is not there.
fn own(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let file: RelPath = plain(name);
    let bytes = match Dir::open(folder).and_then(|dir| dir.read(&file)) {
        Ok(bytes) => bytes,
        Err(error) if FileError::is_not_found(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// A template has headings, each once: else nothing could be told about the notes.
fn template(text: &str) -> Result<Template, String> {
    if sections(text).is_empty() {
        return Err("it has no heading (a line that begins with `# `)".to_owned());
    }
    let template = Template::parse(text);
    template.check(text).map_err(|damage| damage.to_string())?;
    Ok(template)
}

/// What a prompt leaves out. It is used all the same.
fn unsaid(path: &Path, prompt: &str) -> Option<String> {
    let missing = NEEDED.iter().find(|name| fill(prompt, &[(name, "")]) == prompt)?;
    Some(format!(
        "{} does not say {{{{{missing}}}}}, so the model will not know it when it takes session notes",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(template: Option<&[u8]>, prompt: Option<&[u8]>) -> (NotesConfig, Vec<String>) {
        let home = tempfile::tempdir().unwrap();
        let dir = Dir::open(home.path()).unwrap();
        for (name, text) in [("template.md", template), ("prompt.md", prompt)] {
            if let Some(text) = text {
                dir.replace(&plain(&format!("{FOLDER}/{name}")), text).unwrap();
            }
        }
        NotesConfig::read(home.path())
    }

    #[test]
    fn the_persons_own_are_taken_as_they_are() {
        let own = "# Only $1 {{x}}\n_what {{currentNotes}} is_\n";
        let prompt = "At {{notesPath}}: {{currentNotes}} $0 {{y}}";
        let (config, problems) = read(Some(own.as_bytes()), Some(prompt.as_bytes()));
        assert_eq!((config.template.text(), config.prompt.as_str()), (own, prompt));
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn what_can_not_be_used_is_named_and_ours_stands_in() {
        let cases: [(&[u8], &str); 4] = [
            (b"no heading\n## none\n", "no heading"),
            (b"", "no heading"),
            (b"# A\n\xff", "not UTF-8"),
            (b"# A\n# B\n# A\n", "more than once"),
        ];
        for (text, why) in cases {
            let (config, problems) = read(Some(text), None);
            assert_eq!(config.template.text(), TEMPLATE);
            assert!(problems.len() == 1 && problems[0].contains(why), "{problems:?}");
        }
        let (config, problems) = read(None, Some(b"just take notes in {{ notesPath }}"));
        assert_eq!(config.prompt, "just take notes in {{ notesPath }}");
        assert!(problems.len() == 1 && problems[0].contains("{{currentNotes}}"), "{problems:?}");
        assert!(read(None, None).1.is_empty());
    }
}

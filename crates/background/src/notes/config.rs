//! The template of the notes and the prompt of the run that updates them, which the user can replace.

use std::path::Path;

use dormouse_base::{Dir, FileError, RelPath};
use dormouse_context::compact::notes::{PROMPT, TEMPLATE, Template, fill, sections};

use super::files::fixed_path;

/// The folder of the user's own, below the program's.
const FOLDER: &str = "session-memory/config";
/// The placeholders that a prompt needs: the path of the notes, and their text.
const NEEDED_PLACEHOLDERS: [&str; 2] = ["notesPath", "currentNotes"];

/// The initial text of notes, and the prompt of the run that updates them.
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
    /// Reads the user's own from `session-memory/config` below `home`. Where one cannot be used, the default is, with a
    /// message about it.
    pub fn read(home: &Path) -> (Self, Vec<String>) {
        let (mut config, mut problems) = (Self::default(), Vec::new());
        let folder = home.join(FOLDER);
        match read_own(&folder, "template.md") {
            Ok(Some(text)) => match parse_template(&text) {
                Ok(template) => config.template = template,
                Err(why) => problems.push(default_used(&folder.join("template.md"), &why)),
            },
            Ok(None) => {}
            Err(why) => problems.push(default_used(&folder.join("template.md"), &why)),
        }
        match read_own(&folder, "prompt.md") {
            Ok(Some(text)) => {
                problems.extend(missing_placeholder(&folder.join("prompt.md"), &text));
                config.prompt = text;
            }
            Ok(None) => {}
            Err(why) => problems.push(default_used(&folder.join("prompt.md"), &why)),
        }
        (config, problems)
    }
}

fn default_used(path: &Path, why: &str) -> String {
    format!("{} is not used for session notes: {why}; using the default", path.display())
}

/// The text of a file; none if it does not exist.
fn read_own(folder: &Path, name: &str) -> Result<Option<String>, String> {
    let file: RelPath = fixed_path(name);
    let bytes = match Dir::open(folder).and_then(|dir| dir.read(&file)) {
        Ok(bytes) => bytes,
        Err(error) if FileError::is_not_found(&error) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// A template needs headings, each once: the notes are checked by them.
fn parse_template(text: &str) -> Result<Template, String> {
    if sections(text).is_empty() {
        return Err("it has no heading (a line that begins with `# `)".to_owned());
    }
    let template = Template::parse(text);
    template.check(text).map_err(|damage| damage.to_string())?;
    Ok(template)
}

/// A warning about a placeholder that a prompt lacks. The prompt is used all the same.
fn missing_placeholder(path: &Path, prompt: &str) -> Option<String> {
    let missing = NEEDED_PLACEHOLDERS.iter().find(|name| fill(prompt, &[(name, "")]) == prompt)?;
    Some(format!(
        "{} has no {{{{{missing}}}}}: the model needs it to take session notes",
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
                dir.replace(&fixed_path(&format!("{FOLDER}/{name}")), text).unwrap();
            }
        }
        NotesConfig::read(home.path())
    }

    #[test]
    fn the_users_own_are_taken_as_they_are() {
        let own = "# Only $1 {{x}}\n_what {{currentNotes}} is_\n";
        let prompt = "At {{notesPath}}: {{currentNotes}} $0 {{y}}";
        let (config, problems) = read(Some(own.as_bytes()), Some(prompt.as_bytes()));
        assert_eq!((config.template.text(), config.prompt.as_str()), (own, prompt));
        assert_eq!(problems, Vec::<String>::new());
    }

    #[test]
    fn what_cannot_be_used_is_named_and_the_default_is_used() {
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

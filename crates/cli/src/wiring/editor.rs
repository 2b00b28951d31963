//! The user's editor or pager, on a temporary copy: a memory itself is written through the store.
//!
//! Invariant: edited text is kept until it is saved, and the user is told where. An unchanged copy is removed.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Environment, RelPath, names};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::world::World;

/// The editor if the user names none: every system has it.
const LAST_RESORT: &str = "vi";

pub(crate) struct EditedCopy {
    folder: Dir,
    file: RelPath,
    text: String,
}

impl EditedCopy {
    pub(crate) fn create(world: &World, name: &str, text: &str) -> Result<Self, Failure> {
        let folder = Dir::create(world.home()?.join("tmp"))?;
        let name = format!("{}-{}", std::process::id(), name.replace('/', "-"));
        let file = RelPath::new(&name).map_err(Failure::failed)?;
        folder.replace(&file, text.as_bytes())?;
        Ok(Self { folder, file, text: text.to_owned() })
    }

    /// Opens the editor, waits for it, and returns the new text, which must not be empty.
    pub(crate) fn edit(&self, world: &World) -> Result<String, Failure> {
        let text = self.edit_freely(world)?;
        if !text.trim().is_empty() {
            return Ok(text);
        }
        let empty = anyhow::anyhow!(msg!("editor-empty", editor = editor(&world.environment)));
        let failure = Failure::failed(empty).hint(msg!("editor-empty-hint"));
        Err(self.with_kept_text(failure))
    }

    /// The same for a text that may be empty.
    pub(crate) fn edit_freely(&self, world: &World) -> Result<String, Failure> {
        check_terminal(&world.environment)
            .and_then(|()| self.edit_with(editor(&world.environment)))
            .map_err(|failure| self.with_kept_text(failure))
    }

    /// Shows the text in the user's pager, and removes the copy.
    pub(crate) fn show(&self, world: &World) -> Result<(), Failure> {
        let pager = world.environment.get(names::PAGER).unwrap_or("less -R");
        let shown = run(pager, &self.real_path());
        self.remove()?;
        shown
    }

    fn edit_with(&self, editor: &str) -> Result<String, Failure> {
        run(editor, &self.real_path())?;
        let bytes = match self.folder.read(&self.file) {
            Err(error) if error.is_not_found() => Vec::new(),
            other => other?,
        };
        String::from_utf8(bytes)
            .map_err(|_| Failure::failed(anyhow::anyhow!(msg!("editor-not-utf8", editor = editor))))
    }

    /// Adds the path of the edited text to a failure, if the text was changed.
    pub(crate) fn with_kept_text(&self, failure: Failure) -> Failure {
        let now = self.folder.read(&self.file).unwrap_or_default();
        if now == self.text.as_bytes() || now.trim_ascii().is_empty() {
            return match self.remove() {
                Ok(()) => failure,
                Err(left) => failure.hint(left.message()),
            };
        }
        failure.hint(msg!("editor-text-kept", path = self.real_path().display().to_string()))
    }

    pub(crate) fn remove(&self) -> Result<(), Failure> {
        match self.folder.remove_file(&self.file) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn real_path(&self) -> PathBuf {
        self.folder.path().join(self.file.as_path())
    }
}

/// Runs the editor through a shell, so that it may have options, as in `code --wait`.
#[expect(
    clippy::disallowed_methods,
    reason = "an editor needs the terminal, which a process group of its own would not have"
)]
fn run(editor: &str, file: &Path) -> Result<(), Failure> {
    let script = format!("{editor} \"$1\"");
    let mut command = std::process::Command::new("sh");
    let status = command.args(["-c", &script, "sh"]).arg(file).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => {
            let failed = anyhow::anyhow!(msg!("editor-failed", editor = editor));
            Err(Failure::failed(failed).hint(msg!("editor-failed-hint")))
        }
    }
}

/// Refuses to start `vi` without a terminal. Another editor, which the user names, may need none.
fn check_terminal(environment: &Environment) -> Result<(), Failure> {
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if has_terminal || editor(environment) != LAST_RESORT {
        return Ok(());
    }
    let message = msg!("editor-no-terminal", editor = LAST_RESORT);
    Err(Failure::usage(anyhow::anyhow!(message)).hint(msg!("editor-no-terminal-hint")))
}

/// The user's editor.
fn editor(environment: &Environment) -> &str {
    let variables = [names::VISUAL, names::EDITOR];
    variables.into_iter().find_map(|name| environment.get(name)).unwrap_or(LAST_RESORT)
}

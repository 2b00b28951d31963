//! The person's own editor, on a copy: the memory itself is written through the store.
//!
//! Invariant: what somebody typed is kept until it is saved, and they are told where. A copy with nothing new in
//! it goes.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, RelPath, names};

use crate::wiring::exit::Failure;
use crate::wiring::world::World;

/// A temporary copy of a text.
pub(super) struct Copy {
    folder: Dir,
    file: RelPath,
    text: String,
}

impl Copy {
    pub(super) fn of(world: &World, name: &str, text: &str) -> Result<Self, Failure> {
        let folder = Dir::create(world.home()?.join("tmp"))?;
        let name = format!("{}-{}", std::process::id(), name.replace('/', "-"));
        let file = RelPath::new(&name).map_err(Failure::failed)?;
        folder.replace(&file, text.as_bytes())?;
        Ok(Self { folder, file, text: text.to_owned() })
    }

    /// Opens the editor, waits for its end, and says what the text is then.
    pub(super) fn edit(&self, world: &World) -> Result<String, Failure> {
        let environment = &world.environment;
        let editor =
            [names::VISUAL, names::EDITOR].into_iter().find_map(|name| environment.get(name));
        let edited = self.edit_with(editor.unwrap_or("vi"));
        edited.map_err(|failure| self.kept(failure))
    }

    fn edit_with(&self, editor: &str) -> Result<String, Failure> {
        run(editor, &self.real_path())?;
        let bytes = match self.folder.read(&self.file) {
            Err(error) if error.is_not_found() => Vec::new(),
            other => other?,
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::failed(anyhow::anyhow!("what `{editor}` saved is not valid UTF-8"))
        })?;
        if text.trim().is_empty() {
            let empty = anyhow::anyhow!("`{editor}` left no text, so nothing was changed");
            return Err(Failure::failed(empty).hint("`dormouse memory rm` removes a memory"));
        }
        Ok(text)
    }

    /// A failure that says where the text is, if there is anything in it to lose.
    pub(super) fn kept(&self, failure: Failure) -> Failure {
        let now = self.folder.read(&self.file).unwrap_or_default();
        if now == self.text.as_bytes() || now.trim_ascii().is_empty() {
            return match self.remove() {
                Ok(()) => failure,
                Err(left) => failure.hint(left.message()),
            };
        }
        failure.hint(format!("your text is in {}", self.real_path().display()))
    }

    pub(super) fn remove(&self) -> Result<(), Failure> {
        match self.folder.remove_file(&self.file) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    fn real_path(&self) -> PathBuf {
        self.folder.path().join(self.file.as_path())
    }
}

/// The shell takes the editor apart, so that it may have options: `code --wait`.
#[expect(
    clippy::disallowed_methods,
    reason = "an editor needs the person's terminal, which a group of its own would not have"
)]
fn run(editor: &str, file: &Path) -> Result<(), Failure> {
    let script = format!("{editor} \"$1\"");
    let mut command = std::process::Command::new("sh");
    let status = command.args(["-c", &script, "sh"]).arg(file).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => {
            let failed = anyhow::anyhow!("the editor `{editor}` failed, so nothing was changed");
            Err(Failure::failed(failed).hint(
                "VISUAL or EDITOR says which to use; --body, --description and others need none",
            ))
        }
    }
}

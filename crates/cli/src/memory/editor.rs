//! The person's own editor, on a copy: the memory itself is written through the store.

use std::path::PathBuf;

use dormouse_base::{Dir, RelPath, names};

use crate::exit::Failure;
use crate::world::World;

/// A temporary copy of a text.
pub(super) struct Copy {
    folder: Dir,
    file: RelPath,
}

impl Copy {
    pub(super) fn of(world: &World, name: &str, text: &str) -> Result<Self, Failure> {
        let folder = Dir::create(world.home()?.join("tmp"))?;
        let name = format!("{}-{}", std::process::id(), name.replace('/', "-"));
        let file = RelPath::new(&name).map_err(Failure::failed)?;
        folder.replace(&file, text.as_bytes())?;
        Ok(Self { folder, file })
    }

    /// Opens the editor, waits for its end, and says what the text is then.
    pub(super) fn edit(&self, world: &World) -> Result<String, Failure> {
        let environment = &world.environment;
        let editor =
            [names::VISUAL, names::EDITOR].into_iter().find_map(|name| environment.get(name));
        let editor = editor.unwrap_or("vi");
        run(editor, &self.real_path())?;
        let bytes = self.folder.read(&self.file)?;
        String::from_utf8(bytes).map_err(|_| {
            Failure::failed(anyhow::anyhow!("what `{editor}` saved is not valid UTF-8"))
                .hint(format!("it is in {}", self.path()))
        })
    }

    pub(super) fn path(&self) -> String {
        self.real_path().display().to_string()
    }

    pub(super) fn remove(&self) -> Result<(), Failure> {
        Ok(self.folder.remove_file(&self.file)?)
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
fn run(editor: &str, file: &std::path::Path) -> Result<(), Failure> {
    let script = format!("{editor} \"$1\"");
    let mut command = std::process::Command::new("sh");
    let status = command.args(["-c", &script, "sh"]).arg(file).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(_) | Err(_) => {
            let failed = Failure::failed(anyhow::anyhow!("the editor `{editor}` failed"));
            Err(failed.hint(
                "VISUAL or EDITOR says which to use; --body, --description and others need none",
            ))
        }
    }
}
